#include "expr/value.hpp"

#include <fmt/format.h>

#include "expr/arithmetic.hpp"

namespace wattune {

namespace {

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);  // shortest digits that read back as the same value
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// Python's repr() of a string, for strings inside lists.
std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == '\\' || c == quote) result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + quote;
}

}  // namespace

bool Value::truthy() const {
  switch (type()) {
    case Type::boolean:
      return as_bool();
    case Type::integer:
      return as_int() != 0;
    case Type::floating:
      return as_double() != 0;
    case Type::string:
      return !as_string().empty();
    case Type::list:
      return !as_list().empty();
  }
  return false;
}

std::string Value::str() const {
  switch (type()) {
    case Type::boolean:
      return as_bool() ? "True" : "False";
    case Type::integer:
      return fmt::format("{}", as_int());
    case Type::floating:
      return float_text(as_double());
    case Type::string:
      return as_string();
    case Type::list:
      break;
  }
  std::string result = "[";
  for (const Value& element : as_list()) {
    if (result.size() > 1) result += ", ";
    result += element.is_string() ? quoted(element.as_string()) : element.str();
  }
  return result + "]";
}

std::string_view Value::type_name() const noexcept {
  switch (type()) {
    case Type::boolean:
      return "bool";
    case Type::integer:
      return "int";
    case Type::floating:
      return "float";
    case Type::string:
      return "str";
    case Type::list:
      return "list";
  }
  return "";
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_float() && b.is_float()) return a.as_double() == b.as_double();
    if (a.is_float()) return arithmetic::compare(b.as_int(), a.as_double()) == 0;
    if (b.is_float()) return arithmetic::compare(a.as_int(), b.as_double()) == 0;
    return a.as_int() == b.as_int();
  }
  if (a.is_string() && b.is_string()) return a.as_string() == b.as_string();
  if (a.is_list() && b.is_list()) return a.as_list() == b.as_list();
  return false;
}

}  // namespace wattune
