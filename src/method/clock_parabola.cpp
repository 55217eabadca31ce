#include "method/clock_parabola.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace wattune {

double clock_of_least_cost(std::span<const std::pair<double, double>> points) {
  const auto best = *std::ranges::min_element(points, {}, &std::pair<double, double>::second);
  const auto [least, most] = std::ranges::minmax(points, {}, &std::pair<double, double>::first);
  if (points.size() < 3 || least.first == most.first) return best.first;
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixX3d rows(n, 3);
  Eigen::VectorXd values(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& [clock, cost] = points[static_cast<std::size_t>(i)];
    const double x = std::log(clock / best.first);
    const double y = std::log(cost / best.second);
    // Far from the minimum energy is no parabola; a point that is worse by half weighs half as much.
    const double weight = std::exp(-2 * y);
    rows.row(i) << weight, weight * x, weight * x * x;
    values[i] = weight * y;
  }
  const Eigen::Vector3d fit = rows.colPivHouseholderQr().solve(values);
  if (!fit.allFinite() || fit[2] <= 0) return best.first;
  return std::clamp(best.first * std::exp(-fit[1] / (2 * fit[2])), least.first, most.first);
}

}  // namespace wattune
