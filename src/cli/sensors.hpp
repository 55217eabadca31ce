#pragma once
// What commands say of the power sensors' profiles.

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.hpp"
#include "tune/sensor_probe.hpp"

namespace wattune::cli {

/// Warns where a profile of this board is there, but not used: damaged, or of another version.
void warn_of_unused_profile(const DeviceInfo& device);

/// Probes a device, telling what goes on and where the profile is kept, with a warning where it could not be.
/// @return as probe_sensors_of(), which may throw
nlohmann::json probe_and_tell(const SensorProbeRequest& request);

}  // namespace wattune::cli
