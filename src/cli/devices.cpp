#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "cli/sensors.hpp"
#include "report/table.hpp"
#include "sensor/duty_table.hpp"
#include "sensor/profile.hpp"
#include "tune/backends.hpp"
#include "tune/device_details.hpp"
#include "tune/wire.hpp"
#include "tune/worker_client.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double discovery_timeout_seconds = 60;

bool means(const std::string& wanted, const DeviceInfo& device) {
  return wanted.empty() || wanted == "all" || wanted == "sim:all" || wanted == device.id ||
         (wanted.starts_with("GPU-") && device.uuid.starts_with(wanted)) || wanted == "pci:" + device.pci;
}

/// "210-1410 (81)": the range of a list and how many there are.
std::string range_of(const json& values, const char* unit) {
  if (values.empty()) return "";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (least->get<double>() == most->get<double>()) return fmt::format("{:g} {}", least->get<double>(), unit);
  return fmt::format("{:g}-{:g} {} ({})", least->get<double>(), most->get<double>(), unit, values.size());
}

std::string limits_of(const json& limit) {
  if (limit.is_null()) return "";
  return fmt::format("{:g}-{:g} W ({:g})", limit.at("min").get<double>(), limit.at("max").get<double>(),
                     limit.at("default").get<double>());
}

std::string names_of(const json& meters) {
  std::vector<std::string> names;
  for (const auto& meter : meters) names.push_back(meter.at("name").get<std::string>());
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string settable(const json& may_set) {
  std::vector<std::string> names;
  for (const auto& [key, name] :
       {std::pair{"sm_clock", "SM clock"}, {"memory_clock", "memory clock"}, {"power_limit", "power limit"}}) {
    if (may_set.at(key).get<bool>()) names.emplace_back(name);
  }
  if (names.empty()) return "nothing";
  const json& route = may_set.at("route");
  return fmt::format("{}{}", fmt::join(names, ", "), route.is_null() ? "" : " by " + route.get<std::string>());
}

/// What stands in the way of setting clocks and limits, and what to ask for.
std::string obstacles(const std::string& device, const json& may_set) {
  std::string text;
  for (const auto& route : may_set.value("routes", json::array())) {
    if (route.at("usable").get<bool>()) continue;
    text +=
        fmt::format("{}: {}: {}\n", device, route.at("name").get<std::string>(), route.at("reason").get<std::string>());
  }
  return text;
}

class Listing {
 public:
  void add(const DeviceInfo& device, const json& details) {
    json all = to_json(device);
    all.update(details);
    devices_.push_back(std::move(all));
    devices_table_.add_row({device.id, device.name + (device.simulated ? " (simulated)" : ""), device.kind,
                            std::to_string(device.compute_units),
                            fmt::format("{:.1f} GiB", static_cast<double>(device.global_memory) / (1U << 30)),
                            device.platform, device.driver, device.uuid.empty() ? device.pci : device.uuid});
    if (details.at("meters").empty() && details.at("sm_clocks_mhz").empty()) return;
    has_boards_ = true;
    boards_table_.add_row({device.id, names_of(details.at("meters")), range_of(details.at("sm_clocks_mhz"), "MHz"),
                           range_of(details.at("memory_clocks_mhz"), "MHz"), limits_of(details.at("power_limit_w")),
                           settable(details.at("may_set"))});
    if (const auto found = details.find("sensors"); found != details.end()) {
      for (const auto& line : found->at("in_words")) {
        sensors_ += fmt::format("{}: {}\n", device.id, line.get<std::string>());
      }
    }
    if (settable(details.at("may_set")) == "nothing") obstacles_ += obstacles(device.id, details.at("may_set"));
  }

  /// What probing gave beyond the profile that the details hold.
  void add_table(const std::string& device, const json& table) {
    for (auto& known : devices_) {
      if (known.at("id") == device) known["sensors"]["table"] = table;
    }
    tables_ += fmt::format("\n{}: {}", device, to_text(duty_table_from_json(table)));
  }

  void print(bool as_json) const {
    if (as_json) {
      fmt::print("{}\n", json{{"devices", devices_}}.dump(2, ' ', false, json::error_handler_t::replace));
      return;
    }
    if (devices_.empty()) return;
    fmt::print("{}", devices_table_.text());
    if (has_boards_) fmt::print("\n{}", boards_table_.text());
    if (!sensors_.empty()) fmt::print("\nPower sensors, as probed:\n{}", sensors_);
    fmt::print("{}", tables_);
    if (!obstacles_.empty()) fmt::print("\nWhat it would take to set clocks and limits:\n{}", obstacles_);
  }

 private:
  json devices_ = json::array();
  Table devices_table_{{{"device"},
                        {"name"},
                        {"kind"},
                        {"units", Table::Align::right},
                        {"memory", Table::Align::right},
                        {"platform"},
                        {"driver"},
                        {"UUID or PCI id"}}};
  Table boards_table_{
      {{"device"}, {"meters"}, {"SM clocks"}, {"memory clocks"}, {"power limit (default)"}, {"this user may set"}}};
  bool has_boards_ = false;
  std::string obstacles_;
  std::string sensors_;
  std::string tables_;
};

/// Whether a device has sensors to probe: GPUs are listed by several backends, and are probed through the first.
bool can_probe(const DeviceInfo& device, const std::string& wanted) {
  if (device.kind != "gpu" || (device.uuid.empty() && device.pci.empty())) return false;
  return device.backend == "cuda" || (!wanted.empty() && wanted != "all");
}

/// Those wanted, probed: what was found, by device. @throws DeviceError where none can be probed.
std::map<std::string, json> probe_all(const DevicesArguments& arguments, const std::vector<std::string>& backends) {
  std::map<std::string, json> probed;
  for (const auto& backend : find_devices(backends, discovery_timeout_seconds)) {
    for (const auto& device : backend.devices) {
      if (!means(arguments.device, device) || !can_probe(device, arguments.device)) continue;
      say("{}: probing the power sensors; other work on the device would disturb it\n", device.id);
      probed[device.id] = probe_and_tell({device.id, arguments.probe_table, arguments.phase_seconds});
    }
  }
  if (probed.empty()) {
    throw DeviceError(
        "--probe: no GPU with power sensors that could be probed was found; 'wattune devices' lists what there is");
  }
  return probed;
}

}  // namespace

int run_devices(const DevicesArguments& arguments) {
  const std::string& wanted = arguments.device;
  std::vector<std::string> backends = backend_names();
  if (!wanted.empty() && wanted != "all") backends = {backend_of_device(wanted)};
  std::map<std::string, json> probed;
  if (arguments.probe || arguments.probe_table) probed = probe_all(arguments, backends);
  const auto found = find_devices(backends, discovery_timeout_seconds, true);
  Listing listing;
  std::string problems;
  std::vector<std::string> all;
  std::size_t listed = 0;
  bool is_all_kept = true;
  for (const auto& backend : found) {
    if (!backend.problem.empty()) problems += fmt::format("{}: {}\n", backend.backend, backend.problem);
    for (std::size_t i = 0; i < backend.devices.size(); ++i) {
      all.push_back(backend.devices[i].id);
      const DeviceInfo& device = backend.devices[i];
      if (!means(wanted, device)) continue;
      json details = json::parse(backend.details.at(i));
      const auto now = probed.find(device.id);
      if (now == probed.end()) {
        warn_of_unused_profile(device);
      } else {
        add_profile(details, sensor_profile_from_json(now->second.at("profile")));
        is_all_kept = is_all_kept && now->second.contains("file");
      }
      listing.add(device, details);
      if (now != probed.end() && now->second.contains("table")) listing.add_table(device.id, now->second.at("table"));
      ++listed;
    }
  }
  listing.print(arguments.json);
  say("{}", problems);
  if (listed == 0 && !all.empty()) {
    throw DeviceError(fmt::format("--device {}: there is no such device; there {}: {}", wanted,
                                  all.size() == 1 ? "is" : "are", fmt::join(all, ", ")));
  }
  if (listed == 0) throw DeviceError("no device was found; see above what each backend lacks");
  // What was found is shown, but the next run will not know it.
  return static_cast<int>(is_all_kept ? ExitCode::done : ExitCode::run_failed);
}

}  // namespace wattune::cli
