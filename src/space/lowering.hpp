#pragma once
// Expressions to graph nodes.

#include <optional>

#include "expr/ast.hpp"
#include "space/model.hpp"

namespace wattune {

class Lowering {
 public:
  /// Adds to the graph of `model`, whose domains and variables are final.
  Lowering(Model& model, std::size_t restriction);

  /// The truth of the expression.
  NodeId truth(const ast::Node& node);

 private:
  /// The value of the expression; nothing where it cannot be written with the graph's operations.
  std::optional<NodeId> value(const ast::Node& node);

  std::optional<NodeId> typed_truth(const ast::Node& node);
  std::optional<NodeId> typed_value(const ast::Node& node);
  std::optional<NodeId> name(const ast::Node& node);
  std::optional<NodeId> binary(const ast::Node& node);
  std::optional<NodeId> power(NodeId base, NodeId exponent);
  std::optional<NodeId> logical_value(const ast::Node& node);
  std::optional<NodeId> conditional(const ast::Node& node);
  std::optional<NodeId> comparison(const ast::Node& node);
  std::optional<NodeId> compared(ast::Operation operation, const ast::Node& left, const ast::Node& right);
  std::optional<NodeId> membership(const ast::Node& left, const ast::Node& right);
  std::optional<NodeId> call(const ast::Node& node);
  std::optional<NodeId> extreme(const ast::Node& node);
  std::optional<NodeId> sum(const ast::Node& node);
  std::optional<NodeId> all_or_any(const ast::Node& node);
  /// The elements of a list display none of which can fail.
  std::optional<std::vector<NodeId>> faultless(const ast::Node& list, bool truths);

  /// Values of an expression of at most one variable, computed by its compiled program.
  std::optional<NodeId> tabulated(const ast::Node& node, bool as_truth);
  NodeId predicate(const ast::Node& node);
  /// The variables that occur in the expression, ascending.
  [[nodiscard]] std::vector<std::size_t> variables_of(const ast::Node& node) const;

  Model& model_;
  const Definition& definition_;
  std::size_t restriction_;
  std::vector<std::optional<std::size_t>> variable_of_parameter_;
};

/// The positions of the names that occur free in the expression, ascending.
std::vector<std::size_t> parameters_of(const ast::Node& node, std::span<const std::string> names);

}  // namespace wattune
