#include "evaluate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace wattune {

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

Summary summarize(std::span<const double> samples) {
  Summary result{};
  const auto n = static_cast<double>(samples.size());
  result.median = median_of({samples.begin(), samples.end()});
  result.minimum = *std::min_element(samples.begin(), samples.end());
  result.deviation = result.standard_error = std::numeric_limits<double>::quiet_NaN();
  if (samples.size() < 2) return result;
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  result.deviation = std::sqrt(squares / (n - 1));
  // sqrt(pi / 2): the median of normal samples scatters that much more than their mean.
  result.standard_error = 1.2533 * result.deviation / std::sqrt(n);
  return result;
}

bool drifts(std::span<const double> samples) {
  const std::size_t part = samples.size() / 3;
  if (part < 3) return false;
  const Summary early = summarize(samples.first(part));
  const Summary late = summarize(samples.last(part));
  const double change = std::abs(late.median - early.median);
  return change > 0.1 * early.median && change > 4 * std::hypot(early.standard_error, late.standard_error);
}

}  // namespace wattune
