#pragma once
// Local search: from a random configuration to a better neighbour, and so on; from another where there is none.

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>

#include "problem/problem.hpp"
#include "strategy/strategy.hpp"

namespace wattune {

/// First improvement among all Hamming neighbours (any other valid value of one parameter), in random order, restarted
/// at random. Where restrictions tie parameters so that none can change alone (a + b == 105), a sample of valid changes
/// of two parameters takes the place of the neighbours. Needs only samples and neighbours, so it works on spaces too large to list. A configuration that failed
/// is worse than any that did not. No configuration is proposed twice.
class LocalSearch : public Strategy {
 public:
  LocalSearch(const SearchSpace& space, std::uint64_t seed, Objective objective);
  std::vector<Point> ask(std::size_t n) override;
  void tell(const Point& point, const Evaluation& evaluation) override;

 private:
  /// Cost of a configuration: smaller is better, infinite where it failed.
  [[nodiscard]] double cost(const Evaluation& evaluation) const;
  bool restart();
  void move_to(const Point& point, double point_cost);
  void add_pair_moves(const Point& point);

  const SearchSpace& space_;
  Objective objective_;
  std::mt19937_64 random_;
  std::set<Point> proposed_;
  std::optional<Point> start_;     ///< proposed, and not told yet: nothing else is proposed before
  std::optional<Point> current_;
  double current_cost_ = 0;
  std::deque<Point> candidates_;   ///< neighbours of the current configuration that were not proposed yet
  std::set<Point> awaited_;        ///< neighbours proposed and not told yet
};

}  // namespace wattune
