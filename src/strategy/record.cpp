#include "strategy/record.hpp"

#include "result/order.hpp"

namespace wattune {

double cost_of(const Evaluation& evaluation, const Objective& objective) {
  auto value = objective_value(evaluation, objective);
  if (!value && objective.name == "energy") value = objective_value(evaluation, {"energy_bound", objective.direction});
  if (!value) return std::numeric_limits<double>::infinity();
  return objective.direction == Direction::minimize ? *value : -*value;
}

void Record::tell(const Point& point, double cost) {
  auto& entry = entries_[point];
  if (!entry) ++told_;
  entry = cost;
  if (cost < best_cost_) {
    best_cost_ = cost;
    best_ = point;
  }
}

std::optional<double> Record::cost(const Point& point) const {
  const auto found = entries_.find(point);
  return found == entries_.end() ? std::nullopt : found->second;
}

std::optional<Point> Record::draw_fresh(Random& random) const {
  if (is_complete()) return std::nullopt;
  constexpr int tries = 16;
  for (int i = 0; i < tries; ++i) {
    Point point = space_.point(random.below(space_.size()));
    if (!is_proposed(point)) return point;
  }
  // Most of the space was proposed, so that it is small, and the next free configuration is not far.
  for (Count index = random.below(space_.size());; index = index + 1 < space_.size() ? index + 1 : 0) {
    Point point = space_.point(index);
    if (!is_proposed(point)) return point;
  }
}

}  // namespace wattune
