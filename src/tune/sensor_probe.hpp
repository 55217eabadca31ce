#pragma once
// Probing a device's power sensors in a process of its own, for `wattune devices --probe`.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wattune {

struct SensorProbeRequest {
  std::string device;        ///< as the user names it
  bool table = false;        ///< also a table of loads switched on and off
  double phase_seconds = 2;  ///< of that table: for each row and phase
};

/// Opens the device and probes it; keeps the profile in profile_folder(). Called in a worker process, for it holds a
/// context on the device. `profile`, `file` (where it could not be written, `not_kept`: why) and, where asked for,
/// `table` as JSON.
/// @throws DeviceError where the device has no power sensors that could be read.
nlohmann::json probe_sensors_here(const SensorProbeRequest& request,
                                  const std::function<void(const std::string&)>& on_progress);

/// The same in a process started for it. @throws what it threw; RunError where it died or took too long (real time).
nlohmann::json probe_sensors_of(const SensorProbeRequest& request,
                                const std::function<void(const std::string&)>& on_progress);

nlohmann::json to_json(const SensorProbeRequest& request);
SensorProbeRequest sensor_probe_request_from_json(const nlohmann::json& json);

}  // namespace wattune
