#include "method/subspace.hpp"

#include <algorithm>
#include <set>

namespace wattune {

namespace {

/// The space consists of points that were given one by one: a part of it cannot be had by its rules.
bool is_listed(const SearchSpace& space) {
  return space.restrictions().empty() && space.size() != space.cartesian();
}

std::vector<Parameter> parameters_at(const SearchSpace& whole,
                                     const std::vector<std::vector<std::uint32_t>>& positions) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Parameter parameter{whole.parameters()[i].name, {}};
    for (const std::uint32_t position : positions[i])
      parameter.values.push_back(whole.parameters()[i].values[position]);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Point inner(const std::vector<std::vector<std::uint32_t>>& positions, const Point& point) {
  Point result;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const auto found = std::ranges::find(positions[i], point[i]);
    if (found == positions[i].end()) return {};
    result.push_back(static_cast<std::uint32_t>(found - positions[i].begin()));
  }
  return result;
}

std::vector<std::vector<std::uint32_t>> all_positions(const SearchSpace& whole) {
  std::vector<std::vector<std::uint32_t>> positions;
  for (const Parameter& parameter : whole.parameters()) {
    positions.emplace_back();
    for (std::uint32_t i = 0; i < parameter.values.size(); ++i) positions.back().push_back(i);
  }
  return positions;
}

}  // namespace

Subspace::Subspace(const SearchSpace& whole, Positions positions, std::vector<Point> points)
    : positions_(std::move(positions)),
      space_(SearchSpace::of_points(parameters_at(whole, positions_), std::move(points))) {}

Subspace Subspace::all_of(const SearchSpace& whole) {
  return {all_positions(whole), whole};
}

Subspace Subspace::at_settings(const SearchSpace& whole, const SettingAxes& axes,
                               const std::vector<SettingPoint>& settings) {
  Positions positions = all_positions(whole);
  std::size_t product = 1;
  for (std::size_t axis = 0; axis < axes.places().size(); ++axis) {
    std::set<std::uint32_t> values;
    for (const auto& each : settings) values.insert(each[axis]);
    positions[axes.places()[axis]].assign(values.begin(), values.end());
    product *= values.size();
  }
  // Where settings are no product, or the space has no rules, the points are listed.
  if (product == settings.size() && !is_listed(whole)) {
    SearchSpace space = SearchSpace::build(parameters_at(whole, positions), whole.restrictions());
    return {std::move(positions), std::move(space)};
  }
  const std::set<SettingPoint> wanted(settings.begin(), settings.end());
  std::vector<Point> points;
  for (Count i = 0; i < whole.size(); ++i) {
    const Point point = whole.point(i);
    if (wanted.contains(axes.of(point))) points.push_back(inner(positions, point));
  }
  return {whole, std::move(positions), std::move(points)};
}

Subspace Subspace::of_variants(const SearchSpace& whole, const SettingAxes& axes, const std::vector<Point>& variants) {
  std::vector<std::set<std::uint32_t>> values(whole.parameters().size());
  std::vector<Point> points;
  for (const auto& variant : variants) {
    for (const auto& settings : all_settings_of(axes)) {
      const Point point = axes.with(variant, settings);
      if (!whole.contains(point)) continue;
      for (std::size_t i = 0; i < point.size(); ++i) values[i].insert(point[i]);
      points.push_back(point);
    }
  }
  Positions positions;
  for (const auto& each : values) positions.emplace_back(each.begin(), each.end());
  for (Point& point : points) point = inner(positions, point);
  return {whole, std::move(positions), std::move(points)};
}

Point Subspace::to_whole(const Point& point) const {
  Point result;
  for (std::size_t i = 0; i < point.size(); ++i) result.push_back(positions_[i][point[i]]);
  return result;
}

std::optional<Point> Subspace::from_whole(const Point& point) const {
  Point result = inner(positions_, point);
  if (result.size() != point.size() || !space_.contains(result)) return std::nullopt;
  return result;
}

std::vector<SettingPoint> all_settings_of(const SettingAxes& axes) {
  std::vector<SettingPoint> result = {{}};
  for (std::size_t axis = 0; axis < axes.places().size(); ++axis) {
    std::vector<SettingPoint> longer;
    for (const auto& settings : result) {
      for (const std::uint32_t position : axes.ascending(axis)) {
        longer.push_back(settings);
        longer.back().push_back(position);
      }
    }
    result = std::move(longer);
  }
  return result;
}

}  // namespace wattune
