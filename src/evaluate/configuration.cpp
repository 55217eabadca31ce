// The configuration as a program's own code sees it.

#include "wattune/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace wattune {

const Value& Configuration::at(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == name; });
  if (found != entries_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.first);
  throw UsageError(fmt::format("there is no parameter '{}'; there are: {}", name, fmt::join(names, ", ")));
}

double Configuration::number(std::string_view name) const {
  const Value& value = at(name);
  if (value.is_number()) return value.as_double();
  throw UsageError(fmt::format("parameter '{}' is {}, which is no number", name, value.str()));
}

std::int64_t Configuration::integer(std::string_view name) const {
  const Value& value = at(name);
  if (value.is_int() || value.is_bool()) return value.as_int();
  const double number = this->number(name);
  constexpr double limit = 9007199254740992;  // 2^53: beyond, not every whole number is a double
  if (std::trunc(number) == number && std::abs(number) <= limit) return static_cast<std::int64_t>(number);
  throw UsageError(fmt::format("parameter '{}' is {}, which is no whole number", name, value.str()));
}

std::string Configuration::text() const {
  std::string text;
  for (const auto& [name, value] : entries_) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", name, value.str());
  }
  return text;
}

}  // namespace wattune
