#pragma once
// Energy of a kernel that loops on the device, over a whole number of ticks of an energy counter.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "sensor/tick_history.hpp"
#include "power/meter.hpp"
#include "result/evaluation.hpp"

namespace wattune {

struct EnergyOptions {
  /// The window begins with the first tick that comes so long after the load: before, power and sensor are still coming
  /// from what ran last.
  double settle_seconds = 0.06;
  unsigned ticks = 2;         ///< ticks of the counter that a window spans
  double noise = 0.01;        ///< the window moves on while the relative standard error of its power is above this,
  unsigned most_ticks = 10;   ///< for at most so many ticks: longer, power drifts with the temperature
  double max_seconds = 10;    ///< give up where the counter does not move
  std::optional<double> hopeless;  ///< J per launch: do not go on with a kernel that certainly uses more
  double least_watts = 0;          ///< no kernel draws less
};

/// Keeps a device busy with replays of a batch and cuts a window at ticks of the meter's counter; all in the calling
/// thread. start() queues work and returns at once, so that the caller may do something else (some milliseconds) while
/// power rises; finish() measures.
class EnergyLoop {
 public:
  /// @param batch with nothing outstanding. @param history of the meter's counter. @param clock of the device; tests
  /// and simulations bring their own. All must outlive the loop.
  EnergyLoop(Batch& batch, PowerMeter& meter, TickHistory& history, const EnergyOptions& options,
             Clock& clock = real_clock());
  ~EnergyLoop();

  /// Failure: outcome measurement where the meter has no counter, or what the batch failed with.
  std::optional<Failure> start();

  /// Quantities: energy (J per launch), power (W over the window), and where the meter offers them sm_clock,
  /// memory_clock (Hz) and temperature (unit "degC"); each with standard error, n and flags. Energy per launch = power
  /// of the window x device time per launch, both from the same loop. n of energy and power: ticks of the window.
  /// Flags: the meter's throttle reasons; "drained" where the device ran out of work inside the window;
  /// "abandoned_early" where the kernel was hopeless, and power was measured over fewer ticks, or (n 1, a large error)
  /// only read once. Where least_watts alone makes it hopeless neither is measured: there is an energy_bound (J per
  /// launch, flag "lower_bound") instead. The batch has nothing outstanding afterwards.
  /// Failure: outcome measurement, or what the batch failed with.
  tl::expected<std::map<std::string, Quantity>, Failure> finish();

  /// Waits for what is outstanding, instead of finish().
  std::optional<Failure> stop();

  /// Seconds of one launch, for each replay of the window (or of the whole loop, where there was none), in order.
  [[nodiscard]] const std::vector<double>& launch_seconds() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Power between ticks of the counter while nothing runs, W; teaches the history the counter's period. Nothing where
/// the counter does not answer or does not move in `seconds`.
std::optional<double> measure_idle_power(PowerMeter& meter, TickHistory& history, Clock& clock = real_clock(),
                                         double seconds = 1.2);

/// start() and finish() in one.
tl::expected<std::map<std::string, Quantity>, Failure> measure_energy(Batch& batch, PowerMeter& meter,
                                                                      TickHistory& history,
                                                                      const EnergyOptions& options,
                                                                      Clock& clock = real_clock());

}  // namespace wattune
