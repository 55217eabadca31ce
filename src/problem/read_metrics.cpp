// Metrics, workload and objectives.

#include <fmt/format.h>

#include <algorithm>

#include "expr/nearest_name.hpp"
#include "problem/evaluate_in.hpp"
#include "problem/quantities.hpp"
#include "problem/reader.hpp"

namespace wattune {

namespace {

/// An expression in which ProblemSize, which results do not carry, is replaced by its value.
Expression read_metric_expression(const Reading& reading, const JsonNode& node) {
  const Problem& problem = reading.problem;
  const Expression expression = read_expression(node);
  const auto& names = expression.names();
  if (std::find(names.begin(), names.end(), "ProblemSize") == names.end()) return expression;
  if (problem.problem_size.empty()) {
    if (reading.options.space_only) return expression;
    node.fail("uses ProblemSize, which is not given; add it to KernelSpecification");
  }
  return Expression::parse(replace_words(expression.text(), {{"ProblemSize", problem_size_value(problem).str()}}));
}

void add_metric(Reading& reading, const JsonNode& where, Metric metric) {
  auto& metrics = reading.problem.metrics;
  const bool taken =
      std::any_of(metrics.begin(), metrics.end(), [&](const Metric& other) { return other.name == metric.name; }) ||
      find_measured_quantity(metric.name) != nullptr;
  if (taken) where.fail(fmt::format("there are two metrics or quantities '{}'; rename this one", metric.name));
  metrics.push_back(std::move(metric));
}

/// Work of one launch: checked now, for nothing is measured that it could depend on.
Expression read_workload_expression(const Reading& reading, const JsonNode& node) {
  Expression expression = read_metric_expression(reading, node);
  std::vector<std::string> names = reading.problem.parameter_names();
  if (reading.options.space_only) names.emplace_back("ProblemSize");
  check_names(node, expression, names);
  const auto& used = expression.names();
  if (std::find(used.begin(), used.end(), "ProblemSize") != used.end()) return expression;
  try {
    const Value value = evaluate_for(reading.problem, expression, reading.problem.defaults);
    if (!value.is_number() || !(value.as_double() >= 0)) {
      node.fail(
          fmt::format("is {} for the default configuration; it must be a number that is not negative", value.str()));
    }
  } catch (const ExpressionError& error) {
    node.fail(error.what());
  }
  return expression;
}

void read_workload(Reading& reading) {
  const auto workload = reading.addition("Workload");
  if (!workload) return;
  refuse_unknown_keys(*workload, {"Flop", "Bytes"});
  const auto add = [&](const JsonNode& node, const Expression& work, std::string name, std::string_view divisor) {
    const std::string text = fmt::format("({}) / {} / 1e9", work.text(), divisor);
    const std::string unit = name;
    add_metric(reading, node, {std::move(name), Expression::parse(text), unit, Direction::maximize});
  };
  if (const auto flop = workload->find("Flop")) {
    const Expression work = read_workload_expression(reading, *flop);
    add(*flop, work, "GFLOP/s", "time");
    add(*flop, work, "GFLOP/J", "energy");
    reading.problem.workload.flop = work;
  }
  if (const auto bytes = workload->find("Bytes")) {
    const Expression work = read_workload_expression(reading, *bytes);
    add(*bytes, work, "GB/s", "time");
    reading.problem.workload.bytes = work;
  }
}

}  // namespace

void read_metrics(Reading& reading) {
  read_workload(reading);
  const auto list = reading.addition("Metrics");
  if (!list) return;
  for (const JsonNode& node : list->items()) {
    refuse_unknown_keys(node, {"Name", "Expression", "Unit"});
    const JsonNode name = node.at("Name");
    if (name.string().empty()) name.fail("is empty; give the metric a name");
    const auto unit = node.find("Unit");
    add_metric(reading, name,
               {name.string(), read_metric_expression(reading, node.at("Expression")), unit ? unit->string() : "",
                std::nullopt});
  }
}

namespace {

std::optional<Direction> better_direction(const Problem& problem, const std::string& name) {
  if (const auto* quantity = find_measured_quantity(name)) return quantity->better;
  for (const Metric& metric : problem.metrics) {
    if (metric.name == name) return metric.better;
  }
  return std::nullopt;
}

}  // namespace

void read_objectives(Reading& reading) {
  const auto list = reading.addition("Objectives");
  if (!list) return;
  Problem& problem = reading.problem;
  std::vector<std::string> known = measured_quantity_names();
  for (const Metric& metric : problem.metrics) known.push_back(metric.name);
  for (const auto& name : built_in_metric_names()) known.push_back(name);
  for (const JsonNode& node : list->items()) {
    refuse_unknown_keys(node, {"Name", "Direction"});
    const JsonNode name = node.at("Name");
    add_built_in_metric(problem, name.string());
    const auto found = std::find(known.begin(), known.end(), name.string());
    // What observers give is not known before the program that registers them is asked.
    if (found == known.end() && problem.observers.empty()) {
      name.fail(fmt::format("there is no quantity or metric '{}'{}; give one of: {}", name.string(),
                            did_you_mean(name.string(), known), joined(known)));
    }
    for (const Objective& other : problem.objectives) {
      if (other.name == name.string()) name.fail(fmt::format("there are two objectives '{}'; remove one", other.name));
    }
    Objective objective{name.string(), Direction::minimize};
    const auto better = better_direction(problem, name.string());
    if (const auto direction = node.find("Direction")) {
      objective.direction =
          direction->one_of({"minimize", "maximize"}) == "minimize" ? Direction::minimize : Direction::maximize;
    } else if (better) {
      objective.direction = *better;
    } else {
      static_cast<void>(node.at("Direction"));
    }
    problem.objectives.push_back(std::move(objective));
  }
}

void read_conditions(Reading& reading) {
  const auto list = reading.addition("SubjectTo");
  if (!list) return;
  for (const JsonNode& node : list->items()) {
    if (node.string().empty()) node.fail("is empty; give a condition, for example \"time <= 1.05*best(time)\"");
    reading.problem.conditions.push_back(node.string());
  }
}

}  // namespace wattune
