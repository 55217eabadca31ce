#pragma once
// A part of a space in which device settings take some values only, as a space of its own.

#include <optional>
#include <vector>

#include "method/axes.hpp"
#include "space/search_space.hpp"

namespace wattune {

class Subspace {
 public:
  static Subspace all_of(const SearchSpace& whole);
  /// Configurations at these settings. @param settings different ones, not empty
  static Subspace at_settings(const SearchSpace& whole, const SettingAxes& axes,
                              const std::vector<SettingPoint>& settings);
  /// The configurations of these variants (the settings in them do not count) at all settings.
  static Subspace of_variants(const SearchSpace& whole, const SettingAxes& axes, const std::vector<Point>& variants);

  [[nodiscard]] const SearchSpace& space() const { return space_; }
  /// Between points of this space and of the whole one.
  [[nodiscard]] Point to_whole(const Point& point) const;
  /// Nothing for a point that is not part of this space.
  [[nodiscard]] std::optional<Point> from_whole(const Point& point) const;

 private:
  /// By parameter: the positions in the whole space of the values here.
  using Positions = std::vector<std::vector<std::uint32_t>>;
  Subspace(Positions positions, SearchSpace space) : positions_(std::move(positions)), space_(std::move(space)) {}
  Subspace(const SearchSpace& whole, Positions positions, std::vector<Point> points);

  Positions positions_;
  SearchSpace space_;
};

/// All points of the product of the setting axes.
std::vector<SettingPoint> all_settings_of(const SettingAxes& axes);

}  // namespace wattune
