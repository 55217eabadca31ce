#pragma once
// The values of the expression language, and of parameters.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wattune {

/// An integer (64-bit), float, boolean, string or list, with Python's meaning of equality and truth.
class Value {
 public:
  using List = std::vector<Value>;

  Value() : data_(std::int64_t{0}) {}
  Value(bool value) : data_(value) {}                                           // NOLINT(google-explicit-constructor)
  Value(int value) : data_(std::int64_t{value}) {}                              // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : data_(value) {}                                   // NOLINT(google-explicit-constructor)
  Value(double value) : data_(value) {}                                         // NOLINT(google-explicit-constructor)
  Value(std::string value) : data_(std::move(value)) {}                         // NOLINT(google-explicit-constructor)
  Value(const char* value) : data_(std::string(value)) {}                       // NOLINT(google-explicit-constructor)
  Value(List value) : data_(std::make_shared<const List>(std::move(value))) {}  // NOLINT(google-explicit-constructor)

  enum class Type : std::uint8_t { boolean, integer, floating, string, list };
  [[nodiscard]] Type type() const noexcept { return static_cast<Type>(data_.index()); }

  [[nodiscard]] bool is_bool() const noexcept { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool is_int() const noexcept { return std::holds_alternative<std::int64_t>(data_); }
  [[nodiscard]] bool is_float() const noexcept { return std::holds_alternative<double>(data_); }
  [[nodiscard]] bool is_string() const noexcept { return std::holds_alternative<std::string>(data_); }
  [[nodiscard]] bool is_list() const noexcept { return std::holds_alternative<std::shared_ptr<const List>>(data_); }
  /// Integer, float or boolean.
  [[nodiscard]] bool is_number() const noexcept { return is_bool() || is_int() || is_float(); }

  /// The value itself; the caller has checked the type. as_int also takes booleans, as_double any number.
  [[nodiscard]] bool as_bool() const { return std::get<bool>(data_); }
  [[nodiscard]] std::int64_t as_int() const {
    return is_bool() ? std::int64_t{as_bool()} : std::get<std::int64_t>(data_);
  }
  [[nodiscard]] double as_double() const {
    return is_float() ? std::get<double>(data_) : static_cast<double>(as_int());
  }
  [[nodiscard]] const std::string& as_string() const { return std::get<std::string>(data_); }
  [[nodiscard]] const List& as_list() const { return *std::get<std::shared_ptr<const List>>(data_); }

  /// Python's truth: zero, the empty string and the empty list are false.
  [[nodiscard]] bool truthy() const;

  /// Python's str(): "True", "2.45", "32", a string as it is, "[1, 2]".
  [[nodiscard]] std::string str() const;

  /// "int", "float", "bool", "str" or "list".
  [[nodiscard]] std::string_view type_name() const noexcept;

  /// Python's ==: 1 == 1.0 == True; a string equals only a string. Integers and floats compare exactly.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<bool, std::int64_t, double, std::string, std::shared_ptr<const List>> data_;
};

}  // namespace wattune
