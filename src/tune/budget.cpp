#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "base/duration.hpp"
#include "base/error.hpp"
#include "tune/tuner.hpp"

namespace wattune {

namespace {

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

UsageError not_understood(const std::string& part) {
  return UsageError(fmt::format(
      "--budget: '{}' is no budget; give a number of evaluations (200), a time (90s, 10min, 2h), a share of the space "
      "(5%), or several joined by commas",
      part));
}

Budget parse_part(const std::string& part) {
  double number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number <= 0) throw not_understood(part);
  const std::string unit = trimmed(std::string_view(end, static_cast<std::size_t>(part.data() + part.size() - end)));
  Budget budget;
  if (unit.empty() || unit == "evaluations" || unit == "evaluation") {
    if (number != std::floor(number) || number > 1e18) throw not_understood(part);
    budget.evaluations = static_cast<std::uint64_t>(number);
  } else if (unit == "%") {
    if (number > 100) throw not_understood(part);
    budget.fraction = number / 100;
  } else if (unit == "s" || unit == "sec" || unit == "seconds") {
    budget.seconds = number;
  } else if (unit == "m" || unit == "min" || unit == "minutes") {
    budget.seconds = 60 * number;
  } else if (unit == "h" || unit == "hours") {
    budget.seconds = 3600 * number;
  } else {
    throw not_understood(part);
  }
  return budget;
}

template <class T>
std::optional<T> smaller(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

}  // namespace

Budget combine(const Budget& a, const Budget& b) {
  return {smaller(a.evaluations, b.evaluations), smaller(a.seconds, b.seconds), smaller(a.fraction, b.fraction)};
}

Budget parse_budget(const std::string& text) {
  Budget budget;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    budget = combine(budget, parse_part(trimmed(std::string_view(text).substr(begin, end - begin))));
    begin = end + 1;
  }
  return budget;
}

std::string to_string(const Budget& budget) {
  std::vector<std::string> parts;
  if (budget.evaluations) parts.push_back(fmt::format("{} evaluations", *budget.evaluations));
  if (budget.fraction) parts.push_back(fmt::format("{:g} % of the space", 100 * *budget.fraction));
  if (budget.seconds) parts.push_back(format_interval(*budget.seconds));
  return parts.empty() ? "no limit" : fmt::format("{}", fmt::join(parts, " or "));
}

}  // namespace wattune
