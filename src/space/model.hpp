#pragma once
// A set of restrictions on parameters, made ready for counting: parameters that cannot vary are constants, restrictions
// on one parameter have narrowed its values, and the rest is a graph with one root per condition.

#include <cstdint>
#include <optional>
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

  /// Throws the UsageError of restriction `index` that fails with an error of type or work at some point.
  [[noreturn]] void fail(std::size_t restriction) const;
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
