#pragma once
// The way from a configuration down to a local minimum.

#include <deque>

#include "strategy/moves.hpp"
#include "strategy/record.hpp"

namespace wattune {

/// Goes to the first better neighbour it meets, or to the best of all, until no neighbour is better. Neighbours whose
/// cost is known cost nothing.
class Descent {
 public:
  Descent(Moves& moves, const Record& record, Random& random, bool to_best, bool adjacent)
      : moves_(moves), record_(record), random_(random), to_best_(to_best), adjacent_(adjacent) {}

  void begin(const Point& point, double cost);
  /// The neighbours to evaluate next; none at a local minimum.
  [[nodiscard]] std::vector<Point> next();
  void learn(const std::vector<Point>& points, const std::vector<double>& costs);
  /// A neighbour that next() may ask for later.
  [[nodiscard]] std::optional<Point> speculate();

  [[nodiscard]] const Point& here() const { return here_; }
  [[nodiscard]] double cost() const { return cost_; }

 private:
  [[nodiscard]] std::vector<Point> next_first();
  [[nodiscard]] std::vector<Point> next_best();

  Moves& moves_;
  const Record& record_;
  Random& random_;
  bool to_best_;
  bool adjacent_;
  Point here_;
  double cost_ = 0;
  std::deque<Point> candidates_;  ///< neighbours that were not compared yet, in random order
};

}  // namespace wattune
