#include "cli/tune_clocks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/model_report.hpp"
#include "cli/replay_device.hpp"
#include "cli/say.hpp"
#include "method/method.hpp"
#include "model/clock_choice.hpp"
#include "report/format.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double per_mhz = 1e6;
constexpr const char* clocks_method = "clocks";

double quantity_of(const Evaluation& evaluation, const char* name) {
  const auto found = evaluation.quantities.find(name);
  return found == evaluation.quantities.end() ? std::numeric_limits<double>::quiet_NaN() : found->second.value;
}

std::size_t clock_axis(const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), parameter_of(Setting::sm_clock)) -
                                  names.begin());
}

/// The value of a parameter that is written like this. Numbers may be written in any way.
const Value* value_written(const Parameter& parameter, const std::string& text) {
  const auto same = [&](const Value& value) {
    if (value.is_string()) return value.as_string() == text;
    if (value.is_bool())
      return text == (value.as_bool() ? "True" : "False") || text == (value.as_bool() ? "true" : "false");
    if (!value.is_number()) return false;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && number == value.as_double();
  };
  const auto found = std::find_if(parameter.values.begin(), parameter.values.end(), same);
  return found == parameter.values.end() ? nullptr : &*found;
}

/// `clocks` is the command's own, beside the methods that search.
void check_method_name(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& method : method_descriptions()) names.push_back(method.name);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(clocks_method);
  throw UsageError(fmt::format("--method: there is no method '{}'; there are: {}", name, fmt::join(names, ", ")));
}

void set_value(const Problem& problem, const std::string& item, std::vector<Value>& configuration) {
  const std::size_t equals = item.find('=');
  const std::string name = item.substr(0, equals);
  const auto names = problem.parameter_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (equals == std::string::npos || found == names.end()) {
    throw UsageError(fmt::format("--configuration: '{}' is no NAME=VALUE of a parameter; the parameters are {}", item,
                                 fmt::join(names, ", ")));
  }
  if (name == parameter_of(Setting::sm_clock)) {
    throw UsageError(fmt::format("--configuration: {} is what --method clocks finds: leave it out", name));
  }
  const auto index = static_cast<std::size_t>(found - names.begin());
  const Value* value = value_written(problem.parameters[index], item.substr(equals + 1));
  if (value == nullptr) {
    throw UsageError(fmt::format("--configuration: '{}' is no value of {}; 'wattune space' lists them",
                                 item.substr(equals + 1), name));
  }
  configuration[index] = *value;
}

/// What the user names, and the defaults of the rest.
std::vector<Value> named_configuration(const TuneArguments& arguments, const Problem& problem) {
  std::vector<Value> configuration = problem.defaults;
  std::size_t begin = 0;
  const std::string& text = arguments.configuration;
  while (begin < text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    set_value(problem, text.substr(begin, comma - begin), configuration);
    begin = comma + 1;
  }
  return configuration;
}

/// The values of the clock's parameter among these clocks, the nearest of each.
std::vector<Value> values_of(const Parameter& parameter, const std::vector<double>& clocks) {
  std::vector<Value> values;
  for (const auto& value : parameter.values) {
    const double clock = value.as_double() * per_mhz;
    const bool wanted = std::any_of(clocks.begin(), clocks.end(),
                                    [&](double other) { return std::fabs(other - clock) < 0.5 * per_mhz; });
    if (wanted) values.push_back(value);
  }
  return values;
}

void check_valid(const Problem& problem, const SearchSpace& space, const std::vector<Value>& configuration) {
  const auto point = space.find(configuration);
  if (point && space.contains(*point)) return;
  throw UsageError(fmt::format("--configuration: {} violates a restriction of {}",
                               format_configuration(configuration, problem.parameter_names()), problem.file.string()));
}

/// Without its clock.
std::string kernel_text(std::vector<Value> configuration, std::vector<std::string> names) {
  const std::size_t axis = clock_axis(names);
  configuration.erase(configuration.begin() + static_cast<std::ptrdiff_t>(axis));
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(axis));
  return format_configuration(configuration, names);
}

bool minimizes_energy(const std::vector<Objective>& objectives) {
  return std::any_of(objectives.begin(), objectives.end(), [](const Objective& objective) {
    return objective.name == "energy" && objective.direction == Direction::minimize;
  });
}

}  // namespace

bool are_calibrated(const SettingChoice& choice) {
  return choice.clocks == "ridge" || choice.clocks == "auto";
}

std::optional<CalibratedClocks> calibrated_clocks(const TuneArguments& arguments, const std::string& device,
                                                  const SettingsClient& settings,
                                                  const CalibrationSurroundings& surroundings) {
  const double width = parse_width(arguments.clock_width, "--clock-width");
  CalibrationRequest request;
  request.device = device;
  request.settings = arguments.settings;
  request.voltage_command = arguments.voltage_command;
  request.compiler = arguments.compiler;
  const auto calibration = obtain_calibration(request, settings, surroundings);
  if (!calibration) return std::nullopt;
  const PowerFit fit = calibration->fit();
  for (const auto& warning : fit.warnings) say("wattune: warning: calibration: {}\n", warning);
  const std::vector<double> reachable = calibration->reachable_clocks();
  const double optimum = most_efficient_clock(fit.model, reachable);
  const auto choice = choose_clocks(reachable, optimum, width, arguments.clock_count);
  const std::size_t supported = calibration->supported_clocks.size();
  say("Clocks: predicted optimum {:g} MHz (ridge {:.0f} MHz); searching {} of {} clocks ({:g}-{:g} MHz), {:.0f} % "
      "fewer\n",
      optimum / per_mhz, fit.ridge_hz / per_mhz, choice.clocks.size(), supported, choice.clocks.front() / per_mhz,
      choice.clocks.back() / per_mhz,
      100 * (1 - static_cast<double>(choice.clocks.size()) / static_cast<double>(supported)));
  const bool every = arguments.settings.clocks == "auto";
  return CalibratedClocks{fit.model, every ? reachable : choice.clocks, choice.clocks};
}

void resolve_clocks_method(TuneArguments& arguments) {
  if (arguments.method != clocks_method) {
    check_method_name(arguments.method);
    if (!arguments.configuration.empty()) throw UsageError("--configuration goes with --method clocks");
    return;
  }
  if (is_replay_device(arguments.device)) {
    throw UsageError(
        "--method clocks measures at clocks of its own choice, which recorded results need not have: give a device");
  }
  const bool other_objective = !arguments.minimize.empty() && arguments.minimize != std::vector<std::string>{"energy"};
  if (other_objective || !arguments.maximize.empty() || arguments.verify_only) {
    throw UsageError(
        "--method clocks finds the clock of least energy: it goes with no other objective, and not with --verify-only");
  }
  if (arguments.strategy != TuneArguments().strategy || !arguments.strategy_options.empty() ||
      !arguments.budget.empty()) {
    throw UsageError("--method clocks searches nothing: it goes with no --strategy, --strategy-option or --budget");
  }
  if (arguments.settings.clocks.empty()) arguments.settings.clocks = "auto";
  if (!are_calibrated(arguments.settings)) {
    throw UsageError(
        "--method clocks: --clocks is auto (all clocks, the default) or ridge (those near the predicted optimum)");
  }
  arguments.method.clear();
  arguments.own_clock_only = true;
  arguments.minimize = {"energy"};
  arguments.strategy = "brute_force";
}

SearchSpace search_space(const TuneArguments& arguments, const Problem& problem,
                         const std::optional<CalibratedClocks>& clocks) {
  if (!clocks) return build_space(problem);
  Problem part = problem;
  const std::size_t axis = clock_axis(problem.parameter_names());
  part.parameters[axis].values = values_of(problem.parameters[axis], clocks->search);
  if (!arguments.own_clock_only) return build_space(part);
  std::vector<Value> configuration = named_configuration(arguments, problem);
  const auto& near = part.parameters[axis].values;
  configuration[axis] = near[near.size() / 2];
  check_valid(problem, build_space(problem), configuration);
  for (std::size_t i = 0; i < configuration.size(); ++i) part.parameters[i].values = {configuration[i]};
  return build_space(part);
}

std::string clocks_key(const std::optional<CalibratedClocks>& clocks) {
  if (!clocks || clocks->search.size() == clocks->all.size()) return "";
  std::vector<std::string> texts;
  for (const double clock : clocks->search) texts.push_back(fmt::format("{:g}", clock / per_mhz));
  return fmt::format("@{}", fmt::join(texts, ","));
}

std::vector<KernelClock> find_own_clocks(const TuneArguments& arguments, const Problem& problem,
                                         const SearchSpace& space, const std::vector<Objective>& objectives,
                                         const CalibratedClocks& clocks, Evaluator& evaluator, Journal& journal,
                                         TuneResult& result, const TuneOptions& run) {
  std::vector<KernelClock> found;
  if (result.interrupted || result.error) return found;
  if (!minimizes_energy(objectives)) {
    if (run.on_note)
      run.on_note("own clocks are those of least energy, which is not minimised here: none are looked for");
    return found;
  }
  if (run.on_note) {
    run.on_note(fmt::format("The best configurations' own clocks are found among {}", clocks.all.size()));
  }
  KernelClockOptions options;
  options.device = clocks.device;
  options.compare = arguments.own_clock_only;
  options.constraints = run.constraints;
  options.wake_fd = run.wake_fd;
  options.interrupted = run.interrupted;
  std::vector<std::vector<Value>> candidates;
  if (arguments.own_clock_only) {
    candidates.push_back(named_configuration(arguments, problem));
  } else {
    candidates =
        clock_candidates(problem, result, {"energy", Direction::minimize}, run.constraints, arguments.finalists);
  }
  try {
    KernelClockSearch search(problem, space, evaluator, journal, options);
    for (const auto& configuration : candidates) {
      if (run.on_note) {
        run.on_note(fmt::format("finding the own clock of {}", kernel_text(configuration, problem.parameter_names())));
      }
      auto clock = search.find(configuration, result);
      if (!clock) return found;
      if (!clock->problem.empty() && run.on_note) run.on_note("it is not found: " + clock->problem);
      if (clock->problem.empty()) found.push_back(std::move(*clock));
    }
    journal.flush();
  } catch (const Error&) {
    result.error = std::current_exception();
  }
  return found;
}

std::string to_text(const KernelClock& clock, const std::vector<std::string>& parameter_names) {
  const auto named = [&](const char* name) { return format_named(name, clock.best.quantities.at(name)); };
  const std::size_t axis = clock_axis(parameter_names);
  const double own = clock.best.configuration[axis].as_double();
  std::string text = fmt::format(
      "Own clock of {}: {:g} MHz of {} (predicted {:g}): {}, {}; by {} timings and {} measurements of power",
      kernel_text(clock.best.configuration, parameter_names), own, clock.candidates, clock.predicted_hz / per_mhz,
      named("energy"), named("time"), clock.timings, clock.measurements);
  if (clock.highest) {
    text += fmt::format("; {:.1f} % less energy and {:.1f} % slower than at {:g} MHz",
                        100 * (1 - quantity_of(clock.best, "energy") / quantity_of(*clock.highest, "energy")),
                        100 * (quantity_of(clock.best, "time") / quantity_of(*clock.highest, "time") - 1),
                        clock.highest->configuration[axis].as_double());
  }
  return text;
}

json to_json(const KernelClock& clock, const std::vector<std::string>& parameter_names) {
  const auto evaluation = wattune::to_json(clock.best, parameter_names);
  json object = {{"configuration", evaluation.at("configuration")},
                 {"quantities", evaluation.at("quantities")},
                 {"predicted_mhz", clock.predicted_hz / per_mhz},
                 {"clocks", clock.candidates},
                 {"timings", clock.timings},
                 {"power_measurements", clock.measurements}};
  if (clock.highest) object["highest"] = wattune::to_json(*clock.highest, parameter_names).at("quantities");
  return object;
}

}  // namespace wattune::cli
