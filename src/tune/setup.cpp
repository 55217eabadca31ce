#include "tune/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "evaluate/extensions.hpp"
#include "problem/quantities.hpp"

namespace wattune {

namespace {

/// What objectives and conditions may name.
std::vector<std::string> known_quantities(const Problem& problem) {
  auto known = measured_quantity_names();
  std::erase(known, "energy_bound");  // says of a configuration that its energy was not measured
  for (const auto& metric : problem.metrics) known.push_back(metric.name);
  for (const auto& observer : observers_of(problem)) {
    for (const auto& quantity : observer.quantities) known.push_back(quantity.name);
  }
  for (const auto& name : built_in_metric_names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  }
  return known;
}

}  // namespace

std::vector<Objective> choose_objectives(Problem& problem, const std::vector<std::string>& minimize,
                                         const std::vector<std::string>& maximize) {
  std::vector<Objective> objectives;
  for (const auto& name : minimize) objectives.push_back({name, Direction::minimize});
  for (const auto& name : maximize) objectives.push_back({name, Direction::maximize});
  if (objectives.empty()) objectives = problem.objectives;
  if (objectives.empty()) objectives.push_back({"time", Direction::minimize});
  const auto known = known_quantities(problem);
  for (const auto& objective : objectives) {
    const auto same = [&](const Objective& other) { return other.name == objective.name; };
    if (std::count_if(objectives.begin(), objectives.end(), same) > 1) {
      throw UsageError(fmt::format("objective '{}' is given twice; minimize or maximize it, once", objective.name));
    }
    if (std::find(known.begin(), known.end(), objective.name) != known.end()) {
      add_built_in_metric(problem, objective.name);
      continue;
    }
    throw UsageError(fmt::format("objective '{}': there is no such quantity or metric; there are: {}", objective.name,
                                 fmt::join(known, ", ")));
  }
  return objectives;
}

ConstraintSet choose_constraints(Problem& problem, const std::vector<std::string>& conditions,
                                 const std::vector<Objective>& objectives) {
  auto all = problem.conditions;
  all.insert(all.end(), conditions.begin(), conditions.end());
  if (all.empty()) return {};
  add_built_in_metrics(problem, all);
  return {all, problem, known_quantities(problem), objectives};
}

namespace {

/// Metrics refer to earlier ones only. @param metrics_before how many of them `name` may stand for.
bool name_needs_meter(const std::string& name, const Problem& problem, std::size_t metrics_before) {
  if (const auto* quantity = find_measured_quantity(name)) return quantity->needs_meter;
  for (std::size_t i = 0; i < metrics_before; ++i) {
    if (problem.metrics[i].name != name) continue;
    const auto& names = problem.metrics[i].expression.names();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& used) { return name_needs_meter(used, problem, i); });
  }
  return false;
}

}  // namespace

bool needs_meter(const std::vector<Objective>& objectives, const Problem& problem) {
  return std::any_of(objectives.begin(), objectives.end(), [&](const Objective& objective) {
    return name_needs_meter(objective.name, problem, problem.metrics.size());
  });
}

bool needs_meter(const ConstraintSet& constraints, const Problem& problem) {
  const auto names = constraints.quantities();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name_needs_meter(name, problem, problem.metrics.size()); });
}

std::vector<Objective> metered(const std::vector<Objective>& objectives, const Problem& problem) {
  std::vector<Objective> result;
  std::ranges::copy_if(objectives, std::back_inserter(result),
                       [&](const Objective& objective) { return needs_meter({objective}, problem); });
  return result;
}

bool may_skip_hopeless(const std::vector<Objective>& objectives, const ConstraintSet& constraints,
                       const std::string& strategy) {
  return constraints.empty() && strategy != "brute_force" && objectives.size() == 1 &&
         objectives.front().name == "energy" && objectives.front().direction == Direction::minimize;
}

std::optional<std::string> use_valid_default(Problem& problem, const SearchSpace& space) {
  const auto point = space.find(problem.defaults);
  if (point && space.contains(*point)) return std::nullopt;
  problem.defaults = space.values(space.point(0));
  if (problem.verification.reference != Verification::Reference::none) return std::nullopt;
  return problem.file.string() +
         ": the default configuration violates a restriction; outputs are compared with those of the first valid one "
         "instead";
}

JournalHeader make_journal_header(const Problem& problem, const DeviceInfo& device, const std::string& meter,
                                  const std::string& strategy, std::uint64_t seed) {
  JournalHeader header;
  header.problem_hash = problem.hash;
  header.problem_name = problem.name;
  header.problem_file = problem.file.string();
  header.parameter_names = problem.parameter_names();
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    header.parameter_values.push_back(problem.parameters[i].values);
    header.parameter_kinds.emplace_back(to_string(problem.kinds[i]));
  }
  for (const auto& restriction : problem.restrictions) header.restrictions.push_back(restriction.expression);
  header.problem_size = problem.problem_size;
  header.device_name = device.name;
  header.device_id = device.id;
  header.board = device.board();
  header.backend = device.backend;
  header.driver = device.driver;
  header.meter = meter;
  header.seed = seed;
  header.strategy = strategy;
  header.simulated = device.simulated;
  header.version = WATTUNE_VERSION;
  header.created = utc_timestamp();
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  header.host = host;
  return header;
}

}  // namespace wattune
