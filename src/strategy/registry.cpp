// The strategies there are, by name.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "strategy/entry.hpp"

namespace wattune {

namespace {

const std::vector<StrategyEntry>& entries() {
  static const std::vector<StrategyEntry> all = {
      auto_entry(),
      random_entry(),
      latin_hypercube_entry(),
      brute_force_entry(),
      local_search_entry(),
      iterated_local_search_entry(),
      tabu_search_entry(),
      simulated_annealing_entry(),
      dual_annealing_entry(),
      basin_hopping_entry(),
      genetic_entry(),
      differential_evolution_entry(),
      particle_swarm_entry(),
      firefly_entry(),
      bayesian_entry(),
      nsga2_entry(),
      expected_hypervolume_entry(),
  };
  return all;
}

std::vector<ParameterKind> kinds_by_name(const SearchSpace& space) {
  std::vector<ParameterKind> kinds;
  for (const auto& parameter : space.parameters()) {
    kinds.push_back(parameter.name.starts_with("nvml_") ? ParameterKind::device_setting : ParameterKind::code);
  }
  return kinds;
}

const StrategyEntry& entry_named(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : entries()) {
    if (entry.description.name == name) return entry;
    names.push_back(entry.description.name);
  }
  throw UsageError(fmt::format("--strategy: there is no strategy '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace

const std::vector<StrategyDescription>& strategy_descriptions() {
  static const std::vector<StrategyDescription> descriptions = [] {
    std::vector<StrategyDescription> result;
    for (const auto& entry : entries()) result.push_back(entry.description);
    return result;
  }();
  return descriptions;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const StrategySetup& setup) {
  const StrategyEntry& entry = entry_named(name);
  if (setup.objectives.empty()) throw UsageError("strategy '" + name + "' needs an objective; name one");
  return entry.make({space, seed, setup.objectives, setup.kinds.empty() ? kinds_by_name(space) : setup.kinds,
                     OptionValues(entry.description, setup.options)});
}

void check_strategy(const std::string& name, const StrategyOptions& options) {
  static_cast<void>(OptionValues(entry_named(name).description, options));
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const Objective& objective) {
  StrategySetup setup;
  setup.objectives = {objective};
  return make_strategy(name, space, seed, setup);
}

}  // namespace wattune
