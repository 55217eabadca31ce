#pragma once
// The compiled form of an expression: a flat program for a machine of typed registers. Internal to expr/.

#include <cstdint>
#include <string>
#include <vector>

#include "expr/ast.hpp"
#include "expr/expression.hpp"

namespace wattune {

/// A value in a register. Strings and lists are referred to, never owned: they live in the constants of the program, in
/// the values it was called with, or in the machine that runs it.
struct Slot {
  Value::Type type;
  union {
    bool boolean;
    std::int64_t integer;
    double floating;
    const std::string* string;
    const Value::List* list;
  };

  /// Holds nothing yet: registers are many, and each is written before it is read.
  Slot() = default;
  explicit Slot(bool value) : type(Value::Type::boolean), boolean(value) {}
  explicit Slot(std::int64_t value) : type(Value::Type::integer), integer(value) {}
  explicit Slot(double value) : type(Value::Type::floating), floating(value) {}
  explicit Slot(const std::string* value) : type(Value::Type::string), string(value) {}
  explicit Slot(const Value::List* value) : type(Value::Type::list), list(value) {}

  [[nodiscard]] bool is_integral() const { return type <= Value::Type::integer; }  // boolean or integer
  [[nodiscard]] bool is_number() const { return type <= Value::Type::floating; }
  /// Of a boolean or integer.
  [[nodiscard]] std::int64_t as_int() const { return type == Value::Type::boolean ? std::int64_t{boolean} : integer; }
  /// Of a number.
  [[nodiscard]] double as_double() const {
    return type == Value::Type::floating ? floating : static_cast<double>(as_int());
  }
  [[nodiscard]] bool truthy() const;
};
static_assert(Value::Type::boolean < Value::Type::integer && Value::Type::integer < Value::Type::floating &&
              Value::Type::floating < Value::Type::string);

Slot to_slot(const Value& value);
Value to_value(const Slot& slot);

enum class Instruction : std::uint8_t {
  // target = a OP b
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
  subscript,
  // target = OP a
  plus,
  negate,
  logical_not,
  move,
  // jumps to b
  jump,
  jump_if_false,
  jump_if_true,
  // target = function(registers a .. a + b - 1)
  call,
  // target = an empty list; list in target += a
  new_list,
  append,
  // begin: registers target, target + 1 = the list a and the position in it.
  // next: target = the next element of the iteration in registers a, a + 1; jumps to b at its end
  begin_iteration,
  next_iteration,
  // the result is a
  finish
};

struct Step {
  Instruction instruction;
  ast::Function function = ast::Function::range;
  std::uint32_t column = 0;
  std::uint32_t target = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

struct Program::Code {
  std::string text;  ///< of the expression
  std::vector<Step> steps;
  /// Registers: first the constants, then the variables, then comprehension variables and intermediate values.
  std::vector<Value> constants;
  std::vector<Slot> constant_slots;      ///< the same, as registers (into `constants`)
  std::vector<std::uint32_t> variables;  ///< positions in the values that evaluate() is given
  std::uint32_t registers = 0;
};

// Limits on the work of one evaluation.
inline constexpr std::size_t longest_list = std::size_t{1} << 18;
inline constexpr std::size_t most_elements = std::size_t{1} << 20;  ///< over all lists and iterations

/// Compiles `root` for values given in the order of `names`.
Program::Code compile_program(const std::string& text, const ast::Node& root, int locals,
                              std::span<const std::string> names);

/// Runs the code. What is asked for is left in `value`, `truth` and, where it fails, `details`; each may be null.
Fault run_program(const Program::Code& code, std::span<const Value> values, Value* value, bool* truth,
                  EvaluationFault* details);
/// Leaves in `truth` whether the result is truthy.
Fault test_program(const Program::Code& code, std::span<const Value* const> values, bool& truth);

}  // namespace wattune
