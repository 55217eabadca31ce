#pragma once
// The clock of least energy, guessed from a few clocks.

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace wattune {

/// Where a parabola of log(cost) over log(clock) through these points (least squares, the better points weigh more) has
/// its minimum; the clock of least cost where it has none between the least and the greatest clock.
/// @param points clock and cost, positive; not empty
double clock_of_least_cost(std::span<const std::pair<double, double>> points);

}  // namespace wattune
