#pragma once
// Devices whose power model is known, for trying fits on.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "model/power_fit.hpp"

namespace wattune {

struct SyntheticDevice {
  std::vector<double> supported;  ///< Hz
  PowerModel model;

  /// Where power would pass the limit.
  [[nodiscard]] double highest_actual() const {
    double low = supported.front();
    double high = supported.back();
    if (model.uncapped_power(high) <= model.limit_w) return high;
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (model.uncapped_power(middle) <= model.limit_w ? low : high) = middle;
    }
    return low;
  }

  /// A measurement at a requested clock: the actual clock is lower where the limit holds it back.
  [[nodiscard]] PowerSample measure(double clock, double noise, std::mt19937_64& random) const {
    const double actual = std::min(clock, highest_actual());
    return {actual, model.power(actual) * (1 + noise * std::normal_distribution<>()(random))};
  }
};

/// Like the boards that were measured for publications, which have idle powers of 23 to 52 W, ridges at 58 to 75 % of
/// the highest clock and rises of 0.4 to 1.1 per GHz.
inline SyntheticDevice draw_device(std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  SyntheticDevice device;
  const double lowest = 15e6 * std::round(uniform(14, 30));
  const double highest = 15e6 * std::round(uniform(92, 140));
  for (double clock = lowest; clock <= highest + 1; clock += 15e6) device.supported.push_back(clock);
  device.model.base_w = uniform(20, 60);
  device.model.slope_w_per_hz = uniform(0.025, 0.06) * 1e-6;
  device.model.voltage = VoltageCurve::hinge(highest * uniform(0.55, 0.78), uniform(5e-4, 1.1e-3) * 1e-6);
  device.model.limit_w = device.model.uncapped_power(highest) * uniform(0.75, 1.3);
  return device;
}

/// Whether at least three of the clocks lie above the ridge and below the limit.
inline bool shows_its_ridge(const SyntheticDevice& device, const std::vector<double>& clocks) {
  return std::count_if(clocks.begin(), clocks.end(), [&](double clock) {
           return clock > device.model.voltage.ridge() && clock < device.highest_actual();
         }) >= 3;
}

}  // namespace wattune
