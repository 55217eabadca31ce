#pragma once
// The device settings of a space, apart from its other parameters.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// Positions in the value lists of the setting axes, one for each axis.
using SettingPoint = std::vector<std::uint32_t>;

class SettingAxes {
 public:
  /// @param kinds one per parameter; empty: parameters named nvml_* are device settings. Values are numbers.
  SettingAxes(const std::vector<Parameter>& parameters, const std::vector<ParameterKind>& kinds);

  /// Positions of the axes among the parameters. Empty: the space has no settings.
  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }
  [[nodiscard]] bool empty() const { return places_.empty(); }
  /// The axis along which energy is steered: the SM clock, else the power limit, else the memory clock; of those with
  /// more than one value. Its position in places().
  [[nodiscard]] std::optional<std::size_t> main() const { return main_; }
  /// Values of an axis by position: MHz or W.
  [[nodiscard]] const std::vector<double>& values(std::size_t axis) const { return values_[axis]; }
  /// Positions of an axis from its least value to its greatest.
  [[nodiscard]] const std::vector<std::uint32_t>& ascending(std::size_t axis) const { return ascending_[axis]; }
  /// Combinations of values.
  [[nodiscard]] std::size_t combinations() const;

  /// Of a point of the space.
  [[nodiscard]] SettingPoint of(std::span<const std::uint32_t> point) const;
  /// The point with other settings.
  [[nodiscard]] Point with(Point point, const SettingPoint& settings) const;
  /// Every axis at its greatest value.
  [[nodiscard]] SettingPoint maximum() const;
  /// Every axis at its greatest value, the main one at that which is nearest to this.
  [[nodiscard]] SettingPoint at(double main_value) const;
  /// Every axis at its greatest value, the SM clock at that which is nearest to this in MHz.
  [[nodiscard]] SettingPoint at_clock(double mhz) const;
  /// The axis of a setting's parameter; nothing where there is none.
  [[nodiscard]] std::optional<std::size_t> axis_named(std::string_view parameter) const;
  /// "at 1410 MHz", "at 1410 MHz, 250 W".
  [[nodiscard]] std::string text(const SettingPoint& settings) const;

 private:
  [[nodiscard]] SettingPoint nearest(std::optional<std::size_t> axis, double value) const;

  std::vector<std::size_t> places_;
  std::vector<std::string> names_;
  std::vector<std::vector<double>> values_;
  std::vector<std::vector<std::uint32_t>> ascending_;
  std::optional<std::size_t> main_;
};

}  // namespace wattune
