#pragma once
// Which clocks to measure, so that few measurements place the ridge well.

#include <functional>
#include <span>
#include <vector>

#include "model/power_fit.hpp"

namespace wattune {

/// Measures power at a clock that is asked for, in Hz.
using PowerMeasurement = std::function<PowerSample(double clock)>;

/// So many of the supported clocks, evenly spread, ends included. @param supported in Hz, in increasing order, not
/// empty
std::vector<double> spread_clocks(std::span<const double> supported, std::size_t count);

/// Measures at `first` clocks spread over the supported ones, then at `second` more around the ridge that these
/// suggest.
/// @param supported in Hz, in increasing order @param first at least 4 @throws UsageError for fewer than 4 supported
/// clocks
std::vector<PowerSample> sample_in_two_stages(std::span<const double> supported, const PowerMeasurement& measure,
                                              std::size_t first = 5, std::size_t second = 5);

}  // namespace wattune
