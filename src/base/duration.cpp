#include "base/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace wattune {

namespace {

/// "12 min 5 s", without a second part that is zero.
std::string two_parts(long long greater, const char* greater_unit, long long lesser, const char* lesser_unit) {
  std::string text = fmt::format("{} {}", greater, greater_unit);
  if (lesser != 0) text += fmt::format(" {} {}", lesser, lesser_unit);
  return text;
}

}  // namespace

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return two_parts(whole / 60, "min", whole % 60, "s");
  const long long minutes = (whole + 30) / 60;
  if (minutes < 24 * 60) return two_parts(minutes / 60, "h", minutes % 60, "min");
  return two_parts(minutes / (24 * 60), "d", minutes / 60 % 24, "h");
}

std::string format_interval(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds >= 59.95) return format_duration(seconds);
  // What would be rounded to a thousand is shown in the next unit.
  constexpr double reached = 0.9995;
  constexpr std::array units = {std::pair{1.0, "s"}, std::pair{1e-3, "ms"}, std::pair{1e-6, "us"}};
  for (const auto& [size, unit] : units) {
    if (seconds >= reached * size) return fmt::format("{:.3g} {}", seconds / size, unit);
  }
  return seconds == 0 ? "0 s" : fmt::format("{:.3g} ns", seconds * 1e9);
}

}  // namespace wattune
