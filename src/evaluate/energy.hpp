#pragma once
// Energy of a kernel that loops on the device.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "power/meter.hpp"
#include "result/evaluation.hpp"
#include "sensor/profile.hpp"
#include "sensor/tick_history.hpp"

namespace wattune {

struct EnergyOptions {
  /// The window begins with the first tick that comes so long after the load: before, power and sensor are still coming
  /// from what ran last.
  double settle_seconds = 0.06;
  /// Which of them: see EnergyEstimator. Automatic asks the meter what it has.
  EnergyEstimator estimator = EnergyEstimator::counter;
  std::optional<SensorProfile> profile = std::nullopt;  ///< of the meter's board, where it is known
  unsigned ticks = 2;        ///< ticks of the counter (else tenths of a second) that a window spans at least
  double noise = 0.01;       ///< the window moves on while the relative standard error of its power is above this,
  unsigned most_ticks = 10;  ///< for at most so many ticks: longer, power drifts with the temperature
  double max_seconds = 10;   ///< give up where the counter does not move
  std::optional<double> hopeless;  ///< J per launch: do not go on with a kernel that certainly uses more
  double least_watts = 0;          ///< no kernel draws less,
  double least_joules = 0;         ///< nor uses less than this beside, J per launch
};

/// Keeps a device busy with replays of a batch and cuts a window out of what the meter tells: with a counter at its
/// ticks, else of fresh values of a reading; all in the calling thread. start() queues work and returns at once;
/// finish() measures.
class EnergyLoop {
 public:
  /// @param batch with nothing outstanding. @param history of the meter's counter, or, without one, of the updates of
  /// its readings. @param clock of the device; tests
  /// and simulations bring their own. All must outlive the loop.
  EnergyLoop(Batch& batch, PowerMeter& meter, TickHistory& history, const EnergyOptions& options,
             Clock& clock = real_clock());
  ~EnergyLoop();

  /// Failure: outcome measurement where the meter does not tell what the estimator needs, or what the batch failed
  /// with.
  std::optional<Failure> start();

  /// Quantities: energy (J per launch), power (W over the window), and where the meter offers them sm_clock,
  /// memory_clock (Hz), temperature (unit "degC"), memory_power (W) and memory_energy (J per launch) where the loop
  /// lasted longer than the memory's sensor averages over, and throttle_time (seconds of a launch for which the clock
  /// was held back); each with standard error, n and flags. Energy per launch = power of the window x device time per
  /// launch, both from the same loop. n of energy and power: ticks of the window, or independent readings. Flags: the
  /// meter's throttle reasons; "counter_disagrees" where integrated readings differ from the counter by more than 3 %;
  /// "drained" where the device ran out of work inside the window; "abandoned_early" where the kernel was hopeless, and
  /// power was measured over fewer ticks, or (n 1, a large error) only read once. Where least_watts and least_joules
  /// alone make it hopeless neither is measured: there is an energy_bound (J per launch, flag "lower_bound") instead.
  /// The batch has nothing outstanding afterwards.
  /// @param unwanted asked meanwhile; true ends the loop
  /// Failure: outcome measurement, also where it became unwanted, or what the batch failed with.
  tl::expected<std::map<std::string, Quantity>, Failure> finish(const std::function<bool()>& unwanted = nullptr);

  /// Waits for what is outstanding, instead of finish().
  std::optional<Failure> stop();

  /// What the window is an estimate of.
  [[nodiscard]] EnergyEstimator estimator() const noexcept;

  /// Seconds of one launch, for each replay of the window (or of the whole loop, where there was none), in order.
  [[nodiscard]] const std::vector<double>& launch_seconds() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Power between ticks of the counter while nothing runs, W; teaches the history the counter's period. Without a
/// counter the mean of a power reading. Nothing where neither answers, or the counter does not move in `seconds`.
std::optional<double> measure_idle_power(PowerMeter& meter, TickHistory& history, Clock& clock = real_clock(),
                                         double seconds = 1.2);

/// start() and finish() in one.
tl::expected<std::map<std::string, Quantity>, Failure> measure_energy(Batch& batch, PowerMeter& meter,
                                                                      TickHistory& history,
                                                                      const EnergyOptions& options,
                                                                      Clock& clock = real_clock());

}  // namespace wattune
