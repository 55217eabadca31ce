#include "power/nvml/nvml_meters.hpp"

#include "base/error.hpp"
#include "driver/nvml.hpp"

namespace wattune {

namespace {

NvmlDevice find(const Nvml& nvml, const std::string& uuid, const std::string& pci) {
  NvmlDevice device = nullptr;
  if (!uuid.empty() && nvml.device_by_uuid(uuid.c_str(), &device) == NvmlResult::success) return device;
  if (!pci.empty() && nvml.device_by_pci(pci.c_str(), &device) == NvmlResult::success) return device;
  return nullptr;
}

bool has_counter(const Nvml& nvml, NvmlDevice device) {
  unsigned long long millijoules = 0;
  return nvml.total_energy != nullptr && nvml.total_energy(device, &millijoules) == NvmlResult::success;
}

bool has_average(const Nvml& nvml, NvmlDevice device) {
  unsigned milliwatts = 0;
  return nvml.power_usage != nullptr && nvml.power_usage(device, &milliwatts) == NvmlResult::success;
}

bool has_instant(const Nvml& nvml, NvmlDevice device) {
  NvmlFieldValue value{};
  value.field = nvml_field_power_instant;
  return nvml.field_values != nullptr && nvml.field_values(device, 1, &value) == NvmlResult::success &&
         value.result == NvmlResult::success;
}

bool has_samples(const Nvml& nvml, NvmlDevice device) {
  NvmlValueType type{};
  unsigned count = 0;
  return nvml.samples != nullptr &&
         nvml.samples(device, nvml_total_power_samples, 0, &type, &count, nullptr) == NvmlResult::success && count > 0;
}

}  // namespace

std::vector<MeterDescription> nvml_meters(const std::string& uuid, const std::string& pci, std::string* why_not,
                                          const std::string& library) {
  std::vector<MeterDescription> meters;
  const auto add = [&](const char* name, std::vector<std::string> quantities) {
    meters.push_back({name, std::move(quantities)});
  };
  std::string reason;
  try {
    const auto nvml = load_nvml(library);
    const NvmlDevice device = find(*nvml, uuid, pci);
    if (device == nullptr) {
      reason = "NVML does not know this board";
    } else {
      if (has_counter(*nvml, device)) {
        add("nvml-counter", {"energy", "power", "sm_clock", "memory_clock", "temperature"});
      }
      if (has_average(*nvml, device)) add("nvml-average", {"power"});
      if (has_instant(*nvml, device)) add("nvml-instant", {"power"});
      if (has_samples(*nvml, device)) add("nvml-samples", {"power"});
      if (meters.empty()) reason = "NVML gives neither power nor energy of this board";
    }
  } catch (const DeviceError& error) {
    reason = error.what();
  }
  if (why_not != nullptr) *why_not = reason;
  return meters;
}

}  // namespace wattune
