#pragma once
// Energy of a kernel that loops on the device, over a whole number of ticks of an energy counter.

#include <map>
#include <string>
#include <tl/expected.hpp>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "power/meter.hpp"
#include "result/evaluation.hpp"

namespace wattune {

struct EnergyOptions {
  unsigned ramp_ticks = 1;  ///< whole ticks after the load began that are not counted: power is still rising
  unsigned ticks = 3;       ///< ticks of the counter that a window spans
  double noise = 0.003;     ///< the window moves on while the relative standard error of its power is above this,
  unsigned most_ticks = 10; ///< for at most so many ticks after the ramp: longer, power drifts with the temperature
  double max_seconds = 10;  ///< give up where the counter does not move
};

/// Keeps the device busy with replays of the batch (two at least are queued) and cuts a window at counter ticks; all in
/// the calling thread. Coming from a lighter load, power rises for several ticks: the window moves on until it is level.
/// Quantities: energy (J per launch), power (W over the window), and where the meter offers them
/// sm_clock, memory_clock (Hz) and temperature (unit "degC"); each with standard error, n and flags. Energy per launch
/// = power of the window x device time per launch, both from the same loop. n of energy and power: ticks of the window.
/// Flags: the meter's throttle reasons, and "drained" where the device ran out of work inside the window.
/// The batch has nothing outstanding before and after. Failure: outcome measurement, or what the batch failed with.
/// @param clock of the device; tests and simulations bring their own.
tl::expected<std::map<std::string, Quantity>, Failure> measure_energy(Batch& batch, PowerMeter& meter,
                                                                      const EnergyOptions& options,
                                                                      Clock& clock = real_clock());

}  // namespace wattune
