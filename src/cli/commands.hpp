#pragma once
// The sub-commands, one file each. They return the exit code, and throw Error for what main() prints.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.hpp"
#include "problem/problem.hpp"
#include "space/search_space.hpp"
#include "strategy/strategy.hpp"
#include "tune/setting_axes.hpp"

namespace wattune::cli {

struct DevicesArguments {
  std::string device;  ///< as --device of tune; "sim:all": the simulated GPUs; empty or "all": all real ones
  bool probe = false;  ///< the power sensors of each
  bool probe_table = false;
  double phase_seconds = 2;  ///< of that table
  bool json = false;
};
int run_devices(const DevicesArguments& arguments);

struct SpaceArguments {
  std::string problem;
  std::string problem_size;
  bool count = false;
  bool list = false;
  std::uint64_t sample = 0;
  std::uint64_t seed = 0;
  bool json = false;
};
int run_space(const SpaceArguments& arguments);

struct TuneArguments {
  std::string problem;
  std::string device;
  std::string problem_size;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::vector<std::string> subject_to;
  std::optional<double> host_watts;
  std::string method;                ///< empty: the strategy alone
  std::optional<double> base_clock;  ///< MHz
  bool own_clock_only = false;       ///< method clocks: no search but for the own clock of one configuration
  std::string configuration;         ///< of that: NAME=VALUE,...; empty: the problem's default
  std::string clock_width = "10%";   ///< of --clocks ridge and auto: how far from the predicted optimum
  std::size_t clock_count = 10;      ///< of these at most
  std::string strategy = "auto";
  std::vector<std::string> strategy_options;  ///< key=value
  std::vector<std::string> budget;
  std::uint64_t seed = 0;
  std::string output;
  double timeout = 60;
  double compile_timeout = 120;
  unsigned compile_processes = 0;
  std::string compiler = "auto";
  std::string meter = "auto";
  unsigned energy_ticks = 2;
  std::string energy_estimator = "auto";
  bool no_skip = false;
  std::size_t finalists = 5;
  bool verify_only = false;
  bool keep_going = false;
  bool no_cache = false;
  bool profile = false;
  std::optional<double> abandon_above;  ///< 0: never; nothing: as strategy and objectives suggest
  std::size_t top = 10;
  bool json = false;
  SettingChoice settings;
  std::string voltage_command;     ///< empty: the default; "none": none
  bool quiet = false;              ///< no summary
  std::vector<std::string> given;  ///< names of the options on the command line, by their long forms: "--clocks"
  [[nodiscard]] bool is_given(std::string_view option) const { return std::ranges::find(given, option) != given.end(); }
};
/// What a run has found, for commands that make several.
struct TuneOutcome {
  std::string device_name;
  std::vector<std::string> parameter_names;
  std::vector<ParameterKind> kinds;
  std::size_t settings = 1;  ///< combinations of device settings
  std::vector<Objective> objectives;
  std::vector<Evaluation> evaluations;
  bool interrupted = false;
};
/// @param outcome filled as far as the run came, where it is not null
/// @param interrupt of a command that makes several runs; null: the run's own
int run_tune(TuneArguments arguments, TuneOutcome* outcome = nullptr, const Interrupt* interrupt = nullptr);

struct CalibrateArguments {
  std::string device;  ///< empty: the best CUDA GPU
  std::string form = "free";
  std::size_t samples = 10;
  bool two_stage = false;
  std::string width = "10%";
  std::size_t count = 10;
  bool stored = false;
  bool no_probe = false;
  std::string compiler = "auto";
  SettingChoice settings;
  std::string voltage_command;
  bool json = false;
};
int run_calibrate(const CalibrateArguments& arguments);

struct RestoreArguments {
  bool stale = false;  ///< boards of living runs are no error
};
int run_restore(const RestoreArguments& arguments);

struct RunArguments {
  std::string device = "cuda:0";
  std::string settings_file;
  SettingChoice choice;
  std::vector<std::string> command;
};
/// @return the program's exit status; 125 where this command itself fails.
int run_run(const RunArguments& arguments);

struct WattunedArguments {
  std::string config;
  std::string socket;
};
int run_wattuned(const WattunedArguments& arguments);

/// "256,256,256" as numbers. @throws UsageError.
std::vector<std::int64_t> parse_problem_size(const std::string& text);

/// What the strategy is told of the problem. @throws UsageError for an option that is no key=value.
StrategySetup strategy_setup(const TuneArguments& arguments, const Problem& problem,
                             const std::vector<Objective>& objectives);

/// The problem's space. @throws UsageError for an empty one, saying which restrictions leave nothing.
SearchSpace build_space(const Problem& problem);

/// Prints the problem's warnings to stderr.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace wattune::cli
