#include "tune/energy_bounds.hpp"

#include <algorithm>

namespace wattune {

namespace {

bool has_flag(const Quantity& quantity, const char* flag) {
  return std::ranges::find(quantity.flags, flag) != quantity.flags.end();
}

}  // namespace

void EnergyBounds::learn(const Evaluation& evaluation, const DeviceSettings& settings) {
  const auto energy = evaluation.quantities.find("energy");
  if (!evaluation.ok() || energy == evaluation.quantities.end()) return;
  least_ = std::min(least_.value_or(energy->second.value), energy->second.value);
  // What was given up is known too roughly.
  const auto beyond = evaluation.quantities.find("energy_above_idle");
  if (beyond == evaluation.quantities.end() || has_flag(energy->second, "abandoned_early")) return;
  Measured& measured = measured_[settings];
  measured.least = measured.count == 0 ? beyond->second.value : std::min(measured.least, beyond->second.value);
  ++measured.count;
}

double EnergyBounds::beyond_idle(const DeviceSettings& settings) const {
  const auto measured = measured_.find(settings);
  if (measured == measured_.end() || measured->second.count < least_measured) return 0;
  return std::max(0.0, share_of_least * measured->second.least);
}

}  // namespace wattune
