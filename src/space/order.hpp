#pragma once
// Orders of a group's parameters, and how much work each is expected to be.

#include <cstddef>
#include <span>
#include <vector>

#include "space/plan.hpp"

namespace wattune {

/// Estimates, from the ranges of subexpressions, the edges that a diagram has in a given order of its variables.
class OrderEstimator {
 public:
  OrderEstimator(const Model& model, const Group& group) : model_(model), group_(group) {}

  /// States met times values tried, over all levels.
  [[nodiscard]] double work(std::span<const std::size_t> order) const;

  /// An order with little work: greedy, then improved by moving single variables.
  [[nodiscard]] std::vector<std::size_t> find_order() const;

 private:
  /// What must be remembered of the known variables: subexpressions, or some operands of one sum, product, `and`, `or`.
  struct Remembered {
    NodeId node;
    std::vector<NodeId> operands;  ///< empty: the node itself
    friend auto operator<=>(const Remembered&, const Remembered&) = default;
  };

  [[nodiscard]] std::vector<std::size_t> greedy() const;
  /// States that can be told apart when the variables of `known` have values.
  [[nodiscard]] double states(VariableSet known) const;
  void collect(NodeId node, VariableSet known, std::vector<Remembered>& remembered) const;
  [[nodiscard]] double different_values(const Remembered& remembered) const;
  [[nodiscard]] double different_values(NodeId node) const;
  [[nodiscard]] double combinations(VariableSet variables) const;
  /// Share of points that pass the conditions which `variable` makes complete.
  [[nodiscard]] double passing(VariableSet before, std::size_t variable) const;

  const Model& model_;
  const Group& group_;
};

}  // namespace wattune
