#include "cli/sensors.hpp"

#include <nlohmann/json.hpp>

#include "cli/say.hpp"
#include "sensor/profile.hpp"

namespace wattune::cli {

void warn_of_unused_profile(const DeviceInfo& device) {
  if (device.kind != "gpu" || (device.uuid.empty() && device.pci.empty())) return;
  std::string problem;
  load_profile(device.board(), device.driver, profile_folder(), &problem);
  if (!problem.empty()) say("wattune: warning: {}: {}\n", device.id, problem);
}

nlohmann::json probe_and_tell(const SensorProbeRequest& request) {
  nlohmann::json found =
      probe_sensors_of(request, [&](const std::string& text) { say("{}: {}\n", request.device, text); });
  if (found.contains("file")) {
    say("{}: kept in {}\n", request.device, found.at("file").get<std::string>());
  } else {
    say("wattune: warning: {}: {}\n", request.device, found.at("not_kept").get<std::string>());
  }
  return found;
}

}  // namespace wattune::cli
