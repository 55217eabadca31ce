#pragma once
// Evaluates one operation for many operands at once.

#include <cstddef>
#include <cstdint>

#include "space/graph.hpp"

namespace wattune {

/// The values of a node for a number of points ("lanes"): integers or floats as the node is, and faults where it may
/// have them. A constant has one lane that stands for all.
struct Operand {
  const void* values = nullptr;
  const Fault* faults = nullptr;
  bool single = false;

  [[nodiscard]] const std::int64_t* integers() const { return static_cast<const std::int64_t*>(values); }
  [[nodiscard]] const double* floats() const { return static_cast<const double*>(values); }
};

/// Where a node's values and faults (null where it has none) are written.
struct Lanes {
  void* values = nullptr;
  Fault* faults = nullptr;

  [[nodiscard]] std::int64_t* integers() const { return static_cast<std::int64_t*>(values); }
  [[nodiscard]] double* floats() const { return static_cast<double*>(values); }
};

/// result = op(operands) in `count` lanes, for operations with one to three operands (no table, predicate, sum, ...).
/// Where `node.may_fault`, operands' faults are passed on and the operation's own are found; lanes with a fault hold
/// the low end of the node's range. Where not, the caller vouches (by the ranges) that nothing can go wrong.
void evaluate_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result);

}  // namespace wattune
