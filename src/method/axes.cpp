#include "method/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

SettingAxes::SettingAxes(const std::vector<Parameter>& parameters, const std::vector<ParameterKind>& kinds) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const bool is_setting =
        kinds.empty() ? parameter.name.starts_with("nvml_") : kinds[i] == ParameterKind::device_setting;
    if (!is_setting) continue;
    std::vector<double> values;
    for (const Value& value : parameter.values) {
      if (!value.is_number()) {
        throw UsageError(fmt::format("parameter '{}' is a device setting, and its value {} is no number",
                                     parameter.name, value.str()));
      }
      values.push_back(value.as_double());
    }
    std::vector<std::uint32_t> ascending(values.size());
    std::iota(ascending.begin(), ascending.end(), 0U);
    std::ranges::stable_sort(ascending, {}, [&](std::uint32_t position) { return values[position]; });
    places_.push_back(i);
    names_.push_back(parameter.name);
    values_.push_back(std::move(values));
    ascending_.push_back(std::move(ascending));
  }
  for (const Setting setting : {Setting::sm_clock, Setting::power_limit, Setting::memory_clock}) {
    const auto axis = axis_named(parameter_of(setting));
    if (!main_ && axis && values_[*axis].size() > 1) main_ = axis;
  }
}

std::size_t SettingAxes::combinations() const {
  std::size_t product = 1;
  for (const auto& values : values_) product *= values.size();
  return product;
}

SettingPoint SettingAxes::of(std::span<const std::uint32_t> point) const {
  SettingPoint settings;
  for (const std::size_t place : places_) settings.push_back(point[place]);
  return settings;
}

Point SettingAxes::with(Point point, const SettingPoint& settings) const {
  for (std::size_t axis = 0; axis < places_.size(); ++axis) point[places_[axis]] = settings[axis];
  return point;
}

SettingPoint SettingAxes::maximum() const {
  SettingPoint settings;
  for (const auto& ascending : ascending_) settings.push_back(ascending.back());
  return settings;
}

SettingPoint SettingAxes::nearest(std::optional<std::size_t> axis, double value) const {
  SettingPoint settings = maximum();
  if (!axis) return settings;
  const auto& values = values_[*axis];
  const auto found = std::ranges::min_element(values, {}, [&](double each) { return std::abs(each - value); });
  settings[*axis] = static_cast<std::uint32_t>(found - values.begin());
  return settings;
}

SettingPoint SettingAxes::at(double main_value) const {
  return nearest(main_, main_value);
}

SettingPoint SettingAxes::at_clock(double mhz) const {
  return nearest(axis_named(parameter_of(Setting::sm_clock)), mhz);
}

std::optional<std::size_t> SettingAxes::axis_named(std::string_view parameter) const {
  const auto found = std::ranges::find(names_, parameter);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::string SettingAxes::text(const SettingPoint& settings) const {
  std::string text;
  for (std::size_t axis = 0; axis < settings.size(); ++axis) {
    const auto setting = setting_of(names_[axis]);
    text += fmt::format("{}{}{}{}", text.empty() ? "at " : ", ", values_[axis][settings[axis]], setting ? " " : "",
                        setting ? edge_unit(*setting) : "");
  }
  return text;
}

}  // namespace wattune
