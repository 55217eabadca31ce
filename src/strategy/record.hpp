#pragma once
// What a strategy has proposed and been told.

#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"
#include "space/random.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// Cost of an evaluation: smaller is better, infinite where it failed or the quantity is missing. Of energy that was
/// not measured, because it is more than the least, what is known to be used at least (energy_bound): that is told to a
/// search, and is more than the cost of the best.
double cost_of(const Evaluation& evaluation, const Objective& objective);

struct PointHash {
  std::size_t operator()(const Point& point) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const std::uint32_t position : point) hash = (hash ^ position) * 0x9e3779b97f4a7c15U, hash ^= hash >> 29;
    return static_cast<std::size_t>(hash);
  }
};

/// The points that were proposed, and the costs of those that were told.
class Record {
 public:
  explicit Record(const SearchSpace& space) : space_(space) {}

  /// Notes a proposal. @return false where the point was proposed or told before.
  bool propose(const Point& point) { return entries_.try_emplace(point).second; }
  void tell(const Point& point, double cost);

  [[nodiscard]] bool is_proposed(const Point& point) const { return entries_.contains(point); }
  [[nodiscard]] bool is_awaited(const Point& point) const { return is_proposed(point) && !cost(point); }
  /// Nothing for a point that was not told.
  [[nodiscard]] std::optional<double> cost(const Point& point) const;

  [[nodiscard]] std::size_t proposed() const { return entries_.size(); }
  [[nodiscard]] std::size_t told() const { return told_; }
  [[nodiscard]] bool is_complete() const { return entries_.size() >= space_.size(); }

  /// The best point told that did not fail.
  [[nodiscard]] const std::optional<Point>& best() const { return best_; }
  [[nodiscard]] double best_cost() const { return best_cost_; }

  /// A random configuration that was not proposed yet; nothing where all were.
  [[nodiscard]] std::optional<Point> draw_fresh(Random& random) const;

 private:
  const SearchSpace& space_;
  std::unordered_map<Point, std::optional<double>, PointHash> entries_;  // never walked: its order is not portable
  std::size_t told_ = 0;
  std::optional<Point> best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace wattune
