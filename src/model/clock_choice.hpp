#pragma once
// From the power model to the clocks worth tuning.

#include <span>
#include <vector>

#include "model/power_model.hpp"

namespace wattune {

/// The clock of least energy of a compute-bound kernel, whose time goes as 1/f: of those at which the model stays below
/// its limit, where power / clock is least. Where none stays below, the lowest.
/// @param clocks in Hz, not empty
double most_efficient_clock(const PowerModel& model, std::span<const double> clocks);

/// The same over all clocks of a range, in Hz.
double most_efficient_clock(const PowerModel& model, double low, double high);

struct ClockChoice {
  std::vector<double> clocks;  ///< Hz, in increasing order
  double reduction = 0;        ///< share of the supported clocks that need not be searched
};

/// The supported clocks within a share of the centre on either side, `count` of them at most, evenly spread.
/// @param supported in Hz, not empty @param centre one of them @param width 0.1: +-10 % @param count 0: all
ClockChoice choose_clocks(std::span<const double> supported, double centre, double width, std::size_t count);

}  // namespace wattune
