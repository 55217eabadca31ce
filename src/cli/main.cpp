// The command line. CLI11 is slow to compile and stays in the files of options.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/compare.hpp"
#include "cli/options.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "expr/nearest_name.hpp"
#include "kernels/references.hpp"
#include "method/method.hpp"
#include "strategy/strategy.hpp"
#include "tune/runtime.hpp"

namespace wattune::cli {

namespace {

void add_devices(CLI::App& app, DevicesArguments& arguments) {
  auto* command = app.add_subcommand("devices", "The devices found, and how to name them");
  command->add_option("--device", arguments.device,
                      "Only this device; sim:all for the simulated GPUs, sim:NAME for one of them; default: all real ones")
      ->check(not_empty());
  command->add_flag("--probe", arguments.probe,
                    "Find out what the power sensors of each GPU see, by reading them under loads of our own (about 40 s "
                    "a GPU, no setting is changed); kept in WATTUNE_SENSOR_DIR (default ~/.cache/wattune/sensors)");
  auto* table =
      command->add_flag("--probe-table", arguments.probe_table,
                        "The same, and a table of what counter and instantaneous power say of a load switched on and off");
  command->add_option("--phase-seconds", arguments.phase_seconds, "Seconds for each row and phase of that table")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.8, 60.0))
      ->needs(table);
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "Examples:\n  wattune devices\n  wattune devices --device sim:all\n  wattune devices --probe --device cuda:0");
}

void add_space(CLI::App& app, SpaceArguments& arguments) {
  auto* command = app.add_subcommand("space", "The search space of a problem: its size, parameters, configurations");
  command->add_option("PROBLEM", arguments.problem, "Problem file (T1 JSON)")->required();
  auto* count = command->add_flag("--count", arguments.count, "Print only the number of valid configurations");
  auto* list = command->add_flag("--list", arguments.list, "List all valid configurations, tab-separated");
  auto* sample = command->add_option("--sample", arguments.sample, "List N configurations drawn at random")
                     ->type_name("N")
                     ->check(whole_number(1, 1ULL << 32));
  count->excludes(list)->excludes(sample);
  list->excludes(sample);
  command->add_option("--seed", arguments.seed, "Seed of --sample")->type_name("N")->capture_default_str()->check(whole_number(0, any))->needs(sample);
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")->type_name("X,Y,Z")->check(not_empty());
  auto* json = command->add_flag("--json", arguments.json, "One JSON object on stdout");
  json->excludes(count)->excludes(list)->excludes(sample);
  command->footer(
      "Examples:\n"
      "  wattune space kernels/gemm/problem.json\n"
      "  wattune space kernels/gemm/problem.json --count\n"
      "  wattune space kernels/gemm/problem.json --sample 5 --seed 1");
}

std::string method_help() {
  std::string text = "Tuning method: what is searched at which clocks (docs/methods.md); default: the strategy searches everything";
  for (const auto& method : method_descriptions()) text += fmt::format("\n{}: {}", method.name, method.summary);
  return text + "\nclocks: no search but for the own clock of one configuration that is tuned already";
}

std::string strategy_help() {
  std::string text = "Search strategy:";
  for (const auto& strategy : strategy_descriptions()) {
    text += fmt::format("\n{}: {}", strategy.name, strategy.summary);
  }
  return text;
}

/// How settings may be made: options of all commands that make any.
void add_permission(CLI::App& command, SettingChoice& choice) {
  command.add_flag("--allow-settings", choice.allowed,
                   "Allow clocks and power limits to be changed; they are put back at the end, however that comes");
  command.add_option("--settings-wait", choice.wait_seconds,
                     "Seconds to wait for a device whose settings another run has; default: end at once")
      ->type_name("S")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--settings-command", choice.commands.set,
                     "A site's command that sets a GPU where users may not: {uuid}, {pci} or {index} stand for the GPU, "
                     "{setting} for sm_clock, memory_clock or power_limit, {value} for MHz or W (docs/settings.md)")
      ->type_name("CMD")
      ->check(not_empty());
  command.add_option("--settings-reset-command", choice.commands.reset, "Its counterpart that puts the GPU back")
      ->type_name("CMD")
      ->check(not_empty());
  command.add_option("--restore-clock", choice.restore_clock,
                     "MHz that the SM clock is locked to by somebody else, and is locked to again at the end")
      ->type_name("MHZ")
      ->check(not_empty());
}

/// Options of `tune` and `run` alike.
void add_settings(CLI::App& command, SettingChoice& choice, bool many) {
  const std::string values = many ? "a list (A,B,C), a range (LO:HI), N values of a range (LO:HI:N), N of all (:N), or all"
                                  : "one value";
  auto add = [&](const char* name, std::string& text, const std::string& what) {
    command.add_option(name, text, what + values)->type_name("VALUES")->check(not_empty());
  };
  add("--clocks", choice.clocks,
      many ? "SM clocks in MHz; ridge: those near the most efficient one of a compute-bound kernel, as the board's calibration "
             "tells; auto: the same for the search, then the own clocks of the best configurations among all; "
           : "SM clock in MHz: ");
  add("--memory-clocks", choice.memory_clocks, many ? "Memory clocks in MHz: " : "Memory clock in MHz: ");
  add("--power-limits", choice.power_limits, many ? "Power limits in W: " : "Power limit in W: ");
  add_permission(command, choice);
}

// The options of `tune`, under headings of their own in its help.

void add_objectives(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Objectives");
  command.add_option("--minimize", arguments.minimize, "Objective: time, energy, power, edp (energy-delay product), ed2p, or a metric (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--maximize", arguments.maximize, "Objective to maximise, for example GFLOP/s (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--subject-to", arguments.subject_to,
                      "Condition that the best has to meet, in SI units: 'time <= 0.0125', 'time <= 1.05*best(time)', "
                      "'power < 300' (repeatable; all have to hold)")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->check(not_empty());
  command.add_option("--host-power", arguments.host_watts,
                      "W that the host draws while it waits for the device: adds energy_with_host, and says whether the "
                      "same configuration is best with it")
      ->type_name("W")
      ->check(positive_number());
}

void add_search(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Search");
  command.add_option("--method", arguments.method, method_help())->type_name("NAME")->check(not_empty());
  command.add_option("--base-clock", arguments.base_clock,
                      "MHz at which energy-to-solution+clocks begins; default: the board's default application clock")
      ->type_name("MHZ")
      ->check(positive_number());
  command.add_option("--configuration", arguments.configuration,
                      "The configuration of --method clocks; parameters that are not named have their default")
      ->type_name("NAME=VALUE,...")
      ->check(not_empty());
  command.add_option("--strategy", arguments.strategy, strategy_help())->capture_default_str();
  command.add_option("--strategy-option", arguments.strategy_options, "Option of the strategy (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--budget", arguments.budget,
                      "When to end: evaluations (200), time (90s, 10min, 2h), a share of the space (5%); several joined "
                      "by commas or repeated end at the first reached; default: 10min")
      ->type_name("BUDGET")
      ->allow_extra_args(false);
  command.add_option("--seed", arguments.seed, "Seed of the strategy")->type_name("N")->capture_default_str()->check(whole_number(0, any));
}

void add_measuring(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Measuring");
  command.add_option("--timeout", arguments.timeout, "Seconds that verifying or timing a configuration may take at most")
      ->type_name("S")
      ->capture_default_str()
      ->check(positive_number());
  command.add_option("--abandon-above", arguments.abandon_above,
                      "Do not time further what is slower than the fastest so far by more than this factor; 0: never, and "
                      "end nothing before --timeout; default: 10 for strategies that learn, else time everything")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--meter", arguments.meter,
                      "Power meter: nvml; none; auto: the device's own where an objective needs energy or power")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvml", "none"}));
  command.add_option("--energy-estimator", arguments.energy_estimator,
                      "What energy is estimated from: the board's energy counter, the driver's samples of power, the "
                      "integral of fresh power readings, their median (for comparison); auto: the best that the board has")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "counter", "samples", "integral", "median"}));
  command.add_option("--energy-ticks", arguments.energy_ticks,
                      "Ticks of the meter's counter that an energy window spans")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command.add_option("--finalists", arguments.finalists,
                      "Configurations whose energy is measured again at the end, longer and several times; 0: none "
                      "(default 5)")
      ->type_name("N")
      ->check(whole_number(0, 100000));
  command.add_flag("--no-skip", arguments.no_skip,
                    "Where energy alone is minimised: measure also the energy of what cannot be the best");
  command.add_flag("--verify-only", arguments.verify_only, "Run and verify each configuration once; measure nothing");
}

void add_clocks(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Clocks and power limits");
  add_settings(command, arguments.settings, true);
  command.add_option("--clock-width", arguments.clock_width,
                      "Of --clocks ridge and auto: how far from the predicted optimum clocks are searched, on either side")
      ->type_name("P%")
      ->capture_default_str();
  command.add_option("--clock-count", arguments.clock_count, "How many of them at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 100000));
  command.add_flag("--assume-no-lock", arguments.settings.assume_no_lock,
                    "Do not look whether somebody else has locked the clock, which the run would unlock at its end");
  command.add_option("--voltage-command", arguments.voltage_command,
                      "Command that prints the GPU's voltage as nvidia-smi does, or as a number in mV or V; run once for each "
                      "clock, under load; {uuid} stands for the board; none: no voltage; default, where clocks or limits "
                      "are tuned: nvidia-smi -q -d VOLTAGE -i {uuid}")
      ->type_name("CMD")
      ->check(not_empty());
}

void add_compiling(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Compiling");
  command.add_option("--compiler", arguments.compiler, "CUDA compiler: nvrtc, nvcc, or auto (NVRTC, else nvcc)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvrtc", "nvcc"}));
  command.add_option("--compile-timeout", arguments.compile_timeout, "Seconds that compiling a variant may take")
      ->type_name("S")
      ->capture_default_str()
      ->check(positive_number());
  command.add_option("--compile-processes", arguments.compile_processes,
                      "Variants compiled at a time; 0: as many as there are cores")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  command.add_flag("--no-cache", arguments.no_cache,
                    "Compile anew; else compiled variants are kept in WATTUNE_CACHE_DIR (default ~/.cache/wattune)");
  command.add_flag("--keep-going", arguments.keep_going, "Go on where no configuration builds");
}

void add_tune(CLI::App& app, TuneArguments& arguments) {
  auto* command = app.add_subcommand("tune", "Compile, run, verify and measure configurations; name the best");
  command->add_option("PROBLEM", arguments.problem, "Problem file (T1 JSON)")->required();
  command->add_option("--device", arguments.device,
                      "Device as 'wattune devices' names it; default: the best one found for which there is a kernel")
      ->check(not_empty());
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")->type_name("X,Y,Z")->check(not_empty());
  command->add_option("-o,--output", arguments.output,
                      "Folder for the journal; default: beside the problem file, named after it")
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--top", arguments.top, "Rows of the final table")->type_name("N")->capture_default_str()->check(whole_number(0, 1000000));
  command->add_flag("--profile", arguments.profile, "Show where the time of the run went");
  command->add_flag("--json", arguments.json, "One JSON object on stdout; progress stays on stderr");
  add_objectives(*command, arguments);
  add_search(*command, arguments);
  add_measuring(*command, arguments);
  add_clocks(*command, arguments);
  add_compiling(*command, arguments);
  command->footer(
      "The same command given again goes on where it ended and repeats nothing. Ctrl-C keeps all results.\n"
      "Examples:\n"
      "  wattune tune kernels/gemm/problem.json\n"
      "  wattune tune kernels/gemm/problem.json --device opencl:0 --problem-size 256,256,256 --budget 40\n"
      "  wattune tune kernels/gemm/problem.json --device cuda:0 --minimize energy --minimize time --budget 200,30min\n"
      "  wattune tune kernels/gemm/problem.json --minimize energy --clocks auto --allow-settings\n"
      "  wattune tune kernels/gemm/problem.json --method clocks --configuration MWG=128,NWG=64 --allow-settings");
}

void add_calibrate(CLI::App& app, CalibrateArguments& arguments) {
  auto* command = app.add_subcommand("calibrate", "Measure a GPU's power over its clocks: the ridge, the clocks worth searching");
  command->add_option("--device", arguments.device, "Device as 'wattune devices' names it; default: the first CUDA GPU")
      ->check(not_empty());
  command->add_option("--form", arguments.form, "Form of the power model: free, paper or leakage (docs/model.md)")
      ->capture_default_str()
      ->check(CLI::IsMember({"free", "paper", "leakage"}));
  command->add_option("--samples", arguments.samples, "Clocks at which each of the two kernels is measured")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(8, 1000));
  command->add_flag("--two-stage", arguments.two_stage,
                    "Measure half of them spread over all clocks, the other half around the ridge that these suggest");
  command->add_option("--width", arguments.width, "How far from the predicted optimum clocks are recommended, on either side")
      ->type_name("P%")
      ->capture_default_str();
  command->add_option("--count", arguments.count, "How many clocks are recommended at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  auto* stored = command->add_flag("--stored", arguments.stored, "Show the calibration that is kept of this GPU or its model; set and measure nothing");
  command->add_flag("--no-probe", arguments.no_probe, "Do not probe power sensors that are not known yet (about 40 s)");
  add_permission(*command, arguments.settings);
  command->add_flag("--assume-no-lock", arguments.settings.assume_no_lock,
                    "Do not look whether somebody else has locked the clock");
  command->add_option("--voltage-command", arguments.voltage_command,
                      "Command that prints the GPU's voltage, as of tune; none: the ridge is found from power alone")
      ->type_name("CMD")
      ->check(not_empty());
  command->add_option("--compiler", arguments.compiler, "CUDA compiler: nvrtc, nvcc, or auto (NVRTC, else nvcc)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvrtc", "nvcc"}));
  for (const char* measuring : {"--samples", "--two-stage", "--voltage-command", "--compiler"}) {
    stored->excludes(command->get_option(measuring));
  }
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "It is kept in WATTUNE_CALIBRATION_DIR (default ~/.cache/wattune/calibrations), for --clocks ridge and --clocks auto.\n"
      "Other work on the device would disturb it.\n"
      "Examples:\n"
      "  wattune calibrate --device cuda:0 --allow-settings\n"
      "  wattune calibrate --device sim:a100-pcie-40gb --allow-settings --two-stage\n"
      "  wattune calibrate --stored --form leakage --json");
}

void add_compare(CLI::App& app, CompareArguments& arguments) {
  auto* command = app.add_subcommand("compare", "Tuning methods side by side: race-to-idle, energy-to-solution and the others");
  TuneArguments& tune = arguments.tune;
  command->add_option("RESULTS", arguments.inputs, "Result files (journal, Kernel Tuner cache, T4, CSV); with --device one problem file")
      ->required();
  command->add_option("--method", arguments.methods, "Only these, separated by commas: " + names_of(method_descriptions()))
      ->type_name("A,B")
      ->delimiter(',');
  command->add_option("--minimize", tune.minimize, "What is to be efficient; default: energy")->type_name("NAME")->allow_extra_args(false);
  command->add_option("--maximize", tune.maximize, "The same, for example GFLOP/J")->type_name("NAME")->allow_extra_args(false);
  command->add_option("--base-clock", tune.base_clock,
                      "MHz at which energy-to-solution+clocks begins; default, of runs: the board's default application clock")
      ->type_name("MHZ")
      ->check(positive_number());
  command->add_flag("--common-clock", arguments.common_clock,
                    "Also the one clock at which all these files' kernels together need least energy, one launch of each");
  command->add_option("--device", tune.device, "Run every method in turn on this device")->check(not_empty());
  command->add_option("--budget", tune.budget, "Of each run, as of tune; default: 10min")->type_name("BUDGET")->allow_extra_args(false);
  command->add_option("--strategy", tune.strategy, "Strategy that searches within methods")->capture_default_str();
  command->add_option("--seed", tune.seed, "Seed of the strategy")->type_name("N")->capture_default_str()->check(whole_number(0, any));
  command->add_option("--problem-size", tune.problem_size, "Replaces the file's ProblemSize")->type_name("X,Y,Z")->check(not_empty());
  command->add_option("-o,--output", tune.output, "Folder for the runs' journals, a folder each; default: beside the problem file")
      ->type_name("DIR")
      ->check(not_empty());
  add_settings(*command, tune.settings, true);
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "Of results with every configuration each method is worked out as if it had tried all that it may; of journals of runs\n"
      "with --method what each run has found is shown. docs/methods.md describes both.\n"
      "Examples:\n"
      "  wattune compare cache.json.gz --maximize TFLOPS/J --base-clock 1500\n"
      "  wattune compare beamformer.jsonl correlator.jsonl --common-clock\n"
      "  wattune compare kernels/gemm/problem.json --device cuda:0 --allow-settings --clocks :20 --budget 200");
}

void add_restore(CLI::App& app, RestoreArguments& arguments) {
  auto* command = app.add_subcommand("restore", "Put clocks and power limits back after a crash that nothing could catch");
  command->add_flag("--stale", arguments.stale, "Say nothing of devices that living runs use: for epilogs of batch jobs");
  command->footer("Examples:\n  wattune restore\n  wattune restore --stale");
}

void add_run(CLI::App& app, RunArguments& arguments) {
  auto* command = app.add_subcommand("run", "Run a program under other clocks or limits, and put them back afterwards");
  command->add_option("--settings", arguments.settings_file,
                      "JSON file with nvml_gr_clock, nvml_mem_clock (MHz), nvml_pwr_limit (W); or what tune --json printed")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_option("--device", arguments.device, "Device as 'wattune devices' names it")
      ->capture_default_str()
      ->check(not_empty());
  add_settings(*command, arguments.choice, false);
  command->add_option("COMMAND", arguments.command, "The program and its arguments, after --")->required();
  command->positionals_at_end(true);
  command->footer(
      "The exit status is the program's; 125 where wattune itself fails, 126 and 127 where the program cannot be run.\n"
      "Examples:\n"
      "  wattune run --allow-settings --clocks 1200 -- ./simulation input\n"
      "  wattune run --allow-settings --settings best.json --device cuda:1 -- ./simulation input");
}

void add_wattuned(CLI::App& app, WattunedArguments& arguments) {
  auto* command = app.add_subcommand("wattuned", "The system-wide settings server, run by root (docs/settings.md)");
  command->add_option("--config", arguments.config, "Group and bounds; default: /etc/wattune/wattuned.json, if it exists")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_option("--socket", arguments.socket, "Where to listen; default: /run/wattune/wattuned.sock")
      ->type_name("PATH")
      ->check(not_empty());
  command->footer("Example:\n  wattune wattuned --config /etc/wattune/wattuned.json");
}

/// The options that the command line names, as opposed to those that have the same value by default.
std::vector<std::string> options_given(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0 && option->nonpositional()) names.push_back(option->get_name());
  }
  return names;
}

/// What is wrong with a command line, and what to do about it.
UsageError refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();  // "wattune results show": the command that was being read
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += ' ' + command->get_name();
  }
  std::vector<std::string> options;
  for (const auto* option : command->get_options()) {
    if (option->nonpositional()) options.push_back(option->get_name());
  }
  std::vector<std::string> commands;
  for (const auto* below : command->get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(below->get_name());
  }
  const auto unknown = command->remaining();
  const auto option = std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with('-'); });
  std::string text = error.what();
  if (option != unknown.end()) {
    const std::string given = option->substr(0, option->find('='));
    text = fmt::format("there is no option '{}'{}", given, did_you_mean(given, options));
  } else if (!commands.empty()) {
    text = unknown.empty() ? fmt::format("a command is missing: {}", fmt::join(commands, ", "))
                           : fmt::format("there is no command '{} {}'{}; there are {}", name, unknown.front(),
                                         did_you_mean(unknown.front(), commands), fmt::join(commands, ", "));
  } else if (!unknown.empty()) {
    text = fmt::format("'{}' is one argument too many", unknown.front());
  }
  return UsageError(fmt::format("{}; '{} --help' shows what there is", text, name));
}

int run(int argc, char** argv) {
  CLI::App app("wattune tunes GPU kernels for energy and speed.", "wattune");
  app.set_version_flag("--version", std::string("wattune ") + WATTUNE_VERSION);
  app.require_subcommand(1);
  app.footer("'wattune COMMAND --help' shows the options and examples of a command.");
  DevicesArguments devices;
  SpaceArguments space;
  TuneArguments tune;
  add_devices(app, devices);
  add_space(app, space);
  add_tune(app, tune);
  CalibrateArguments calibrate;
  add_calibrate(app, calibrate);
  CompareArguments compare;
  add_compare(app, compare);
  ResultsCommands results;
  results.add_to(app);
  RestoreArguments restore;
  RunArguments run_arguments;
  WattunedArguments wattuned;
  add_restore(app, restore);
  add_run(app, run_arguments);
  add_wattuned(app, wattuned);
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  const bool known = argc < 2 || argv[1][0] == '-' ||
                     std::any_of(commands.begin(), commands.end(), [&](CLI::App* c) { return c->get_name() == argv[1]; });
  if (!known) {
    std::vector<std::string> names;
    for (const auto* command : commands) names.push_back(command->get_name());
    throw UsageError(fmt::format("there is no command '{}'{}; there are {}", argv[1], did_you_mean(argv[1], names),
                                 fmt::join(names, ", ")));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw refusal(app, error);
  }
  if (app.got_subcommand("devices")) return run_devices(devices);
  if (app.got_subcommand("space")) return run_space(space);
  if (app.got_subcommand("calibrate")) return run_calibrate(calibrate);
  if (app.got_subcommand("compare")) {
    compare.tune.given = options_given(*app.get_subcommand("compare"));
    return run_compare(compare);
  }
  if (app.got_subcommand("restore")) return run_restore(restore);
  if (app.got_subcommand("run")) return run_run(run_arguments);
  if (app.got_subcommand("wattuned")) return run_wattuned(wattuned);
  if (const auto code = results.run(app)) return *code;
  tune.given = options_given(*app.get_subcommand("tune"));
  return run_tune(tune);
}

}  // namespace

}  // namespace wattune::cli

int main(int argc, char** argv) {
  // A limit on file sizes and a reader that has gone away are errors of a write, not ends of the process. Handlers, for
  // what is ignored would be ignored in every program that is started from here.
  std::signal(SIGPIPE, [](int) {});
  std::signal(SIGXFSZ, [](int) {});
  try {
    wattune::register_kernel_references();
    const wattune::Runtime runtime(argc, argv);
    const int code = wattune::cli::run(argc, argv);
    // A full disk behind a redirection shows only now; a reader that has gone away has seen what it wanted.
    if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && errno != EPIPE) {
      throw wattune::RunError("cannot write the results to standard output: " + wattune::system_error_text(errno));
    }
    return code;
  } catch (const wattune::Error& error) {
    wattune::cli::say("wattune: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) return static_cast<int>(wattune::ExitCode::done);
    wattune::cli::say("wattune: {}\n", error.what());
    return static_cast<int>(wattune::ExitCode::run_failed);
  } catch (const std::exception& error) {
    wattune::cli::say("wattune: unexpected error: {}\n", error.what());
    return static_cast<int>(wattune::ExitCode::run_failed);
  }
}
