#pragma once
// What the options of several commands share. CLI11 is slow to compile: only for the files that declare options.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace wattune::cli {

/// Whole numbers within 64 bits; CLI11 would wrap negative ones. Options name their values themselves: type_name("N").
inline CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[=](std::string& text) {
            std::uint64_t number = 0;
            const char* end = text.data() + text.size();
            const auto parsed = std::from_chars(text.data(), end, number);
            if (parsed.ec == std::errc() && parsed.ptr == end && number >= least && number <= most)
              return std::string();
            return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
          },
          ""};
}

/// Greater than 0 and finite.
inline CLI::Validator positive_number() {
  return {[](std::string& text) {
            double number = 0;
            const char* end = text.data() + text.size();
            const auto parsed = std::from_chars(text.data(), end, number);
            const bool good = parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(number) && number > 0;
            return good ? std::string() : fmt::format("'{}' is no positive number", text);
          },
          ""};
}

/// A script's variable that is not set must not quietly mean the default.
inline CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); }, ""};
}

inline constexpr std::uint64_t any = UINT64_MAX;  ///< of whole_number: no upper limit

/// The names of described things, separated by commas.
template <typename Descriptions>
std::string names_of(const Descriptions& descriptions) {
  std::string names;
  for (const auto& description : descriptions) names += (names.empty() ? "" : ", ") + std::string(description.name);
  return names;
}

}  // namespace wattune::cli
