#include <algorithm>
#include <cmath>
#include <deque>

#include "strategy/draws.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

namespace {

/// Always on to the best of a few neighbours, also where it is worse, but not back to where it was lately.
class TabuSearch : public StepStrategy {
 public:
  explicit TabuSearch(const StrategyInputs& inputs)
      : StepStrategy(inputs), tenure_(inputs.options.whole("tenure")), sample_(inputs.options.whole("sample")) {}

 private:
  std::vector<Point> next_step() override {
    if (here_.empty()) return {*record_.draw_fresh(random_)};
    auto points = moves_.neighbours(here_, false, random_);
    std::erase_if(points, [&](const Point& point) { return is_tabu(point); });
    shuffle(points, random_);
    if (points.size() > sample_) points.resize(sample_);
    if (points.empty()) points.push_back(*record_.draw_fresh(random_));
    return points;
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) override {
    std::size_t best = 0;
    for (std::size_t i = 1; i < costs.size(); ++i) {
      if (costs[i] < costs[best]) best = i;
    }
    restart(points[best], costs[best]);
  }

  void restart(const Point& point, double cost) override {
    if (!std::isfinite(cost)) return;
    here_ = point;
    tabu_.push_back(point);
    if (tabu_.size() > tenure_) tabu_.pop_front();
  }

  std::optional<Point> speculate() override {
    return here_.empty() ? record_.draw_fresh(random_) : moves_.random_neighbour(here_, false, random_);
  }

  [[nodiscard]] bool is_tabu(const Point& point) const {
    return std::find(tabu_.begin(), tabu_.end(), point) != tabu_.end();
  }

  std::size_t tenure_;
  std::size_t sample_;
  Point here_;  ///< empty before anything ran
  std::deque<Point> tabu_;
};

}  // namespace

StrategyEntry tabu_search_entry() {
  return {{"tabu_search",
           "to the best of a few neighbours, not back to where it was lately",
           {whole_option("tenure", "20", "configurations that it does not return to", 1, 1e6),
            whole_option("sample", "8", "neighbours to choose from", 1, 1e6)}},
          &make_of<TabuSearch>};
}

}  // namespace wattune
