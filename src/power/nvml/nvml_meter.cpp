#include "power/nvml/nvml_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace wattune {

namespace {

constexpr int temperature_sensor_gpu = 0;  // NVML_TEMPERATURE_GPU

class NvmlMeter final : public PowerMeter {
 public:
  NvmlMeter(std::shared_ptr<const Nvml> nvml, NvmlDevice device) : nvml_(std::move(nvml)), device_(device) {}

  [[nodiscard]] std::string name() const override { return "nvml"; }

  std::optional<double> energy_joules() override {
    unsigned long long millijoules = 0;
    if (nvml_->total_energy == nullptr || nvml_->total_energy(device_, &millijoules) != NvmlResult::success) {
      return std::nullopt;
    }
    return static_cast<double>(millijoules) * 1e-3;
  }

  std::optional<double> power_watts() override {
    unsigned milliwatts = 0;
    if (nvml_->power_usage == nullptr || nvml_->power_usage(device_, &milliwatts) != NvmlResult::success) {
      return std::nullopt;
    }
    return milliwatts * 1e-3;
  }

  std::optional<double> instant_power_watts() override { return watts({nvml_field_power_instant, nvml_scope_gpu}); }
  std::optional<double> memory_power_watts() override { return watts({nvml_field_power_average, nvml_scope_memory}); }

  std::vector<PowerSample> recorded_power(double after) override {
    NvmlValueType type{};
    if (nvml_->samples == nullptr) return {};
    if (record_size_ == 0 &&
        nvml_->samples(device_, nvml_total_power_samples, 0, &type, &record_size_, nullptr) != NvmlResult::success) {
      return {};
    }
    unsigned count = record_size_;
    std::vector<NvmlSample> found(count);
    const auto last_seen = static_cast<unsigned long long>(std::llround(after * 1e6));
    if (count == 0 || nvml_->samples(device_, nvml_total_power_samples, last_seen, &type, &count, found.data()) !=
                          NvmlResult::success) {
      return {};
    }
    std::vector<PowerSample> result;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, found.size()); ++i) {
      const double stamp = static_cast<double>(found[i].timestamp) * 1e-6;
      const auto milliwatts = to_number(type, found[i].value);
      // Places of the record that were never filled have no time.
      if (milliwatts && found[i].timestamp > last_seen) result.push_back({stamp, *milliwatts * 1e-3});
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.stamp < b.stamp; });
    return result;
  }

  std::map<std::string, double> throttle_seconds() override {
    constexpr std::array fields = {NvmlField{nvml_field_power_cap_time}, NvmlField{nvml_field_software_thermal_time},
                                   NvmlField{nvml_field_hardware_thermal_time}, NvmlField{nvml_field_power_brake_time}};
    constexpr std::array names = {"power_capped", "thermal", "thermal", "power_brake"};
    std::map<std::string, double> seconds;
    const auto numbers = nvml_->fields(device_, fields);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (numbers[i]) seconds[names[i]] += *numbers[i] * 1e-9;
    }
    return seconds;
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
  std::optional<double> watts(NvmlField field) {
    const auto milliwatts = nvml_->fields(device_, {&field, 1}).front();
    return milliwatts ? std::optional(*milliwatts * 1e-3) : std::nullopt;
  }

  std::optional<double> clock(NvmlClock which) {
    unsigned megahertz = 0;
    if (nvml_->clock_info == nullptr || nvml_->clock_info(device_, which, &megahertz) != NvmlResult::success) {
      return std::nullopt;
    }
    return megahertz * 1e6;
  }

  std::shared_ptr<const Nvml> nvml_;
  NvmlDevice device_;
  unsigned record_size_ = 0;  ///< entries of the driver's record, once it has told
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

/// Empty text where the meter has something to tell. A counter that is there but does not answer is no missing counter.
std::string check(const Nvml& nvml, NvmlDevice device, PowerMeter& meter) {
  unsigned long long millijoules = 0;
  const NvmlResult result =
      nvml.total_energy == nullptr ? NvmlResult::not_supported : nvml.total_energy(device, &millijoules);
  if (result != NvmlResult::success && result != NvmlResult::not_supported) {
    return fmt::format("the board's energy counter cannot be read: {}", nvml.describe(result));
  }
  if (meter.energy_joules() || meter.power_watts() || meter.instant_power_watts()) return {};
  return "NVML gives neither power nor energy of this board";
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
    if (reason.empty()) {
      auto meter = std::make_unique<NvmlMeter>(nvml, device);
      reason = check(*nvml, device, *meter);
      if (reason.empty()) return meter;
    }
  } catch (const DeviceError& error) {
    reason = error.what();
  }
  if (why_not != nullptr) *why_not = reason;
  return nullptr;
}

}  // namespace wattune
