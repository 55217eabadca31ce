#include "cli/replay_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "cli/say.hpp"
#include "cli/tune_clocks.hpp"
#include "cli/tune_method.hpp"
#include "settings/selection.hpp"

namespace wattune::cli {

namespace {

using namespace std::string_view_literals;

/// What choosing among results needs.
constexpr std::array applicable = {
    "--device"sv,          "--problem-size"sv,  "--minimize"sv,     "--maximize"sv, "--subject-to"sv, "--method"sv,
    "--base-clock"sv,      "--strategy"sv,      "--seed"sv,         "--budget"sv,   "--output"sv,     "--clocks"sv,
    "--strategy-option"sv, "--memory-clocks"sv, "--power-limits"sv, "--top"sv,      "--json"sv,
};

/// How careful, fast or permitted measuring would be: results are the same without.
constexpr std::array without_effect = {
    "--allow-settings"sv, "--settings-wait"sv,  "--settings-command"sv, "--settings-reset-command"sv,
    "--restore-clock"sv,  "--assume-no-lock"sv, "--compile-timeout"sv,  "--compile-processes"sv,
    "--timeout"sv,        "--no-cache"sv,       "--keep-going"sv,       "--finalists"sv,
    "--no-skip"sv,        "--abandon-above"sv,  "--profile"sv,
};

constexpr std::string_view energy_is_recorded = "energy and power are what was recorded";

struct Refusal {
  std::string_view option;
  std::string_view why;
};
constexpr std::array refused = {
    Refusal{"--meter", energy_is_recorded},
    Refusal{"--energy-estimator", energy_is_recorded},
    Refusal{"--energy-ticks", energy_is_recorded},
    Refusal{"--voltage-command", "voltages are what was recorded"},
    Refusal{"--verify-only", "nothing is run that could be verified"},
    Refusal{"--compiler", "nothing is compiled"},
    Refusal{"--host-power", "define a metric of energy and time in the problem instead"},
    Refusal{"--clock-width", "it is of --clocks ridge and auto, which follow from a board's calibration"},
    Refusal{"--clock-count", "it is of --clocks ridge and auto, which follow from a board's calibration"},
};

std::string_view why_refused(std::string_view option) {
  const auto found = std::ranges::find(refused, option, &Refusal::option);
  return found == refused.end() ? "nothing is measured" : found->why;
}

std::string size_text(const std::vector<std::int64_t>& size, const char* separator) {
  return fmt::format("{}", fmt::join(size, separator));
}

/// Trailing dimensions of 1 are written or left out.
std::vector<std::int64_t> essential(std::vector<std::int64_t> size) {
  while (size.size() > 1 && size.back() == 1) size.pop_back();
  return size;
}

/// The recorded values of a setting in SI units, ascending.
std::vector<double> numbers_of(const std::vector<Value>& values, Setting setting) {
  std::vector<double> numbers;
  for (const Value& value : values) numbers.push_back(value.as_double() * edge_scale(setting));
  std::ranges::sort(numbers);
  return numbers;
}

/// The recorded values as those that a board supports.
Capabilities capabilities_of(Setting setting, const std::vector<double>& numbers, const std::string& file) {
  Capabilities recorded;
  recorded.name = fmt::format("'{}'", file);
  if (setting == Setting::power_limit) {
    recorded.power_limit = SettingRange{numbers.front(), numbers.back()};
    recorded.power_limit_default = numbers.back();
  } else {
    (setting == Setting::memory_clock ? recorded.memory_clocks : recorded.sm_clocks) = numbers;
  }
  return recorded;
}

/// The recorded values that a selection means, in their own order and form.
std::vector<Value> select_recorded(Setting setting, const std::string& text, const std::vector<Value>& recorded,
                                   const std::string& file, const std::string& place) {
  if (text == "all") return recorded;
  const double tolerance = 0.5 * (setting == Setting::power_limit ? 1 : edge_scale(setting));
  const auto numbers = numbers_of(recorded, setting);
  std::vector<Value> chosen;
  for (const double wanted : select_settings(setting, text, capabilities_of(setting, numbers, file), place)) {
    const auto same = [&](const Value& value) {
      return std::fabs(value.as_double() * edge_scale(setting) - wanted) < tolerance;
    };
    const auto found = std::ranges::find_if(recorded, same);
    if (found == recorded.end()) {
      std::vector<double> shown;
      for (const double number : numbers) shown.push_back(number / edge_scale(setting));
      throw UsageError(fmt::format("{}: {:g} {} is not recorded in '{}'; there are {} {}", place,
                                   wanted / edge_scale(setting), edge_unit(setting), file, fmt::join(shown, ", "),
                                   edge_unit(setting)));
    }
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

/// What of a setting is searched; empty: not said.
std::pair<std::string, std::string> selection_of(Setting setting, const TuneArguments& arguments,
                                                 const Problem& problem) {
  const std::string name(parameter_of(setting));
  if (const std::string& text = arguments.settings.text(setting); !text.empty())
    return {text, std::string(option_of(setting))};
  const auto in_file = problem.device_settings.find(name);
  if (in_file == problem.device_settings.end()) return {};
  return {in_file->second, fmt::format("{}: wattune.DeviceSettings.{}", problem.file.string(), name)};
}

}  // namespace

void check_replay_options(const TuneArguments& arguments) {
  std::vector<std::string> unused;
  for (const auto& option : arguments.given) {
    if (std::ranges::find(applicable, option) != applicable.end()) continue;
    if (std::ranges::find(without_effect, option) == without_effect.end()) {
      throw UsageError(
          fmt::format("{}: not with recorded results ({}): {}", option, arguments.device, why_refused(option)));
    }
    unused.push_back(option);
  }
  check_base_clock(arguments.base_clock, std::span(&arguments.method, arguments.method.empty() ? 0 : 1));
  if (are_calibrated(arguments.settings)) {
    throw UsageError(fmt::format(
        "--clocks {}: follows from the calibration of a board, and recorded results have none; name clocks, or all",
        arguments.settings.clocks));
  }
  if (unused.empty()) return;
  say("wattune: warning: {} {} no effect: results are recorded, nothing is set, compiled or measured\n",
      fmt::join(unused, ", "), unused.size() == 1 ? "has" : "have");
}

std::vector<Parameter> recorded_settings(const TuneArguments& arguments, const Problem& problem, const Results& results,
                                         const std::string& file) {
  std::vector<Parameter> parameters;
  const auto& names = results.header.parameter_names;
  for (const Setting setting : all_settings) {
    const std::string name(parameter_of(setting));
    const auto found = std::ranges::find(names, name);
    const auto& [text, place] = selection_of(setting, arguments, problem);
    if (found == names.end()) {
      if (arguments.settings.text(setting).empty()) continue;
      throw UsageError(fmt::format("{}: the results of '{}' have no {}: they were recorded at one {}",
                                   option_of(setting), file, name, to_string(setting)));
    }
    const auto& recorded = results.header.parameter_values[static_cast<std::size_t>(found - names.begin())];
    const bool are_numbers = std::ranges::all_of(recorded, [](const Value& value) { return value.is_number(); });
    const bool is_own =
        std::ranges::any_of(problem.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
    if (recorded.empty() || !are_numbers || (is_own && text.empty())) continue;
    parameters.push_back({name, select_recorded(setting, text.empty() ? "all" : text, recorded, file, place)});
  }
  return parameters;
}

void check_problem_size(const TuneArguments& arguments, const Problem& problem, const Results& results,
                        const std::string& file) {
  const auto& recorded = results.header.problem_size;
  const auto& wanted = problem.problem_size;
  if (recorded.empty() || wanted.empty() || essential(recorded) == essential(wanted)) return;
  const std::string by = arguments.problem_size.empty() ? fmt::format("the problem '{}'", problem.file.string())
                                                        : std::string("--problem-size");
  throw UsageError(
      fmt::format("the results of '{}' are of problem size {}, and {} is {}: they tell nothing of another size; give "
                  "--problem-size {}, or results of {}",
                  file, size_text(recorded, " x "), by, size_text(wanted, " x "), size_text(recorded, ","),
                  size_text(wanted, " x ")));
}

}  // namespace wattune::cli
