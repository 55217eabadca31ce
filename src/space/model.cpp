#include "space/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "expr/ast.hpp"
#include "space/lowering.hpp"

namespace wattune {

namespace {

/// A restriction, or one of the conditions that it joins with `and`.
struct Part {
  const ast::Node* node;
  std::size_t restriction;
};

void split(const ast::Node& node, std::size_t restriction, std::vector<Part>& parts) {
  if (node.kind != ast::Kind::logical_and) {
    parts.push_back({&node, restriction});
    return;
  }
  for (const ast::Node& child : node.children) split(child, restriction, parts);
}

void split(const Graph& graph, NodeId node, std::size_t restriction, std::vector<Condition>& conditions) {
  const Op op = graph.node(node).op;
  if (op != Op::all && op != Op::guarded_and) {
    conditions.push_back({node, restriction});
    return;
  }
  for (const NodeId child : graph.node(node).children) split(graph, child, restriction, conditions);
}

/// Keeps the values for which the part holds. Its only varying parameter is `parameter`.
void narrow(Model& model, const Part& part, std::size_t parameter) {
  const Definition& definition = *model.definition;
  const Program program = definition.expressions[part.restriction].compile(*part.node, definition.names);
  std::vector<const Value*> values;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    values.push_back(&definition.parameters[i].values[model.domains[i][0]]);
  }
  std::erase_if(model.domains[parameter], [&](std::uint32_t position) {
    values[parameter] = &definition.parameters[parameter].values[position];
    bool holds = false;
    const Fault fault = program.test(values, holds);
    model.note_fault(fault, part.restriction);
    return fault != Fault::none || !holds;
  });
}

/// Applies the parts that depend on one parameter at most, and leaves the others.
void narrow_domains(Model& model, std::vector<Part>& parts) {
  const auto varying = [&](const Part& part) {
    std::vector<std::size_t> parameters = parameters_of(*part.node, model.definition->names);
    std::erase_if(parameters, [&](std::size_t i) { return model.domains[i].size() == 1; });
    return parameters;
  };
  // A parameter that is left with one value may make further restrictions depend on a single one.
  for (bool changed = true; changed && !model.empty;) {
    changed = false;
    std::erase_if(parts, [&](const Part& part) {
      if (model.empty) return false;
      const std::vector<std::size_t> parameters = varying(part);
      if (parameters.size() > 1) return false;
      // Any parameter will do where none varies: all its values (the one) go, or stay.
      const std::size_t parameter = parameters.empty() ? 0 : parameters[0];
      narrow(model, part, parameter);
      changed = changed || model.domains[parameter].size() == 1;
      model.empty = model.domains[parameter].empty();
      return true;
    });
  }
}

void check_parameters(const std::vector<Parameter>& parameters) {
  std::set<std::string> names;
  Count cartesian = 1;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name).second) {
      throw UsageError(fmt::format("parameter '{}' is given twice; give each parameter once", parameter.name));
    }
    if (parameter.values.empty()) {
      throw UsageError(fmt::format("parameter '{}' has no values; give it one at least", parameter.name));
    }
    if (cartesian > ~Count{0} / parameter.values.size()) {
      throw UsageError(
          fmt::format("the values of {} parameters make more than 2^128 points; give fewer values", parameters.size()));
    }
    cartesian *= parameter.values.size();
  }
}

}  // namespace

Definition Definition::parse(std::vector<Parameter> parameters, std::vector<Restriction> restrictions) {
  check_parameters(parameters);
  Definition definition;
  definition.parameters = std::move(parameters);
  definition.restrictions = std::move(restrictions);
  for (const Parameter& parameter : definition.parameters) definition.names.push_back(parameter.name);
  for (const Restriction& restriction : definition.restrictions) {
    try {
      Expression expression = Expression::parse(restriction.expression);
      // Compiled for its errors: unknown names are told with their column.
      if (!std::ranges::all_of(expression.names(), [&](const std::string& name) {
            return std::ranges::find(definition.names, name) != definition.names.end();
          })) {
        static_cast<void>(expression.compile(definition.names));
      }
      definition.expressions.push_back(std::move(expression));
    } catch (const ExpressionError& error) {
      throw UsageError(fmt::format("{}: {}", restriction.place, error.what()));
    }
  }
  return definition;
}

Model make_model(const Definition& definition, const Question& question) {
  Model model;
  model.definition = &definition;
  for (const Parameter& parameter : definition.parameters) {
    model.domains.emplace_back(parameter.values.size());
    std::iota(model.domains.back().begin(), model.domains.back().end(), 0U);
  }
  std::vector<Part> parts;
  for (const std::size_t i : question.restrictions) split(definition.expressions[i].root(), i, parts);
  if (!definition.parameters.empty()) narrow_domains(model, parts);
  if (model.empty) return model;

  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if (model.domains[i].size() > 1) model.variables.push_back(i);
  }
  for (const Part& part : parts) {
    split(model.graph, Lowering(model, part.restriction).truth(*part.node), part.restriction, model.conditions);
  }
  if (question.failing) {
    const NodeId failing = Lowering(model, *question.failing).truth(definition.expressions[*question.failing].root());
    model.conditions.push_back({model.graph.has_fault(failing, question.fault), *question.failing});
  }
  // What the ranges have decided.
  for (const Condition& condition : model.conditions) {
    const Node& node = model.graph.node(condition.node);
    if (node.op != Op::constant) continue;
    model.note_fault(node.fault, condition.restriction);
    if (node.fault != Fault::none || node.integer == 0) model.empty = true;
  }
  std::erase_if(model.conditions,
                [&](const Condition& condition) { return model.graph.node(condition.node).op == Op::constant; });
  return model;
}

}  // namespace wattune
