#pragma once
// A configuration: a value for each parameter.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wattune/value.hpp"

namespace wattune {

class Configuration {
 public:
  Configuration() = default;
  /// @param entries names and values, in the order of the problem file.
  explicit Configuration(std::vector<std::pair<std::string, Value>> entries) : entries_(std::move(entries)) {}

  /// The value of a parameter. @throws UsageError that lists the parameters where there is none of that name.
  [[nodiscard]] const Value& at(std::string_view name) const;
  /// The same as a C++ number. @throws UsageError where there is no such parameter, or it holds no (whole) number.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;

  /// All of it, in the order of the problem file.
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& entries() const noexcept { return entries_; }
  /// "block_size_x=128 TILE=4".
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

}  // namespace wattune
