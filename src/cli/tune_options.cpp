#include "cli/tune_options.hpp"

#include <fmt/format.h>

#include <string>

#include "cli/options.hpp"
#include "method/method.hpp"
#include "strategy/strategy.hpp"

namespace wattune::cli {

void add_permission(CLI::App& command, SettingChoice& choice) {
  command.add_flag("--allow-settings", choice.allowed,
                   "Allow clocks and power limits to be changed; they are put back at the end, however that comes");
  command
      .add_option("--settings-wait", choice.wait_seconds,
                  "Seconds to wait for a device whose settings another run has; default: end at once")
      ->type_name("S")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--settings-command", choice.commands.set,
                  "A site's command that sets a GPU where users may not: {uuid}, {pci} or {index} stand for the GPU, "
                  "{setting} for sm_clock, memory_clock or power_limit, {value} for MHz or W (docs/settings.md)")
      ->type_name("CMD")
      ->check(not_empty());
  command.add_option("--settings-reset-command", choice.commands.reset, "Its counterpart that puts the GPU back")
      ->type_name("CMD")
      ->check(not_empty());
  command
      .add_option("--restore-clock", choice.restore_clock,
                  "MHz that the SM clock is locked to by somebody else, and is locked to again at the end")
      ->type_name("MHZ")
      ->check(not_empty());
}

void add_settings(CLI::App& command, SettingChoice& choice, bool many) {
  const std::string values =
      many ? "a list (A,B,C), a range (LO:HI), N values of a range (LO:HI:N), N of all (:N), or all" : "one value";
  auto add = [&](const char* name, std::string& text, const std::string& what) {
    command.add_option(name, text, what + values)->type_name("VALUES")->check(not_empty());
  };
  add("--clocks", choice.clocks,
      many ? "SM clocks in MHz; ridge: those near the most efficient one of a compute-bound kernel, as the board's "
             "calibration "
             "tells; auto: the same for the search, then the own clocks of the best configurations among all; "
           : "SM clock in MHz: ");
  add("--memory-clocks", choice.memory_clocks, many ? "Memory clocks in MHz: " : "Memory clock in MHz: ");
  add("--power-limits", choice.power_limits, many ? "Power limits in W: " : "Power limit in W: ");
  add_permission(command, choice);
}

namespace {

std::string method_help() {
  std::string text =
      "Tuning method: what is searched at which clocks (docs/methods.md); default: the strategy searches everything";
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

// The options of `tune`, under headings of their own in its help.

void add_objectives(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Objectives");
  command
      .add_option("--minimize", arguments.minimize,
                  "Objective: time, energy, power, edp (energy-delay product), ed2p, or a metric (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--maximize", arguments.maximize, "Objective to maximise, for example GFLOP/s (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--subject-to", arguments.subject_to,
                  "Condition that the best has to meet, in SI units: 'time <= 0.0125', 'time <= 1.05*best(time)', "
                  "'power < 300' (repeatable; all have to hold)")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->check(not_empty());
  command
      .add_option("--host-power", arguments.host_watts,
                  "W that the host draws while it waits for the device: adds energy_with_host, and says whether the "
                  "same configuration is best with it")
      ->type_name("W")
      ->check(positive_number());
}

void add_search(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Search");
  command.add_option("--method", arguments.method, method_help())->type_name("NAME")->check(not_empty());
  command
      .add_option("--base-clock", arguments.base_clock,
                  "MHz at which energy-to-solution+clocks begins; default: the board's default application clock")
      ->type_name("MHZ")
      ->check(positive_number());
  command
      .add_option("--configuration", arguments.configuration,
                  "The configuration of --method clocks; parameters that are not named have their default")
      ->type_name("NAME=VALUE,...")
      ->check(not_empty());
  command.add_option("--strategy", arguments.strategy, strategy_help())->capture_default_str();
  command.add_option("--strategy-option", arguments.strategy_options, "Option of the strategy (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--budget", arguments.budget,
                  "When to end: evaluations (200), time (90s, 10min, 2h), a share of the space (5%); several joined "
                  "by commas or repeated end at the first reached; default: 10min")
      ->type_name("BUDGET")
      ->allow_extra_args(false);
  command.add_option("--seed", arguments.seed, "Seed of the strategy")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, any));
}

void add_measuring(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Measuring");
  command
      .add_option("--timeout", arguments.timeout, "Seconds that verifying or timing a configuration may take at most")
      ->type_name("S")
      ->capture_default_str()
      ->check(positive_number());
  command
      .add_option("--abandon-above", arguments.abandon_above,
                  "Do not time further what is slower than the fastest so far by more than this factor; 0: never, and "
                  "end nothing before --timeout; default: 10 for strategies that learn, else time everything")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--meter", arguments.meter,
                  "Power meter: nvml; none; auto: the device's own where an objective needs energy or power")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvml", "none"}));
  command
      .add_option("--energy-estimator", arguments.energy_estimator,
                  "What energy is estimated from: the board's energy counter, the driver's samples of power, the "
                  "integral of fresh power readings, their median (for comparison); auto: the best that the board has")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "counter", "samples", "integral", "median"}));
  command
      .add_option("--energy-ticks", arguments.energy_ticks, "Ticks of the meter's counter that an energy window spans")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command
      .add_option("--finalists", arguments.finalists,
                  "Configurations whose energy is measured again at the end, longer and several times; 0: none "
                  "(default 5)")
      ->type_name("N")
      ->check(whole_number(0, 100000));
  command.add_flag(
      "--no-skip", arguments.no_skip,
      "Where energy alone is minimised, what is too slow to need the least is not measured, and the rest given "
      "up as soon as it cannot: measure all of it");
  command.add_flag("--verify-only", arguments.verify_only, "Run and verify each configuration once; measure nothing");
}

void add_clocks(CLI::App& command, TuneArguments& arguments) {
  command.option_defaults()->group("Clocks and power limits");
  add_settings(command, arguments.settings, true);
  command
      .add_option("--clock-width", arguments.clock_width,
                  "Of --clocks ridge and auto: how far from the predicted optimum clocks are searched, on either side")
      ->type_name("P%")
      ->capture_default_str();
  command.add_option("--clock-count", arguments.clock_count, "How many of them at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 100000));
  command.add_flag("--assume-no-lock", arguments.settings.assume_no_lock,
                   "Do not look whether somebody else has locked the clock, which the run would unlock at its end");
  command
      .add_option(
          "--voltage-command", arguments.voltage_command,
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
  command
      .add_option("--compile-processes", arguments.compile_processes,
                  "Variants compiled at a time; 0: as many as there are cores")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  command.add_flag("--no-cache", arguments.no_cache,
                   "Compile anew; else compiled variants are kept in WATTUNE_CACHE_DIR (default ~/.cache/wattune)");
  command.add_flag("--keep-going", arguments.keep_going, "Go on where no configuration builds");
}

}  // namespace

void add_tune(CLI::App& app, TuneArguments& arguments) {
  auto* command = app.add_subcommand("tune", "Compile, run, verify and measure configurations; name the best");
  command->add_option("PROBLEM", arguments.problem, "Problem file (T1 JSON)")->required();
  command
      ->add_option("--device", arguments.device,
                   "Device as 'wattune devices' names it; default: the best one found for which there is a kernel")
      ->check(not_empty());
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")
      ->type_name("X,Y,Z")
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments.output,
                   "Folder for the journal; default: beside the problem file, named after it")
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--top", arguments.top, "Rows of the final table")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, 1000000));
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

}  // namespace wattune::cli
