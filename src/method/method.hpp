#pragma once
// Tuning methods: what is searched at which clocks, and in which order. A method is a strategy over the whole space,
// code and device settings alike, that works in stages; each stage is a search of a strategy of strategy/ in a part of
// the space, or a few configurations that it names. So a method serves live tuning, replay and resumed runs as any
// strategy.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "space/search_space.hpp"
#include "strategy/strategy.hpp"

namespace wattune {

/// At which settings a method works where nothing may be set.
enum class NeedOfSettings {
  none,     ///< at the device's own clocks, and says so
  settings  ///< not at all
};

struct MethodDescription {
  std::string name;
  std::string summary;  ///< one line, for --help
  NeedOfSettings need = NeedOfSettings::settings;
  bool for_time = false;        ///< its answer is the fastest configuration, else the most efficient one
  bool is_two_step = false;     ///< a variant is chosen at one setting, then that variant's settings
  bool first_for_time = false;  ///< of two steps: the first looks for the fastest variant
  bool at_base_clock = false;   ///< of two steps: the first is at the base clock, else at maximum clock
};
/// In the order of --help.
const std::vector<MethodDescription>& method_descriptions();
/// @throws UsageError for an unknown name, naming those there are.
const MethodDescription& method_named(const std::string& name);

/// What a method is told of the problem and the run beside the space.
struct MethodSetup {
  Objective efficiency = {"energy", Direction::minimize};  ///< what an efficient configuration has little or much of
  Objective speed = {"time", Direction::minimize};
  std::vector<ParameterKind> kinds;  ///< as in StrategySetup
  std::string strategy = "auto";     ///< that searches within stages
  StrategyOptions options;           ///< of that strategy
  /// The evaluations and the seconds that the run may take, by which stages share them. What is not known is not
  /// limited, and stages then end when they have tried everything.
  std::optional<std::size_t> evaluations;
  std::optional<double> seconds;
  std::optional<double> base_clock;  ///< MHz
  /// The clocks of the space are those that a model of the device recommends, so that none needs to be made.
  bool clocks_are_chosen = false;
};

/// @param name one of method_descriptions(). The space must outlive the method. A space without device settings stands
/// for the device's own ones.
/// @throws UsageError for an unknown name, for a strategy's unknown name or option, and where the space lacks what the
/// method needs: clocks, or configurations at the base or maximum clock.
std::unique_ptr<Strategy> make_method(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                      const MethodSetup& setup);

}  // namespace wattune
