#pragma once
// What a device is set to: the values of the parameters nvml_gr_clock, nvml_mem_clock and nvml_pwr_limit.

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.hpp"

namespace wattune {

/// The things that can be set.
enum class Setting { sm_clock, memory_clock, power_limit };
inline constexpr std::array all_settings = {Setting::sm_clock, Setting::memory_clock, Setting::power_limit};

/// "SM clock", "memory clock", "power limit".
std::string_view to_string(Setting setting);
/// The name of the parameter: "nvml_gr_clock", "nvml_mem_clock", "nvml_pwr_limit".
std::string_view parameter_of(Setting setting);
/// The inverse; nothing for the name of any other parameter.
std::optional<Setting> setting_of(std::string_view parameter);
/// The unit at the edges, "MHz" or "W", and how many SI units it is: 1e6 Hz or 1 W.
std::string_view edge_unit(Setting setting);
double edge_scale(Setting setting);

/// Values in SI units (Hz, W). What is not given is left as it is.
struct DeviceSettings {
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_limit_w;

  [[nodiscard]] std::optional<double>& at(Setting setting);
  [[nodiscard]] const std::optional<double>& at(Setting setting) const;
  [[nodiscard]] bool empty() const noexcept { return !sm_clock_hz && !memory_clock_hz && !power_limit_w; }
  auto operator<=>(const DeviceSettings&) const = default;
};

/// "SM clock 1200 MHz, power limit 200 W"; "nothing" where empty.
std::string to_string(const DeviceSettings& settings);

/// Those of a configuration: its values of the three parameters, which are in MHz and W.
DeviceSettings settings_of(const std::vector<std::string>& parameter_names, const std::vector<Value>& configuration);

/// {"sm_clock_hz": ..., ...} with what is given only.
nlohmann::json to_json(const DeviceSettings& settings);
/// @throws UsageError for anything but finite positive numbers under the known names.
DeviceSettings settings_from_json(const nlohmann::json& json);

}  // namespace wattune
