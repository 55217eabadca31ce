#pragma once
// What a tuning needs to be decided before it can begin; shared by the command and the public interface.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "problem/problem.hpp"
#include "result/constraint.hpp"
#include "space/search_space.hpp"
#include "store/journal.hpp"

namespace wattune {

/// The objectives asked for, else the problem's, else the time. Built-in metrics among them are added to the problem.
/// @throws UsageError for what is no measured quantity, no observer's and no metric, naming those there are.
std::vector<Objective> choose_objectives(Problem& problem, const std::vector<std::string>& minimize,
                                         const std::vector<std::string>& maximize);

/// The conditions of the problem and those asked for beside them. @throws UsageError as ConstraintSet does.
ConstraintSet choose_constraints(Problem& problem, const std::vector<std::string>& conditions,
                                 const std::vector<Objective>& objectives);

/// Whether an objective is something that only a power meter gives, or a metric made of that.
bool needs_meter(const std::vector<Objective>& objectives, const Problem& problem);
/// The same of what conditions speak of.
bool needs_meter(const ConstraintSet& constraints, const Problem& problem);
/// The objectives that need one.
std::vector<Objective> metered(const std::vector<Objective>& objectives, const Problem& problem);

/// Whether what cannot need the least energy need not be measured: energy alone is minimised. It may be
/// needed to meet a condition, and `brute_force` is for results that are complete.
bool may_skip_hopeless(const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                       const std::string& strategy);

/// Outputs may be compared with those of the default configuration, so it has to be a valid one: takes the first valid
/// one instead where it is not. @return a warning where that matters.
std::optional<std::string> use_valid_default(Problem& problem, const SearchSpace& space);

/// The header of the journal of such a run, made now on this host.
JournalHeader make_journal_header(const Problem& problem, const DeviceInfo& device, const std::string& meter,
                                  const std::string& strategy, std::uint64_t seed);

}  // namespace wattune
