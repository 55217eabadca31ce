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
#include "power/meter.hpp"
#include "problem/problem.hpp"
#include "result/evaluation.hpp"

namespace wattune {

struct MeasureOptions {
  double time_noise = 0.005;       ///< stop timing when the relative standard error of the median is below this
  double min_time_seconds = 0.02;  ///< at least this much device time in timed batches
  double max_time_seconds = 0.5;   ///< stop timing after this much
  unsigned min_batches = 5;
  unsigned energy_ticks = 3;  ///< window of an energy measurement, see EnergyOptions
  Clock* clock = nullptr;     ///< for waiting on the device's meter; null: the device's own
  bool verify_only = false;   ///< run and verify each configuration once, measure nothing
  /// Called as each phase of an evaluation begins: "load", "launch_function", "verify", "warm_up", "time", "energy",
  /// "observe", and "done" at its end. "time", "energy" and "observe" are the windows in which nothing else should load the machine; the call may wait.
  std::function<void(std::string_view phase)> on_phase;
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
  /// those of measure_energy(); registers, shared_memory and occupancy where the device tells; what observers saw. Where
  /// there is a launch function, a launch is all that it records. Flag "work_changes_on_repetition" on time, energy and power: see Reset.
  struct Result {
    Evaluation evaluation;
    bool poisoned = false;
  };
  /// @param abandon_above seconds: a launch that takes longer is not timed further. Its time is that of the warm-up,
  /// flagged "abandoned_early", and no energy is measured.
  Result evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                  std::optional<double> abandon_above = std::nullopt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
