#include "tune/device_details.hpp"

#include <nlohmann/json.hpp>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "power/nvml/nvml_meters.hpp"
#include "settings/board.hpp"

namespace wattune {

using nlohmann::json;

namespace {

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json meters_of(const DeviceInfo& device, const std::string& library, json& unknown) {
  json meters = json::array();
  std::string why_not;
  for (const auto& meter : nvml_meters(device.uuid, device.pci, &why_not, library)) {
    meters.push_back({{"name", meter.name},
                      {"quantities", meter.quantities},
                      {"period_s", or_null(meter.period_s)},
                      {"window_s", or_null(meter.window_s)},
                      {"duty", or_null(meter.duty)}});
  }
  if (!why_not.empty()) unknown.push_back(why_not);
  return meters;
}

}  // namespace

json device_details(const DeviceInfo& device) {
  json details = {{"meters", json::array()},
                  {"sm_clocks_mhz", json::array()},
                  {"memory_clocks_mhz", json::array()},
                  {"power_limit_w", nullptr},
                  {"may_set", {{"sm_clock", false}, {"memory_clock", false}, {"power_limit", false}, {"route", nullptr}}}};
  if (device.kind != "gpu" || (device.uuid.empty() && device.pci.empty())) return details;
  json unknown = json::array();
  const std::string library = device.simulated ? simulation_library() : "";
  details["meters"] = meters_of(device, library, unknown);
  try {
    details.update(edge_json(open_nvml_board(device.uuid, device.pci, library)->capabilities()));
  } catch (const DeviceError& error) {
    if (unknown.empty()) unknown.push_back(error.what());
  }
  if (!unknown.empty()) details["unknown"] = unknown;
  return details;
}

}  // namespace wattune
