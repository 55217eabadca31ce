#include "result/order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

namespace wattune {

namespace {

/// The value turned so that smaller is better.
std::optional<double> cost(const Evaluation& evaluation, const Objective& objective) {
  const auto value = objective_value(evaluation, objective);
  if (!value) return std::nullopt;
  return objective.direction == Direction::minimize ? *value : -*value;
}

/// How strongly an evaluation stands for its configuration; 0: not at all.
int rank_of(const Evaluation& evaluation) {
  if (evaluation.tier == "reference" || evaluation.tier == "calibration" || evaluation.tier == "timing") return 0;
  if (!evaluation.ok()) return 1;
  // Where energy was not measured once because it could not win, it may have been another time.
  if (evaluation.quantities.contains("energy_bound")) return 2;
  return evaluation.tier == "final" ? 4 : 3;
}

std::vector<std::size_t> all_of(std::span<const Evaluation> evaluations) {
  std::vector<std::size_t> indices(evaluations.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace

std::string_view to_string(Direction direction) {
  return direction == Direction::minimize ? "minimize" : "maximize";
}

std::string to_string(const Objective& objective) {
  return std::string(to_string(objective.direction)) + " " + objective.name;
}

std::optional<double> objective_value(const Evaluation& evaluation, const Objective& objective) {
  if (!evaluation.ok()) return std::nullopt;
  const auto found = evaluation.quantities.find(objective.name);
  if (found == evaluation.quantities.end() || !std::isfinite(found->second.value)) return std::nullopt;
  return found->second.value;
}

bool better(const Evaluation& a, const Evaluation& b, const Objective& objective) {
  const auto cost_a = cost(a, objective);
  const auto cost_b = cost(b, objective);
  if (!cost_a || !cost_b) return cost_a.has_value() && !cost_b.has_value();
  return *cost_a < *cost_b;
}

std::optional<std::size_t> best(std::span<const Evaluation> evaluations, const Objective& objective) {
  return best(evaluations, all_of(evaluations), objective);
}

std::vector<std::size_t> ranked(std::span<const Evaluation> evaluations, const Objective& objective) {
  return ranked(evaluations, all_of(evaluations), objective);
}

std::vector<std::size_t> pareto_front(std::span<const Evaluation> evaluations, std::span<const Objective> objectives) {
  return pareto_front(evaluations, all_of(evaluations), objectives);
}

std::optional<std::size_t> best(std::span<const Evaluation> evaluations, Among among, const Objective& objective) {
  std::optional<std::size_t> winner;
  std::optional<double> least;
  for (const std::size_t i : among) {
    const auto value = cost(evaluations[i], objective);
    if (!value || (least && *value >= *least)) continue;
    winner = i;
    least = value;
  }
  return winner;
}

std::vector<std::size_t> ranked(std::span<const Evaluation> evaluations, Among among, const Objective& objective) {
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t i : among) {
    if (const auto value = cost(evaluations[i], objective)) order.emplace_back(*value, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> indices;
  indices.reserve(order.size());
  for (const auto& [value, index] : order) indices.push_back(index);
  return indices;
}

std::vector<std::size_t> pareto_front(std::span<const Evaluation> evaluations, Among among,
                                      std::span<const Objective> objectives) {
  struct Candidate {
    std::vector<double> costs;
    std::size_t index;
  };
  std::vector<Candidate> candidates;
  if (objectives.empty()) return {};
  for (const std::size_t i : among) {
    Candidate candidate{{}, i};
    for (const auto& objective : objectives) {
      if (const auto value = cost(evaluations[i], objective)) candidate.costs.push_back(*value);
    }
    if (candidate.costs.size() == objectives.size()) candidates.push_back(std::move(candidate));
  }
  // After this order nothing that comes later can dominate what came before, so one pass over the front suffices.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.costs != b.costs ? a.costs < b.costs : a.index < b.index;
  });
  std::vector<const Candidate*> front;
  for (const auto& candidate : candidates) {
    auto beats = [&](const Candidate* other) {
      return std::equal(other->costs.begin(), other->costs.end(), candidate.costs.begin(), std::less_equal<>());
    };
    // With two objectives the last of the front is the only one that can beat it: its second cost is the least so far.
    const bool beaten =
        objectives.size() == 2 ? !front.empty() && beats(front.back()) : std::any_of(front.begin(), front.end(), beats);
    if (!beaten) front.push_back(&candidate);
  }
  std::vector<std::size_t> indices;
  for (const auto* candidate : front) indices.push_back(candidate->index);
  return indices;
}

std::vector<std::size_t> competing(std::span<const Evaluation> evaluations) {
  std::unordered_map<std::string, std::size_t> standing;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const int rank = rank_of(evaluations[i]);
    if (rank == 0) continue;
    std::string key;
    append_key(key, evaluations[i].configuration);
    const auto [entry, added] = standing.try_emplace(std::move(key), i);
    if (!added && rank >= rank_of(evaluations[entry->second])) entry->second = i;
  }
  std::vector<std::size_t> indices;
  indices.reserve(standing.size());
  for (const auto& [key, index] : standing) indices.push_back(index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

}  // namespace wattune
