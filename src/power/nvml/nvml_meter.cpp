#include "power/nvml/nvml_meter.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace wattune {

namespace {

constexpr int temperature_sensor_gpu = 0;  // NVML_TEMPERATURE_GPU

class NvmlMeter final : public PowerMeter {
 public:
  NvmlMeter(std::shared_ptr<const Nvml> nvml, NvmlDevice device) : nvml_(std::move(nvml)), device_(device) {}

  [[nodiscard]] std::string name() const override { return "nvml-counter"; }

  std::optional<double> energy_joules() override {
    unsigned long long millijoules = 0;
    if (nvml_->total_energy(device_, &millijoules) != NvmlResult::success) return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
  }

  std::optional<double> power_watts() override {
    unsigned milliwatts = 0;
    if (nvml_->power_usage == nullptr || nvml_->power_usage(device_, &milliwatts) != NvmlResult::success) {
      return std::nullopt;
    }
    return milliwatts * 1e-3;
  }

  std::optional<double> sm_clock_hz() override { return clock(NvmlClock::sm); }
  std::optional<double> memory_clock_hz() override { return clock(NvmlClock::memory); }

  std::optional<double> temperature_celsius() override {
    unsigned celsius = 0;
    if (nvml_->temperature == nullptr ||
        nvml_->temperature(device_, temperature_sensor_gpu, &celsius) != NvmlResult::success) {
      return std::nullopt;
    }
    return celsius;
  }

  std::vector<std::string> throttle_reasons() override {
    unsigned long long bits = 0;
    if (nvml_->clock_event_reasons == nullptr || nvml_->clock_event_reasons(device_, &bits) != NvmlResult::success) {
      return {};
    }
    return throttle_reason_names(bits);
  }

 private:
  std::optional<double> clock(NvmlClock which) {
    unsigned megahertz = 0;
    if (nvml_->clock_info == nullptr || nvml_->clock_info(device_, which, &megahertz) != NvmlResult::success) {
      return std::nullopt;
    }
    return megahertz * 1e6;
  }

  std::shared_ptr<const Nvml> nvml_;
  NvmlDevice device_;
};

/// Finds the board. Empty text where it was found, else why not.
std::string find_board(const Nvml& nvml, const std::string& uuid, const std::string& pci, NvmlDevice& device) {
  NvmlResult result = NvmlResult::not_found;
  if (!uuid.empty()) result = nvml.device_by_uuid(uuid.c_str(), &device);
  if (result != NvmlResult::success && !pci.empty()) result = nvml.device_by_pci(pci.c_str(), &device);
  if (result == NvmlResult::success) return {};
  if (uuid.empty() && pci.empty()) return "the device has neither UUID nor PCI bus id by which NVML could know it";
  return fmt::format("NVML has no board {}{}{}: {}", uuid, uuid.empty() || pci.empty() ? "" : " or ",
                     pci.empty() ? "" : "pci:" + pci, nvml.describe(result));
}

/// NVML tells an instance's power only as that of the whole board, which other instances draw too.
constexpr const char* divided =
    "the board is divided into MIG instances, and NVML tells only the power of the whole board; times can be measured";

std::string check_counter(const Nvml& nvml, NvmlDevice device) {
  if (nvml.total_energy == nullptr) return "this driver's NVML has no energy counter; install a newer driver";
  unsigned long long millijoules = 0;
  const NvmlResult result = nvml.total_energy(device, &millijoules);
  if (result == NvmlResult::success) return {};
  if (result == NvmlResult::not_supported) {
    return "this board has no energy counter that NVML could read (boards have one from Volta on)";
  }
  return fmt::format("the board's energy counter cannot be read: {}", nvml.describe(result));
}

}  // namespace

std::vector<std::string> throttle_reason_names(unsigned long long bits) {
  std::vector<std::string> names;
  if ((bits & nvml_reason_software_power_cap) != 0) names.emplace_back("power_capped");
  if ((bits & (nvml_reason_software_thermal | nvml_reason_hardware_thermal)) != 0) names.emplace_back("thermal");
  // The general hardware bit comes with the thermal and the brake bit, which say more.
  if ((bits & nvml_reason_hardware_slowdown) != 0 &&
      (bits & (nvml_reason_hardware_thermal | nvml_reason_power_brake)) == 0) {
    names.emplace_back("hardware_slowdown");
  }
  if ((bits & nvml_reason_power_brake) != 0) names.emplace_back("power_brake");
  return names;
}

std::unique_ptr<PowerMeter> open_nvml_meter(const std::string& uuid, const std::string& pci, std::string* why_not,
                                            const std::string& library) {
  std::string reason;
  try {
    auto nvml = load_nvml(library);
    NvmlDevice device = nullptr;
    // Before the search: NVML may not find an instance at all, and the reason to tell is this one.
    if (uuid.starts_with("MIG-")) reason = divided;
    if (reason.empty()) reason = find_board(*nvml, uuid, pci, device);
    if (reason.empty() && nvml->is_divided(device)) reason = divided;
    if (reason.empty()) reason = check_counter(*nvml, device);
    if (reason.empty()) return std::make_unique<NvmlMeter>(std::move(nvml), device);
  } catch (const DeviceError& error) {
    reason = error.what();
  }
  if (why_not != nullptr) *why_not = reason;
  return nullptr;
}

}  // namespace wattune
