#pragma once
// Options of strategies: read, checked against their descriptions.

#include <string>
#include <vector>

#include "strategy/strategy.hpp"

namespace wattune {

class OptionValues {
 public:
  /// @throws UsageError for a name that is not described or a value that does not fit.
  OptionValues(const StrategyDescription& description, const StrategyOptions& given);

  /// Of described options only.
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] std::size_t whole(const std::string& name) const;
  [[nodiscard]] const std::string& word(const std::string& name) const { return text_.at(name); }

 private:
  std::map<std::string, std::string> text_;
  std::map<std::string, double> numbers_;
};

OptionDescription number_option(std::string name, std::string fallback, std::string summary, double least, double most);
OptionDescription whole_option(std::string name, std::string fallback, std::string summary, double least, double most);
OptionDescription word_option(std::string name, std::vector<std::string> choices, std::string summary);

}  // namespace wattune
