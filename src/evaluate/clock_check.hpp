#pragma once
// Whether the device really is at the clocks that were set.

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "power/meter.hpp"
#include "result/evaluation.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

/// What the device does under a load.
struct ClockReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::vector<std::string> throttle_reasons;  ///< as PowerMeter::throttle_reasons()
  [[nodiscard]] bool is_throttled_by(const std::string& reason) const;
};

struct ReachOptions {
  double tolerance_hz = 15.5e6;  ///< one step of the supported clocks
  double limit_seconds = 3;      ///< of device time, from the moment of asking
  double poll_seconds = 0.002;
  unsigned readings = 3;  ///< in a row that must agree
};

/// Keeps the batch running until SM and memory clock are within a step of what was set. Below it at the power cap is
/// there, too: the cap is what the clock obeys. Clocks that were not set, and those that the meter does not tell, are
/// not waited for. The batch has nothing outstanding before and after.
/// Failure: outcome measurement, saying what the clock is and was to be; what the batch failed with.
tl::expected<ClockReading, Failure> reach_clocks(Batch& batch, PowerMeter& meter, const DeviceSettings& settings,
                                                 const ReachOptions& options, Clock& clock);

/// The clocks once they no longer change under the load.
tl::expected<ClockReading, Failure> settled_clocks(Batch& batch, PowerMeter& meter, Clock& clock);

/// Compares the SM clock over the energy window (quantity sm_clock, with the flags of power) with what was set.
std::optional<Failure> check_window_clock(const Evaluation& evaluation, const DeviceSettings& settings);

}  // namespace wattune
