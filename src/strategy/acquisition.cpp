#include "strategy/acquisition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace wattune {

namespace {

constexpr double table_first = -12;
constexpr double table_last = 12;
constexpr std::size_t table_steps = 6000;

double log_density(double z) {
  return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
}

double log_improvement_exact(double z) {
  // For z far below zero the two terms nearly cancel: the asymptotic series of their sum.
  if (z < -6) {
    const double w = 1 / (z * z);
    return log_density(z) + std::log(w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w))));
  }
  const double probability = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::log(z * probability + std::exp(log_density(z)));
}

}  // namespace

double log_improvement(double z) {
  static const auto table = [] {
    std::array<double, table_steps + 1> values;
    for (std::size_t i = 0; i <= table_steps; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(table_steps);
      values[i] = log_improvement_exact(table_first + share * (table_last - table_first));
    }
    return values;
  }();
  if (!(z > table_first)) return log_improvement_exact(z);
  if (z >= table_last) return std::log(z);
  const double place = (z - table_first) * (static_cast<double>(table_steps) / (table_last - table_first));
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  return table[below] + share * (table[below + 1] - table[below]);
}

double log_probability(double z) {
  if (z < -8) return log_density(z) - std::log(-z);
  return std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
}

std::vector<std::string> acquisition_names() {
  return {"expected_improvement", "probability_of_improvement", "lower_confidence_bound"};
}

Acquisition acquisition_from(const std::string& name) {
  const auto names = acquisition_names();
  return static_cast<Acquisition>(std::ranges::find(names, name) - names.begin());
}

double score(Acquisition acquisition, double mean, double deviation, double best) {
  constexpr double bound_width = 2;
  // A demand of a small gain keeps the probability of improvement from looking only beside the best.
  constexpr double least_gain = 0.01;
  switch (acquisition) {
    case Acquisition::expected_improvement:
      return std::log(deviation) + log_improvement((best - mean) / deviation);
    case Acquisition::probability_of_improvement:
      return log_probability((best - least_gain - mean) / deviation);
    case Acquisition::lower_confidence_bound:
      return bound_width * deviation - mean;
  }
  return 0;
}

}  // namespace wattune
