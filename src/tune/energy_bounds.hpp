#pragma once
// From when on a configuration cannot win: what one launch needs at least, against the least energy so far.

#include <cstddef>
#include <map>
#include <optional>

#include "result/evaluation.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

/// Learns from evaluations. All configurations of a kernel do the same work, and at one clock the chip needs about the
/// same energy for it beyond idle power: variants differ by a half, not by a multiple. So what is slow, and pays for
/// idle power that long, cannot win even if it needs less for the work than any variant so far.
class EnergyBounds {
 public:
  /// No variant is reckoned to need less beyond idle power than this share of the least so far. On measured kernels (a
  /// matrix product on H200s, a beamformer on an Ada board, at each clock, in hundreds of random orders) 0.85 passes
  /// over half of the configurations and never the best one; 1 would pass over better ones in most runs.
  static constexpr double share_of_least = 0.85;
  /// So many variants have to be measured at these settings before.
  static constexpr std::size_t least_measured = 5;

  void learn(const Evaluation& evaluation, const DeviceSettings& settings);

  /// J a launch, at any settings; nothing before any was measured.
  [[nodiscard]] const std::optional<double>& least() const noexcept { return least_; }
  /// J a launch beyond idle power that any variant is reckoned to need at these settings; 0 while that is not known.
  [[nodiscard]] double beyond_idle(const DeviceSettings& settings) const;

 private:
  struct Measured {
    std::size_t count = 0;
    double least = 0;  ///< J a launch beyond idle power
  };

  std::optional<double> least_;
  std::map<DeviceSettings, Measured> measured_;
};

}  // namespace wattune
