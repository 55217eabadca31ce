#include "problem/quantities.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

constexpr std::array quantities{
    MeasuredQuantity{"time", "s", false, Direction::minimize},
    MeasuredQuantity{"energy", "J", true, Direction::minimize},
    MeasuredQuantity{"power", "W", true, Direction::minimize},
    MeasuredQuantity{"energy_above_idle", "J", true, Direction::minimize},
    MeasuredQuantity{"idle_power", "W", true, Direction::minimize},
    MeasuredQuantity{"energy_bound", "J", true, Direction::minimize},
    MeasuredQuantity{"time_min", "s", false, Direction::minimize},
    MeasuredQuantity{"time_spread", "s", false, Direction::minimize},
    MeasuredQuantity{"reset_time", "s"},
    MeasuredQuantity{"max_error", "", false, Direction::minimize},
    MeasuredQuantity{"sm_clock", "Hz", true},
    MeasuredQuantity{"memory_clock", "Hz", true},
    MeasuredQuantity{"temperature", "degC", true},
    MeasuredQuantity{"memory_power", "W", true, Direction::minimize},
    MeasuredQuantity{"memory_energy", "J", true, Direction::minimize},
    MeasuredQuantity{"throttle_time", "s", true, Direction::minimize},
    MeasuredQuantity{"voltage", "V", true},
    MeasuredQuantity{"registers", ""},
    MeasuredQuantity{"shared_memory", "B"},
    MeasuredQuantity{"occupancy", ""},
};

struct BuiltInMetric {
  std::string_view name;
  std::string_view expression;
  std::string_view unit;
};

constexpr std::array built_in_metrics{
    BuiltInMetric{"edp", "energy * time", "J s"},
    BuiltInMetric{"ed2p", "energy * time ** 2", "J s^2"},
};

}  // namespace

const MeasuredQuantity* find_measured_quantity(std::string_view name) {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const MeasuredQuantity& quantity) { return quantity.name == name; });
  return found == quantities.end() ? nullptr : &*found;
}

std::vector<std::string> measured_quantity_names() {
  std::vector<std::string> names;
  for (const auto& quantity : quantities) names.emplace_back(quantity.name);
  return names;
}

std::vector<std::string> built_in_metric_names() {
  std::vector<std::string> names;
  for (const auto& metric : built_in_metrics) names.emplace_back(metric.name);
  return names;
}

void add_built_in_metric(Problem& problem, const std::string& name) {
  const auto found = std::find_if(built_in_metrics.begin(), built_in_metrics.end(),
                                  [&](const BuiltInMetric& metric) { return metric.name == name; });
  const bool there = std::any_of(problem.metrics.begin(), problem.metrics.end(),
                                 [&](const Metric& metric) { return metric.name == name; });
  if (found == built_in_metrics.end() || there) return;
  problem.metrics.push_back(
      {name, Expression::parse(found->expression), std::string(found->unit), Direction::minimize});
}

void add_built_in_metrics(Problem& problem, std::span<const std::string> texts) {
  for (const auto& name : built_in_metric_names()) {
    const bool mentioned = std::any_of(texts.begin(), texts.end(),
                                       [&](const std::string& text) { return text.find(name) != std::string::npos; });
    if (mentioned) add_built_in_metric(problem, name);
  }
}

}  // namespace wattune
