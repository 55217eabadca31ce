#pragma once
// The order of evaluations under objectives. An evaluation that failed, or in which the objective's quantity is
// missing, never wins.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// "minimize", "maximize".
std::string_view to_string(Direction direction);
/// "minimize energy".
std::string to_string(const Objective& objective);

/// The value that counts for an objective; nothing where the evaluation failed or has no finite quantity of that name.
std::optional<double> objective_value(const Evaluation& evaluation, const Objective& objective);

/// True where `a` is strictly better than `b`. Whatever counts is better than what does not.
bool better(const Evaluation& a, const Evaluation& b, const Objective& objective);

/// Indices of evaluations, in increasing order, among which to look.
using Among = std::span<const std::size_t>;

/// Index of the best; of equals the first. Nothing where none counts.
std::optional<std::size_t> best(std::span<const Evaluation> evaluations, const Objective& objective);
std::optional<std::size_t> best(std::span<const Evaluation> evaluations, Among among, const Objective& objective);

/// Indices of those that count, the best first; equals keep their order.
std::vector<std::size_t> ranked(std::span<const Evaluation> evaluations, const Objective& objective);
std::vector<std::size_t> ranked(std::span<const Evaluation> evaluations, Among among, const Objective& objective);

/// Indices of those that no other beats in one objective while it is at least as good in all, sorted by the first
/// objective, the best first. Only evaluations with all objectives take part; of equals the first stays.
std::vector<std::size_t> pareto_front(std::span<const Evaluation> evaluations, std::span<const Objective> objectives);
std::vector<std::size_t> pareto_front(std::span<const Evaluation> evaluations, Among among,
                                      std::span<const Objective> objectives);

/// Indices of the evaluations by which configurations compete, in their order. A configuration counts once: by its
/// latest success in tier `final`, else in tier `screen` or `clock`, else by its latest evaluation in those tiers.
/// Evaluations of tiers `reference`, `calibration` and `timing` serve other ends and do not compete.
std::vector<std::size_t> competing(std::span<const Evaluation> evaluations);

}  // namespace wattune
