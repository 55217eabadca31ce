#include <algorithm>
#include <cmath>

#include "strategy/acceptance.hpp"
#include "strategy/descent.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

namespace {

/// Annealing whose steps are mostly short and now and then very long, and a descent from every new best.
class DualAnnealing : public StepStrategy {
 public:
  explicit DualAnnealing(const StrategyInputs& inputs)
      : StepStrategy(inputs),
        descent_(moves_, record_, random_, false, false),
        first_(inputs.options.number("temperature")),
        visit_(inputs.options.number("visit")),
        cycle_(inputs.options.number("cycle")) {}

 private:
  std::vector<Point> next_step() override {
    if (is_descending_) {
      auto points = descent_.next();
      if (!points.empty()) return points;
      is_descending_ = false;
      here_ = descent_.here();
      cost_ = descent_.cost();
      descended_to_ = cost_;
    }
    if (here_.empty()) return {*record_.draw_fresh(random_)};
    return {jump()};
  }

  /// The number of moves has a heavy tail, which shortens as the temperature falls.
  Point jump() {
    const double u = std::max(draw_unit(random_), 1e-9);
    const double length = std::pow(u, -1 / visit_) * std::max(1.0, 2 * temperature());
    return moves_.walk(here_, static_cast<std::size_t>(std::min(length, 20.0)), random_);
  }

  [[nodiscard]] double temperature() const {
    const double passed = static_cast<double>(record_.told() - began_at_) / cycle_;
    return first_ * std::exp(-5 * passed);
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) override {
    if (is_descending_) {
      descent_.learn(points, costs);
      return;
    }
    const double cost = costs.front();
    if (here_.empty() || cost < descended_to_) {
      restart(points.front(), cost);
      return;
    }
    if (acceptance_.accepts(cost - cost_, temperature(), random_)) {
      here_ = points.front();
      cost_ = cost;
    }
    if (static_cast<double>(record_.told() - began_at_) > cycle_) {
      began_at_ = record_.told();
      here_ = *record_.best();
      cost_ = record_.best_cost();
    }
  }

  void restart(const Point& point, double cost) override {
    if (!std::isfinite(cost)) return;
    here_ = point;
    cost_ = cost;
    is_descending_ = true;
    descent_.begin(point, cost);
  }

  std::optional<Point> speculate() override {
    if (is_descending_) return descent_.speculate();
    return here_.empty() ? record_.draw_fresh(random_) : jump();
  }

  Descent descent_;
  double first_;
  double visit_;
  double cycle_;
  std::size_t began_at_ = 0;
  Acceptance acceptance_;
  Point here_;  ///< empty before anything ran
  double cost_ = 0;
  bool is_descending_ = false;
  double descended_to_ = std::numeric_limits<double>::infinity();  ///< cost at the end of the last descent
};

}  // namespace

StrategyEntry dual_annealing_entry() {
  return {{"dual_annealing",
           "annealing with steps of all lengths, and a local search from every new best",
           {number_option("temperature", "1", "at first, in mean differences", 1e-6, 1e6),
            number_option("visit", "1.5", "exponent of the length of steps; smaller: longer", 0.1, 100),
            number_option("cycle", "200", "evaluations until the temperature rises again", 1, 1e9)}},
          &make_of<DualAnnealing>};
}

}  // namespace wattune
