#pragma once
// The part of NVML that concerns settings: what may be set (reading), and the only calls of this project that set
// anything. They stand apart from nvml.hpp so that whoever holds an Nvml cannot change a device.

#include <memory>
#include <string>

#include "driver/nvml.hpp"

namespace wattune {

/// WATTUNE_READ_ONLY is set (to anything but 0): no setter may be called, whatever else is asked.
bool settings_are_read_only();
/// @throws DeviceError naming WATTUNE_READ_ONLY where it forbids `what` ("set clocks").
void refuse_if_read_only(const std::string& what);

/// nvmlRestrictedAPI_t.
inline constexpr int nvml_restricted_application_clocks = 0;

/// nvmlPciInfo_t.
struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

/// What NVML tells about settings. All functions are optional: null where the driver does not have them.
struct NvmlSettingsReader {
  explicit NvmlSettingsReader(const SharedLibrary& library);

  NvmlResult (*driver_version)(char*, unsigned length) = nullptr;                  // nvmlSystemGetDriverVersion
  NvmlResult (*name)(NvmlDevice, char*, unsigned length) = nullptr;                // nvmlDeviceGetName
  NvmlResult (*compute_capability)(NvmlDevice, int* major, int* minor) = nullptr;  // nvmlDeviceGetCudaComputeCapability
  NvmlResult (*supported_memory_clocks)(NvmlDevice, unsigned* count,
                                        unsigned* megahertz) = nullptr;  // nvmlDeviceGetSupportedMemoryClocks
  NvmlResult (*supported_sm_clocks)(NvmlDevice, unsigned memory_megahertz, unsigned* count,
                                    unsigned* megahertz) = nullptr;       // nvmlDeviceGetSupportedGraphicsClocks
  NvmlResult (*power_limit)(NvmlDevice, unsigned* milliwatts) = nullptr;  // nvmlDeviceGetPowerManagementLimit
  NvmlResult (*default_power_limit)(NvmlDevice,
                                    unsigned* milliwatts) = nullptr;  // nvmlDeviceGetPowerManagementDefaultLimit
  NvmlResult (*power_limit_range)(NvmlDevice, unsigned* least,
                                  unsigned* most) = nullptr;  // nvmlDeviceGetPowerManagementLimitConstraints
  NvmlResult (*application_clock)(NvmlDevice, NvmlClock,
                                  unsigned* megahertz) = nullptr;  // nvmlDeviceGetApplicationsClock
  NvmlResult (*default_application_clock)(NvmlDevice, NvmlClock,
                                          unsigned* megahertz) = nullptr;     // nvmlDeviceGetDefaultApplicationsClock
  NvmlResult (*index)(NvmlDevice, unsigned* index) = nullptr;                 // nvmlDeviceGetIndex
  NvmlResult (*pci_info)(NvmlDevice, NvmlPciInfo* info) = nullptr;            // nvmlDeviceGetPciInfo_v3
  NvmlResult (*restriction)(NvmlDevice, int api, int* restricted) = nullptr;  // nvmlDeviceGetAPIRestriction
  bool simulated = false;                                                     ///< the library is that of simulated GPUs
};

/// The setters. Each @throws DeviceError where WATTUNE_READ_ONLY forbids it, and gives function_not_found where the
/// driver does not have it. Persistence, compute mode, MIG and the deferred memory lock are not among them, and never
/// will be.
class NvmlSetters {
 public:
  explicit NvmlSetters(const SharedLibrary& library);

  [[nodiscard]] NvmlResult lock_sm_clock(NvmlDevice device, unsigned least, unsigned most) const;
  [[nodiscard]] NvmlResult reset_sm_clock(NvmlDevice device) const;
  [[nodiscard]] NvmlResult lock_memory_clock(NvmlDevice device, unsigned least, unsigned most) const;
  [[nodiscard]] NvmlResult reset_memory_clock(NvmlDevice device) const;
  [[nodiscard]] NvmlResult set_application_clocks(NvmlDevice device, unsigned memory, unsigned sm) const;
  [[nodiscard]] NvmlResult reset_application_clocks(NvmlDevice device) const;
  [[nodiscard]] NvmlResult set_power_limit(NvmlDevice device, unsigned milliwatts) const;

 private:
  NvmlResult (*lock_sm_clock_)(NvmlDevice, unsigned, unsigned) = nullptr;           // nvmlDeviceSetGpuLockedClocks
  NvmlResult (*reset_sm_clock_)(NvmlDevice) = nullptr;                              // nvmlDeviceResetGpuLockedClocks
  NvmlResult (*lock_memory_clock_)(NvmlDevice, unsigned, unsigned) = nullptr;       // nvmlDeviceSetMemoryLockedClocks
  NvmlResult (*reset_memory_clock_)(NvmlDevice) = nullptr;                          // nvmlDeviceResetMemoryLockedClocks
  NvmlResult (*set_application_clocks_)(NvmlDevice, unsigned, unsigned) = nullptr;  // nvmlDeviceSetApplicationsClocks
  NvmlResult (*reset_application_clocks_)(NvmlDevice) = nullptr;                    // nvmlDeviceResetApplicationsClocks
  NvmlResult (*set_power_limit_)(NvmlDevice, unsigned) = nullptr;                   // nvmlDeviceSetPowerManagementLimit
};

}  // namespace wattune
