#include "space/order.hpp"

#include <algorithm>
#include <limits>

namespace wattune {

namespace {

// Shares of the points that pass, guessed.
constexpr double passes_equality = 0.3;
constexpr double passes_other = 0.7;
/// Orders tried when improving one.
constexpr int most_trials = 300;

bool has_many_operands(Op op) {
  return op == Op::sum || op == Op::product || op == Op::all || op == Op::any;
}

double width_of(const Range& range) {
  return static_cast<double>(range.high) - static_cast<double>(range.low) + 1;
}

}  // namespace

double OrderEstimator::combinations(VariableSet variables) const {
  double result = 1;
  for (std::size_t v = 0; variables != 0; ++v, variables >>= 1) {
    if ((variables & 1) != 0) result *= static_cast<double>(model_.width(v));
  }
  return result;
}

double OrderEstimator::different_values(NodeId id) const {
  const Node& node = model_.graph.node(id);
  const double different = combinations(node.variables);
  return node.is_float ? different : std::min(different, width_of(node.range));
}

double OrderEstimator::different_values(const Remembered& remembered) const {
  if (remembered.operands.empty()) return different_values(remembered.node);
  const Op op = model_.graph.node(remembered.node).op;
  double different = 1;
  VariableSet variables = 0;
  double sum_width = 1;
  for (const NodeId operand : remembered.operands) {
    different *= different_values(operand);
    variables |= model_.graph.node(operand).variables;
    sum_width += width_of(model_.graph.node(operand).range) - 1;
  }
  if (op == Op::all || op == Op::any) return 2;
  if (op == Op::sum) different = std::min(different, sum_width);
  return std::min(different, combinations(variables));
}

void OrderEstimator::collect(NodeId id, VariableSet known, std::vector<Remembered>& remembered) const {
  const Node& node = model_.graph.node(id);
  if ((node.variables & known) == 0) return;
  if ((node.variables & ~known) == 0) {
    remembered.push_back({id, {}});
    return;
  }
  std::vector<NodeId> together;
  for (const NodeId child : node.children) {
    const VariableSet variables = model_.graph.node(child).variables;
    if (has_many_operands(node.op) && variables != 0 && (variables & ~known) == 0) {
      together.push_back(child);
    } else {
      collect(child, known, remembered);
    }
  }
  if (!together.empty()) remembered.push_back({id, std::move(together)});
}

double OrderEstimator::states(VariableSet known) const {
  std::vector<Remembered> remembered;
  for (const Condition& condition : group_.conditions) {
    if ((model_.graph.node(condition.node).variables & ~known) != 0) collect(condition.node, known, remembered);
  }
  std::ranges::sort(remembered);
  remembered.erase(std::unique(remembered.begin(), remembered.end()), remembered.end());
  double different = 1;
  for (const Remembered& part : remembered) different *= different_values(part);
  return std::min(different, combinations(known));
}

double OrderEstimator::passing(VariableSet before, std::size_t variable) const {
  double result = 1;
  for (const Condition& condition : group_.conditions) {
    const Node& node = model_.graph.node(condition.node);
    const bool completes =
        (node.variables & variable_set(variable)) != 0 && (node.variables & ~(before | variable_set(variable))) == 0;
    if (completes) result *= node.op == Op::equal ? passes_equality : passes_other;
  }
  return result;
}

double OrderEstimator::work(std::span<const std::size_t> order) const {
  double total = 0;
  double reached = 1;
  VariableSet known = 0;
  for (const std::size_t variable : order) {
    const double edges = reached * static_cast<double>(model_.width(variable));
    total += edges;
    reached = edges * passing(known, variable);
    known |= variable_set(variable);
    reached = std::max(1.0, std::min(reached, states(known)));
  }
  return total;
}

std::vector<std::size_t> OrderEstimator::greedy() const {
  std::vector<std::size_t> order;
  std::vector<std::size_t> left = group_.variables;
  VariableSet known = 0;
  while (!left.empty()) {
    const auto best = std::ranges::min_element(left, {}, [&](std::size_t variable) {
      return states(known | variable_set(variable)) * passing(known, variable);
    });
    known |= variable_set(*best);
    order.push_back(*best);
    left.erase(best);
  }
  return order;
}

std::vector<std::size_t> OrderEstimator::find_order() const {
  std::vector<std::size_t> best = greedy();
  double least = work(best);
  int trials = 0;
  for (bool improved = true; improved && trials < most_trials;) {
    improved = false;
    for (std::size_t from = 0; from < best.size(); ++from) {
      for (std::size_t to = 0; to < best.size() && trials < most_trials; ++to) {
        if (to == from) continue;
        std::vector<std::size_t> order = best;
        const std::size_t variable = order[from];
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), variable);
        ++trials;
        const double effort = work(order);
        if (effort >= least) continue;
        least = effort;
        best = std::move(order);
        improved = true;
      }
    }
  }
  return best;
}

}  // namespace wattune
