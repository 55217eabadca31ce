#pragma once
// What may be set on a board: which values, and whether this process may.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "settings/device_settings.hpp"

namespace wattune {

struct SettingRange {
  double least = 0;
  double most = 0;
  bool operator==(const SettingRange&) const = default;
};

/// A way to permission, tried or not.
struct RouteState {
  std::string name;  ///< "locked clocks", "application clocks", "wattuned", ...
  bool usable = false;
  std::string reason;  ///< why it is not, and what would make it so
};

/// Read without setting anything. Clocks in Hz, ascending; power in W.
struct Capabilities {
  std::string uuid;
  std::string name;
  std::string driver;
  bool simulated = false;
  std::vector<double> sm_clocks;  ///< at the highest memory clock
  double default_sm_clock = 0;    ///< the default application clock: the base clock on most boards; 0: not told
  std::vector<double> memory_clocks;
  std::optional<SettingRange> power_limit;  ///< what the board accepts
  double power_limit_default = 0;
  double power_limit_now = 0;
  std::string refused;  ///< why nothing may be set on this board at all (MIG); else empty

  bool may_set_sm_clock = false;
  bool may_set_memory_clock = false;
  bool may_set_power_limit = false;
  std::string route;               ///< the one that will be used; empty where there is none
  std::vector<RouteState> routes;  ///< in the order in which they are tried

  [[nodiscard]] bool may_set(Setting setting) const;
  [[nodiscard]] bool may_set_anything() const {
    return may_set_sm_clock || may_set_memory_clock || may_set_power_limit;
  }
};

/// Why a setting cannot be made, in one line with what to ask an administrator for; empty where it can.
std::string why_not(const Capabilities& capabilities, Setting setting);

nlohmann::json to_json(const Capabilities& capabilities);
/// @throws UsageError where it is none.
Capabilities capabilities_from_json(const nlohmann::json& json);

/// As `wattune devices --json` gives them: sm_clocks_mhz, memory_clocks_mhz, power_limit_w {min, max, default},
/// may_set {sm_clock, memory_clock, power_limit, route, routes}.
nlohmann::json edge_json(const Capabilities& capabilities);

}  // namespace wattune
