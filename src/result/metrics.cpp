#include "result/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace wattune {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::size_t position_or_add(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

MetricSet::MetricSet(std::span<const Metric> metrics, std::vector<std::string> parameter_names)
    : parameter_names_(std::move(parameter_names)) {
  for (const auto& metric : metrics) {
    const auto& names = metric.expression.names();
    if (std::find(names.begin(), names.end(), metric.name) != names.end()) {
      throw UsageError(fmt::format("metric '{0}' = {1} uses its own name; give the metric another name than '{0}'",
                                   metric.name, metric.expression.text()));
    }
    Compiled compiled{metric.name, metric.unit, metric.expression.compile(names), {}, {}};
    for (const auto& name : names) {
      const auto parameter = std::find(parameter_names_.begin(), parameter_names_.end(), name);
      const auto earlier =
          std::find_if(metrics_.begin(), metrics_.end(), [&](const auto& m) { return m.name == name; });
      if (parameter != parameter_names_.end()) {
        compiled.names.push_back(
            {Name::Kind::parameter, static_cast<std::size_t>(parameter - parameter_names_.begin())});
      } else if (earlier != metrics_.end()) {
        compiled.names.push_back({Name::Kind::metric, static_cast<std::size_t>(earlier - metrics_.begin())});
        compiled.inputs.insert(compiled.inputs.end(), earlier->inputs.begin(), earlier->inputs.end());
      } else {
        compiled.names.push_back({Name::Kind::quantity, position_or_add(inputs_, name)});
        compiled.inputs.push_back(compiled.names.back().index);
      }
    }
    std::sort(compiled.inputs.begin(), compiled.inputs.end());
    compiled.inputs.erase(std::unique(compiled.inputs.begin(), compiled.inputs.end()), compiled.inputs.end());
    metrics_.push_back(std::move(compiled));
  }
}

std::vector<std::string> MetricSet::inputs() const {
  auto names = inputs_;
  std::sort(names.begin(), names.end());
  return names;
}

/// The metrics' values for these inputs; NaN where one cannot be computed.
std::vector<double> MetricSet::compute(const Evaluation& evaluation, std::span<const double> inputs) const {
  std::vector<double> results;
  std::vector<Value> arguments;
  for (const auto& metric : metrics_) {
    arguments.clear();
    bool complete = true;
    for (const auto& name : metric.names) {
      if (name.kind == Name::Kind::parameter) {
        arguments.push_back(evaluation.configuration.at(name.index));
        continue;
      }
      const double value = name.kind == Name::Kind::metric ? results[name.index] : inputs[name.index];
      complete = complete && std::isfinite(value);
      arguments.emplace_back(value);
    }
    double result = unknown;
    if (complete) {
      try {
        const Value value = metric.program.evaluate(arguments);
        if (value.is_number()) result = value.as_double();
      } catch (const ExpressionError&) {
        // A division by zero or the like: this configuration has no such metric.
      }
    }
    results.push_back(std::isfinite(result) ? result : unknown);
  }
  return results;
}

void MetricSet::apply(Evaluation& evaluation) const {
  for (const auto& metric : metrics_) evaluation.quantities.erase(metric.name);
  if (!evaluation.ok()) return;

  std::vector<const Quantity*> inputs;  // null where the evaluation lacks it
  std::vector<double> values;
  for (const auto& name : inputs_) {
    const auto found = evaluation.quantities.find(name);
    inputs.push_back(found == evaluation.quantities.end() ? nullptr : &found->second);
    values.push_back(inputs.back() == nullptr ? unknown : inputs.back()->value);
  }
  const std::vector<double> results = compute(evaluation, values);

  // slopes[metric][input]: by central differences through the whole chain of metrics, so that a quantity that enters
  // twice (in a metric and in an earlier one that it uses) counts once.
  std::vector<std::vector<double>> slopes(metrics_.size(), std::vector<double>(inputs_.size(), 0.0));
  for (std::size_t input = 0; input < inputs_.size(); ++input) {
    if (inputs[input] == nullptr || !(inputs[input]->stderr_value > 0)) continue;
    const double step = values[input] == 0 ? inputs[input]->stderr_value : std::fabs(values[input]) * 1e-5;
    auto moved = values;
    moved[input] = values[input] + step;
    const auto above = compute(evaluation, moved);
    moved[input] = values[input] - step;
    const auto below = compute(evaluation, moved);
    for (std::size_t i = 0; i < metrics_.size(); ++i) slopes[i][input] = (above[i] - below[i]) / (2 * step);
  }

  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (std::isnan(results[i])) continue;
    Quantity quantity{results[i], metrics_[i].unit, 0, 0, {}};
    double variance = 0;
    for (const std::size_t input : metrics_[i].inputs) {
      const Quantity& source = *inputs[input];
      const double error = slopes[i][input] * source.stderr_value;
      variance += error * error;
      quantity.n = input == metrics_[i].inputs.front() ? source.n : std::min(quantity.n, source.n);
      for (const auto& flag : source.flags) position_or_add(quantity.flags, flag);
    }
    quantity.stderr_value = std::sqrt(variance);
    evaluation.quantities[metrics_[i].name] = std::move(quantity);
  }
}

}  // namespace wattune
