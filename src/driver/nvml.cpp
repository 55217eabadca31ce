#include "driver/nvml.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace wattune {

namespace {

void load_functions(Nvml& nvml) {
  const SharedLibrary& library = nvml.library;
  library.required(nvml.init, "nvmlInit_v2");
  library.required(nvml.shutdown, "nvmlShutdown");
  library.required(nvml.error_string, "nvmlErrorString");
  library.required(nvml.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  library.required(nvml.device_by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  library.required(nvml.device_uuid, "nvmlDeviceGetUUID");
  library.optional(nvml.device_is_mig_instance, "nvmlDeviceIsMigDeviceHandle");
  library.optional(nvml.device_mig_mode, "nvmlDeviceGetMigMode");
  library.optional(nvml.total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  library.optional(nvml.power_usage, "nvmlDeviceGetPowerUsage");
  library.optional(nvml.clock_info, "nvmlDeviceGetClockInfo");
  library.optional(nvml.temperature, "nvmlDeviceGetTemperature");
  library.optional(nvml.field_values, "nvmlDeviceGetFieldValues");
  library.optional(nvml.samples, "nvmlDeviceGetSamples");
  library.optional(nvml.clock_event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (nvml.clock_event_reasons == nullptr) {
    library.optional(nvml.clock_event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
}

const char* advice_for(NvmlResult result) {
  switch (result) {
    case NvmlResult::driver_not_loaded:
      return "load NVIDIA's kernel module (nvidia-smi tells what is wrong)";
    case NvmlResult::version_mismatch:
      return "the library and the loaded kernel module differ: reboot after an update";
    case NvmlResult::no_permission:
      return "give this user access to /dev/nvidiactl";
    default:
      return "see what nvidia-smi says";
  }
}

}  // namespace

std::string Nvml::describe(NvmlResult result) const {
  const char* text = error_string(result);
  return text != nullptr ? text : fmt::format("NVML error {}", static_cast<int>(result));
}

bool Nvml::is_divided(NvmlDevice device) const {
  unsigned is_instance = 0;
  unsigned current = 0;
  unsigned pending = 0;
  if (device_is_mig_instance != nullptr && device_is_mig_instance(device, &is_instance) == NvmlResult::success &&
      is_instance != 0) {
    return true;
  }
  return device_mig_mode != nullptr && device_mig_mode(device, &current, &pending) == NvmlResult::success &&
         current != 0;
}

std::optional<double> to_number(NvmlValueType type, const NvmlValue& value) {
  switch (type) {
    case NvmlValueType::real:
      return value.real;
    case NvmlValueType::unsigned_int:
      return value.unsigned_int;
    case NvmlValueType::unsigned_long:
      return static_cast<double>(value.unsigned_long);
    case NvmlValueType::unsigned_long_long:
      return static_cast<double>(value.unsigned_long_long);
    case NvmlValueType::signed_long_long:
      return static_cast<double>(value.signed_long_long);
    case NvmlValueType::signed_int:
      return value.signed_int;
  }
  return std::nullopt;
}

std::vector<std::optional<double>> Nvml::fields(NvmlDevice device, std::span<const NvmlField> wanted) const {
  std::vector<std::optional<double>> numbers(wanted.size());
  if (field_values == nullptr) return numbers;
  std::vector<NvmlFieldValue> values(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    values[i].field = wanted[i].id;
    values[i].scope = wanted[i].scope;
  }
  if (field_values(device, static_cast<int>(values.size()), values.data()) != NvmlResult::success) return numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].result == NvmlResult::success) numbers[i] = to_number(values[i].type, values[i].value);
  }
  return numbers;
}

std::shared_ptr<const Nvml> load_nvml(const std::string& path) {
  const std::string named = !path.empty() ? path : environment("WATTUNE_NVML");
  const std::string name = named.empty() ? "libnvidia-ml.so.1" : named;
  std::string why_not;
  auto library = SharedLibrary::open(name, why_not);
  if (!library && named.empty()) {
    throw DeviceError(
        fmt::format("cannot read power through NVML: its library {} was not found in {}: {}; it comes with "
                    "NVIDIA's driver (in a container: its utility part), or name it in WATTUNE_NVML",
                    name, loader_places(), why_not));
  }
  if (!library) {
    throw DeviceError(
        fmt::format("cannot read power through NVML: its library '{}'{} cannot be loaded: {}; correct the "
                    "path, or leave it out to take libnvidia-ml.so.1 of the installed driver",
                    name, path.empty() ? " (from WATTUNE_NVML)" : "", why_not));
  }
  auto nvml = std::make_unique<Nvml>();
  nvml->library = *library;
  load_functions(*nvml);
  if (const NvmlResult result = nvml->init(); result != NvmlResult::success) {
    throw DeviceError(fmt::format("cannot read power through NVML ('{}'): {}; {}", library->path(),
                                  nvml->describe(result), advice_for(result)));
  }
  return {nvml.release(), [](const Nvml* owned) {
            owned->shutdown();
            delete owned;
          }};
}

}  // namespace wattune
