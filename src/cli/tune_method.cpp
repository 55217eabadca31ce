#include "cli/tune_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/say.hpp"
#include "method/answer.hpp"
#include "method/axes.hpp"
#include "report/format.hpp"

namespace wattune::cli {

namespace {

/// Clocks or limits are part of the problem itself, so that it cannot be tuned without them.
bool has_setting_parameters(const Problem& problem) {
  return std::ranges::any_of(problem.parameters,
                             [](const Parameter& parameter) { return setting_of(parameter.name).has_value(); });
}

void forget_settings(SettingChoice& choice, Problem& problem) {
  choice.clocks.clear();
  choice.memory_clocks.clear();
  choice.power_limits.clear();
  problem.device_settings.clear();
}

/// The share of a space as a number, as the engine counts it.
std::optional<std::size_t> planned_evaluations(const Budget& budget, const SearchSpace& space) {
  std::optional<std::size_t> planned;
  if (budget.evaluations) planned = *budget.evaluations;
  if (budget.fraction) {
    const auto share =
        static_cast<std::size_t>(std::max(1.0, std::ceil(*budget.fraction * static_cast<double>(space.size()))));
    planned = planned ? std::min(*planned, share) : share;
  }
  return planned;
}

MethodSetup method_setup(const TuneArguments& arguments, const Problem& problem,
                         const std::vector<Objective>& objectives) {
  MethodSetup setup;
  setup.kinds = problem.kinds;
  setup.strategy = arguments.strategy;
  for (const auto& option : arguments.strategy_options) add_strategy_option(setup.options, option);
  if (!method_named(arguments.method).for_time) setup.efficiency = objectives.front();
  setup.base_clock = arguments.base_clock;
  setup.clocks_are_chosen = are_calibrated(arguments.settings);
  return setup;
}

/// MHz, of the SM clocks that are searched; nothing where there are none.
std::optional<double> nearest_searched(const SearchSpace& space, const std::vector<ParameterKind>& kinds, double mhz) {
  const SettingAxes axes(space.parameters(), kinds);
  const auto axis = axes.axis_named(parameter_of(Setting::sm_clock));
  if (!axis) return std::nullopt;
  return axes.values(*axis)[axes.at_clock(mhz)[*axis]];
}

/// Where the search begins, which is one of its clocks: what the user names has to be one.
void find_base_clock(const TuneArguments& arguments, const Chosen* chosen, const SearchSpace& space,
                     MethodSetup& setup) {
  constexpr double same_mhz = 0.5;
  if (!method_named(arguments.method).at_base_clock) return;
  const bool named = setup.base_clock.has_value();
  if (!named && chosen != nullptr && chosen->settings && chosen->settings->capabilities().default_sm_clock > 0) {
    setup.base_clock = chosen->settings->capabilities().default_sm_clock * 1e-6;
  }
  if (!setup.base_clock) return;
  const double wanted = *setup.base_clock;
  const auto nearest = nearest_searched(space, setup.kinds, wanted);
  if (!nearest) return;
  const bool same = std::abs(*nearest - wanted) < same_mhz;
  if (named && !same) {
    throw UsageError(
        fmt::format("--base-clock {}: it is none of the clocks that are searched; the nearest of them is {} MHz",
                    wanted, *nearest));
  }
  setup.base_clock = nearest;
  say("Base clock: {} MHz ({}){}\n", wanted, named ? "--base-clock" : "the board's default application clock",
      same ? "" : fmt::format("; the nearest of those searched is {} MHz, where the search begins", *nearest));
}

/// Methods share a budget between stages: with another one they propose otherwise.
std::string method_key(const TuneArguments& arguments, const MethodSetup& setup,
                       const std::vector<Objective>& objectives, const ConstraintSet& constraints) {
  StrategyOptions all = setup.options;
  all["method"] = arguments.method;
  if (setup.evaluations) all["evaluations"] = fmt::format("{}", *setup.evaluations);
  if (setup.seconds) all["seconds"] = fmt::format("{}", *setup.seconds);
  if (setup.base_clock) all["base clock"] = fmt::format("{}", *setup.base_clock);
  return arguments.method + ":" +
         run_key(arguments.strategy, arguments.seed, objectives, all, constraints.conditions());
}

/// What narrows the clocks around a predicted optimum says nothing where none is predicted.
void check_clock_choice(const TuneArguments& arguments) {
  if (are_calibrated(arguments.settings)) return;
  for (const char* option : {"--clock-width", "--clock-count"}) {
    if (arguments.is_given(option))
      throw UsageError(fmt::format("{} goes with --clocks ridge or auto, whose clocks it chooses", option));
  }
}

}  // namespace

void check_base_clock(const std::optional<double>& base_clock, std::span<const std::string> methods) {
  const bool is_used =
      std::ranges::any_of(methods, [](const std::string& name) { return method_named(name).at_base_clock; });
  if (base_clock && !is_used)
    throw UsageError("--base-clock goes with --method energy-to-solution+clocks, which begins there");
}

bool choose_method_settings(TuneArguments& arguments, Chosen& chosen, const CalibrationSurroundings& surroundings) {
  if (arguments.method.empty()) {
    check_base_clock(arguments.base_clock, {});
    check_clock_choice(arguments);
    return choose_settings(arguments, chosen, surroundings);
  }
  check_base_clock(arguments.base_clock, std::span(&arguments.method, 1));
  const MethodDescription& method = method_named(arguments.method);
  if (arguments.verify_only) throw UsageError("--method and --verify-only do not go together: nothing is measured");
  const bool none_wanted = wanted_settings(chosen.problem, arguments.settings).empty();
  if (none_wanted && method.need == NeedOfSettings::settings) {
    const bool steered = method.name == "model-steered";
    arguments.settings.clocks = steered ? "ridge" : "all";
    say("Method {} searches clocks, and --clocks names none: {} are searched\n", method.name,
        steered ? "those that the board's calibration recommends (--clocks ridge)" : "all that the device supports");
  }
  check_clock_choice(arguments);
  try {
    if (!choose_settings(arguments, chosen, surroundings)) return false;
  } catch (const DeviceError& error) {
    if (method.need == NeedOfSettings::settings || has_setting_parameters(chosen.problem)) throw;
    say("wattune: warning: {}\n", error.what());
    forget_settings(arguments.settings, chosen.problem);
  }
  if (!chosen.settings) say("Method {} runs at the device's default clocks: none are set\n", method.name);
  return true;
}

std::vector<Objective> method_objectives(const TuneArguments& arguments, const std::vector<Objective>& asked) {
  if (arguments.method.empty()) return asked;
  if (asked.size() > 1) {
    throw UsageError(
        "--method weighs one objective for efficiency (energy, unless another is named): name one --minimize or "
        "--maximize");
  }
  const MethodDescription& method = method_named(arguments.method);
  if (method.for_time) return {{"time", Direction::minimize}};
  const bool named = !arguments.minimize.empty() || !arguments.maximize.empty();
  return named ? asked : std::vector<Objective>{{"energy", Direction::minimize}};
}

Search make_search(const TuneArguments& arguments, const Problem& problem, const SearchSpace& space,
                   const std::vector<Objective>& objectives, const Budget& budget, const ConstraintSet& constraints,
                   const Chosen* chosen) {
  if (arguments.method.empty()) {
    const StrategySetup setup = strategy_setup(arguments, problem, objectives);
    return {make_strategy(arguments.strategy, space, arguments.seed, setup),
            run_key(arguments.strategy, arguments.seed, objectives, setup.options, constraints.conditions())};
  }
  MethodSetup setup = method_setup(arguments, problem, objectives);
  setup.evaluations = planned_evaluations(budget, space);
  setup.seconds = budget.seconds;
  find_base_clock(arguments, chosen, space, setup);
  return {make_method(arguments.method, space, arguments.seed, setup),
          method_key(arguments, setup, objectives, constraints)};
}

std::string search_text(const TuneArguments& arguments) {
  if (arguments.own_clock_only) return "method clocks";
  if (arguments.method.empty()) return "strategy " + arguments.strategy;
  return fmt::format("method {} (strategy {})", arguments.method, arguments.strategy);
}

std::vector<Evaluation> method_candidates(const TuneArguments& arguments, const Problem& problem,
                                          const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                                          const std::vector<Evaluation>& evaluations) {
  MethodAnswer answer(arguments.method, problem.parameter_names(), method_setup(arguments, problem, objectives),
                      constraints);
  for (const auto& evaluation : evaluations) answer.add(evaluation);
  std::vector<Evaluation> candidates;
  for (const Evaluation* evaluation : answer.in_question()) candidates.push_back(*evaluation);
  return candidates;
}

std::optional<MethodFound> method_found(const TuneArguments& arguments, const Problem& problem,
                                        const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                                        const std::vector<Evaluation>& evaluations) {
  if (arguments.method.empty()) return std::nullopt;
  MethodFound found;
  found.name = arguments.method;
  found.at_default_settings = SettingAxes(problem.parameters, problem.kinds).empty();
  MethodAnswer answer(arguments.method, problem.parameter_names(), method_setup(arguments, problem, objectives),
                      constraints);
  for (const auto& evaluation : evaluations) {
    if (evaluation.tier == "screen") ++found.evaluations;
    answer.add(evaluation);
  }
  if (answer.best() != nullptr) found.answer = *answer.best();
  found.conditions_missed = !found.answer && answer.any_succeeded();
  return found;
}

std::string MethodFound::text(const std::vector<std::string>& parameter_names) const {
  std::string text = fmt::format("Method {}{}: ", name, at_default_settings ? " at default clocks" : "");
  if (!answer) {
    return text + fmt::format("{} in {} evaluations",
                              conditions_missed ? "nothing that meets the conditions" : "nothing found", evaluations);
  }
  for (const char* quantity : {"energy", "time", "power"}) {
    const auto found = answer->quantities.find(quantity);
    if (found != answer->quantities.end()) text += format_named(quantity, found->second) + ", ";
  }
  return text + fmt::format("at {}, after {} evaluations", format_configuration(answer->configuration, parameter_names),
                            evaluations);
}

nlohmann::json MethodFound::to_json(const std::vector<std::string>& parameter_names) const {
  nlohmann::json json = {{"name", name}, {"evaluations", evaluations}, {"default_settings", at_default_settings}};
  if (!answer) return json;
  const auto evaluation = wattune::to_json(*answer, parameter_names);
  json["configuration"] = evaluation.at("configuration");
  json["quantities"] = evaluation.at("quantities");
  return json;
}

}  // namespace wattune::cli
