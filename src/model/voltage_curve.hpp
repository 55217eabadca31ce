#pragma once
// How the voltage of a GPU rises with its clock: flat up to the ridge, then rising.

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace wattune {

/// Voltage in proportion to the least.
class VoltageCurve {
 public:
  /// 1 up to the ridge, 1 + rise * (clock - ridge) above. @param ridge in Hz @param rise in 1/Hz
  static VoltageCurve hinge(double ridge, double rise);

  /// Through measured points (Hz, V in any unit), linear between them and constant beyond.
  /// @param points not empty, voltages positive; the same clock may occur several times
  static VoltageCurve measured(std::span<const std::pair<double, double>> points);

  [[nodiscard]] double at(double clock) const;
  /// Of a hinge: Hz, 1/Hz.
  [[nodiscard]] double ridge() const noexcept { return ridge_; }
  [[nodiscard]] double rise() const noexcept { return rise_; }
  /// Of a measured one: in increasing order of the clock.
  [[nodiscard]] const std::vector<std::pair<double, double>>& points() const noexcept { return points_; }

 private:
  double ridge_ = 0;
  double rise_ = 0;
  std::vector<std::pair<double, double>> points_;
};

struct VoltageRidge {
  double ridge;      ///< Hz
  double low, high;  ///< the measured clocks on either side of it
};

/// Where a measured curve leaves its flat part: the clock from which a line and a parabola, rising from there, fit it
/// best. Nothing where the voltage rises by less than 2 %, or from the first point on.
/// @param points as VoltageCurve::measured takes them
std::optional<VoltageRidge> voltage_ridge(std::span<const std::pair<double, double>> points);

}  // namespace wattune
