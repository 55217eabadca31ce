#pragma once
// NVML, the library behind nvidia-smi, loaded at run time. Only functions that read are here: nothing that is loaded
// through this table can change a device.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/library.hpp"

namespace wattune {

/// nvmlReturn_t, as far as it is told apart here.
enum class NvmlResult : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  function_not_found = 13,
  gpu_is_lost = 15,
  reset_required = 16,
  version_mismatch = 18,
  unknown = 999,
};

/// nvmlClockType_t.
enum class NvmlClock : int { graphics = 0, sm = 1, memory = 2 };

// Bits of the clock event reasons.
inline constexpr unsigned long long nvml_reason_software_power_cap = 0x4;
inline constexpr unsigned long long nvml_reason_hardware_slowdown = 0x8;
inline constexpr unsigned long long nvml_reason_software_thermal = 0x20;
inline constexpr unsigned long long nvml_reason_hardware_thermal = 0x40;
inline constexpr unsigned long long nvml_reason_power_brake = 0x80;

/// nvmlValueType_t.
enum class NvmlValueType : int {
  real = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
};

/// nvmlValue_t: which member counts, a type beside it tells.
union NvmlValue {
  double real;
  unsigned unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  long long signed_long_long;
  int signed_int;
};

/// nvmlFieldValue_t. Each has a result and a type of its own.
struct NvmlFieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;  ///< us
  long long latency;    ///< us
  NvmlValueType type;
  NvmlResult result;
  NvmlValue value;
};

/// A field to ask for.
struct NvmlField {
  unsigned id;
  unsigned scope = 0;
};

/// The number that a value holds; nothing for a type that is not known.
std::optional<double> to_number(NvmlValueType type, const NvmlValue& value);

/// nvmlSample_t.
struct NvmlSample {
  unsigned long long timestamp;  ///< us
  NvmlValue value;
};

/// NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_INSTANT: milliwatts.
inline constexpr unsigned nvml_field_power_average = 185;
inline constexpr unsigned nvml_field_power_instant = 186;
/// Nanoseconds for which something has held the clock back: NVML_FI_DEV_PERF_POLICY_POWER, and
/// NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, ..._HW_THERM_SLOWDOWN, ..._HW_POWER_BRAKE_SLOWDOWN.
inline constexpr unsigned nvml_field_power_cap_time = 74;
inline constexpr unsigned nvml_field_software_thermal_time = 269;
inline constexpr unsigned nvml_field_hardware_thermal_time = 270;
inline constexpr unsigned nvml_field_power_brake_time = 271;
/// NVML_POWER_SCOPE_GPU, ..._MEMORY: scopes of the power fields.
inline constexpr unsigned nvml_scope_gpu = 0;
inline constexpr unsigned nvml_scope_memory = 2;
/// NVML_TOTAL_POWER_SAMPLES: milliwatts.
inline constexpr int nvml_total_power_samples = 0;

/// NVML_DEVICE_UUID_V2_BUFFER_SIZE.
inline constexpr unsigned nvml_uuid_bytes = 96;

using NvmlDevice = struct NvmlDeviceOpaque*;

/// The function table. The functions that are marked optional are null where the driver is too old for them.
struct Nvml {
  SharedLibrary library;

  NvmlResult (*init)() = nullptr;                                            // nvmlInit_v2
  NvmlResult (*shutdown)() = nullptr;                                        // nvmlShutdown
  const char* (*error_string)(NvmlResult) = nullptr;                         // nvmlErrorString
  NvmlResult (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;          // nvmlDeviceGetHandleByUUID
  NvmlResult (*device_by_pci)(const char*, NvmlDevice*) = nullptr;           // nvmlDeviceGetHandleByPciBusId_v2
  NvmlResult (*device_uuid)(NvmlDevice, char*, unsigned length) = nullptr;   // nvmlDeviceGetUUID
  NvmlResult (*device_is_mig_instance)(NvmlDevice, unsigned* is) = nullptr;  // nvmlDeviceIsMigDeviceHandle (optional)
  NvmlResult (*device_mig_mode)(NvmlDevice, unsigned* current,
                                unsigned* pending) = nullptr;  // nvmlDeviceGetMigMode (optional)
  NvmlResult (*total_energy)(NvmlDevice, unsigned long long* millijoules) =
      nullptr;  // nvmlDeviceGetTotalEnergyConsumption (optional)
  NvmlResult (*power_usage)(NvmlDevice, unsigned* milliwatts) = nullptr;           // nvmlDeviceGetPowerUsage (optional)
  NvmlResult (*clock_info)(NvmlDevice, NvmlClock, unsigned* megahertz) = nullptr;  // nvmlDeviceGetClockInfo (optional)
  NvmlResult (*temperature)(NvmlDevice, int sensor,
                            unsigned* celsius) = nullptr;  // nvmlDeviceGetTemperature (optional)
  NvmlResult (*clock_event_reasons)(NvmlDevice, unsigned long long*) =
      nullptr;  // nvmlDeviceGetCurrentClocksEventReasons, else ...ThrottleReasons (optional)

  NvmlResult (*field_values)(NvmlDevice, int count, NvmlFieldValue*) = nullptr;  // nvmlDeviceGetFieldValues (optional)
  NvmlResult (*samples)(NvmlDevice, int type, unsigned long long last_seen, NvmlValueType*, unsigned* count,
                        NvmlSample*) =
      nullptr;  // nvmlDeviceGetSamples (optional); null for samples asks for their number

  [[nodiscard]] std::string describe(NvmlResult result) const;
  /// Whether the board is divided into MIG instances, or the device is one of them: what is told and set is then that
  /// of the whole board.
  [[nodiscard]] bool is_divided(NvmlDevice device) const;
  /// The fields' numbers, in order; nothing for those that the device does not have. One call for all.
  [[nodiscard]] std::vector<std::optional<double>> fields(NvmlDevice device, std::span<const NvmlField> wanted) const;
};

/// Loads and initialises NVML; it is shut down when the last owner is gone.
/// @param path the library; where empty, WATTUNE_NVML, else libnvidia-ml.so.1 where the loader finds it.
/// @throws DeviceError that names the library, where it was looked for, and what to install or set.
std::shared_ptr<const Nvml> load_nvml(const std::string& path = {});

}  // namespace wattune
