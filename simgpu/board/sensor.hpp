#pragma once
// Sensors of power and energy as boards have them: late, averaged, seeing a part of the time, noisy. They are fed with
// a trace of true power and need no board, so that a test can ask one whose truth it knows.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wattune::simgpu {

/// A reading that is renewed at the end of every period, with the mean over the window that ends there.
struct SensorDescription {
  double period = 0.1;  ///< s between updates; 0: the board has no such sensor
  double window = 0.1;  ///< s; shorter than the period: the rest is never seen; longer: a whole number of periods
  double rise = 0;      ///< s, time constant of what lies before the converter
  double noise = 0;     ///< standard deviation of an update, relative
  [[nodiscard]] bool present() const { return period > 0; }
};

/// An energy counter: steps once a period, to the energy up to a moment that jitters.
struct CounterDescription {
  double period = 0.1;       ///< s between steps; 0: the board has no counter
  double resolution = 1e-3;  ///< J
  double jitter = 0;         ///< s, standard deviation of the moment that a step sums up to
  [[nodiscard]] bool present() const { return period > 0; }
};

constexpr std::size_t max_window_periods = 32;
constexpr std::size_t max_samples = 128;

/// One update of a sensor.
struct PowerSample {
  double time;  ///< s
  double watts;
};

/// What a sensor remembers; plain data.
struct SensorState {
  std::uint64_t seed;
  double gain;           ///< of the board: what it says over what is true
  double phase;          ///< s; updates are at phase + k * period
  double now;            ///< s; the trace is known until here
  double level;          ///< W, behind the rise
  double energy;         ///< J, behind the rise, since the start
  double window_energy;  ///< J, `energy` when the window that is open began
  double next_update;    ///< s
  std::uint64_t updates;
  double tick_energy[max_window_periods];  ///< J, `energy` at the last updates, a ring
  double values[max_samples];              ///< W, the last updates, a ring
};

/// Operations on a sensor's state.
class Sensor {
 public:
  Sensor(const SensorDescription& description, SensorState& state) : description_(description), state_(state) {}

  /// @param watts what has been drawn so far @param phase s, of the updates, from 0 to the period
  void reset(std::uint64_t seed, double now, double watts, double phase, double gain = 1);
  /// Constant power from where the trace ends until `time`.
  void feed(double time, double watts);
  /// W, the last update.
  [[nodiscard]] double reading() const;
  /// The last `count` updates after a moment, oldest first; at most max_samples.
  [[nodiscard]] std::vector<PowerSample> samples(double after, std::size_t count) const;

 private:
  void advance(double time, double watts);
  void update();

  const SensorDescription& description_;
  SensorState& state_;
};

struct CounterState {
  std::uint64_t seed;
  double gain;
  double phase;
  double now;
  double energy;       ///< J, true, with what it stood at when reset
  double value;        ///< J, as read
  double next_update;  ///< s
  std::uint64_t updates;
};

/// Operations on an energy counter's state.
class Counter {
 public:
  Counter(const CounterDescription& description, CounterState& state) : description_(description), state_(state) {}

  /// @param joules where it stands
  void reset(std::uint64_t seed, double now, double joules, double phase, double gain = 1);
  void feed(double time, double watts);
  /// J, as of the last step.
  [[nodiscard]] double joules() const { return state_.value; }

 private:
  const CounterDescription& description_;
  CounterState& state_;
};

}  // namespace wattune::simgpu
