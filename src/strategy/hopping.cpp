// Searches that hop from local minimum to local minimum: iterated local search and basin hopping. They differ in which
// minimum they go on from.

#include <cmath>

#include "strategy/acceptance.hpp"
#include "strategy/descent.hpp"
#include "strategy/draws.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

namespace {

class Hopping : public StepStrategy {
 public:
  Hopping(const StrategyInputs& inputs, double temperature)
      : StepStrategy(inputs),
        descent_(moves_, record_, random_, inputs.options.word("improvement") == "best",
                 inputs.options.word("neighbours") == "adjacent"),
        perturbation_(inputs.options.whole("perturbation")),
        patience_(inputs.options.whole("patience")),
        temperature_(temperature) {}

 private:
  std::vector<Point> next_step() override {
    if (is_descending_) {
      auto points = descent_.next();
      if (!points.empty()) return points;
      is_descending_ = false;
      arrive();
    }
    if (home_.empty() && record_.best()) {
      home_ = *record_.best();
      home_cost_ = record_.best_cost();
    }
    // Before anything ran there is no home, and after long stagnation a new one is looked for.
    if (home_.empty() || failures_ > patience_) return {*record_.draw_fresh(random_)};
    return {moves_.walk(home_, perturbation_, random_)};
  }

  /// At a local minimum.
  void arrive() {
    const double cost = descent_.cost();
    const double rise = cost - home_cost_;
    if (home_.empty() || failures_ > patience_ || acceptance_.accepts(rise, temperature_, random_)) {
      failures_ = rise < 0 || failures_ > patience_ ? 0 : failures_ + 1;
      home_ = descent_.here();
      home_cost_ = cost;
    } else {
      ++failures_;
    }
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) override {
    if (is_descending_) {
      descent_.learn(points, costs);
    } else {
      restart(points.front(), costs.front());
    }
  }

  void restart(const Point& point, double cost) override {
    is_descending_ = std::isfinite(cost);
    if (is_descending_) descent_.begin(point, cost);
  }

  std::optional<Point> speculate() override {
    if (is_descending_) return descent_.speculate();
    if (home_.empty()) return record_.draw_fresh(random_);
    return moves_.walk(home_, perturbation_, random_);
  }

  Descent descent_;
  std::size_t perturbation_;
  std::size_t patience_;
  double temperature_;
  Acceptance acceptance_;
  bool is_descending_ = false;
  Point home_;  ///< the minimum that perturbations start from; empty before there is one
  double home_cost_ = 0;
  std::size_t failures_ = 0;  ///< perturbations in turn that led to nothing better
};

class IteratedLocalSearch : public Hopping {
 public:
  explicit IteratedLocalSearch(const StrategyInputs& inputs) : Hopping(inputs, 0) {}
};

class BasinHopping : public Hopping {
 public:
  explicit BasinHopping(const StrategyInputs& inputs) : Hopping(inputs, inputs.options.number("temperature")) {}
};

std::vector<OptionDescription> hopping_options(const std::string& perturbation, const std::string& patience) {
  return {whole_option("perturbation", perturbation, "random moves away from a local minimum", 1, 1000),
          whole_option("patience", patience, "perturbations without success before a new start", 1, 1e6),
          word_option("improvement", {"first", "best"}, "the neighbour to go to"),
          word_option("neighbours", {"hamming", "adjacent"}, "any other value of one parameter, or only the next")};
}

}  // namespace

StrategyEntry iterated_local_search_entry() {
  return {{"iterated_local_search", "local search that begins anew near the best local minimum",
           hopping_options("3", "20")},
          &make_of<IteratedLocalSearch>};
}

StrategyEntry basin_hopping_entry() {
  auto options = hopping_options("2", "30");
  options.push_back(number_option("temperature", "0.3", "tolerance of worse minima, in mean differences", 0, 1000));
  return {{"basin_hopping", "from local minimum to local minimum, now and then to a worse one", std::move(options)},
          &make_of<BasinHopping>};
}

}  // namespace wattune
