#pragma once
// What `wattune devices` tells of a device beyond DeviceInfo. Reads only.

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.hpp"
#include "sensor/profile.hpp"

namespace wattune {

/// meters, sm_clocks_mhz, memory_clocks_mhz, power_limit_w and may_set, as in docs/command-line.md; `unknown` says why
/// something could not be read. Called in worker processes.
nlohmann::json device_details(const DeviceInfo& device);

/// Adds what probing found of the device's meters, and `sensors`.
void add_profile(nlohmann::json& details, const SensorProfile& profile);

}  // namespace wattune
