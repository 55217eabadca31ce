#pragma once
// Restrictions as a graph of typed operations, in which equal subexpressions are one node.
//
// Every node is an integer (booleans are the integers 0 and 1) or a float, of a known range. Restrictions, or the parts
// of them, that cannot be written this way are predicate nodes, which call the compiled expression. Sums, products and
// the operands of `and` and `or` are kept in one node each, so that they can be evaluated in whatever order the
// parameters come in.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expr/arithmetic.hpp"
#include "expr/expression.hpp"
#include "expr/value.hpp"

namespace wattune {

/// A set of parameters, those with a single value left out: as a space has fewer than 2^128 points, 127 at most.
using VariableSet = unsigned __int128;
inline VariableSet variable_set(std::size_t variable) {
  return VariableSet{1} << variable;
}

using NodeId = std::uint32_t;

enum class Op : std::uint8_t {
  constant,   ///< Node::integer or Node::floating, or a fault
  table,      ///< of one variable: Graph::table(payload), by position
  predicate,  ///< truth of Graph::predicate(payload); children: the positions of its variables
  // Two operands of one type.
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  minimum,
  maximum,
  equal,
  not_equal,
  less,
  less_equal,
  // One operand.
  negate,
  absolute,
  to_float,
  truncate,
  floor,
  ceil,
  round,
  square_root,
  log2,
  log,
  is_true,
  logical_not,
  has_fault,  ///< whether the operand has the fault `payload`
  // Truth values. The guarded ones do not look at the fault of b where a decides.
  both,
  either,
  guarded_and,
  guarded_or,
  select,  ///< condition, value if true, value if false
  // Any number of operands that have no faults; integers, and integer results.
  sum,
  product,
  all,
  any
};

/// Payload of an integer division whose operands fit in 32 bits without sign and whose divisor is not zero.
inline constexpr std::uint32_t small_operands = 1;
/// Payload of a comparison whose operands stand in the other order in the expression: the faults of b come first.
inline constexpr std::uint32_t second_first = 2;

/// What values a node can take. Of a float: `not_a_number` says whether NaN is among them.
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  double float_low = -std::numeric_limits<double>::infinity();
  double float_high = std::numeric_limits<double>::infinity();
  bool not_a_number = false;

  static Range of(std::int64_t low, std::int64_t high);
  static Range of_floats(double low, double high);
  static Range truth() { return of(0, 1); }
  static Range any_float();
};

struct Node {
  Op op = Op::constant;
  bool is_float = false;
  bool operands_are_float = false;
  bool may_fault = false;
  Fault fault = Fault::none;  ///< of a constant that has no value
  std::uint32_t payload = 0;
  std::int64_t integer = 0;
  double floating = 0;
  VariableSet variables = 0;
  Range range;
  std::vector<NodeId> children;
};

/// The values of a subexpression of one variable, by position in the variable's value list.
struct ValueTable {
  std::size_t variable = 0;
  bool is_float = false;
  std::vector<std::int64_t> integers;
  std::vector<double> floats;
  std::vector<Fault> faults;  ///< empty where there are none

  friend bool operator==(const ValueTable&, const ValueTable&) = default;
};

/// A restriction, or part of one, that is evaluated by its compiled expression.
struct Predicate {
  Program program;
  std::size_t restriction;             ///< for messages
  std::vector<std::size_t> variables;  ///< in the order of the node's children
};

struct Operand;

class Graph {
 public:
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const ValueTable& table(std::uint32_t payload) const { return tables_[payload]; }
  [[nodiscard]] const Predicate& predicate(std::uint32_t payload) const { return predicates_[payload]; }

  /// A constant node, as an operand of evaluate_lanes(). Holds until a node is added.
  [[nodiscard]] Operand constant(NodeId id) const;

  NodeId integer(std::int64_t value);
  NodeId floating(double value);
  NodeId fault(Fault fault, bool is_float);
  NodeId add_table(ValueTable table);
  NodeId add_predicate(Predicate predicate, std::vector<NodeId> positions);

  /// Integer and float arithmetic; operands of different types are brought to float.
  NodeId arithmetic(Op op, NodeId a, NodeId b);
  /// Nothing where an integer would have to be compared with a float that cannot hold it exactly.
  /// `swapped`: b is evaluated first.
  std::optional<NodeId> comparison(Op op, NodeId a, NodeId b, bool swapped = false);
  NodeId unary(Op op, NodeId a);
  NodeId has_fault(NodeId a, Fault fault);
  /// Truth values, in the order in which Python evaluates them.
  NodeId conjunction(std::span<const NodeId> operands);
  NodeId disjunction(std::span<const NodeId> operands);
  /// `a` and `b` of one type.
  NodeId select(NodeId condition, NodeId a, NodeId b);

  /// A node of exactly this operation: no rearrangement, but folded where constant.
  NodeId make(Op op, std::span<const NodeId> children, std::uint32_t payload = 0);

 private:
  using Key = std::tuple<Op, bool, Fault, std::uint32_t, std::int64_t, std::uint64_t, std::vector<NodeId>>;

  NodeId intern(Node node);
  NodeId chain(Op nary, Op guarded, std::span<const NodeId> operands, std::int64_t decisive);
  NodeId flattened(Op op, NodeId a, NodeId b);
  [[nodiscard]] bool is_constant(NodeId id, std::int64_t value) const;
  [[nodiscard]] bool can_reassociate(Op op, std::span<const NodeId> operands) const;
  NodeId to_float(NodeId id);

  std::vector<Node> nodes_;
  std::vector<ValueTable> tables_;
  std::vector<Predicate> predicates_;
  std::map<Key, NodeId> known_;
};

/// The range of the result of an operation, and whether the operation itself can fail for operands of these ranges.
struct ResultRange {
  Range range;
  bool may_fault = false;
};
ResultRange range_of(Op op, bool operands_are_float, std::span<const Range> operands);

}  // namespace wattune
