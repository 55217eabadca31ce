#include "model/clock_choice.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

/// The element nearest to a value.
double nearest(std::span<const double> values, double value) {
  return *std::min_element(values.begin(), values.end(),
                           [&](double a, double b) { return std::fabs(a - value) < std::fabs(b - value); });
}

}  // namespace

double most_efficient_clock(const PowerModel& model, std::span<const double> clocks) {
  double best = *std::min_element(clocks.begin(), clocks.end());
  double least = std::numeric_limits<double>::infinity();
  for (const double clock : clocks) {
    const double power = model.uncapped_power(clock);
    if (power <= model.limit_w && power / clock < least) {
      least = power / clock;
      best = clock;
    }
  }
  return best;
}

double most_efficient_clock(const PowerModel& model, double low, double high) {
  constexpr int steps = 1000;
  double best = low;
  double step = (high - low) / steps;
  // Twice, the second time around the best of the first: to a millionth of the range.
  for (int round = 0; round < 2; ++round) {
    std::vector<double> clocks;
    for (int i = 0; i <= steps; ++i) clocks.push_back(std::min(high, low + step * i));
    if (round == 0 && model.voltage.ridge() > low && model.voltage.ridge() < high)
      clocks.push_back(model.voltage.ridge());
    best = most_efficient_clock(model, clocks);
    if (best == model.voltage.ridge()) return best;
    low = std::max(low, best - step);
    high = std::min(high, best + step);
    step = (high - low) / steps;
  }
  return best;
}

ClockChoice choose_clocks(std::span<const double> supported, double centre, double width, std::size_t count) {
  // Clocks at the very edge are inside, however the share was rounded.
  constexpr double tolerance = 1 + 1e-9;
  std::vector<double> inside;
  for (const double clock : supported) {
    if (std::fabs(clock - centre) <= width * centre * tolerance) inside.push_back(clock);
  }
  std::sort(inside.begin(), inside.end());
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  ClockChoice choice;
  if (count == 0 || inside.size() <= count) {
    choice.clocks = inside;
  } else if (count == 1) {
    choice.clocks = {centre};
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(count - 1);
      choice.clocks.push_back(nearest(inside, inside.front() + share * (inside.back() - inside.front())));
    }
    choice.clocks.erase(std::unique(choice.clocks.begin(), choice.clocks.end()), choice.clocks.end());
  }
  choice.reduction = 1 - static_cast<double>(choice.clocks.size()) / static_cast<double>(supported.size());
  return choice;
}

}  // namespace wattune
