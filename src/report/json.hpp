#pragma once
// Machine-readable reports.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "report/run_info.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// A list of `name` and `direction`.
nlohmann::json objectives_to_json(std::span<const Objective> objectives);

/// The object of `tune --json`: device, simulated, seed, evaluations, best (by objective: configuration and
/// quantities; where there are conditions, of those that meet them, listed in `feasible`), pareto (indices into
/// evaluations, sorted by the first objective), front (see front_to_json; with several objectives), counts (by
/// outcome), seconds, and more of RunInfo.
nlohmann::json run_to_json(const RunInfo& run, const std::vector<std::string>& parameter_names,
                           std::span<const Evaluation> evaluations, std::span<const Objective> objectives);

/// As text with a newline at the end. Messages of compilers need not be UTF-8; what is not is replaced.
std::string json_text(const nlohmann::json& object);

}  // namespace wattune
