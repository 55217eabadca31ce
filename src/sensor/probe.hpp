#pragma once
// Finds out what a board's sensors do, by reading them while a load of our own is switched on and off.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "power/meter.hpp"
#include "sensor/profile.hpp"
#include "sensor/switched_load.hpp"

namespace wattune {

/// Durations in seconds of device time.
struct ProbeOptions {
  double idle_seconds = 2.5;                            ///< each of: bare, with a context
  double readings_seconds = 14;                         ///< of switching while the readings are watched
  double counter_seconds = 9;                           ///< of switching while the counter is watched
  double steady_seconds = 4;                            ///< of steady load, to compare counter and readings
  std::function<void(const std::string&)> on_progress;  ///< one line for each part
};

/// Idle power: by the counter between its steps, else the mean of a reading. Nothing runs meanwhile.
/// Nothing where the meter tells neither.
std::optional<double> idle_power(PowerMeter& meter, Clock& clock, double seconds);

/// Everything but idle_bare_w (which has to be measured before the context exists), board, name, driver and made.
/// @param load with nothing running
SensorProfile probe_sensors(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const ProbeOptions& options);

}  // namespace wattune
