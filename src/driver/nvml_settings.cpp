#include "driver/nvml_settings.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace wattune {

namespace {

/// Every setter goes through here.
template <typename Function, typename... Arguments>
NvmlResult set(const char* what, Function function, Arguments... arguments) {
  refuse_if_read_only(what);
  return function == nullptr ? NvmlResult::function_not_found : function(arguments...);
}

}  // namespace

bool settings_are_read_only() {
  const std::string value = environment("WATTUNE_READ_ONLY");
  return !value.empty() && value != "0";
}

void refuse_if_read_only(const std::string& what) {
  if (!settings_are_read_only()) return;
  throw DeviceError(
      fmt::format("cannot {}: WATTUNE_READ_ONLY={} in the environment forbids every change of a device's settings; "
                  "unset it if this site allows them, or leave device settings out",
                  what, environment("WATTUNE_READ_ONLY")));
}

NvmlSettingsReader::NvmlSettingsReader(const SharedLibrary& library) {
  library.optional(driver_version, "nvmlSystemGetDriverVersion");
  library.optional(name, "nvmlDeviceGetName");
  library.optional(compute_capability, "nvmlDeviceGetCudaComputeCapability");
  library.optional(supported_memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  library.optional(supported_sm_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  library.optional(power_limit, "nvmlDeviceGetPowerManagementLimit");
  library.optional(default_power_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
  library.optional(power_limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
  library.optional(application_clock, "nvmlDeviceGetApplicationsClock");
  library.optional(default_application_clock, "nvmlDeviceGetDefaultApplicationsClock");
  library.optional(index, "nvmlDeviceGetIndex");
  library.optional(pci_info, "nvmlDeviceGetPciInfo_v3");
  library.optional(restriction, "nvmlDeviceGetAPIRestriction");
  simulated = library.symbol("wattune_sim_truth") != nullptr;
}

NvmlSetters::NvmlSetters(const SharedLibrary& library) {
  library.optional(lock_sm_clock_, "nvmlDeviceSetGpuLockedClocks");
  library.optional(reset_sm_clock_, "nvmlDeviceResetGpuLockedClocks");
  library.optional(lock_memory_clock_, "nvmlDeviceSetMemoryLockedClocks");
  library.optional(reset_memory_clock_, "nvmlDeviceResetMemoryLockedClocks");
  library.optional(set_application_clocks_, "nvmlDeviceSetApplicationsClocks");
  library.optional(reset_application_clocks_, "nvmlDeviceResetApplicationsClocks");
  library.optional(set_power_limit_, "nvmlDeviceSetPowerManagementLimit");
}

NvmlResult NvmlSetters::lock_sm_clock(NvmlDevice device, unsigned least, unsigned most) const {
  return set("lock the SM clock", lock_sm_clock_, device, least, most);
}

NvmlResult NvmlSetters::reset_sm_clock(NvmlDevice device) const {
  return set("reset the SM clock", reset_sm_clock_, device);
}

NvmlResult NvmlSetters::lock_memory_clock(NvmlDevice device, unsigned least, unsigned most) const {
  return set("lock the memory clock", lock_memory_clock_, device, least, most);
}

NvmlResult NvmlSetters::reset_memory_clock(NvmlDevice device) const {
  return set("reset the memory clock", reset_memory_clock_, device);
}

NvmlResult NvmlSetters::set_application_clocks(NvmlDevice device, unsigned memory, unsigned sm) const {
  return set("set application clocks", set_application_clocks_, device, memory, sm);
}

NvmlResult NvmlSetters::reset_application_clocks(NvmlDevice device) const {
  return set("reset application clocks", reset_application_clocks_, device);
}

NvmlResult NvmlSetters::set_power_limit(NvmlDevice device, unsigned milliwatts) const {
  return set("set the power limit", set_power_limit_, device, milliwatts);
}

}  // namespace wattune
