#pragma once
// How long a launch may take before it counts as one that does not end.

#include <map>
#include <optional>
#include <string>

#include "result/evaluation.hpp"

namespace wattune {

/// Learns from evaluations how fast the kernel can be, and how long the phases take in which a configuration runs for
/// the first time.
class LaunchLimit {
 public:
  /// A phase gets this long however fast the kernel is,
  static constexpr double floor_seconds = 10;
  /// and three times as long as the longest such phase of a configuration that was all right,
  static constexpr double phase_factor = 3;
  /// and the time of so many of the fastest launches.
  static constexpr double launch_factor = 100;

  void learn(const Evaluation& evaluation);

  /// Seconds of the fastest launch so far.
  [[nodiscard]] const std::optional<double>& fastest() const noexcept { return fastest_; }

  /// Seconds that a phase may take; nothing while no launch was timed, and for phases of known length.
  [[nodiscard]] std::optional<double> of_phase(const std::string& phase) const;

 private:
  std::optional<double> fastest_;
  std::map<std::string, double> longest_;  ///< seconds, by phase
};

}  // namespace wattune
