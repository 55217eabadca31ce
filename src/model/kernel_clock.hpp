#pragma once
// The most efficient clock of one kernel: unlike a compute-bound one, a kernel that waits for memory loses little time
// at lower clocks, so its optimum lies below the device's ridge. Timings are cheap and taken at many clocks, power at
// three.

#include <limits>
#include <span>
#include <vector>

#include "model/power_model.hpp"

namespace wattune {

struct TimeSample {
  double clock_hz;
  double time_s;
};

/// time^p = (cycles / f)^p + floor^p: the kernel's own clock and what does not depend on it overlap, the better the
/// higher p is.
struct KernelTimeModel {
  double cycles = 0;
  double floor_s = 0;
  double exponent = 1;

  /// Seconds at a clock in Hz.
  [[nodiscard]] double time(double clock) const;
};

/// @throws UsageError for fewer than three distinct clocks, and for samples that are not finite and positive.
KernelTimeModel fit_kernel_time(std::span<const TimeSample> samples);

struct ClockPower {
  double clock_hz;  ///< the actual clock
  double power_w;
  double temperature = std::numeric_limits<double>::quiet_NaN();  ///< degC; NaN where it is not known
};

struct KernelPower {
  PowerModel model;             ///< at the mean temperature of the samples
  double temperature = 0;       ///< that, where all are known
  double watts_per_kelvin = 0;  ///< that power grows with the temperature; 0 where one is not known
};

/// d + e f v(f)^2 with the voltage and the limit of the device's model, and a part in proportion to the temperature: a
/// board warms up while it is measured, which adds more power than a few steps of the clock. What few samples tell of
/// it is weighed against what is usual, 0.5 +- 0.4 % of the power per kelvin.
/// @throws UsageError for fewer than two distinct clocks, and for samples that are not finite and positive.
KernelPower fit_kernel_power(std::span<const ClockPower> samples, const PowerModel& device);

struct KernelClockModel {
  KernelTimeModel time;
  PowerModel power;

  /// Joules at a clock in Hz, below the limit.
  [[nodiscard]] double energy(double clock) const { return time.time(clock) * power.uncapped_power(clock); }
};

/// The clock of least energy, of those at which power stays below the limit; where none stays below, the lowest.
/// @param clocks in Hz, not empty
double most_efficient_clock(const KernelClockModel& model, std::span<const double> clocks);

/// The three supported clocks at which a prediction is to be verified: itself, and one a share `reach` away on either
/// side; fewer where the list ends. @param supported in Hz, not empty
std::vector<double> clocks_to_verify(std::span<const double> supported, double predicted, double reach = 0.06);

}  // namespace wattune
