#pragma once
// The measurement of one problem on one device: what a worker process does.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "evaluate/clock_check.hpp"
#include "power/meter.hpp"
#include "problem/problem.hpp"
#include "result/evaluation.hpp"
#include "sensor/profile.hpp"

namespace wattune {

struct MeasureOptions {
  double time_noise = 0.005;       ///< stop timing when the relative standard error of the median is below this
  double min_time_seconds = 0.02;  ///< at least this much device time in timed batches
  double max_time_seconds = 0.5;   ///< stop timing after this much
  unsigned min_batches = 5;
  unsigned energy_ticks = 2;    ///< window of an energy measurement, see EnergyOptions
  double final_seconds = 1.25;  ///< window of one that is to be exact: of a finalist
  EnergyEstimator energy_estimator = EnergyEstimator::automatic;  ///< what a meter cannot do is a failure
  std::optional<SensorProfile> sensor_profile = std::nullopt;     ///< of the meter's board, where it is known
  Clock* clock = nullptr;             ///< for waiting on the device's meter; null: the device's own
  bool verify_only = false;           ///< run and verify each configuration once, measure nothing
  PowerMeter* clock_meter = nullptr;  ///< tells clocks where energy is not measured; null: nobody does
  /// Tells the core's voltage, for the quantity voltage: run once for each setting of the device, under load. Empty:
  /// none.
  std::vector<std::string> voltage_command;
  std::function<void(const std::string&)> on_warning;  ///< what the user should know, but fails nothing
  /// Called as each phase of an evaluation begins: "load", "launch_function", "verify", "settle", "voltage", "warm_up",
  /// "time", "energy", "observe", and "done" at its end. "time", "energy" and "observe" are the windows in which
  /// nothing else should load the machine; the call may wait.
  std::function<void(std::string_view phase)> on_phase;
};

/// What one evaluation is for.
struct EvaluateOptions {
  /// Seconds: a launch that takes longer is not timed further. Its time is that of the warm-up, flagged
  /// "abandoned_early", and no energy is measured.
  std::optional<double> abandon_above = std::nullopt;
  /// J a launch: what certainly uses more is not measured further. Its energy is flagged "abandoned_early"; where
  /// idle power for so long, and least_beyond_idle, would be too much there is none, but an energy_bound.
  std::optional<double> hopeless_energy = std::nullopt;
  double least_beyond_idle = 0;  ///< J a launch that any configuration needs beyond idle power
  bool exact = false;            ///< an energy window of final_seconds
  bool only_time = false;        ///< neither energy nor what observers see
};

/// Reference outputs computed on the host. Arguments come as their initial bytes in the problem's order (local memory:
/// empty); the function overwrites those that are outputs.
using HostReference = std::function<void(const Problem&, std::vector<std::vector<std::byte>>& arguments)>;
/// Host references built into the program, by name. A null function where there is none of that name.
void register_host_reference(const std::string& name, HostReference reference);
HostReference find_host_reference(const std::string& name);
std::vector<std::string> host_reference_names();

/// Owns device buffers for a problem's arguments (with guard regions before and after each that catch writes out of
/// bounds), the reference outputs, and the procedure: verify, warm up, time.
class Session {
 public:
  /// Allocates and fills. @throws UsageError for argument data that cannot be made and for observers and a launch
  /// function that are not registered, DeviceError where memory is out, RunError for an observer that cannot be made.
  /// @param meter where energy is to be measured too; null otherwise.
  Session(const Problem& problem, Device& device, PowerMeter* meter, MeasureOptions options);
  ~Session();

  /// What is needed before the first evaluation: nothing (a host function or data: done by the constructor), a run of
  /// the reference kernel, or a run of the default configuration.
  enum class Needs { nothing, reference_kernel, default_configuration };
  [[nodiscard]] Needs needs() const noexcept;

  /// Runs this binary once and takes its outputs as the reference. For a reference kernel `configuration` is empty.
  std::optional<Failure> set_reference(const CompileResult& binary, const std::vector<Value>& configuration);

  /// Verifies (once per binary and launch), then measures. Fills outcome, message, verification, quantities, phases and
  /// resources; the caller fills the rest. `poisoned` of the result says that this process must be replaced.
  ///
  /// Quantities: time (median of the batches, s a launch; flag "noisy" where max_time_seconds ended the timing),
  /// time_min, time_spread (standard deviation of the batches), max_error (largest |output - reference| /
  /// max(|reference|, 1)), reset_time (where arguments are reset; time and energy are without it), and with a meter
  /// those of EnergyLoop, in whose window time is measured as well unless arguments are reset; registers, shared_memory
  /// and occupancy where the device tells; what observers saw. Where there is a launch function, a launch is all that
  /// it records. Flag "work_changes_on_repetition" on time, energy and power: see Reset.
  struct Result {
    Evaluation evaluation;
    bool poisoned = false;
  };
  /// Where the configuration holds device settings, which have been made, the clocks have to be there first (outcome
  /// measurement where they are not), and sm_clock is always told.
  Result evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                  const EvaluateOptions& wanted = {});

  /// What the clocks are while this kernel runs.
  tl::expected<ClockReading, Failure> clocks_under_load(const CompileResult& binary,
                                                        const std::vector<Value>& configuration);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
