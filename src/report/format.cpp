#include "report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace wattune {

namespace {

constexpr int digits_without_error = 4;
constexpr int max_decimals = 9;

struct Prefix {
  double size;
  std::string_view text;
};
// The largest first; a value takes the first that it reaches.
constexpr std::array time_prefixes = {Prefix{1, ""}, Prefix{1e-3, "m"}, Prefix{1e-6, "u"}, Prefix{1e-9, "n"}};
constexpr std::array power_prefixes = {Prefix{1e6, "M"}, Prefix{1e3, "k"}, Prefix{1, ""}, Prefix{1e-3, "m"},
                                       Prefix{1e-6, "u"}};
// Clocks are named in MHz, whatever their size.
constexpr std::array clock_prefixes = {Prefix{1e6, "M"}, Prefix{1e3, "k"}, Prefix{1, ""}};

std::span<const Prefix> prefixes_of(std::string_view unit) {
  if (unit == "s") return time_prefixes;
  if (unit == "J" || unit == "W") return power_prefixes;
  if (unit == "Hz") return clock_prefixes;
  return {};
}

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::fabs(value))));
}

/// To as many significant digits as are shown, so that 999.96 us is taken for the 1 ms that it would be shown as.
double rounded(double value) {
  if (value == 0) return 0;
  const double step = std::pow(10.0, exponent_of(value) - digits_without_error + 1);
  return std::round(value / step) * step;
}

std::string plain(double value, int digits) {
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e9 || magnitude < 1e-4) return fmt::format("{:.{}e}", value, digits - 1);
  return fmt::format("{:.{}f}", value, std::clamp(digits - 1 - exponent_of(rounded(value)), 0, max_decimals));
}

}  // namespace

Scale scale_for(double value, std::string_view unit) {
  const auto prefixes = prefixes_of(unit);
  if (prefixes.empty() || !std::isfinite(value) || value == 0) return {1, std::string(unit)};
  const double magnitude = std::fabs(rounded(value)) * (1 + 1e-12);
  const auto fits =
      std::find_if(prefixes.begin(), prefixes.end(), [&](const Prefix& p) { return magnitude >= p.size; });
  const Prefix& prefix = fits == prefixes.end() ? prefixes.back() : *fits;
  return {1 / prefix.size, std::string(prefix.text).append(unit)};
}

std::string format_number(double value, const Scale& scale, double standard_error) {
  if (!std::isfinite(value)) return "-";
  const double shown = value * scale.factor;
  if (!std::isfinite(standard_error)) return plain(shown, digits_without_error);
  const double error = standard_error * scale.factor;
  if (!(error > 0)) return plain(shown, digits_without_error);
  const int exponent = exponent_of(error);
  const bool begins_with_one = error < 1.95 * std::pow(10.0, exponent);
  const int decimals = (begins_with_one ? 1 : 0) - exponent;
  if (decimals > max_decimals || std::fabs(shown) >= 1e9) {
    return fmt::format("{} +- {}", plain(shown, digits_without_error), plain(error, 1));
  }
  return fmt::format("{:.{}f} +- {:.{}f}", shown, std::max(0, decimals), error, std::max(0, decimals));
}

std::string format_value(double value, std::string_view unit) {
  const Scale scale = scale_for(value, unit);
  const std::string number = format_number(value, scale);
  return scale.unit.empty() || number == "-" ? number : number + " " + scale.unit;
}

std::string format_quantity(const Quantity& quantity) {
  const Scale scale = scale_for(quantity.value, quantity.unit);
  const std::string number = format_number(quantity.value, scale, quantity.stderr_value);
  return scale.unit.empty() || number == "-" ? number : number + " " + scale.unit;
}

std::string format_percent(double share) {
  constexpr double most_shown_whole = 1e6;
  const double percent = 100 * share;
  if (!std::isfinite(percent)) return "-";
  return std::fabs(percent) < most_shown_whole ? fmt::format("{:.2f}", percent) : fmt::format("{:.1e}", percent);
}

std::string format_named(const std::string& name, const Quantity& quantity) {
  Quantity shown = quantity;
  if (shown.unit == name) shown.unit.clear();
  return name + " " + format_quantity(shown);
}

std::string format_configuration(const std::vector<Value>& configuration, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(configuration.size(), names.size()); ++i) {
    if (!text.empty()) text += ' ';
    text.append(names[i]).append(1, '=').append(configuration[i].str());
  }
  return text;
}

}  // namespace wattune
