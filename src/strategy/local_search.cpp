#include "strategy/local_search.hpp"

#include <algorithm>
#include <limits>

#include "result/order.hpp"

namespace wattune {

namespace {

/// So many samples that were all proposed before mean that hardly anything is left.
constexpr std::size_t restart_samples = 64;
constexpr std::size_t pair_attempts = 20000;  // a few milliseconds
constexpr std::size_t most_pair_moves = 200;

}  // namespace

LocalSearch::LocalSearch(const SearchSpace& space, std::uint64_t seed, Objective objective)
    : space_(space), objective_(std::move(objective)), random_(seed) {}

double LocalSearch::cost(const Evaluation& evaluation) const {
  const auto value = objective_value(evaluation, objective_);
  if (!value) return std::numeric_limits<double>::infinity();
  return objective_.direction == Direction::minimize ? *value : -*value;
}

std::vector<Point> LocalSearch::ask(std::size_t n) {
  std::vector<Point> points;
  while (points.size() < n) {
    if (start_) break;
    if (candidates_.empty()) {
      // What is awaited may still be better than where we are.
      if (!awaited_.empty() || !restart()) break;
      points.push_back(*start_);
      break;
    }
    Point point = std::move(candidates_.front());
    candidates_.pop_front();
    if (!proposed_.insert(point).second) continue;
    awaited_.insert(point);
    points.push_back(std::move(point));
  }
  return points;
}

/// Picks a configuration to begin anew from. @return false where all were proposed.
bool LocalSearch::restart() {
  if (proposed_.size() >= space_.size()) return false;
  current_.reset();
  for (std::size_t wanted = restart_samples;; wanted *= 4) {
    for (const Count index : space_.sample(wanted, random_())) {
      Point point = space_.point(index);
      if (!proposed_.insert(point).second) continue;
      start_ = std::move(point);
      return true;
    }
    if (wanted >= space_.size()) return false;
  }
}

void LocalSearch::tell(const Point& point, const Evaluation& evaluation) {
  const double told = cost(evaluation);
  if (start_ && *start_ == point) {
    start_.reset();
    // From a configuration that failed there is no way to go: the next one begins.
    if (told < std::numeric_limits<double>::infinity()) move_to(point, told);
    return;
  }
  awaited_.erase(point);
  if (current_ && told < current_cost_) move_to(point, told);
}

void LocalSearch::add_pair_moves(const Point& point) {
  const std::size_t n = point.size();
  if (n < 2) return;
  std::set<Point> found;
  for (std::size_t attempt = 0; attempt < pair_attempts && found.size() < most_pair_moves; ++attempt) {
    Point neighbour = point;
    const std::size_t first = random_() % n;
    const std::size_t second = (first + 1 + random_() % (n - 1)) % n;
    for (const std::size_t parameter : {first, second}) {
      const std::size_t values = space_.parameters()[parameter].values.size();
      neighbour[parameter] = static_cast<std::uint32_t>(random_() % values);
    }
    if (space_.contains(neighbour) && !proposed_.contains(neighbour)) found.insert(std::move(neighbour));
  }
  candidates_.assign(found.begin(), found.end());
}

void LocalSearch::move_to(const Point& point, double point_cost) {
  current_ = point;
  current_cost_ = point_cost;
  candidates_.clear();
  for (const auto& move : space_.moves(point, Neighbourhood::hamming)) {
    Point neighbour = point;
    neighbour[move.parameter] = move.position;
    if (!proposed_.contains(neighbour)) candidates_.push_back(std::move(neighbour));
  }
  if (candidates_.empty()) add_pair_moves(point);
  // Own shuffle: the standard one differs between libraries, and a seed must mean the same on every machine.
  for (std::size_t i = candidates_.size(); i > 1; --i) std::swap(candidates_[i - 1], candidates_[random_() % i]);
}

}  // namespace wattune
