#pragma once
// The expression language of problem files: the subset of Python expressions that T1 files and Kernel Tuner scripts
// use. docs/expressions.md describes it.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "expr/arithmetic.hpp"
#include "expr/value.hpp"

namespace wattune {

namespace ast {
struct Node;
}

/// A faulty expression: what() names the expression, the column (1-based) and what is wrong.
class ExpressionError : public UsageError {
 public:
  ExpressionError(std::string_view expression, std::size_t column, std::string_view reason,
                  Fault fault = Fault::syntax);
  [[nodiscard]] std::size_t column() const noexcept { return column_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] Fault fault() const noexcept { return fault_; }

 private:
  std::size_t column_;
  std::string reason_;
  Fault fault_;
};

/// Why an evaluation failed.
struct EvaluationFault {
  Fault fault = Fault::none;
  std::size_t column = 0;
  std::string reason;
};

/// An expression compiled against an order of names.
class Program {
 public:
  struct Code;
  explicit Program(std::shared_ptr<const Code> code);

  /// Evaluates with values[i] for the i-th name given to Expression::compile. Work is bounded.
  /// @throws ExpressionError on division by zero, integer overflow or operands of the wrong type.
  [[nodiscard]] Value evaluate(std::span<const Value> values) const;

  /// The same where failing is normal: leaves the value in `result`, or says why there is none.
  [[nodiscard]] Fault evaluate(std::span<const Value> values, Value& result) const;
  /// Whether the value is truthy.
  [[nodiscard]] Fault test(std::span<const Value> values, bool& result) const;
  /// The same with values[i] pointing to the i-th value; those of names that do not occur may be null.
  [[nodiscard]] Fault test(std::span<const Value* const> values, bool& result) const;

  /// Evaluates again to tell in full why it fails. Empty (Fault::none) where it does not.
  [[nodiscard]] EvaluationFault explain_fault(std::span<const Value> values) const;

 private:
  std::shared_ptr<const Code> code_;
};

/// A parsed expression. Cheap to copy.
class Expression {
 public:
  /// @throws ExpressionError where the text is not of the language.
  static Expression parse(std::string_view text);

  [[nodiscard]] const std::string& text() const;

  /// The free names (neither functions nor comprehension variables), each once, in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& names() const;

  /// @throws ExpressionError with the column of a name that is not among `names`, and the nearest known name.
  [[nodiscard]] Program compile(std::span<const std::string> names) const;
  /// The same for a part of this expression's tree, which must not be inside a comprehension.
  [[nodiscard]] Program compile(const ast::Node& part, std::span<const std::string> names) const;

  /// Compiles and evaluates at once, for expressions that are used once.
  [[nodiscard]] Value evaluate(const std::map<std::string, Value>& scope = {}) const;

  /// The tree, for analysis by space/.
  [[nodiscard]] const ast::Node& root() const;

 private:
  struct Parsed;
  explicit Expression(std::shared_ptr<const Parsed> parsed);
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace wattune
