#pragma once
// Tuning a problem.
//
//   const auto result = wattune::tune({.file = "axpy.json", .budget = "50"});
//   std::cout << result.best().configuration.text() << '\n';

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "wattune/configuration.hpp"
#include "wattune/device.hpp"

namespace wattune {

/// A measured or derived number. One that was not measured is absent, never zero.
struct Measurement {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string unit;  ///< SI: "s", "W", "J", "Hz"; or what a metric or observer says
  double standard_error = std::numeric_limits<double>::quiet_NaN();  ///< NaN where unknown
  std::int64_t samples = 0;                                          ///< independent ones
  std::vector<std::string> flags;                                    ///< on quality, for example "power_capped"
};

/// What became of a configuration.
struct TunedConfiguration {
  Configuration configuration;
  /// "ok", or why it failed: "constraints", "compile", "resources", "launch", "timeout", "crash", "correctness",
  /// "measurement", "lost_device".
  std::string outcome = "ok";
  std::string message;  ///< of a failure
  /// Whether outputs were "verified" by a reference, "consistent" with the default configuration's, or "unverified".
  std::string verification;
  /// "screen": measured quickly; "final": means of the trials of one of the best, measured again.
  std::string tier;
  std::map<std::string, Measurement> quantities;  ///< time (s), power (W), energy (J), metrics, what observers saw, ...

  [[nodiscard]] bool ok() const noexcept { return outcome == "ok"; }
  /// The value of a quantity; NaN where it was not measured.
  [[nodiscard]] double value(const std::string& quantity) const;
};

struct TuningProgress {
  std::size_t evaluated = 0;  ///< configurations so far
  std::size_t failed = 0;     ///< of these
  std::size_t planned = 0;    ///< that the budget or the space allows; 0: not known
  double seconds = 0;         ///< since the tuning began
};

/// What to tune and how. Of `file` and `text` one is needed.
struct TuningRequest {
  std::filesystem::path file = {};  ///< a problem file
  std::string text = {};  ///< or its content; then `file` (if given) names it in messages, and paths in it are relative
                          ///< to file's folder
  std::string device = {};  ///< as devices() names it; empty: the best that the problem has a kernel for
  std::vector<std::int64_t> problem_size = {};  ///< replaces the file's; empty: leaves it
  std::vector<std::string> minimize = {};       ///< objectives: quantities or metrics; none here and in `maximize`:
  std::vector<std::string> maximize = {};       ///< those of the file, else the time
  /// Conditions that the best has to meet: "time <= 1.05*best(time)", "power < 300" (SI units), beside the file's.
  std::vector<std::string> subject_to = {};
  std::string strategy = {};  ///< see `wattune tune --help`; empty: the command's default
  std::uint64_t seed = 1;
  std::string budget = {};  ///< "200", "10min", "5%", "200,10min"; empty: the file's, else 10 min
  /// Folder of the journal, made if missing: the same tuning done again goes on from there. Empty: none is kept.
  std::filesystem::path output = {};
  bool measure_energy = false;  ///< also where no objective needs it
  /// Of objectives that take a meter so many of the best are measured again: longer, several times, in turn. 0: none.
  std::size_t finalists = 5;
  /// What energy comes from: "auto", "counter", "samples", "integral" or "median" (docs/energy.md).
  std::string energy_estimator = "auto";
  /// Where energy alone is minimised, what cannot win is measured no further than needed to know that. True: everything
  /// is.
  bool measure_hopeless = false;
  double timeout_seconds = 60;           ///< for each step of an evaluation; needs a Runtime
  double compile_timeout_seconds = 120;  ///< for each variant; needs a Runtime
  unsigned compile_processes = 0;        ///< 0: as many as there are cores; needs a Runtime
  /// Called after each configuration, in the caller's thread. False ends the tuning.
  std::function<bool(const TunedConfiguration&, const TuningProgress&)> on_evaluation = {};
  /// Called with notable events and warnings, one line each.
  std::function<void(const std::string&)> on_note = {};
};

struct TuningResult {
  DeviceDescription device;
  std::vector<std::string> objectives;          ///< their names, the first first
  std::vector<TunedConfiguration> evaluations;  ///< in the order in which they were made, those of the journal included
  std::vector<std::size_t> winners;  ///< for each objective its best in `evaluations`; its size where there is none
  std::vector<std::size_t> front;    ///< the Pareto front of all objectives, in `evaluations`
  std::filesystem::path journal;     ///< empty: none is kept
  double seconds = 0;                ///< that it took
  bool stopped = false;              ///< on_evaluation ended it
  std::string error;                 ///< what ended it early, after evaluations were made; empty: nothing did

  /// The best configuration by the first objective, or by the one named.
  /// @throws RunError where none was measured in it, UsageError where there is no such objective.
  [[nodiscard]] const TunedConfiguration& best(const std::string& objective = {}) const;
};

/// Tunes. With a Runtime, compiling and measuring happen in processes of their own, as with the command; without one in
/// this process and thread, in turn: then a kernel that crashes takes the program with it, and none is timed out.
/// @throws UsageError for a faulty request or problem file, DeviceError where the device is missing or cannot be used,
/// RunError for anything else that ends it before a configuration was evaluated.
TuningResult tune(const TuningRequest& request);

}  // namespace wattune
