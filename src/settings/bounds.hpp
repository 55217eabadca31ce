#pragma once
// What clients of a settings server may ask for.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "settings/capabilities.hpp"

namespace wattune {

/// Limits of one board, in SI units; what is not given is bounded by the board alone.
struct SettingBounds {
  std::optional<SettingRange> sm_clock;
  std::optional<SettingRange> memory_clock;
  /// Where it is not given, a system-wide server allows no more than the board's default limit.
  std::optional<SettingRange> power_limit;
  [[nodiscard]] const std::optional<SettingRange>& of(Setting setting) const;
};

/// The configuration of a system-wide server.
struct ServerConfig {
  std::string group;  ///< whose members may connect, besides root; empty: nobody else
  double lease_seconds = 30;
  SettingBounds bounds;                         ///< of boards that are not named
  std::map<std::string, SettingBounds> boards;  ///< by UUID
  [[nodiscard]] const SettingBounds& of(const std::string& uuid) const;
};

/// {"group": "wattune", "lease_seconds": 30, "bounds": {"sm_clock_mhz": [600, 1410], "memory_clock_mhz": [..],
/// "power_limit_w": [150, 250]}, "boards": {"GPU-...": {...}}}; every key may be left out.
/// @param file how errors call it. @throws UsageError naming file and key.
ServerConfig parse_server_config(std::string_view text, const std::string& file);

/// Why a value may not be set: it is not supported (with the nearest that are), or beyond what the board or the bounds
/// allow. Empty where it may.
std::string objection_to(Setting setting, double value, const Capabilities& capabilities, const SettingBounds& bounds);

/// Supported values nearest to one, in MHz: "1185, 1200".
std::string nearest_clocks(const std::vector<double>& clocks, double clock);

}  // namespace wattune
