#pragma once
// What each strategy's file provides to the registry.

#include "strategy/options.hpp"
#include "strategy/strategy.hpp"

namespace wattune {

/// What a strategy is made from.
struct StrategyInputs {
  const SearchSpace& space;
  std::uint64_t seed;
  std::vector<Objective> objectives;  ///< not empty
  std::vector<ParameterKind> kinds;   ///< one per parameter
  OptionValues options;
};

struct StrategyEntry {
  StrategyDescription description;
  std::unique_ptr<Strategy> (*make)(const StrategyInputs& inputs);
};

StrategyEntry random_entry();
StrategyEntry latin_hypercube_entry();
StrategyEntry brute_force_entry();
StrategyEntry local_search_entry();
StrategyEntry iterated_local_search_entry();
StrategyEntry tabu_search_entry();
StrategyEntry simulated_annealing_entry();
StrategyEntry dual_annealing_entry();
StrategyEntry basin_hopping_entry();
StrategyEntry genetic_entry();
StrategyEntry differential_evolution_entry();
StrategyEntry particle_swarm_entry();
StrategyEntry firefly_entry();
StrategyEntry bayesian_entry();
StrategyEntry nsga2_entry();
StrategyEntry expected_hypervolume_entry();
StrategyEntry auto_entry();

template <class S>
std::unique_ptr<Strategy> make_of(const StrategyInputs& inputs) {
  return std::make_unique<S>(inputs);
}

}  // namespace wattune
