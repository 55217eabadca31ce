#include "strategy/descent.hpp"

#include "strategy/draws.hpp"

namespace wattune {

void Descent::begin(const Point& point, double cost) {
  here_ = point;
  cost_ = cost;
  auto neighbours = moves_.neighbours(point, adjacent_, random_);
  shuffle(neighbours, random_);
  candidates_.assign(std::make_move_iterator(neighbours.begin()), std::make_move_iterator(neighbours.end()));
}

std::vector<Point> Descent::next() {
  return to_best_ ? next_best() : next_first();
}

std::vector<Point> Descent::next_first() {
  while (!candidates_.empty()) {
    Point point = std::move(candidates_.front());
    candidates_.pop_front();
    const auto known = record_.cost(point);
    if (!known) return {point};
    if (*known < cost_) begin(point, *known);
  }
  return {};
}

std::vector<Point> Descent::next_best() {
  while (!candidates_.empty()) {
    const std::vector<Point> all(candidates_.begin(), candidates_.end());
    const Point* best = nullptr;
    double best_cost = cost_;
    for (const auto& point : all) {
      const auto known = record_.cost(point);
      if (!known) return all;
      if (*known < best_cost) best = &point, best_cost = *known;
    }
    candidates_.clear();
    if (best != nullptr) begin(*best, best_cost);
  }
  return {};
}

void Descent::learn(const std::vector<Point>& points, const std::vector<double>& costs) {
  // All of a step to the best are in the record now: next() compares them.
  if (!to_best_ && costs.front() < cost_) begin(points.front(), costs.front());
}

std::optional<Point> Descent::speculate() {
  for (const auto& point : candidates_) {
    if (!record_.is_proposed(point)) return point;
  }
  return std::nullopt;
}

}  // namespace wattune
