#pragma once
// The order in which configurations are evaluated where device settings are among the parameters: grouped by setting,
// so that the device is set as rarely as can be.

#include <cstddef>
#include <span>
#include <vector>

#include "settings/device_settings.hpp"

namespace wattune {

/// How many proposals to hold, so that all configurations of a setting can be evaluated together.
inline constexpr std::size_t grouping_capacity = 4096;

/// Chooses what to evaluate next among what is held. Stays at a setting as long as there is something for it; then goes
/// to the one that has waited longest. Within a setting the order is that of the proposals, so that drift does not ride
/// on another parameter. Where time is limited, a setting is left after its share of the time, so that all are visited.
class SettingOrder {
 public:
  /// @param share_seconds longest stay at a setting while others wait; 0: no limit.
  explicit SettingOrder(double share_seconds = 0) : share_seconds_(share_seconds) {}

  /// The indices of `held` (the settings of what is held, in the order of the proposals) in the order in which they are
  /// to be evaluated. @param now seconds of device time.
  [[nodiscard]] std::vector<std::size_t> order(std::span<const DeviceSettings> held, double now) const;

  /// An evaluation at this setting begins.
  void begin(const DeviceSettings& settings, double now);

 private:
  double share_seconds_;
  bool begun_ = false;
  DeviceSettings current_;
  double since_ = 0;
};

}  // namespace wattune
