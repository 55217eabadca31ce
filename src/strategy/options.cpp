#include "strategy/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace wattune {

namespace {

std::string expected(const OptionDescription& option) {
  if (!option.choices.empty()) return fmt::format("one of {}", fmt::join(option.choices, ", "));
  return fmt::format("a {}number from {} to {}", option.whole ? "whole " : "", option.least, option.most);
}

std::string known_options(const StrategyDescription& description) {
  if (description.options.empty()) return "it has none";
  std::vector<std::string> names;
  for (const auto& option : description.options) names.push_back(fmt::format("{}={}", option.name, option.fallback));
  return fmt::format("it has (with their defaults) {}", fmt::join(names, ", "));
}

[[noreturn]] void refuse(const StrategyDescription& description, const OptionDescription& option,
                         const std::string& text) {
  throw UsageError(
      fmt::format("strategy '{}': option {}={}: give {}", description.name, option.name, text, expected(option)));
}

double parse_number(const StrategyDescription& description, const OptionDescription& option, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  if (!is_number || number < option.least || number > option.most || (option.whole && number != std::floor(number))) {
    refuse(description, option, text);
  }
  return number;
}

}  // namespace

OptionValues::OptionValues(const StrategyDescription& description, const StrategyOptions& given) {
  for (const auto& option : description.options) text_[option.name] = option.fallback;
  for (const auto& [name, value] : given) {
    if (!text_.contains(name)) {
      throw UsageError(
          fmt::format("strategy '{}' has no option '{}'; {}", description.name, name, known_options(description)));
    }
    text_[name] = value;
  }
  for (const auto& option : description.options) {
    const std::string& value = text_.at(option.name);
    if (option.choices.empty()) {
      numbers_[option.name] = parse_number(description, option, value);
    } else if (std::ranges::find(option.choices, value) == option.choices.end()) {
      refuse(description, option, value);
    }
  }
}

double OptionValues::number(const std::string& name) const {
  return numbers_.at(name);
}

std::size_t OptionValues::whole(const std::string& name) const {
  return static_cast<std::size_t>(numbers_.at(name));
}

OptionDescription number_option(std::string name, std::string fallback, std::string summary, double least,
                                double most) {
  return {std::move(name), std::move(fallback), std::move(summary), {}, least, most, false};
}

OptionDescription whole_option(std::string name, std::string fallback, std::string summary, double least, double most) {
  return {std::move(name), std::move(fallback), std::move(summary), {}, least, most, true};
}

OptionDescription word_option(std::string name, std::vector<std::string> choices, std::string summary) {
  std::string fallback = choices.front();
  return {std::move(name), std::move(fallback), std::move(summary), std::move(choices), 0, 0, false};
}

void add_strategy_option(StrategyOptions& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--strategy-option '{}': give key=value", text));
  }
  const std::string key = text.substr(0, equals);
  if (!options.emplace(key, text.substr(equals + 1)).second) {
    throw UsageError(fmt::format("--strategy-option '{}': '{}' is given twice", text, key));
  }
}

}  // namespace wattune
