#pragma once
// A set of restrictions on parameters, made ready for counting: parameters that cannot vary are constants, restrictions
// on one parameter have narrowed its values, and the rest is a graph with one root per condition.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "expr/expression.hpp"
#include "space/graph.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// Parameters and parsed restrictions. Outlives every model of it.
struct Definition {
  std::vector<Parameter> parameters;
  std::vector<std::string> names;
  std::vector<Restriction> restrictions;
  std::vector<Expression> expressions;  ///< of the restrictions

  /// @throws UsageError for a faulty restriction or parameter.
  static Definition parse(std::vector<Parameter> parameters, std::vector<Restriction> restrictions);
};

/// A restriction, or a part of one that must hold, as a node of the graph: its value must be 1, without fault.
struct Condition {
  NodeId node;
  std::size_t restriction;
};

struct Model {
  const Definition* definition = nullptr;
  /// By parameter: the positions of its values that remain.
  std::vector<std::vector<std::uint32_t>> domains;
  /// Parameters with more than one value left; the graph's variables are positions in this list.
  std::vector<std::size_t> variables;
  Graph graph;
  std::vector<Condition> conditions;
  /// No configuration is valid.
  bool empty = false;
  /// Restrictions of which some part was met with operands of the wrong type, or with too much work. Whether that is an
  /// error depends on what is evaluated before that part.
  std::set<std::size_t> suspects;

  void note_fault(Fault fault, std::size_t restriction) {
    if (fault == Fault::type || fault == Fault::work) suspects.insert(restriction);
  }

  [[nodiscard]] std::size_t width(std::size_t variable) const { return domains[variables[variable]].size(); }
};

/// The points that satisfy `restrictions` (indices), and at which `failing` fails with the given fault, where given.
struct Question {
  std::vector<std::size_t> restrictions;
  std::optional<std::size_t> failing;
  Fault fault = Fault::division_by_zero;
};

Model make_model(const Definition& definition, const Question& question);

}  // namespace wattune
