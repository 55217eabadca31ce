#include "tune/setting_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "driver/nvml_settings.hpp"
#include "tune/backends.hpp"
#include "tune/worker_client.hpp"

namespace wattune {

namespace {

const Parameter* find_parameter(const Problem& problem, Setting setting) {
  const auto found = std::find_if(problem.parameters.begin(), problem.parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == parameter_of(setting); });
  return found == problem.parameters.end() ? nullptr : &*found;
}

void check_allowed(const std::vector<Setting>& wanted, const SettingChoice& choice) {
  std::string what;
  for (const Setting setting : wanted) what += fmt::format("{}{}", what.empty() ? "" : ", ", to_string(setting));
  refuse_if_read_only("set the " + what);
  if (choice.allowed) return;
  throw DeviceError(
      fmt::format("setting the {} changes the device for everybody who uses it: give --allow-settings if that "
                  "may be done (the device is put back at the end, however that comes), or leave it out",
                  what));
}

}  // namespace

const std::string& SettingChoice::text(Setting setting) const {
  return setting == Setting::sm_clock ? clocks : setting == Setting::memory_clock ? memory_clocks : power_limits;
}

std::string_view option_of(Setting setting) {
  return setting == Setting::sm_clock       ? "--clocks"
         : setting == Setting::memory_clock ? "--memory-clocks"
                                            : "--power-limits";
}

std::vector<Setting> wanted_settings(const Problem& problem, const SettingChoice& choice) {
  std::vector<Setting> wanted;
  for (const Setting setting : all_settings) {
    const bool asked = !choice.text(setting).empty() ||
                       problem.device_settings.contains(std::string(parameter_of(setting))) ||
                       find_parameter(problem, setting) != nullptr;
    if (asked) wanted.push_back(setting);
  }
  return wanted;
}

std::unique_ptr<SettingsClient> open_settings(const std::string& device, const std::vector<Setting>& wanted,
                                              const SettingChoice& choice) {
  check_allowed(wanted, choice);
  if (!choice.commands.empty()) choice.commands.check();
  const DeviceInfo info = find_device(device);
  if (info.kind != "gpu" || (info.uuid.empty() && info.pci.empty())) {
    throw DeviceError(
        fmt::format("clocks and limits of {} ({}) cannot be set: only those of NVIDIA's GPUs can", info.id, info.name));
  }
  SettingsClientOptions options;
  options.uuid = info.uuid;
  options.pci = info.pci;
  if (info.simulated) options.library = simulation_library();
  options.wanted = wanted;
  options.commands = choice.commands;
  auto client = std::make_unique<SettingsClient>(std::move(options));
  client->check_wanted();
  if (!choice.restore_clock.empty()) {
    const auto clocks =
        select_settings(Setting::sm_clock, choice.restore_clock, client->capabilities(), "--restore-clock");
    if (clocks.size() != 1) throw UsageError("--restore-clock: give one clock in MHz");
    client->restore_sm_clock_to(clocks.front());
  }
  return client;
}

std::vector<Parameter> setting_parameters(const Problem& problem, const SettingChoice& choice,
                                          const Capabilities& capabilities) {
  std::vector<Parameter> parameters;
  for (const Setting setting : all_settings) {
    const std::string name(parameter_of(setting));
    const auto in_file = problem.device_settings.find(name);
    if (!choice.text(setting).empty()) {
      parameters.push_back(setting_parameter(
          setting, select_settings(setting, choice.text(setting), capabilities, std::string(option_of(setting)))));
    } else if (in_file != problem.device_settings.end()) {
      parameters.push_back(
          setting_parameter(setting, select_settings(setting, in_file->second, capabilities,
                                                     problem.file.string() + ": wattune.DeviceSettings." + name)));
    } else if (const Parameter* own = find_parameter(problem, setting)) {
      check_setting_values(setting, own->values, capabilities, problem.file.string() + ": " + name);
    }
  }
  return parameters;
}

}  // namespace wattune
