#include "evaluate/voltage_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "evaluate/load.hpp"
#include "settings/command.hpp"
#include "settings/voltage.hpp"

namespace wattune {

namespace {

/// nvidia-smi takes a second at most, also on nodes with many boards.
constexpr double limit_seconds = 10;

}  // namespace

bool VoltageReader::wants(const DeviceSettings& settings) const {
  return !command_.empty() &&
         std::none_of(known_.begin(), known_.end(), [&](const auto& known) { return known.first == settings; });
}

std::optional<Quantity> VoltageReader::at(const DeviceSettings& settings) const {
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const auto& known) { return known.first == settings; });
  return found == known_.end() ? std::nullopt : found->second;
}

std::optional<Failure> VoltageReader::read(Batch& batch, PowerMeter& meter, const DeviceSettings& settings) {
  Load load(batch);
  auto failure = load.keep_busy();
  CommandResult result;
  std::vector<std::string> flags;
  if (!failure) {
    flags = meter.throttle_reasons();
    result = run_command(command_, limit_seconds, [&] {
      if (!failure) failure = load.keep_busy();
    });
  }
  auto draining = load.drain();
  if (failure) return failure;
  if (draining) return draining;
  if (result.ok) {
    take(result.output, settings, std::move(flags));
  } else {
    give_up(result.problem);
  }
  return std::nullopt;
}

void VoltageReader::take(const std::string& output, const DeviceSettings& settings, std::vector<std::string> flags) {
  try {
    std::optional<Quantity> quantity;
    if (const auto volts = parse_voltage(output)) {
      quantity = Quantity{*volts, "V", std::numeric_limits<double>::quiet_NaN(), 1, std::move(flags)};
    }
    known_.emplace_back(settings, std::move(quantity));
  } catch (const UsageError& error) {
    give_up(error.what());
  }
}

void VoltageReader::give_up(const std::string& problem) {
  if (warn_) {
    warn_(fmt::format("the voltage is not recorded: '{}': {}; --voltage-command names another command, or none",
                      command_.front(), problem));
  }
  command_.clear();
}

}  // namespace wattune
