#pragma once
// Power of a compute-bound kernel as a function of the SM clock.

#include <limits>
#include <string>
#include <string_view>

#include "model/voltage_curve.hpp"

namespace wattune {

/// Which parameters the fit has; all are cases of PowerModel.
///   free     min(P_max, P_idle + alpha f v^2), v = 1 + beta max(0, f - ridge)
///   paper    the same through the point of least clock, in units of the least power; as published implementations have
///   it leakage  min(P_max, P_0 + l v + alpha f v^2): leakage in proportion to the voltage
enum class PowerForm { free, paper, leakage };

/// "free", "paper", "leakage".
std::string_view to_string(PowerForm form);
/// The inverse. @throws UsageError that lists the names.
PowerForm power_form_from(std::string_view text);

/// power = min(limit, base + leakage v(f) + slope (f - origin) v(f)^2)
struct PowerModel {
  double base_w = 0;
  double leakage_w = 0;
  double slope_w_per_hz = 0;
  double origin_hz = 0;
  double limit_w = std::numeric_limits<double>::infinity();  ///< infinite where no cap was seen
  VoltageCurve voltage = VoltageCurve::hinge(0, 0);

  /// W at a clock in Hz, as if there were no limit.
  [[nodiscard]] double uncapped_power(double clock) const;
  /// W at a clock in Hz.
  [[nodiscard]] double power(double clock) const;
};

}  // namespace wattune
