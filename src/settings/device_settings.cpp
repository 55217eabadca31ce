#include "settings/device_settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace wattune {

namespace {

constexpr const char* wire_name(Setting setting) {
  switch (setting) {
    case Setting::sm_clock:
      return "sm_clock_hz";
    case Setting::memory_clock:
      return "memory_clock_hz";
    default:
      return "power_limit_w";
  }
}

}  // namespace

std::string_view to_string(Setting setting) {
  switch (setting) {
    case Setting::sm_clock:
      return "SM clock";
    case Setting::memory_clock:
      return "memory clock";
    default:
      return "power limit";
  }
}

std::string_view parameter_of(Setting setting) {
  switch (setting) {
    case Setting::sm_clock:
      return "nvml_gr_clock";
    case Setting::memory_clock:
      return "nvml_mem_clock";
    default:
      return "nvml_pwr_limit";
  }
}

std::optional<Setting> setting_of(std::string_view parameter) {
  for (const Setting setting : all_settings) {
    if (parameter == parameter_of(setting)) return setting;
  }
  return std::nullopt;
}

std::string_view edge_unit(Setting setting) {
  return setting == Setting::power_limit ? "W" : "MHz";
}

double edge_scale(Setting setting) {
  return setting == Setting::power_limit ? 1.0 : 1e6;
}

std::optional<double>& DeviceSettings::at(Setting setting) {
  if (setting == Setting::sm_clock) return sm_clock_hz;
  return setting == Setting::memory_clock ? memory_clock_hz : power_limit_w;
}

const std::optional<double>& DeviceSettings::at(Setting setting) const {
  if (setting == Setting::sm_clock) return sm_clock_hz;
  return setting == Setting::memory_clock ? memory_clock_hz : power_limit_w;
}

std::string to_string(const DeviceSettings& settings) {
  std::string text;
  for (const Setting setting : all_settings) {
    const auto& value = settings.at(setting);
    if (!value) continue;
    text += fmt::format("{}{} {:.7g} {}", text.empty() ? "" : ", ", to_string(setting), *value / edge_scale(setting),
                        edge_unit(setting));
  }
  return text.empty() ? "nothing" : text;
}

DeviceSettings settings_of(const std::vector<std::string>& parameter_names, const std::vector<Value>& configuration) {
  DeviceSettings settings;
  for (std::size_t i = 0; i < parameter_names.size() && i < configuration.size(); ++i) {
    if (const auto setting = setting_of(parameter_names[i])) {
      settings.at(*setting) = configuration[i].as_double() * edge_scale(*setting);
    }
  }
  return settings;
}

nlohmann::json to_json(const DeviceSettings& settings) {
  nlohmann::json json = nlohmann::json::object();
  for (const Setting setting : all_settings) {
    if (const auto& value = settings.at(setting)) json[wire_name(setting)] = *value;
  }
  return json;
}

DeviceSettings settings_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw UsageError("device settings are no object");
  DeviceSettings settings;
  std::size_t known = 0;
  for (const Setting setting : all_settings) {
    const auto found = json.find(wire_name(setting));
    if (found == json.end()) continue;
    ++known;
    if (!found->is_number() || !std::isfinite(found->get<double>()) || !(found->get<double>() > 0)) {
      throw UsageError(fmt::format("the {} is no positive number", to_string(setting)));
    }
    settings.at(setting) = found->get<double>();
  }
  if (known != json.size()) throw UsageError("device settings hold something other than clocks and power limit");
  return settings;
}

}  // namespace wattune
