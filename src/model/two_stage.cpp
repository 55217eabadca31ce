#include "model/two_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/ridge_search.hpp"

namespace wattune {

namespace {

/// The ridge as far as a few samples tell, at a rise of the voltage that is usual: with two parameters fewer than a
/// fit, it needs no more than four samples. In units of the highest clock.
double rough_ridge(const std::vector<double>& clocks, const std::vector<double>& powers) {
  constexpr int steps = 100;
  constexpr double usual_rises[] = {0.7, 1.0, 1.4, 2.0};  // as shares of the least voltage over the range of clocks
  const RidgeSearch search(PowerForm::free, clocks, powers, 0, 0);
  RidgePoint best;
  for (int i = 0; i <= steps; ++i) {
    const double ridge = clocks.front() + (clocks.back() - clocks.front()) * i / steps;
    for (const double rise : usual_rises) {
      const RidgePoint point = search.at(ridge, rise);
      if (point.linear.residual < best.linear.residual) best = point;
    }
  }
  return best.ridge;
}

std::size_t nearest_index(std::span<const double> supported, double clock) {
  const auto found = std::min_element(supported.begin(), supported.end(),
                                      [&](double a, double b) { return std::fabs(a - clock) < std::fabs(b - clock); });
  return static_cast<std::size_t>(found - supported.begin());
}

}  // namespace

std::vector<double> spread_clocks(std::span<const double> supported, std::size_t count) {
  std::vector<double> clocks;
  if (count == 1) return {supported.front()};
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    clocks.push_back(
        supported[static_cast<std::size_t>(std::lround(share * static_cast<double>(supported.size() - 1)))]);
  }
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

std::vector<PowerSample> sample_in_two_stages(std::span<const double> supported, const PowerMeasurement& measure,
                                              std::size_t first, std::size_t second) {
  constexpr std::size_t least = 4;
  // Far enough from the ridge on either side that the slopes there are well told.
  constexpr double reach = 0.25;
  if (supported.size() < least || first < least) {
    throw UsageError(fmt::format("sampling power over the clocks: {} clocks are too few, {} or more are needed",
                                 std::min(supported.size(), first), least));
  }
  std::vector<PowerSample> samples;
  for (const double clock : spread_clocks(supported, first)) samples.push_back(measure(clock));
  std::vector<PowerSample> sorted = samples;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.clock_hz < b.clock_hz; });
  const double scale = sorted.back().clock_hz;
  std::vector<double> clocks;
  std::vector<double> powers;
  for (const auto& sample : sorted) {
    clocks.push_back(sample.clock_hz / scale);
    powers.push_back(sample.power_w);
  }
  const double ridge = rough_ridge(clocks, powers) * scale;
  const std::size_t low = nearest_index(supported, ridge * (1 - reach));
  // Beyond the highest clock that was reached nothing new is seen.
  const std::size_t high = nearest_index(supported, std::min(ridge * (1 + reach), scale));
  const auto around = supported.subspan(low, std::max(low, high) - low + 1);
  for (const double clock : spread_clocks(around, second)) samples.push_back(measure(clock));
  return samples;
}

}  // namespace wattune
