#pragma once
// Distances between configurations, as the Gaussian process sees them.

#include <Eigen/Core>
#include <vector>

#include "problem/problem.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// One way in which configurations differ: |coordinate - coordinate'|, or whether the two differ at all.
struct Feature {
  enum class Kind {
    same,     ///< 0 where a parameter has the same value, else 1
    ordinal,  ///< along the parameter's axis
    pair      ///< along the sum or difference of two axes: product or ratio of sizes
  };
  Kind kind;
  std::size_t first;
  std::size_t second = 0;  ///< pair
  double sign = 0;         ///< pair: +1 sum, -1 difference
  double scale = 1;        ///< pair: makes the extent 1
};

/// Coordinates run from 0 to 1 along each axis: in the logarithm where values are sizes, all positive.
class Geometry {
 public:
  Geometry(const SearchSpace& space, const std::vector<ParameterKind>& kinds);

  [[nodiscard]] const std::vector<Feature>& features() const { return features_; }
  [[nodiscard]] std::size_t parameters() const { return coordinates_.size(); }
  [[nodiscard]] bool is_setting(std::size_t parameter) const { return is_setting_[parameter]; }
  /// By position in the value list.
  [[nodiscard]] const std::vector<double>& coordinates(std::size_t parameter) const { return coordinates_[parameter]; }
  /// Of a point, along a feature that is not `same`.
  [[nodiscard]] double coordinate(const Feature& feature, const Point& point) const;
  [[nodiscard]] double distance(const Feature& feature, const Point& a, const Point& b) const;

 private:
  std::vector<std::vector<double>> coordinates_;
  std::vector<double> extents_;  ///< of the logarithms, in octaves
  std::vector<bool> is_setting_;
  std::vector<Feature> features_;
};

}  // namespace wattune
