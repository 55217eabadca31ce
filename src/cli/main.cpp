// The command line. CLI11 is slow to compile and stays in this file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/commands.hpp"
#include "kernels/references.hpp"
#include "strategy/strategy.hpp"
#include "tune/runtime.hpp"

namespace wattune::cli {

namespace {

/// Whole numbers within 64 bits; CLI11 would wrap negative ones.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[=](std::string& text) {
            std::uint64_t number = 0;
            const char* end = text.data() + text.size();
            const auto parsed = std::from_chars(text.data(), end, number);
            if (parsed.ec == std::errc() && parsed.ptr == end && number >= least && number <= most) return std::string();
            return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
          },
          "N"};
}

CLI::Validator positive_number() {
  return {[](std::string& text) {
            double number = 0;
            const char* end = text.data() + text.size();
            const auto parsed = std::from_chars(text.data(), end, number);
            const bool good = parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(number) && number > 0;
            return good ? std::string() : fmt::format("'{}' is no positive number", text);
          },
          "X"};
}

/// A script's variable that is not set must not quietly mean the default.
CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); }, ""};
}

constexpr std::uint64_t any = UINT64_MAX;

void add_devices(CLI::App& app, DevicesArguments& arguments) {
  auto* command = app.add_subcommand("devices", "The devices found, and how to name them");
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer("Example:\n  wattune devices");
}

void add_space(CLI::App& app, SpaceArguments& arguments) {
  auto* command = app.add_subcommand("space", "The search space of a problem: its size, parameters, configurations");
  command->add_option("PROBLEM", arguments.problem, "Problem file (T1 JSON)")->required();
  auto* count = command->add_flag("--count", arguments.count, "Print only the number of valid configurations");
  auto* list = command->add_flag("--list", arguments.list, "List all valid configurations, tab-separated");
  auto* sample = command->add_option("--sample", arguments.sample, "List N configurations drawn at random")
                     ->type_name("")
                     ->check(whole_number(1, 1ULL << 32));
  count->excludes(list)->excludes(sample);
  list->excludes(sample);
  command->add_option("--seed", arguments.seed, "Seed of --sample")->type_name("")->capture_default_str()->check(whole_number(0, any));
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")->type_name("X,Y,Z")->check(not_empty());
  auto* json = command->add_flag("--json", arguments.json, "One JSON object on stdout");
  json->excludes(count)->excludes(list)->excludes(sample);
  command->footer(
      "Examples:\n"
      "  wattune space kernels/gemm/problem.json\n"
      "  wattune space kernels/gemm/problem.json --count\n"
      "  wattune space kernels/gemm/problem.json --sample 5 --seed 1");
}

std::string strategy_help() {
  std::string text = "Search strategy:";
  for (const auto& strategy : strategy_descriptions()) {
    text += fmt::format("\n{}: {}", strategy.name, strategy.summary);
  }
  return text;
}

void add_tune(CLI::App& app, TuneArguments& arguments) {
  auto* command = app.add_subcommand("tune", "Compile, run, verify and measure configurations; name the best");
  command->add_option("PROBLEM", arguments.problem, "Problem file (T1 JSON)")->required();
  command->add_option("--device", arguments.device,
                      "Device as 'wattune devices' names it; default: the best one found for which there is a kernel")
      ->check(not_empty());
  command->add_option("--problem-size", arguments.problem_size, "Replaces the file's ProblemSize")->type_name("X,Y,Z")->check(not_empty());
  command->add_option("--minimize", arguments.minimize, "Objective: time, energy, power or a metric (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--maximize", arguments.maximize, "Objective to maximise, for example GFLOP/s (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--strategy", arguments.strategy, strategy_help())->capture_default_str();
  command->add_option("--budget", arguments.budget,
                      "When to end: evaluations (200), time (90s, 10min, 2h), a share of the space (5%); several joined "
                      "by commas or repeated end at the first reached; default: 10min")
      ->type_name("BUDGET")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments.seed, "Seed of the strategy")->type_name("")->capture_default_str()->check(whole_number(0, any));
  command->add_option("-o,--output", arguments.output,
                      "Folder for the journal; default: beside the problem file, named after it")
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--timeout", arguments.timeout, "Seconds that verifying or timing a configuration may take")
      ->type_name("")
      ->capture_default_str()
      ->check(positive_number());
  command->add_option("--compile-timeout", arguments.compile_timeout, "Seconds that compiling a variant may take")
      ->type_name("")
      ->capture_default_str()
      ->check(positive_number());
  command->add_option("--compile-processes", arguments.compile_processes,
                      "Variants compiled at a time; 0: as many as there are cores")
      ->type_name("")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  command->add_option("--compiler", arguments.compiler, "CUDA compiler: nvrtc, nvcc, or auto (NVRTC, else nvcc)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvrtc", "nvcc"}));
  command->add_option("--meter", arguments.meter,
                      "Power meter: nvml; none; auto: the device's own where an objective needs energy or power")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nvml", "none"}));
  command->add_option("--energy-ticks", arguments.energy_ticks,
                      "Ticks of the meter's counter that an energy window spans")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command->add_flag("--verify-only", arguments.verify_only, "Run and verify each configuration once; measure nothing");
  command->add_flag("--keep-going", arguments.keep_going, "Go on where no configuration builds");
  command->add_option("--abandon-above", arguments.abandon_above,
                      "Do not time further what is slower than the fastest so far by more than this factor; 0: time all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--no-cache", arguments.no_cache,
                    "Compile anew; else compiled variants are kept in WATTUNE_CACHE_DIR (default ~/.cache/wattune)");
  command->add_flag("--profile", arguments.profile, "Show where the time of the run went");
  command->add_option("--top", arguments.top, "Rows of the final table")->type_name("")->capture_default_str()->check(whole_number(0, 1000000));
  command->add_flag("--json", arguments.json, "One JSON object on stdout; progress stays on stderr");
  command->footer(
      "The same command given again goes on where it ended and repeats nothing. Ctrl-C keeps all results.\n"
      "Examples:\n"
      "  wattune tune kernels/gemm/problem.json\n"
      "  wattune tune kernels/gemm/problem.json --device opencl:0 --problem-size 256,256,256 --budget 40\n"
      "  wattune tune kernels/gemm/problem.json --device cuda:0 --minimize energy --minimize time --budget 200,30min");
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
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  const bool known = argc < 2 || argv[1][0] == '-' ||
                     std::any_of(commands.begin(), commands.end(), [&](CLI::App* c) { return c->get_name() == argv[1]; });
  if (!known) {
    throw UsageError(fmt::format("there is no command '{}'; there are devices, space and tune", argv[1]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; 'wattune --help' shows what there is", error.what()));
  }
  if (app.got_subcommand("devices")) return run_devices(devices);
  if (app.got_subcommand("space")) return run_space(space);
  return run_tune(tune);
}

}  // namespace

}  // namespace wattune::cli

int main(int argc, char** argv) {
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
    fmt::print(stderr, "wattune: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    fmt::print(stderr, "wattune: {}\n", error.what());
    return static_cast<int>(wattune::ExitCode::run_failed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "wattune: unexpected error: {}\n", error.what());
    return static_cast<int>(wattune::ExitCode::run_failed);
  }
}
