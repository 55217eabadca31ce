#pragma once
// Power meters: what can be read of a device's energy, power, clocks and temperature. Reading never changes a device.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wattune {

/// One entry of a driver's own record of power.
struct PowerSample {
  double stamp;  ///< s, of the driver's clock, which need not be that of anybody else
  double watts;
};

/// One board's meter. A reading that the board does not offer is nothing, never zero. One thread uses it.
class PowerMeter {
 public:
  virtual ~PowerMeter() = default;
  /// "nvml": what messages call it.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Accumulated energy since some past moment, in joules. Steps at the sensor's own pace.
  virtual std::optional<double> energy_joules() = 0;
  /// The most recent power reading, in watts.
  virtual std::optional<double> power_watts() = 0;
  /// Power at this moment, in watts, where the board tells it; sensors see only a part of the time.
  virtual std::optional<double> instant_power_watts() { return std::nullopt; }
  /// What the driver has recorded after a stamp (0: all that it still has), oldest first; empty where there is nothing.
  virtual std::vector<PowerSample> recorded_power(double /*after*/) { return {}; }
  /// Power of the memory alone, in watts: the most recent average.
  virtual std::optional<double> memory_power_watts() { return std::nullopt; }
  virtual std::optional<double> sm_clock_hz() = 0;
  virtual std::optional<double> memory_clock_hz() = 0;
  virtual std::optional<double> temperature_celsius() = 0;
  /// Why the clock is below what was asked, in words: "power_capped", "thermal", "hardware_slowdown", "power_brake".
  /// Empty where nothing holds it back or nothing is known.
  virtual std::vector<std::string> throttle_reasons() = 0;
  /// For how long each of these reasons has held the clock back since some past moment, s; empty where it is not told.
  virtual std::map<std::string, double> throttle_seconds() { return {}; }
};

}  // namespace wattune
