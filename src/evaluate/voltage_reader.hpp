#pragma once
// The core's voltage at each setting of the device, as a command tells it.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "power/meter.hpp"
#include "result/evaluation.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

class VoltageReader {
 public:
  /// @param command words, as run_command() takes them; empty: nothing is read. @param warn called once at most: where
  /// the command fails it is not run again.
  VoltageReader(std::vector<std::string> command, std::function<void(const std::string&)> warn)
      : command_(std::move(command)), warn_(std::move(warn)) {}

  /// Whether read() would run the command: once for each setting.
  [[nodiscard]] bool wants(const DeviceSettings& settings) const;

  /// Runs the command while the batch keeps the device busy, which is at its clocks. The batch has nothing outstanding
  /// before and after. Failure: what the batch failed with; what the command fails with is none.
  std::optional<Failure> read(Batch& batch, PowerMeter& meter, const DeviceSettings& settings);

  /// Quantity voltage, V; nothing where it is not known. Flags: what held the clock back when it was read.
  [[nodiscard]] std::optional<Quantity> at(const DeviceSettings& settings) const;

 private:
  void take(const std::string& output, const DeviceSettings& settings, std::vector<std::string> flags);
  void give_up(const std::string& problem);

  std::vector<std::string> command_;
  std::function<void(const std::string&)> warn_;
  std::vector<std::pair<DeviceSettings, std::optional<Quantity>>> known_;
};

}  // namespace wattune
