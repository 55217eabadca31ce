#pragma once
// The nonlinear part of the power model's fit: where the ridge is, and how fast the voltage rises beyond it. Everything
// else is linear once these two are given.

#include <cstddef>
#include <optional>
#include <vector>

#include "model/capped_least_squares.hpp"
#include "model/power_model.hpp"

namespace wattune {

/// How many of the columns a form has.
std::size_t columns_of(PowerForm form);

/// Columns of one sample: (clock - origin) v^2, 1, v, of which a form has the first few.
/// @param voltage in proportion to the least
CappedRow power_row(double clock, double origin, double voltage, double value);

/// Clocks are in units of the highest.
struct RidgePoint {
  double ridge = 0;
  double rise = 0;
  CappedSolution linear;
};

class RidgeSearch {
 public:
  /// @param clocks in units of the highest, in increasing order, not all equal
  /// @param values power less what the form holds fixed
  /// @param origin see PowerModel
  /// @param least_capped 0: there is no limit; else it binds on so many samples at least
  RidgeSearch(PowerForm form, std::vector<double> clocks, std::vector<double> values, double origin,
              std::size_t least_capped);

  /// The best for a ridge and a rise.
  [[nodiscard]] RidgePoint at(double ridge, double rise) const;
  /// The best for a ridge.
  [[nodiscard]] RidgePoint at(double ridge) const;
  /// The best of all: a grid, then Levenberg-Marquardt from the best points of several cells between sampled clocks,
  /// for the sum of squares has a minimum of its own in each.
  [[nodiscard]] RidgePoint best() const;

  /// The ridges for which the sum of squares, minimised over all else, stays below a threshold.
  struct Interval {
    double low, high;
    bool low_open, high_open;  ///< it reaches the end of the sampled clocks
  };
  [[nodiscard]] Interval interval(const RidgePoint& best, double threshold) const;

 private:
  [[nodiscard]] RidgePoint refined(const RidgePoint& start) const;
  [[nodiscard]] RidgePoint polished(const RidgePoint& start, double reach) const;
  [[nodiscard]] double crossing(double inside, double outside, double threshold) const;
  [[nodiscard]] std::vector<double> ridge_grid() const;

  PowerForm form_;
  std::vector<double> clocks_;
  std::vector<double> values_;
  double origin_;
  std::size_t least_capped_;
};

}  // namespace wattune
