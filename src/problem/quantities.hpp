#pragma once
// The quantities that wattune itself measures, for whoever has to know their names: objectives, metrics, observers.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

struct MeasuredQuantity {
  std::string_view name;
  std::string_view unit;
  bool needs_meter = false;                        ///< there only where a power meter is open
  std::optional<Direction> better = std::nullopt;  ///< where one direction goes without saying
};

/// The one of this name; null where there is none.
const MeasuredQuantity* find_measured_quantity(std::string_view name);
/// The names of all. Which of them an evaluation holds depends on the device and the meter.
std::vector<std::string> measured_quantity_names();

/// Metrics that every problem may use by name without defining them: edp (energy x time) and ed2p (energy x time^2).
std::vector<std::string> built_in_metric_names();
/// Gives the problem the built-in metric of this name, where there is one and the problem has no such metric.
void add_built_in_metric(Problem& problem, const std::string& name);
/// The same for all that are mentioned in these texts.
void add_built_in_metrics(Problem& problem, std::span<const std::string> texts);

}  // namespace wattune
