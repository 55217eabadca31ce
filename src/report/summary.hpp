#pragma once
// The report at the end of a tuning run, as text.

#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "report/run_info.hpp"
#include "result/evaluation.hpp"

namespace wattune {

struct SummaryOptions {
  std::size_t top = 10;       ///< rows of the table of the best
  std::size_t max_width = 0;  ///< columns of the screen; 0: no limit
};

/// The best configuration by each objective with what was measured of it, a table of the best by the first objective,
/// the Pareto front where there are several objectives, and what failed and why. Ends with a newline.
std::string summary(const RunInfo& run, const std::vector<std::string>& parameter_names,
                    std::span<const Evaluation> evaluations, std::span<const Objective> objectives,
                    std::span<const Metric> metrics, const SummaryOptions& options = {});

}  // namespace wattune
