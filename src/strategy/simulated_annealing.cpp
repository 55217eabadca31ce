#include <cmath>

#include "strategy/acceptance.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

namespace {

/// From neighbour to neighbour, at first also to worse ones. The temperature falls with every evaluation; when it has
/// reached its end, the search goes on from the best configuration at the first temperature again.
class SimulatedAnnealing : public StepStrategy {
 public:
  explicit SimulatedAnnealing(const StrategyInputs& inputs)
      : StepStrategy(inputs),
        first_(inputs.options.number("temperature")),
        last_(inputs.options.number("last_temperature")),
        cooling_(std::pow(last_ / first_, 1 / inputs.options.number("cycle"))),
        temperature_(first_) {}

 private:
  std::vector<Point> next_step() override {
    if (here_.empty()) return {*record_.draw_fresh(random_)};
    auto neighbour = moves_.random_neighbour(here_, false, random_);
    return {neighbour ? *neighbour : *record_.draw_fresh(random_)};
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) override {
    if (here_.empty()) {
      restart(points.front(), costs.front());
      return;
    }
    if (acceptance_.accepts(costs.front() - cost_, temperature_, random_)) {
      here_ = points.front();
      cost_ = costs.front();
    }
    if (record_.told() > cooled_at_) {
      cooled_at_ = record_.told();
      temperature_ *= cooling_;
    }
    if (temperature_ < last_) {
      temperature_ = first_;
      here_ = *record_.best();
      cost_ = record_.best_cost();
    }
  }

  void restart(const Point& point, double cost) override {
    if (!std::isfinite(cost)) return;
    here_ = point;
    cost_ = cost;
  }

  std::optional<Point> speculate() override {
    return here_.empty() ? record_.draw_fresh(random_) : moves_.random_neighbour(here_, false, random_);
  }

  double first_;
  double last_;
  double cooling_;
  double temperature_;
  std::size_t cooled_at_ = 0;
  Acceptance acceptance_;
  Point here_;  ///< empty before anything ran
  double cost_ = 0;
};

}  // namespace

StrategyEntry simulated_annealing_entry() {
  return {{"simulated_annealing",
           "from neighbour to neighbour, at first also to worse ones",
           {number_option("temperature", "0.3", "at first, in mean differences of neighbours", 1e-6, 1e6),
            number_option("last_temperature", "0.003", "at which a new cycle begins", 1e-9, 1e6),
            number_option("cycle", "150", "evaluations from first to last temperature", 1, 1e9)}},
          &make_of<SimulatedAnnealing>};
}

}  // namespace wattune
