#include "model/voltage_curve.hpp"

#include <algorithm>
#include <cmath>

#include "model/capped_least_squares.hpp"

namespace wattune {

VoltageCurve VoltageCurve::hinge(double ridge, double rise) {
  VoltageCurve curve;
  curve.ridge_ = ridge;
  curve.rise_ = rise;
  return curve;
}

VoltageCurve VoltageCurve::measured(std::span<const std::pair<double, double>> points) {
  std::vector<std::pair<double, double>> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end());
  VoltageCurve curve;
  for (std::size_t i = 0; i < sorted.size();) {
    double sum = 0;
    std::size_t same = 0;
    for (; i + same < sorted.size() && sorted[i + same].first == sorted[i].first; ++same)
      sum += sorted[i + same].second;
    curve.points_.emplace_back(sorted[i].first, sum / static_cast<double>(same));
    i += same;
  }
  double least = curve.points_.front().second;
  for (const auto& point : curve.points_) least = std::min(least, point.second);
  for (auto& point : curve.points_) point.second /= least;
  return curve;
}

double VoltageCurve::at(double clock) const {
  if (points_.empty()) return 1 + rise_ * std::max(0.0, clock - ridge_);
  const auto above = std::lower_bound(points_.begin(), points_.end(), std::pair(clock, 0.0));
  if (above == points_.begin()) return above->second;
  if (above == points_.end()) return points_.back().second;
  const auto below = above - 1;
  const double share = (clock - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

namespace {

/// Sum of squared residuals of a curve that is flat up to the ridge.
double misfit(const std::vector<std::pair<double, double>>& points, double ridge) {
  std::vector<CappedRow> rows;
  rows.reserve(points.size());
  const double span = points.back().first - points.front().first;
  for (const auto& [clock, voltage] : points) {
    const double beyond = std::max(0.0, clock - ridge) / span;
    rows.push_back({{1, beyond, beyond * beyond}, voltage});
  }
  return solve_uncapped(rows, 3).residual;
}

}  // namespace

std::optional<VoltageRidge> voltage_ridge(std::span<const std::pair<double, double>> points) {
  constexpr double least_rise = 1.02;
  constexpr int steps = 400;
  if (points.size() < 4) return std::nullopt;
  const auto curve = VoltageCurve::measured(points).points();
  const auto highest =
      std::max_element(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (curve.size() < 4 || highest->second < least_rise) return std::nullopt;
  // The ridge does not lie before a clock at which the voltage is still the least.
  constexpr double same_voltage = 1.003;
  const auto rising =
      std::find_if(curve.begin(), curve.end(), [&](const auto& point) { return point.second > same_voltage; });
  const double first = rising == curve.begin() ? curve.front().first : (rising - 1)->first;
  double best = first;
  double least = misfit(curve, best);
  for (int i = 1; i < steps; ++i) {
    const double ridge = first + (curve.back().first - first) * i / steps;
    const double value = misfit(curve, ridge);
    if (value < least) {
      least = value;
      best = ridge;
    }
  }
  if (best == curve.front().first) return std::nullopt;
  const auto above = std::upper_bound(curve.begin(), curve.end(), std::pair(best, 1e300));
  return VoltageRidge{best, (above - 1)->first, above->first};
}

}  // namespace wattune
