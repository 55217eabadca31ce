#include <cmath>

#include "strategy/descent.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

namespace {

/// Descents from random configurations.
class LocalSearch : public StepStrategy {
 public:
  explicit LocalSearch(const StrategyInputs& inputs)
      : StepStrategy(inputs),
        descent_(moves_, record_, random_, inputs.options.word("improvement") == "best",
                 inputs.options.word("neighbours") == "adjacent") {}

 private:
  std::vector<Point> next_step() override {
    if (is_descending_) {
      auto points = descent_.next();
      if (!points.empty()) return points;
      is_descending_ = false;
    }
    return {*record_.draw_fresh(random_)};
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) override {
    if (is_descending_) {
      descent_.learn(points, costs);
    } else {
      restart(points.front(), costs.front());
    }
  }

  void restart(const Point& point, double cost) override {
    // From a configuration that failed any other would be better: the next one is a better place to begin.
    is_descending_ = std::isfinite(cost);
    if (is_descending_) descent_.begin(point, cost);
  }

  std::optional<Point> speculate() override {
    return is_descending_ ? descent_.speculate() : record_.draw_fresh(random_);
  }

  Descent descent_;
  bool is_descending_ = false;
};

}  // namespace

StrategyEntry local_search_entry() {
  return {{"local_search",
           "to a better neighbour while there is one, then anew from a random configuration",
           {word_option("improvement", {"first", "best"}, "the neighbour to go to"),
            word_option("neighbours", {"hamming", "adjacent"}, "any other value of one parameter, or only the next")}},
          &make_of<LocalSearch>};
}

}  // namespace wattune
