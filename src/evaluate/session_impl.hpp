#pragma once
// The inside of a session: session.cpp has what an evaluation is made of, session_energy.cpp what a meter measures of
// it.

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "evaluate/argument_set.hpp"
#include "evaluate/energy.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/observe.hpp"
#include "evaluate/session.hpp"
#include "evaluate/statistics.hpp"
#include "evaluate/steps.hpp"
#include "evaluate/timing.hpp"
#include "evaluate/verifier.hpp"
#include "evaluate/voltage_reader.hpp"

namespace wattune {

/// Announces phases and adds up the seconds spent in each. Waiting in the announcement is nobody's time.
class Phases {
 public:
  Phases(const MeasureOptions& options, std::map<std::string, double>& seconds)
      : options_(options), seconds_(seconds) {}
  void begin(const std::string& phase) {
    end();
    if (options_.on_phase) options_.on_phase(phase);
    current_ = phase;
    start_ = monotonic_seconds();
  }
  void end() {
    if (!current_.empty()) seconds_[current_] += monotonic_seconds() - start_;
    current_.clear();
  }

 private:
  const MeasureOptions& options_;
  std::map<std::string, double>& seconds_;
  std::string current_;
  double start_ = 0;
};

inline Quantity quantity(double value, const std::string& unit, double standard_error, std::size_t n) {
  return {value, unit, standard_error, static_cast<std::int64_t>(n), {}};
}

/// a - b, where both were measured independently.
inline Quantity difference(Quantity a, const Quantity& b) {
  a.value -= b.value;
  a.stderr_value = std::hypot(a.stderr_value, b.stderr_value);
  return a;
}

struct Session::Impl {
  Impl(const Problem& problem_in, Device& device_in, PowerMeter* meter_in, MeasureOptions options_in)
      : problem(problem_in),
        device(device_in),
        meter(meter_in),
        options(std::move(options_in)),
        launch_function(launch_function_of(problem_in)),
        observers(problem_in, device_in.info()),
        arguments(problem_in, device_in),
        verifier(problem_in, device_in, arguments),
        loaded(device_in, arguments),
        voltage(options.voltage_command, options.on_warning) {
    if (options.clock == nullptr) options.clock = device.clock();
  }

  tl::expected<Kernel*, Failure> load(const CompileResult& binary);
  tl::expected<Steps, Failure> steps_of(Kernel& kernel, const std::vector<Value>& configuration);
  Launch reference_launch(Kernel& kernel) const;
  std::optional<Failure> take_reference(const CompileResult& binary, const std::vector<Value>& configuration);

  std::optional<Failure> evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                  Evaluation& evaluation, Phases& phases);
  void note_resources(const Kernel& kernel, const Launch& launch, Evaluation& evaluation);
  /// Holds the outputs against the reference, unless the steps' are known to be right.
  std::optional<Failure> judge(const Steps& steps, Evaluation& evaluation);
  std::optional<Failure> take_verdict(const Steps& steps, tl::expected<Verifier::Verdict, Failure> judged);
  [[nodiscard]] const Verifier::Verdict* known_verdict(const Steps& steps) const;
  std::optional<Failure> loop(const Steps& steps, double run_seconds, Evaluation& evaluation, Phases& phases);
  [[nodiscard]] EnergyOptions energy_options();
  [[nodiscard]] TickHistory& ticks_of(const EnergyOptions& energy) {
    return energy.estimator == EnergyEstimator::counter ? counter_ticks : reading_updates;
  }
  std::optional<Failure> time(const Steps& steps, Evaluation& evaluation, Phases& phases);
  std::optional<Failure> observe(const Steps& steps, Evaluation& evaluation, Phases& phases);
  std::optional<Failure> settle(const Steps& steps, const Evaluation& evaluation, Phases& phases);
  std::optional<Failure> check_clock(Evaluation& evaluation);
  void note_voltage(Evaluation& evaluation) const;
  [[nodiscard]] PowerMeter* clock_reader() const { return meter != nullptr ? meter : options.clock_meter; }
  bool too_slow(double seconds, Evaluation& evaluation) const;
  tl::expected<Quantity, Failure> time_of_resets();
  std::optional<Failure> measure(const Steps& steps, Evaluation& evaluation);
  tl::expected<std::map<std::string, Quantity>, Failure> energy_of(const Steps& steps, double seconds);
  void take(std::map<std::string, Quantity> measured, Evaluation& evaluation) const;
  static void note_times(const std::vector<double>& samples, Evaluation& evaluation);
  [[nodiscard]] Clock& clock() const { return options.clock == nullptr ? real_clock() : *options.clock; }
  std::optional<Failure> flag_changing_work(const Steps& steps, bool drifting, Evaluation& evaluation);
  void note_idle(Evaluation& evaluation);

  /// Batches of the resets and these.
  [[nodiscard]] BatchMaker maker(const Steps& steps) {
    return [this, &steps](unsigned launches) {
      const auto resets = arguments.resets();
      Steps all(resets.begin(), resets.end());
      all.insert(all.end(), steps.begin(), steps.end());
      return device.make_batch(all, launches);
    };
  }

  const Problem& problem;
  Device& device;
  PowerMeter* meter;
  MeasureOptions options;
  EvaluateOptions wanted;          ///< of the evaluation under way
  LaunchFunction launch_function;  ///< null where launches are plain
  Observers observers;
  TickHistory counter_ticks;                               ///< of the meter
  TickHistory reading_updates;                             ///< of its readings
  EnergyEstimator estimator = EnergyEstimator::automatic;  ///< of the options; chosen by the first measurement
  std::optional<double> idle_watts;                        ///< with this process's context
  ArgumentSet arguments;
  Verifier verifier;
  LoadedBinary loaded;
  std::optional<ClockReading> reached;  ///< once the device was at the clocks of these settings
  DeviceSettings reached_settings;
  VoltageReader voltage;

  /// What the loaded kernels have been verified to do: device settings do not change what they compute.
  struct Verified {
    Steps steps;
    Verifier::Verdict verdict;
  };
  std::vector<Verified> verified;
};

}  // namespace wattune
