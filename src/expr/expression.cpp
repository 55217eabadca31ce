#include "expr/expression.hpp"

#include <fmt/format.h>

#include <utility>

#include "expr/parser.hpp"
#include "expr/program.hpp"

namespace wattune {

namespace {

/// The expression as messages show it: a long one only around the column.
std::string excerpt(std::string_view expression, std::size_t column) {
  constexpr std::size_t longest = 200;
  constexpr std::size_t before = 60;
  std::string result;
  if (expression.size() <= longest) {
    result = expression;
  } else {
    const std::size_t start = column > before + 1 ? column - before - 1 : 0;
    result = fmt::format("{}{}{}", start > 0 ? "..." : "", expression.substr(start, longest),
                         start + longest < expression.size() ? "..." : "");
  }
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // a message is one line
  }
  return result;
}

}  // namespace

ExpressionError::ExpressionError(std::string_view expression, std::size_t column, std::string_view reason, Fault fault)
    : UsageError(fmt::format("expression \"{}\", column {}: {}", excerpt(expression, column), column, reason)),
      column_(column),
      reason_(reason),
      fault_(fault) {}

Program::Program(std::shared_ptr<const Code> code) : code_(std::move(code)) {}

Value Program::evaluate(std::span<const Value> values) const {
  Value result;
  if (run_program(*code_, values, &result, nullptr, nullptr) == Fault::none) return result;
  const EvaluationFault details = explain_fault(values);
  throw ExpressionError(code_->text, details.column, details.reason, details.fault);
}

Fault Program::evaluate(std::span<const Value> values, Value& result) const {
  return run_program(*code_, values, &result, nullptr, nullptr);
}

Fault Program::test(std::span<const Value> values, bool& result) const {
  return run_program(*code_, values, nullptr, &result, nullptr);
}

Fault Program::test(std::span<const Value* const> values, bool& result) const {
  return test_program(*code_, values, result);
}

EvaluationFault Program::explain_fault(std::span<const Value> values) const {
  EvaluationFault details;
  run_program(*code_, values, nullptr, nullptr, &details);
  return details;
}

struct Expression::Parsed {
  std::string text;
  ParsedExpression tree;
};

Expression::Expression(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

Expression Expression::parse(std::string_view text) {
  return Expression(std::make_shared<const Parsed>(Parsed{std::string(text), parse_expression(text)}));
}

const std::string& Expression::text() const {
  return parsed_->text;
}

const std::vector<std::string>& Expression::names() const {
  return parsed_->tree.names;
}

const ast::Node& Expression::root() const {
  return parsed_->tree.root;
}

Program Expression::compile(std::span<const std::string> names) const {
  return compile(root(), names);
}

Program Expression::compile(const ast::Node& part, std::span<const std::string> names) const {
  return Program(
      std::make_shared<const Program::Code>(compile_program(parsed_->text, part, parsed_->tree.locals, names)));
}

Value Expression::evaluate(const std::map<std::string, Value>& scope) const {
  std::vector<std::string> names;
  std::vector<Value> values;
  for (const auto& [name, value] : scope) {
    names.push_back(name);
    values.push_back(value);
  }
  return compile(names).evaluate(values);
}

}  // namespace wattune
