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
#include "cli/tune_options.hpp"
#include "expr/nearest_name.hpp"
#include "kernels/references.hpp"
#include "method/method.hpp"
#include "tune/runtime.hpp"

namespace wattune::cli {

namespace {

void add_devices(CLI::App& app, DevicesArguments& arguments) {
  auto* command = app.add_subcommand("devices", "The devices found, and how to name them");
  command
      ->add_option("--device", arguments.device,
                   "Only this device; sim:all for the simulated GPUs, sim:NAME for one of them; default: all real ones")
      ->check(not_empty());
  command->add_flag(
      "--probe", arguments.probe,
      "Find out what the power sensors of each GPU see, by reading them under loads of our own (about 40 s "
      "a GPU, no setting is changed); kept in WATTUNE_SENSOR_DIR (default ~/.cache/wattune/sensors)");
  auto* table = command->add_flag(
      "--probe-table", arguments.probe_table,
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
  command->add_option("--seed", arguments.seed, "Seed of --sample")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, any))
      ->needs(sample);
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")
      ->type_name("X,Y,Z")
      ->check(not_empty());
  auto* json = command->add_flag("--json", arguments.json, "One JSON object on stdout");
  json->excludes(count)->excludes(list)->excludes(sample);
  command->footer(
      "Examples:\n"
      "  wattune space kernels/gemm/problem.json\n"
      "  wattune space kernels/gemm/problem.json --count\n"
      "  wattune space kernels/gemm/problem.json --sample 5 --seed 1");
}

void add_calibrate(CLI::App& app, CalibrateArguments& arguments) {
  auto* command =
      app.add_subcommand("calibrate", "Measure a GPU's power over its clocks: the ridge, the clocks worth searching");
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
  command
      ->add_option("--width", arguments.width,
                   "How far from the predicted optimum clocks are recommended, on either side")
      ->type_name("P%")
      ->capture_default_str();
  command->add_option("--count", arguments.count, "How many clocks are recommended at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  auto* stored =
      command->add_flag("--stored", arguments.stored,
                        "Show the calibration that is kept of this GPU or its model; set and measure nothing");
  command->add_flag("--no-probe", arguments.no_probe, "Do not probe power sensors that are not known yet (about 40 s)");
  add_permission(*command, arguments.settings);
  command->add_flag("--assume-no-lock", arguments.settings.assume_no_lock,
                    "Do not look whether somebody else has locked the clock");
  command
      ->add_option("--voltage-command", arguments.voltage_command,
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
      "It is kept in WATTUNE_CALIBRATION_DIR (default ~/.cache/wattune/calibrations), for --clocks ridge and --clocks "
      "auto.\n"
      "Other work on the device would disturb it.\n"
      "Examples:\n"
      "  wattune calibrate --device cuda:0 --allow-settings\n"
      "  wattune calibrate --device sim:a100-pcie-40gb --allow-settings --two-stage\n"
      "  wattune calibrate --stored --form leakage --json");
}

void add_compare(CLI::App& app, CompareArguments& arguments) {
  auto* command =
      app.add_subcommand("compare", "Tuning methods side by side: race-to-idle, energy-to-solution and the others");
  TuneArguments& tune = arguments.tune;
  command
      ->add_option("RESULTS", arguments.inputs,
                   "Result files (journal, Kernel Tuner cache, T4, CSV); with --device one problem file")
      ->required();
  command
      ->add_option("--method", arguments.methods, "Only these, separated by commas: " + names_of(method_descriptions()))
      ->type_name("A,B")
      ->delimiter(',');
  command->add_option("--minimize", tune.minimize, "What is to be efficient; default: energy")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--maximize", tune.maximize, "The same, for example GFLOP/J")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--base-clock", tune.base_clock,
          "MHz at which energy-to-solution+clocks begins; default, of runs: the board's default application clock")
      ->type_name("MHZ")
      ->check(positive_number());
  command->add_flag(
      "--common-clock", arguments.common_clock,
      "Also the one clock at which all these files' kernels together need least energy, one launch of each");
  command->add_option("--device", tune.device, "Run every method in turn on this device")->check(not_empty());
  command->add_option("--budget", tune.budget, "Of each run, as of tune; default: 10min")
      ->type_name("BUDGET")
      ->allow_extra_args(false);
  command->add_option("--strategy", tune.strategy, "Strategy that searches within methods")->capture_default_str();
  command->add_option("--seed", tune.seed, "Seed of the strategy")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, any));
  command->add_option("--problem-size", tune.problem_size, "Replaces the file's ProblemSize")
      ->type_name("X,Y,Z")
      ->check(not_empty());
  command
      ->add_option("-o,--output", tune.output,
                   "Folder for the runs' journals, a folder each; default: beside the problem file")
      ->type_name("DIR")
      ->check(not_empty());
  add_settings(*command, tune.settings, true);
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "Of results with every configuration each method is worked out as if it had tried all that it may; of journals "
      "of runs\n"
      "with --method what each run has found is shown. docs/methods.md describes both.\n"
      "Examples:\n"
      "  wattune compare cache.json.gz --maximize TFLOPS/J --base-clock 1500\n"
      "  wattune compare beamformer.jsonl correlator.jsonl --common-clock\n"
      "  wattune compare kernels/gemm/problem.json --device cuda:0 --allow-settings --clocks :20 --budget 200");
}

void add_restore(CLI::App& app, RestoreArguments& arguments) {
  auto* command =
      app.add_subcommand("restore", "Put clocks and power limits back after a crash that nothing could catch");
  command->add_flag("--stale", arguments.stale,
                    "Say nothing of devices that living runs use: for epilogs of batch jobs");
  command->footer("Examples:\n  wattune restore\n  wattune restore --stale");
}

void add_run(CLI::App& app, RunArguments& arguments) {
  auto* command = app.add_subcommand("run", "Run a program under other clocks or limits, and put them back afterwards");
  command
      ->add_option(
          "--settings", arguments.settings_file,
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
  command
      ->add_option("--config", arguments.config, "Group and bounds; default: /etc/wattune/wattuned.json, if it exists")
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
  const bool known = argc < 2 || argv[1][0] == '-' || std::any_of(commands.begin(), commands.end(), [&](CLI::App* c) {
                       return c->get_name() == argv[1];
                     });
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
