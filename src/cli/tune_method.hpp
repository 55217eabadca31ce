#pragma once
// What of a tuning depends on its method: settings, objectives, the strategy, and the answer.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/tune_settings.hpp"
#include "method/method.hpp"
#include "tune/tuner.hpp"

namespace wattune::cli {

/// @throws UsageError for a --base-clock that none of these methods begins at
void check_base_clock(const std::optional<double>& base_clock, std::span<const std::string> methods);

/// Chooses the device's settings for the method: all clocks where it searches clocks and none are named; none, said so,
/// where it can do without and nothing may be set.
/// @param arguments what holds afterwards of --clocks and the like @return as choose_settings()
/// @throws UsageError for an unknown method and for options that do not go with it; DeviceError as choose_settings().
bool choose_method_settings(TuneArguments& arguments, Chosen& chosen, const CalibrationSurroundings& surroundings);

/// What the run minimises: time for methods that answer with the fastest configuration, else what was asked for, else
/// energy.
/// @param asked what else would be minimised
std::vector<Objective> method_objectives(const TuneArguments& arguments, const std::vector<Objective>& asked);

/// What proposes configurations in a run, and the key under which its results stand in the journal.
struct Search {
  std::unique_ptr<Strategy> strategy;
  std::string run;
};
/// The method that was asked for, else the strategy. Says what the base clock is.
/// @param objectives of the run, after method_objectives() @param chosen null for recorded results
Search make_search(const TuneArguments& arguments, const Problem& problem, const SearchSpace& space,
                   const std::vector<Objective>& objectives, const Budget& budget, const ConstraintSet& constraints,
                   const Chosen* chosen);

/// "method two-clock (strategy auto)", "strategy auto".
std::string search_text(const TuneArguments& arguments);

/// What is worth measuring again: of methods in two steps the variant of the first.
std::vector<Evaluation> method_candidates(const TuneArguments& arguments, const Problem& problem,
                                          const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                                          const std::vector<Evaluation>& evaluations);

/// What the method of a run has found.
struct MethodFound {
  std::string name;
  std::size_t evaluations = 0;
  std::optional<Evaluation> answer;  ///< meets the conditions
  bool conditions_missed = false;    ///< none that succeeded meets them
  bool at_default_settings = false;  ///< nothing was set

  /// One line for people.
  [[nodiscard]] std::string text(const std::vector<std::string>& parameter_names) const;
  /// name, evaluations, default_settings, and of an answer configuration and quantities.
  [[nodiscard]] nlohmann::json to_json(const std::vector<std::string>& parameter_names) const;
};
/// Nothing where the run has no method.
std::optional<MethodFound> method_found(const TuneArguments& arguments, const Problem& problem,
                                        const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                                        const std::vector<Evaluation>& evaluations);

}  // namespace wattune::cli
