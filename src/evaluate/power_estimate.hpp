#pragma once
// What tells the power of a kernel that loops: the steps of an energy counter, or updates of a power reading.

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "evaluate/energy.hpp"
#include "power/meter.hpp"
#include "sensor/tick_history.hpp"

namespace wattune {

/// Watches a meter while a kernel runs again and again, and says when that was enough. A kernel's power changes within
/// a launch, so the windows are chosen, as far as the sensor allows it, to see all parts of a launch alike.
class PowerEstimate {
 public:
  virtual ~PowerEstimate() = default;
  [[nodiscard]] virtual EnergyEstimator kind() const noexcept = 0;
  /// Before the load. Failure: what the meter does not tell.
  virtual std::optional<Failure> prepare() = 0;
  /// The load has begun: for the first time, or again after a pause.
  virtual void begin(double time) = 0;
  /// The load is about to end: what is seen from here on does not count.
  virtual void end() {}
  /// Whether it is time to look().
  [[nodiscard]] virtual bool due(double now) const = 0;
  /// How long to wait between looks that are due, s.
  [[nodiscard]] virtual double poll_interval() const { return 0.0005; }
  /// Asks the meter. @param launch seconds of one launch, here and below; 0: not known yet
  virtual std::optional<Failure> look(double launch) = 0;
  /// Whether window() would tell something, and enough.
  [[nodiscard]] virtual bool tells_power() const = 0;
  [[nodiscard]] virtual bool finished(double launch) const = 0;
  /// When the end of the window is due, where that can be known.
  [[nodiscard]] virtual std::optional<double> end_due(double /*launch*/) const { return std::nullopt; }
  /// @pre tells_power()
  [[nodiscard]] virtual WindowPower window(double launch) const = 0;
  /// Whether the load should pause now, to begin anew with other parts of a launch under the sensor's window.
  [[nodiscard]] virtual bool wants_pause(double /*launch*/) const { return false; }
  /// When to begin anew, from `now` on.
  [[nodiscard]] virtual double restart(double now, double /*launch*/) const { return now; }
  /// Learns from the finished window, for later ones.
  virtual void conclude(double /*launch*/) {}
  /// Seconds beyond EnergyOptions::max_seconds that launches of this length need.
  [[nodiscard]] virtual double patience(double launch) const = 0;
  /// What has been seen so far, for a message.
  [[nodiscard]] virtual std::string progress() const = 0;
};

/// The estimator that the options ask for; automatic: what suits the meter and its profile.
std::unique_ptr<PowerEstimate> make_power_estimate(PowerMeter& meter, TickHistory& history,
                                                   const EnergyOptions& options, Clock& clock);

/// What suits a meter: asks it what it has.
EnergyEstimator choose_estimator(PowerMeter& meter, const SensorProfile* profile);

std::unique_ptr<PowerEstimate> make_counter_estimate(PowerMeter& meter, TickHistory& history,
                                                     const EnergyOptions& options, Clock& clock);
std::unique_ptr<PowerEstimate> make_reading_estimate(EnergyEstimator kind, PowerMeter& meter, TickHistory& history,
                                                     const EnergyOptions& options, Clock& clock);

/// Deviation of power within a launch, relative, that is reckoned with where it cannot be seen.
inline constexpr double assumed_structure = 0.2;
/// How far the relative phase at which a window ends is from that at which it began: 0 to 0.5 launches.
double phase_gap(double seconds, double launch);
/// Relative error of the power of a window that does not end at the phase at which it began.
double alias_error(double seconds, double launch);

}  // namespace wattune
