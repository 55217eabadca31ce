#include "space/lowering.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

using ast::Function;
using ast::Kind;
using ast::Operation;

void collect(const ast::Node& node, std::span<const std::string> names, std::vector<std::size_t>& found) {
  if (node.kind == Kind::name && node.local == ast::free_name) {
    found.push_back(static_cast<std::size_t>(std::ranges::find(names, node.name) - names.begin()));
  }
  for (const ast::Node& child : node.children) collect(child, names, found);
}

Op op_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return Op::add;
    case Operation::subtract:
      return Op::subtract;
    case Operation::multiply:
      return Op::multiply;
    case Operation::divide:
      return Op::divide;
    case Operation::floor_divide:
      return Op::floor_divide;
    case Operation::modulo:
      return Op::modulo;
    case Operation::equal:
      return Op::equal;
    case Operation::not_equal:
      return Op::not_equal;
    case Operation::less:
    case Operation::greater:
      return Op::less;
    default:
      return Op::less_equal;
  }
}

}  // namespace

std::vector<std::size_t> parameters_of(const ast::Node& node, std::span<const std::string> names) {
  std::vector<std::size_t> found;
  collect(node, names, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Lowering::Lowering(Model& model, std::size_t restriction)
    : model_(model),
      definition_(*model.definition),
      restriction_(restriction),
      variable_of_parameter_(definition_.parameters.size()) {
  for (std::size_t i = 0; i < model.variables.size(); ++i) variable_of_parameter_[model.variables[i]] = i;
}

std::vector<std::size_t> Lowering::variables_of(const ast::Node& node) const {
  std::vector<std::size_t> result;
  for (const std::size_t parameter : parameters_of(node, definition_.names)) {
    if (variable_of_parameter_[parameter]) result.push_back(*variable_of_parameter_[parameter]);
  }
  return result;
}

NodeId Lowering::truth(const ast::Node& node) {
  if (const auto typed = typed_truth(node)) return *typed;
  if (const auto table = tabulated(node, true)) return *table;
  return predicate(node);
}

std::optional<NodeId> Lowering::value(const ast::Node& node) {
  if (const auto typed = typed_value(node)) return typed;
  return tabulated(node, false);
}

std::optional<NodeId> Lowering::typed_truth(const ast::Node& node) {
  switch (node.kind) {
    case Kind::logical_and:
    case Kind::logical_or: {
      std::vector<NodeId> operands;
      for (const ast::Node& child : node.children) operands.push_back(truth(child));
      return node.kind == Kind::logical_and ? model_.graph.conjunction(operands) : model_.graph.disjunction(operands);
    }
    case Kind::conditional: {
      const NodeId condition = truth(node.children[0]);
      const NodeId a = truth(node.children[1]);
      return model_.graph.select(condition, a, truth(node.children[2]));
    }
    case Kind::unary:
      if (node.operation == Operation::logical_not) {
        return model_.graph.unary(Op::logical_not, truth(node.children[0]));
      }
      break;
    case Kind::comparison:
      return comparison(node);
    case Kind::call:
      if (node.function == Function::all || node.function == Function::any) return all_or_any(node);
      break;
    default:
      break;
  }
  const auto typed = typed_value(node);
  if (!typed) return std::nullopt;
  return model_.graph.unary(Op::is_true, *typed);
}

std::optional<NodeId> Lowering::typed_value(const ast::Node& node) {
  switch (node.kind) {
    case Kind::literal:
      if (node.value.is_float()) return model_.graph.floating(node.value.as_double());
      if (node.value.is_number()) return model_.graph.integer(node.value.as_int());
      return std::nullopt;
    case Kind::name:
      return name(node);
    case Kind::unary: {
      if (node.operation == Operation::logical_not) return typed_truth(node);
      const auto operand = value(node.children[0]);
      if (!operand || node.operation == Operation::plus) return operand;
      return model_.graph.unary(Op::negate, *operand);
    }
    case Kind::binary:
      return binary(node);
    case Kind::comparison:
      return comparison(node);
    case Kind::logical_and:
    case Kind::logical_or:
      return logical_value(node);
    case Kind::conditional:
      return conditional(node);
    case Kind::call:
      return call(node);
    default:
      return std::nullopt;
  }
}

std::optional<NodeId> Lowering::name(const ast::Node& node) {
  const auto parameter =
      static_cast<std::size_t>(std::ranges::find(definition_.names, node.name) - definition_.names.begin());
  const std::vector<Value>& values = definition_.parameters[parameter].values;
  const std::vector<std::uint32_t>& domain = model_.domains[parameter];
  const bool integral =
      std::ranges::all_of(domain, [&](std::uint32_t i) { return values[i].is_number() && !values[i].is_float(); });
  const bool floats = std::ranges::all_of(domain, [&](std::uint32_t i) { return values[i].is_float(); });
  if (!integral && !floats) return std::nullopt;
  if (!variable_of_parameter_[parameter]) {
    const Value& value = values[domain[0]];
    return floats ? model_.graph.floating(value.as_double()) : model_.graph.integer(value.as_int());
  }
  ValueTable table;
  table.variable = *variable_of_parameter_[parameter];
  table.is_float = floats;
  for (const std::uint32_t position : domain) {
    if (floats) {
      table.floats.push_back(values[position].as_double());
    } else {
      table.integers.push_back(values[position].as_int());
    }
  }
  return model_.graph.add_table(std::move(table));
}

std::optional<NodeId> Lowering::binary(const ast::Node& node) {
  const auto a = value(node.children[0]);
  if (!a) return std::nullopt;
  const auto b = value(node.children[1]);
  if (!b) return std::nullopt;
  if (node.operation == Operation::power) return power(*a, *b);
  return model_.graph.arithmetic(op_of(node.operation), *a, *b);
}

/// The type of a power of integers depends on the sign of the exponent.
std::optional<NodeId> Lowering::power(NodeId base, NodeId exponent) {
  Graph& graph = model_.graph;
  if (!graph.node(base).is_float && !graph.node(exponent).is_float) {
    const Range range = graph.node(exponent).range;
    if (range.low >= 0) return graph.make(Op::power, std::array{base, exponent});
    if (range.high >= 0) return std::nullopt;
  }
  return graph.make(Op::power, std::array{graph.unary(Op::to_float, base), graph.unary(Op::to_float, exponent)});
}

/// `a and b` is b where a is true, else a.
std::optional<NodeId> Lowering::logical_value(const ast::Node& node) {
  Graph& graph = model_.graph;
  std::optional<NodeId> result;
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    const auto operand = value(*child);
    if (!operand) return std::nullopt;
    if (!result) {
      result = operand;
      continue;
    }
    if (graph.node(*operand).is_float != graph.node(*result).is_float) return std::nullopt;
    const NodeId condition = graph.unary(Op::is_true, *operand);
    result = node.kind == Kind::logical_and ? graph.select(condition, *result, *operand)
                                            : graph.select(condition, *operand, *result);
  }
  return result;
}

std::optional<NodeId> Lowering::conditional(const ast::Node& node) {
  const auto a = value(node.children[1]);
  if (!a) return std::nullopt;
  const auto b = value(node.children[2]);
  if (!b || model_.graph.node(*a).is_float != model_.graph.node(*b).is_float) return std::nullopt;
  return model_.graph.select(truth(node.children[0]), *a, *b);
}

std::optional<NodeId> Lowering::comparison(const ast::Node& node) {
  std::vector<NodeId> parts;
  for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
    const auto part = compared(node.comparisons[i], node.children[i], node.children[i + 1]);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  return model_.graph.conjunction(parts);
}

std::optional<NodeId> Lowering::compared(Operation operation, const ast::Node& left, const ast::Node& right) {
  if (operation == Operation::in) return membership(left, right);
  if (operation == Operation::not_in) {
    const auto found = membership(left, right);
    if (!found) return std::nullopt;
    return model_.graph.unary(Op::logical_not, *found);
  }
  const auto a = value(left);
  if (!a) return std::nullopt;
  const auto b = value(right);
  if (!b) return std::nullopt;
  const bool swapped = operation == Operation::greater || operation == Operation::greater_equal;
  return model_.graph.comparison(op_of(operation), swapped ? *b : *a, swapped ? *a : *b, swapped);
}

std::optional<NodeId> Lowering::membership(const ast::Node& left, const ast::Node& right) {
  // Of one variable, a table of the outcomes is better than a comparison with every element.
  if (right.kind != Kind::list || variables_of(left).size() + variables_of(right).size() < 2) return std::nullopt;
  const auto sought = value(left);
  const auto elements = faultless(right, false);
  if (!sought || !elements) return std::nullopt;
  std::vector<NodeId> parts;
  for (const NodeId element : *elements) {
    const auto part = model_.graph.comparison(Op::equal, *sought, element);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  // The left side is evaluated, and may fail, even where the list is empty.
  if (model_.graph.node(*sought).may_fault) return std::nullopt;
  return model_.graph.disjunction(parts);
}

std::optional<std::vector<NodeId>> Lowering::faultless(const ast::Node& list, bool truths) {
  if (list.kind != Kind::list) return std::nullopt;
  std::vector<NodeId> elements;
  for (const ast::Node& child : list.children) {
    const auto element = truths ? std::optional(truth(child)) : value(child);
    if (!element || model_.graph.node(*element).may_fault) return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

std::optional<NodeId> Lowering::all_or_any(const ast::Node& node) {
  const auto elements = faultless(node.children[0], true);
  if (!elements) return std::nullopt;
  return node.function == Function::all ? model_.graph.conjunction(*elements) : model_.graph.disjunction(*elements);
}

std::optional<NodeId> Lowering::extreme(const ast::Node& node) {
  const bool of_list = node.children.size() == 1;
  if (of_list && node.children[0].kind != Kind::list) return std::nullopt;
  const std::vector<ast::Node>& candidates = of_list ? node.children[0].children : node.children;
  std::optional<NodeId> result;
  for (const ast::Node& child : candidates) {
    const auto candidate = value(child);
    if (!candidate) return std::nullopt;
    if (!result) {
      result = candidate;
      continue;
    }
    if (model_.graph.node(*result).is_float != model_.graph.node(*candidate).is_float) return std::nullopt;
    result =
        model_.graph.make(node.function == Function::min ? Op::minimum : Op::maximum, std::array{*result, *candidate});
  }
  return result;
}

std::optional<NodeId> Lowering::sum(const ast::Node& node) {
  if (node.children[0].kind != Kind::list) return std::nullopt;
  NodeId total = model_.graph.integer(0);
  for (const ast::Node& child : node.children[0].children) {
    const auto term = value(child);
    if (!term) return std::nullopt;
    total = model_.graph.arithmetic(Op::add, total, *term);
  }
  return total;
}

std::optional<NodeId> Lowering::call(const ast::Node& node) {
  switch (node.function) {
    case Function::min:
    case Function::max:
      return extreme(node);
    case Function::sum:
      return sum(node);
    case Function::all:
    case Function::any:
      return all_or_any(node);
    default:
      break;
  }
  constexpr std::array operations = {
      std::pair{Function::abs, Op::absolute},     std::pair{Function::int_, Op::truncate},
      std::pair{Function::float_, Op::to_float},  std::pair{Function::round, Op::round},
      std::pair{Function::ceil, Op::ceil},        std::pair{Function::floor, Op::floor},
      std::pair{Function::sqrt, Op::square_root}, std::pair{Function::log2, Op::log2},
      std::pair{Function::log, Op::log}};
  const auto found = std::ranges::find(operations, node.function, &std::pair<Function, Op>::first);
  if (found == operations.end() || node.children.size() != 1) return std::nullopt;
  const auto operand = value(node.children[0]);
  if (!operand) return std::nullopt;
  return model_.graph.unary(found->second, *operand);
}

std::optional<NodeId> Lowering::tabulated(const ast::Node& node, bool as_truth) {
  const std::vector<std::size_t> variables = variables_of(node);
  if (variables.size() > 1) return std::nullopt;
  const Program program = definition_.expressions[restriction_].compile(node, definition_.names);
  std::vector<Value> values;
  for (std::size_t i = 0; i < definition_.parameters.size(); ++i) {
    values.push_back(definition_.parameters[i].values[model_.domains[i][0]]);
  }
  ValueTable table;
  const std::size_t lanes = variables.empty() ? 1 : model_.width(variables[0]);
  std::vector<Value> results(lanes, Value(false));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!variables.empty()) {
      const std::size_t parameter = model_.variables[variables[0]];
      values[parameter] = definition_.parameters[parameter].values[model_.domains[parameter][lane]];
    }
    Value result;
    const Fault fault = program.evaluate(values, result);
    if (fault == Fault::none) results[lane] = as_truth ? Value(result.truthy()) : result;
    table.faults.push_back(fault);
  }
  const auto has_value = [&](std::size_t lane) { return table.faults[lane] == Fault::none; };
  bool integral = true;
  bool floats = true;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!has_value(lane)) continue;
    integral = integral && results[lane].is_number() && !results[lane].is_float();
    floats = floats && results[lane].is_float();
  }
  if (!integral && !floats) return std::nullopt;
  table.is_float = !integral;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (table.is_float) {
      table.floats.push_back(has_value(lane) ? results[lane].as_double() : 0.0);
    } else {
      table.integers.push_back(has_value(lane) ? results[lane].as_int() : 0);
    }
  }
  Graph& graph = model_.graph;
  if (variables.empty()) {
    if (!has_value(0)) return graph.fault(table.faults[0], table.is_float);
    return table.is_float ? graph.floating(table.floats[0]) : graph.integer(table.integers[0]);
  }
  if (std::ranges::all_of(table.faults, [](Fault fault) { return fault == Fault::none; })) table.faults.clear();
  table.variable = variables[0];
  return graph.add_table(std::move(table));
}

NodeId Lowering::predicate(const ast::Node& node) {
  const std::vector<std::size_t> variables = variables_of(node);
  std::vector<NodeId> positions;
  for (const std::size_t variable : variables) {
    ValueTable table;
    table.variable = variable;
    for (const std::uint32_t position : model_.domains[model_.variables[variable]]) table.integers.push_back(position);
    positions.push_back(model_.graph.add_table(std::move(table)));
  }
  Program program = definition_.expressions[restriction_].compile(node, definition_.names);
  return model_.graph.add_predicate({std::move(program), restriction_, variables}, std::move(positions));
}

}  // namespace wattune
