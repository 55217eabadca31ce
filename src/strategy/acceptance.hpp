#pragma once
// The rule of annealing: a worse configuration is accepted with a probability that falls with the temperature.

#include <cmath>

#include "strategy/draws.hpp"

namespace wattune {

/// Temperatures are in units of the mean difference of costs seen so far, so that they mean the same for every
/// objective.
class Acceptance {
 public:
  bool accepts(double rise, double temperature, Random& random) {
    if (!std::isfinite(rise)) return rise < 0;
    if (rise != 0) {
      sum_ += std::abs(rise);
      ++count_;
    }
    if (rise <= 0) return true;
    if (temperature <= 0) return false;
    const double scale = sum_ / static_cast<double>(count_);
    return draw_unit(random) < std::exp(-rise / (scale * temperature));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

}  // namespace wattune
