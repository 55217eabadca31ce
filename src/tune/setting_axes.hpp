#pragma once
// Device settings that a user asks for: which there are, who may set them, and the parameters that they become.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "settings/client.hpp"
#include "settings/selection.hpp"

namespace wattune {

/// What the command line says about device settings. Texts as select_settings() reads them; empty: not given.
struct SettingChoice {
  std::string clocks;
  std::string memory_clocks;
  std::string power_limits;
  bool allowed = false;         ///< --allow-settings
  double wait_seconds = 0;      ///< for a board that another run has
  bool assume_no_lock = false;  ///< no look for a clock lock of somebody else
  SettingCommands commands;     ///< of a site; empty: those of the environment
  std::string restore_clock;    ///< MHz that the SM clock is locked to when it is put back; empty: not locked
  [[nodiscard]] const std::string& text(Setting setting) const;
};

/// "--clocks", "--memory-clocks", "--power-limits".
std::string_view option_of(Setting setting);

/// The settings that a problem and the command line make axes of the space.
std::vector<Setting> wanted_settings(const Problem& problem, const SettingChoice& choice);

/// Connects to a settings server for a device; sets nothing yet. @param device as the user names it; a simulated one
/// has been prepared.
/// @throws DeviceError where WATTUNE_READ_ONLY or the lack of --allow-settings forbids it, the device is not there, or
/// something wanted cannot be set.
std::unique_ptr<SettingsClient> open_settings(const std::string& device, const std::vector<Setting>& wanted,
                                              const SettingChoice& choice);

/// The parameters of device settings: those that the command line gives, those of the problem's DeviceSettings, and
/// those among its tunable parameters, checked against what the board supports. @throws UsageError.
std::vector<Parameter> setting_parameters(const Problem& problem, const SettingChoice& choice,
                                          const Capabilities& capabilities);

}  // namespace wattune
