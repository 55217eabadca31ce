#include "analysis/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace wattune {

namespace {

/// Standard errors that hold the truth 19 times out of 20, as all errors are stated (docs/energy.md).
constexpr double half_width = 1.96;

struct Estimate {
  double cost = 0;   ///< the value turned so that smaller is better
  double error = 0;  ///< 0 where it is not known
};

/// Of an evaluation that has the objective.
Estimate estimate(const Evaluation& evaluation, const Objective& objective) {
  const Quantity& quantity = evaluation.quantities.at(objective.name);
  return {objective.direction == Direction::minimize ? quantity.value : -quantity.value,
          std::isfinite(quantity.stderr_value) ? quantity.stderr_value : 0};
}

using Estimates = std::vector<Estimate>;

/// By how many standard errors a rival is better than a member, in the objective in which it is so least. Nothing where
/// it is worse for sure in some objective, or nowhere better.
std::optional<double> margin(const Estimates& rival, const Estimates& member) {
  double least = std::numeric_limits<double>::infinity();
  bool better_somewhere = false;
  for (std::size_t i = 0; i < member.size(); ++i) {
    const double gain = member[i].cost - rival[i].cost;
    const double error = std::hypot(member[i].error, rival[i].error);
    if (gain < -half_width * error) return std::nullopt;
    better_somewhere = better_somewhere || gain > -half_width * error;
    if (error > 0) least = std::min(least, gain / error);
  }
  if (!better_somewhere) return std::nullopt;
  return least;
}

std::optional<std::size_t> find_knee(const std::vector<Estimates>& members) {
  if (members.size() < 3) return std::nullopt;
  const auto scaled = [&](std::size_t i, std::size_t objective) {
    const double first = members.front()[objective].cost;
    const double last = members.back()[objective].cost;
    return (members[i][objective].cost - first) / (last - first);
  };
  std::optional<std::size_t> knee;
  double farthest = 0;
  for (std::size_t i = 1; i + 1 < members.size(); ++i) {
    // The first objective grows from 0 to 1, the second falls: what is left of the second by then, and what it costs.
    const double distance = (scaled(i, 1) - scaled(i, 0)) / std::sqrt(2.0);
    if (distance <= farthest) continue;
    knee = i;
    farthest = distance;
  }
  return knee;
}

}  // namespace

std::vector<std::size_t> complete(std::span<const Evaluation> evaluations, Among among,
                                  std::span<const Objective> objectives) {
  std::vector<std::size_t> indices;
  std::copy_if(among.begin(), among.end(), std::back_inserter(indices), [&](std::size_t i) {
    return std::all_of(objectives.begin(), objectives.end(), [&](const Objective& objective) {
      return objective_value(evaluations[i], objective).has_value();
    });
  });
  return indices;
}

Front analyse_front(std::span<const Evaluation> evaluations, Among among, std::span<const Objective> objectives) {
  Front front;
  front.objectives.assign(objectives.begin(), objectives.end());
  const auto estimates_of = [&](std::size_t i) {
    Estimates estimates;
    for (const auto& objective : objectives) estimates.push_back(estimate(evaluations[i], objective));
    return estimates;
  };
  const auto rivals = complete(evaluations, among, objectives);
  std::vector<Estimates> of_rivals;
  for (const std::size_t i : rivals) of_rivals.push_back(estimates_of(i));
  std::vector<Estimates> of_members;
  for (const std::size_t index : pareto_front(evaluations, rivals, objectives)) {
    FrontMember member{index, true, {}};
    of_members.push_back(estimates_of(index));
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      if (rivals[i] == index) continue;
      const auto by = margin(of_rivals[i], of_members.back());
      if (!by || *by <= most) continue;
      most = *by;
      member.sure = false;
      member.rival = rivals[i];
    }
    for (const auto& objective : objectives) {
      front.errors_known =
          front.errors_known && std::isfinite(evaluations[index].quantities.at(objective.name).stderr_value);
    }
    front.members.push_back(member);
  }
  if (objectives.size() == 2) front.knee = find_knee(of_members);
  return front;
}

Change change_between(const Evaluation& from, const Evaluation& to, const Objective& objective) {
  const Quantity& before = from.quantities.at(objective.name);
  const Quantity& after = to.quantities.at(objective.name);
  const double ratio = after.value / before.value;
  return {ratio - 1,
          std::fabs(ratio) * std::hypot(before.stderr_value / before.value, after.stderr_value / after.value)};
}

}  // namespace wattune
