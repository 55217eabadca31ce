#include "evaluate/tick_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace wattune {

namespace {

/// Residuals beyond this share of the period, on top of what polling explains, are those of a counter without one.
constexpr double largest_residual_share = 0.02;

/// Times as period x position + phase.
struct Fit {
  double period = 0;
  double phase = 0;
  double period_error = 0;  ///< standard error
};

/// How many periods after the first tick each one is: polling that was held up may have missed some.
std::vector<double> positions(const std::vector<Tick>& ticks) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < ticks.size(); ++i) gaps.push_back(ticks[i].time - ticks[i - 1].time);
  std::vector<double> sorted = gaps;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<double> result{0};
  for (const double gap : gaps) result.push_back(result.back() + std::max(1.0, std::round(gap / *middle)));
  return result;
}

std::optional<Fit> fit_times(const std::vector<Tick>& ticks, const std::vector<double>& position) {
  if (ticks.size() < 3) return std::nullopt;
  const double n = static_cast<double>(ticks.size());
  const double mean_position = std::accumulate(position.begin(), position.end(), 0.0) / n;
  double mean_time = 0;
  for (const auto& tick : ticks) mean_time += tick.time / n;
  double spread = 0;
  double product = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    spread += (position[i] - mean_position) * (position[i] - mean_position);
    product += (position[i] - mean_position) * (ticks[i].time - mean_time);
  }
  Fit fit;
  fit.period = product / spread;
  fit.phase = mean_time - fit.period * mean_position;
  double squares = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double residual = ticks[i].time - (fit.phase + fit.period * position[i]);
    if (std::abs(residual) > 2 * ticks[i].uncertainty + largest_residual_share * fit.period) return std::nullopt;
    squares += residual * residual;
  }
  fit.period_error = std::sqrt(squares / (n - 2) / spread);
  return fit;
}

}  // namespace

WindowPower window_power(const std::vector<Tick>& ticks, std::size_t first) {
  const std::size_t last = ticks.size() - 1;
  const auto position = positions(ticks);
  const auto fit = fit_times(ticks, position);
  auto time = [&](std::size_t i) { return fit ? fit->phase + fit->period * position[i] : ticks[i].time; };

  WindowPower result;
  result.begin = time(first);
  result.end = time(last);
  result.intervals = static_cast<std::int64_t>(std::llround(position[last] - position[first]));
  const double duration = result.end - result.begin;
  result.watts = (ticks[last].joules - ticks[first].joules) / duration;

  // The scatter of the power itself: weighted by duration, for a missed tick makes one interval of two.
  double squares = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double seconds = time(i + 1) - time(i);
    const double deviation = (ticks[i + 1].joules - ticks[i].joules) / seconds - result.watts;
    squares += deviation * deviation * seconds / duration;
  }
  const double samples = static_cast<double>(last - first);
  const double scatter = samples > 1 ? std::sqrt(squares / (samples - 1))
                         : fit       ? 0.0
                                     : std::numeric_limits<double>::quiet_NaN();
  // And of the window's length: of the period where one was fitted, else of its two ends, each uniform in its interval.
  const double length_error =
      fit ? fit->period_error / fit->period
          : std::hypot(ticks[first].uncertainty, ticks[last].uncertainty) / std::sqrt(3.0) / duration;
  result.standard_error = std::hypot(scatter, result.watts * length_error);
  return result;
}

}  // namespace wattune
