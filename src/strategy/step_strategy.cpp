#include "strategy/step_strategy.hpp"

#include <algorithm>

namespace wattune {

namespace {

/// So many points in turn that are all known, and the strategy begins elsewhere.
constexpr std::size_t most_idle_points = 40;
constexpr int speculations = 8;

}  // namespace

StepStrategy::StepStrategy(const StrategyInputs& inputs)
    : space_(inputs.space),
      random_(inputs.seed),
      record_(inputs.space),
      moves_(inputs.space, inputs.kinds),
      objective_(inputs.objectives.front()) {}

bool StepStrategy::step_is_known() const {
  for (const auto& point : step_) {
    if (!record_.cost(point)) return false;
  }
  return true;
}

void StepStrategy::finish_step() {
  const std::vector<Point> points = std::move(step_);
  step_.clear();
  std::vector<double> costs;
  for (const auto& point : points) costs.push_back(*record_.cost(point));
  if (is_restart_) {
    restart(points.front(), costs.front());
  } else {
    learn(points, costs);
  }
}

bool StepStrategy::begin_step() {
  while (!record_.is_complete()) {
    if (!step_.empty()) {
      if (!step_is_known()) return false;
      finish_step();
    }
    is_restart_ = idle_points_ > most_idle_points;
    if (is_restart_) {
      step_ = {*record_.draw_fresh(random_)};
    } else {
      step_ = next_step();
    }
    idle_points_ += std::max<std::size_t>(1, step_.size());
    for (const auto& point : step_) {
      if (!record_.is_proposed(point)) to_propose_.push_back(point);
    }
    if (!to_propose_.empty()) {
      idle_points_ = 0;
      return true;
    }
  }
  return false;
}

std::vector<Point> StepStrategy::ask(std::size_t n) {
  std::vector<Point> points;
  while (points.size() < n) {
    if (to_propose_.empty() && !begin_step()) break;
    // A step may name a point twice, and speculation may have come before it.
    if (record_.propose(to_propose_.front())) points.push_back(std::move(to_propose_.front()));
    to_propose_.pop_front();
  }
  for (int i = 0; i < speculations && points.size() < n && !record_.is_complete(); ++i) {
    auto point = speculate();
    if (point && record_.propose(*point)) points.push_back(std::move(*point));
  }
  return points;
}

void StepStrategy::tell(const Point& point, const Evaluation& evaluation) {
  note(point, evaluation);
  record_.tell(point, cost_of(evaluation, objective_));
}

}  // namespace wattune
