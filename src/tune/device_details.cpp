#include "tune/device_details.hpp"

#include <nlohmann/json.hpp>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "power/nvml/nvml_meters.hpp"
#include "settings/client.hpp"

namespace wattune {

using nlohmann::json;

namespace {

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

/// What probing found of a meter; null where it was not probed.
const ReadingProfile* probed(const SensorProfile& profile, const std::string& meter) {
  for (const auto& [name, reading] : {std::pair{"nvml-counter", &profile.counter},
                                      {"nvml-average", &profile.average},
                                      {"nvml-instant", &profile.instant},
                                      {"nvml-samples", &profile.samples}}) {
    if (meter == name && *reading) return &**reading;
  }
  return nullptr;
}

json meters_of(const DeviceInfo& device, const std::string& library, json& unknown) {
  json meters = json::array();
  std::string why_not;
  for (const auto& meter : nvml_meters(device.uuid, device.pci, &why_not, library)) {
    json entry = {{"name", meter.name},
                  {"quantities", meter.quantities},
                  {"period_s", nullptr},
                  {"window_s", nullptr},
                  {"duty", nullptr}};
    meters.push_back(std::move(entry));
  }
  if (!why_not.empty()) unknown.push_back(why_not);
  return meters;
}

}  // namespace

void add_profile(json& details, const SensorProfile& profile) {
  details["sensors"] = {{"profile", to_json(profile)}, {"in_words", in_words(profile)}};
  for (auto& meter : details.at("meters")) {
    const ReadingProfile* reading = probed(profile, meter.at("name"));
    if (reading == nullptr) continue;
    meter["period_s"] = reading->period;
    meter["window_s"] = or_null(reading->window);
    meter["duty"] = or_null(reading->duty);
  }
}

json device_details(const DeviceInfo& device) {
  json details = {
      {"meters", json::array()},
      {"sm_clocks_mhz", json::array()},
      {"memory_clocks_mhz", json::array()},
      {"power_limit_w", nullptr},
      {"may_set", {{"sm_clock", false}, {"memory_clock", false}, {"power_limit", false}, {"route", nullptr}}}};
  if (device.kind != "gpu" || (device.uuid.empty() && device.pci.empty())) return details;
  json unknown = json::array();
  const std::string library = device.simulated ? simulation_library() : "";
  const auto profile = load_profile(device.board(), device.driver, profile_folder());
  details["meters"] = meters_of(device, library, unknown);
  if (profile) add_profile(details, *profile);
  try {
    const auto board = open_nvml_board(device.uuid, device.pci, library);
    details.update(edge_json(with_system_server(board->capabilities())));
  } catch (const DeviceError& error) {
    if (unknown.empty()) unknown.push_back(error.what());
  }
  if (!unknown.empty()) details["unknown"] = unknown;
  return details;
}

}  // namespace wattune
