#include "tune/launch_limit.hpp"

#include <algorithm>

namespace wattune {

namespace {

/// In these a configuration runs without anyone knowing how long it takes. What is timed later is as long as it is
/// asked to be.
bool is_of_unknown_length(const std::string& phase) {
  return phase == "verify" || phase == "warm_up";
}

}  // namespace

void LaunchLimit::learn(const Evaluation& evaluation) {
  const auto time = evaluation.quantities.find("time");
  if (!evaluation.ok() || time == evaluation.quantities.end()) return;
  fastest_ = std::min(fastest_.value_or(time->second.value), time->second.value);
  for (const auto& [phase, seconds] : evaluation.phases) {
    if (!is_of_unknown_length(phase)) continue;
    double& longest = longest_[phase];
    longest = std::max(longest, seconds);
  }
}

std::optional<double> LaunchLimit::of_phase(const std::string& phase) const {
  if (!fastest_ || !is_of_unknown_length(phase)) return std::nullopt;
  const auto longest = longest_.find(phase);
  const double phase_seconds = longest == longest_.end() ? 0 : longest->second;
  return std::max(floor_seconds, phase_factor * phase_seconds) + launch_factor * *fastest_;
}

}  // namespace wattune
