#pragma once
// The tree of a parsed expression, for compilation and for the analysis of restrictions in space/.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.hpp"

namespace wattune::ast {

enum class Kind : std::uint8_t {
  literal,       ///< value
  name,          ///< name; local says which comprehension variable it is, or that it is none
  list,          ///< children: the elements
  unary,         ///< operation, one child
  binary,        ///< operation, two children
  comparison,    ///< children: n operands; comparisons: the n - 1 operations between them
  logical_and,   ///< children: two or more operands
  logical_or,    ///< children: two or more operands
  conditional,   ///< children: condition, value if true, value if false
  subscript,     ///< children: list or string, index
  call,          ///< function, children: arguments
  comprehension  ///< children: element, then one per clause (the list of a `for`, the condition of an `if`)
};

enum class Operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  plus,
  negate,
  logical_not,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};
std::string_view to_string(Operation operation);

enum class Function : std::uint8_t {
  range,
  len,
  min,
  max,
  sum,
  abs,
  all,
  any,
  int_,
  float_,
  round,
  ceil,
  floor,
  sqrt,
  log2,
  log,
  list
};

/// A name that is no comprehension variable.
inline constexpr int free_name = -1;
/// A clause of a comprehension that is an `if`.
inline constexpr int condition_clause = -1;

struct Node {
  Kind kind = Kind::literal;
  Operation operation = Operation::add;
  Function function = Function::range;
  std::uint32_t column = 0;  ///< 1-based; of the operator for unary, binary, comparison and subscript
  std::uint32_t depth = 1;   ///< of the tree below and with this node
  bool constant = false;     ///< holds no name but its own comprehension variables
  int local = free_name;     ///< name: number of the comprehension variable
  Value value;
  std::string name;
  std::vector<Node> children;
  std::vector<Operation> comparisons;
  std::vector<int> clauses;            ///< comprehension: number of the variable of each `for`, or condition_clause
  std::vector<std::string> variables;  ///< comprehension: name of the variable of each clause (empty for `if`)
};

}  // namespace wattune::ast
