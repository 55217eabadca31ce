#pragma once
// Statistics of repeated timings.

#include <span>
#include <vector>

namespace wattune {

struct Summary {
  double median;
  double standard_error;  ///< of the median; NaN for a single sample
  double minimum;
  double deviation;  ///< standard deviation of the samples; NaN for a single sample
};

/// @param samples not empty
Summary summarize(std::span<const double> samples);

/// Whether samples rise or fall over time by more than a tenth, and by more than their scatter explains.
bool drifts(std::span<const double> samples);

}  // namespace wattune
