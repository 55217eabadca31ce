#pragma once
// What is known about a condition while some of its variables are not: restrictions on products and sums are seen to
// fail long before their last variable has a value.

#include <map>
#include <optional>

#include "space/graph.hpp"

namespace wattune {

/// Writes bounds of nodes as nodes of the known variables alone.
class Bounds {
 public:
  Bounds(Graph& graph, VariableSet known) : graph_(graph), known_(known) {}

  /// A truth value that is 1 wherever the condition `node` can still be true.
  NodeId possible(NodeId node);

 private:
  enum class End { low, high };

  /// A node that is nowhere above (low) or below (high) `node`; nothing where only infinities would do.
  std::optional<NodeId> bound(NodeId node, End end);
  std::optional<NodeId> computed_bound(NodeId node, End end);
  std::optional<NodeId> range_end(NodeId node, End end);
  std::optional<NodeId> product_bound(NodeId node, End end);
  std::optional<NodeId> quotient_bound(NodeId node, End end);
  /// Truth of a <= b (or a < b) for some values of the unknown variables.
  NodeId possibly_less(Op op, NodeId a, NodeId b);
  [[nodiscard]] bool is_known(NodeId node) const { return (graph_.node(node).variables & ~known_) == 0; }
  [[nodiscard]] bool is_not_negative(NodeId node) const;

  Graph& graph_;
  VariableSet known_;
  std::map<std::pair<NodeId, End>, std::optional<NodeId>> bounds_;
};

}  // namespace wattune
