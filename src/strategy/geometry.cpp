#include "strategy/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

bool are_numbers(const std::vector<Value>& values) {
  return std::ranges::all_of(values, [](const Value& value) { return value.is_number(); });
}

bool are_positive(const std::vector<Value>& values) {
  return std::ranges::all_of(values, [](const Value& value) { return value.as_double() > 0; });
}

}  // namespace

Geometry::Geometry(const SearchSpace& space, const std::vector<ParameterKind>& kinds) {
  std::vector<std::size_t> sizes;  // parameters that are sizes: their products and ratios matter
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const auto& values = space.parameters()[i].values;
    std::vector<double> coordinates(values.size(), 0.0);
    double extent = 0;
    const bool is_ordinal = values.size() > 2 && are_numbers(values);
    const bool is_setting = kinds[i] == ParameterKind::device_setting;
    if (is_ordinal) {
      const bool in_octaves = are_positive(values);
      for (std::size_t k = 0; k < values.size(); ++k) {
        coordinates[k] = in_octaves ? std::log2(values[k].as_double()) : values[k].as_double();
      }
      const auto [low, high] = std::ranges::minmax(coordinates);
      extent = high - low;
      for (double& coordinate : coordinates) coordinate = (coordinate - low) / extent;
      if (in_octaves && !is_setting && extent >= 1) sizes.push_back(i);
    }
    if (values.size() > 1 && !(is_setting && is_ordinal)) features_.push_back({Feature::Kind::same, i});
    if (is_ordinal) features_.push_back({Feature::Kind::ordinal, i});
    coordinates_.push_back(std::move(coordinates));
    extents_.push_back(extent);
    is_setting_.push_back(is_setting);
  }
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    for (std::size_t b = a + 1; b < sizes.size(); ++b) {
      const double scale = 1 / (extents_[sizes[a]] + extents_[sizes[b]]);
      features_.push_back({Feature::Kind::pair, sizes[a], sizes[b], 1, scale});
      features_.push_back({Feature::Kind::pair, sizes[a], sizes[b], -1, scale});
    }
  }
}

double Geometry::coordinate(const Feature& feature, const Point& point) const {
  const double first = coordinates_[feature.first][point[feature.first]];
  if (feature.kind != Feature::Kind::pair) return first;
  const double second = coordinates_[feature.second][point[feature.second]];
  return feature.scale * (extents_[feature.first] * first + feature.sign * extents_[feature.second] * second);
}

double Geometry::distance(const Feature& feature, const Point& a, const Point& b) const {
  if (feature.kind == Feature::Kind::same) return a[feature.first] == b[feature.first] ? 0 : 1;
  return std::abs(coordinate(feature, a) - coordinate(feature, b));
}

}  // namespace wattune
