#include "result/outcome.hpp"

#include <array>

namespace wattune {

namespace {
constexpr std::array<std::string_view, 10> names = {"ok",          "constraints", "compile", "resources",
                                                    "launch",      "timeout",     "crash",   "correctness",
                                                    "measurement", "lost_device"};
}

std::string_view to_string(Outcome outcome) {
  return names[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome_from(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

}  // namespace wattune
