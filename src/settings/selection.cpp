#include "settings/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "settings/bounds.hpp"

namespace wattune {

namespace {

/// As many power limits as the published measurements have.
constexpr std::size_t usual_power_limits = 7;

class Selector {
 public:
  Selector(Setting setting, std::string text, const Capabilities& capabilities, std::string option)
      : setting_(setting), text_(std::move(text)), capabilities_(capabilities), option_(std::move(option)) {}

  std::vector<double> select() const {
    if (text_ == "all") return range("", "", "");
    const auto parts = split(text_, ':');
    if (parts.size() == 1) return list();
    if (parts.size() == 2) return parts[0].empty() ? range("", "", parts[1]) : range(parts[0], parts[1], "");
    if (parts.size() == 3) return range(parts[0], parts[1], parts[2]);
    fail("it has too many colons");
  }

  /// Checks that a value is supported.
  void check(double value) const {
    if (setting_ == Setting::power_limit) {
      const auto& limits = capabilities_.power_limit;
      if (limits && (value < limits->least || value > limits->most)) {
        fail(fmt::format("{:g} W is not supported by {}; it takes {:g} to {:g} W", value, capabilities_.name,
                         limits->least, limits->most));
      }
      return;
    }
    if (nearest(value) && std::fabs(*nearest(value) - value) <= 0.5e6) return;
    fail(fmt::format("{:g} MHz is not supported by {}; the nearest are {} MHz", value * 1e-6, capabilities_.name,
                     nearest_clocks(clocks(), value)));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw UsageError(fmt::format("{}: {}", option_, what)); }

  static std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
      if (c == separator) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }

  [[nodiscard]] double number(const std::string& text) const {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(value > 0) || !std::isfinite(value)) {
      fail(
          fmt::format("'{}' in '{}' is no positive number in {}; write a list (A,B,C), a range (LO:HI), N values of a "
                      "range (LO:HI:N), N of all (:N), or all",
                      text, text_, edge_unit(setting_)));
    }
    return value * edge_scale(setting_);
  }

  [[nodiscard]] std::size_t count(const std::string& text) const {
    std::size_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 1 || value > 100000) {
      fail(fmt::format("'{}' in '{}' is no number of values", text, text_));
    }
    return value;
  }

  [[nodiscard]] const std::vector<double>& clocks() const {
    return setting_ == Setting::memory_clock ? capabilities_.memory_clocks : capabilities_.sm_clocks;
  }

  [[nodiscard]] std::optional<double> nearest(double value) const {
    const auto& list = clocks();
    const auto found = std::min_element(
        list.begin(), list.end(), [&](double a, double b) { return std::fabs(a - value) < std::fabs(b - value); });
    return found == list.end() ? std::nullopt : std::optional(*found);
  }

  [[nodiscard]] std::vector<double> list() const {
    std::vector<double> values;
    for (const auto& part : split(text_, ',')) {
      const double value = number(part);
      check(value);
      values.push_back(setting_ == Setting::power_limit ? value : *nearest(value));
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  [[nodiscard]] std::vector<double> range(const std::string& low, const std::string& high,
                                          const std::string& many) const {
    return setting_ == Setting::power_limit ? range_of_limits(low, high, many) : range_of_clocks(low, high, many);
  }

  [[nodiscard]] std::vector<double> range_of_limits(const std::string& low, const std::string& high,
                                                    const std::string& many) const {
    if (!capabilities_.power_limit) fail(capabilities_.name + " has no power limit to set");
    const double least = low.empty() ? capabilities_.power_limit->least : number(low);
    const double most = high.empty() ? capabilities_.power_limit_default : number(high);
    check(least);
    check(most);
    if (least > most) fail(fmt::format("'{}': the range is empty", text_));
    const std::size_t n = many.empty() ? usual_power_limits : count(many);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
      const double share = n == 1 ? 1 : static_cast<double>(i) / static_cast<double>(n - 1);
      const double value = std::round(least + share * (most - least));
      if (values.empty() || value > values.back()) values.push_back(std::clamp(value, least, most));
    }
    return values;
  }

  [[nodiscard]] std::vector<double> range_of_clocks(const std::string& low, const std::string& high,
                                                    const std::string& many) const {
    if (clocks().empty()) fail("NVML lists no supported clocks of " + capabilities_.name);
    constexpr double tolerance = 0.5e6;
    const double least = low.empty() ? clocks().front() : number(low);
    const double most = high.empty() ? clocks().back() : number(high);
    std::vector<double> inside;
    std::copy_if(clocks().begin(), clocks().end(), std::back_inserter(inside),
                 [&](double clock) { return clock >= least - tolerance && clock <= most + tolerance; });
    if (inside.empty()) {
      fail(fmt::format("no supported clock of {} lies in {:g} to {:g} MHz; it supports {:g} to {:g} MHz",
                       capabilities_.name, least * 1e-6, most * 1e-6, clocks().front() * 1e-6, clocks().back() * 1e-6));
    }
    const std::size_t n = many.empty() ? inside.size() : count(many);
    if (n >= inside.size()) return inside;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
      const double share = n == 1 ? 1 : static_cast<double>(i) / static_cast<double>(n - 1);
      const double at = share * static_cast<double>(inside.size() - 1);
      values.push_back(inside[static_cast<std::size_t>(std::lround(at))]);
    }
    return values;
  }

  Setting setting_;
  std::string text_;
  const Capabilities& capabilities_;
  std::string option_;
};

}  // namespace

std::vector<double> select_settings(Setting setting, const std::string& text, const Capabilities& capabilities,
                                    const std::string& option) {
  return Selector(setting, text, capabilities, option).select();
}

Parameter setting_parameter(Setting setting, const std::vector<double>& values) {
  Parameter parameter;
  parameter.name = parameter_of(setting);
  for (const double value : values) {
    const double number = value / edge_scale(setting);
    const double whole = std::round(number);
    if (std::fabs(number - whole) < 1e-6) {
      parameter.values.emplace_back(static_cast<std::int64_t>(whole));
    } else {
      parameter.values.emplace_back(number);
    }
  }
  return parameter;
}

void check_setting_values(Setting setting, const std::vector<Value>& values, const Capabilities& capabilities,
                          const std::string& place) {
  const Selector selector(setting, "", capabilities, place);
  for (const Value& value : values) selector.check(value.as_double() * edge_scale(setting));
}

}  // namespace wattune
