#include "model/kernel_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/capped_least_squares.hpp"

namespace wattune {

namespace {

void check(const char* what, double clock, double value) {
  if (std::isfinite(clock) && clock > 0 && std::isfinite(value) && value > 0) return;
  throw UsageError(fmt::format(
      "fitting a kernel's {} over the clock: a sample has {:g} at {:g} MHz; both have to be positive numbers", what,
      value, clock * 1e-6));
}

template <typename Sample>
void need_distinct(const char* what, std::span<const Sample> samples, std::size_t least) {
  std::vector<double> clocks;
  for (const auto& sample : samples) clocks.push_back(sample.clock_hz);
  std::sort(clocks.begin(), clocks.end());
  const auto distinct = static_cast<std::size_t>(std::unique(clocks.begin(), clocks.end()) - clocks.begin());
  if (distinct < least) {
    throw UsageError(
        fmt::format("fitting a kernel's {} over the clock: {} distinct clocks are too few, {} or more are needed", what,
                    distinct, least));
  }
}

/// In units of the highest clock and the longest time.
struct RelativeTimes {
  double clock = 0;
  double time = 0;
  std::vector<TimeSample> samples;
};

/// For a given exponent p the model is linear in cycles^p and floor^p. Divided by time^p, residuals are relative errors
/// of time, p times as large. @return the sum of their squares
double fit_exponent(const RelativeTimes& relative, double exponent, KernelTimeModel& model) {
  std::vector<CappedRow> rows;
  for (const auto& sample : relative.samples) {
    rows.push_back({{std::pow(sample.clock_hz * sample.time_s, -exponent), std::pow(sample.time_s, -exponent), 0}, 1});
  }
  const CappedSolution solution = solve_uncapped(rows, 2);
  model.exponent = exponent;
  model.cycles = std::pow(solution.coefficients[0], 1 / exponent) * relative.clock * relative.time;
  model.floor_s = std::pow(solution.coefficients[1], 1 / exponent) * relative.time;
  return solution.residual / (exponent * exponent);
}

}  // namespace

double KernelTimeModel::time(double clock) const {
  // The larger part is taken out, so that no power leaves the range of a double.
  const double own = cycles / clock;
  const double larger = std::max(own, floor_s);
  const double ratio = std::min(own, floor_s) / larger;
  return larger * std::pow(1 + std::pow(ratio, exponent), 1 / exponent);
}

KernelTimeModel fit_kernel_time(std::span<const TimeSample> samples) {
  // From parts that follow on each other to parts that overlap completely.
  constexpr double most_exponent = 16;
  constexpr int steps = 60;
  for (const auto& sample : samples) check("time", sample.clock_hz, sample.time_s);
  need_distinct("time", samples, 3);
  RelativeTimes relative;
  for (const auto& sample : samples) {
    relative.clock = std::max(relative.clock, sample.clock_hz);
    relative.time = std::max(relative.time, sample.time_s);
  }
  for (const auto& sample : samples)
    relative.samples.push_back({sample.clock_hz / relative.clock, sample.time_s / relative.time});
  KernelTimeModel best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    KernelTimeModel model;
    const double residual = fit_exponent(relative, std::pow(most_exponent, static_cast<double>(i) / steps), model);
    if (residual < least) {
      least = residual;
      best = model;
    }
  }
  return best;
}

KernelPower fit_kernel_power(std::span<const ClockPower> samples, const PowerModel& device) {
  // As shares of the mean power: noise of a sample, what a kelvin usually adds, and how much that differs.
  constexpr double noise = 0.003;
  constexpr double usual_heat = 0.005;
  constexpr double heat_spread = 0.004;
  for (const auto& sample : samples) check("power", sample.clock_hz, sample.power_w);
  need_distinct("power", samples, 2);
  const auto count = static_cast<double>(samples.size());
  double scale = 0;
  double power = 0;
  double temperature = 0;
  for (const auto& sample : samples) {
    scale = std::max(scale, sample.clock_hz);
    power += sample.power_w / count;
    temperature += sample.temperature / count;
  }
  const bool heat_known = std::isfinite(temperature);
  std::vector<CappedRow> rows;
  for (const auto& sample : samples) {
    const double voltage = device.voltage.at(sample.clock_hz);
    const double warmer = heat_known ? sample.temperature - temperature : 0;
    rows.push_back({{sample.clock_hz / scale * voltage * voltage, 1, warmer}, sample.power_w});
  }
  if (heat_known) {
    constexpr double weight = noise / heat_spread;
    rows.push_back({{0, 0, weight}, weight * usual_heat * power});
  }
  const CappedSolution solution = solve_uncapped(rows, heat_known ? 3 : 2);
  KernelPower fit;
  fit.model.slope_w_per_hz = solution.coefficients[0] / scale;
  fit.model.base_w = solution.coefficients[1];
  fit.model.limit_w = device.limit_w;
  fit.model.voltage = device.voltage;
  if (heat_known) {
    fit.temperature = temperature;
    fit.watts_per_kelvin = solution.coefficients[2];
  }
  return fit;
}

double most_efficient_clock(const KernelClockModel& model, std::span<const double> clocks) {
  double best = *std::min_element(clocks.begin(), clocks.end());
  double least = std::numeric_limits<double>::infinity();
  for (const double clock : clocks) {
    if (model.power.uncapped_power(clock) > model.power.limit_w) continue;
    const double energy = model.energy(clock);
    if (energy < least) {
      least = energy;
      best = clock;
    }
  }
  return best;
}

std::vector<double> clocks_to_verify(std::span<const double> supported, double predicted, double reach) {
  std::vector<double> clocks;
  for (const double share : {1 - reach, 1.0, 1 + reach}) {
    clocks.push_back(*std::min_element(supported.begin(), supported.end(), [&](double a, double b) {
      return std::fabs(a - share * predicted) < std::fabs(b - share * predicted);
    }));
  }
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

}  // namespace wattune
