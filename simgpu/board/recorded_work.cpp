// Work from recorded measurements.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "board/physics.hpp"
#include "board/workload.hpp"

namespace wattune::simgpu {

namespace {

/// Work of `seconds` at a clock, where memory takes `share` times as long as the SMs.
Work split(const Description& description, double seconds, double sm_clock, double share) {
  Work work;
  work.sm_cycles = sm_clock;
  work.memory_seconds = share;
  work.memory_activity = 1;
  const double scale = seconds / launch_seconds(description, work, sm_clock, description.memory_clocks.back());
  work.sm_cycles *= scale;
  work.memory_seconds *= scale;
  return work;
}

/// Mean squared error of the logarithms of times, and the scale that `work` needs.
double time_error(const Description& description, const Work& work, const std::vector<Record>& records, double* scale) {
  double sum = 0;
  double squares = 0;
  for (const Record& record : records) {
    const double seconds = launch_seconds(description, work, record.sm_clock, description.memory_clocks.back());
    const double error = std::log(record.seconds / seconds);
    sum += error;
    squares += error * error;
  }
  const double count = static_cast<double>(records.size());
  *scale = std::exp(sum / count);
  return squares / count - sum / count * sum / count;
}

/// The share for which times at all clocks fit best.
double fitted_share(const Description& description, const std::vector<Record>& records) {
  double best = 0;
  double least = std::numeric_limits<double>::infinity();
  constexpr double finest = 0.01;
  constexpr double largest = 20;
  constexpr double growth = 1.05;
  for (double share = 0; share < largest; share = std::max(finest, share * growth)) {
    double scale = 0;
    const Work work = split(description, records.front().seconds, records.front().sm_clock, share);
    const double error = time_error(description, work, records, &scale);
    if (error < least) {
      least = error;
      best = share;
    }
  }
  return best;
}

/// Adjusts one activity until mean power is as recorded.
void fit_activity(const Description& description, Work& work, double Work::*activity, double most,
                  const std::vector<Record>& records) {
  const auto excess = [&] {
    double sum = 0;
    for (const Record& record : records) {
      if (record.watts <= 0) continue;
      sum += steady_state(description, work, record.sm_clock, description.memory_clocks.back()).watts - record.watts;
    }
    return sum;
  };
  double low = 0;
  double high = most;
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    work.*activity = (low + high) / 2;
    (excess() > 0 ? high : low) = work.*activity;
  }
}

}  // namespace

Work recorded_work(const Description& description, const std::vector<Record>& records, double memory_share) {
  if (records.empty()) throw UsageError("Simulating a recorded kernel on " + description.name + ": no records.");
  for (const Record& record : records) {
    if (!(record.seconds > 0) || !(record.sm_clock > 0)) {
      throw UsageError("Simulating a recorded kernel on " + description.name +
                       ": a record needs a time and an SM clock above 0.");
    }
  }
  const auto [low, high] = std::minmax_element(records.begin(), records.end(),
                                               [](const auto& a, const auto& b) { return a.sm_clock < b.sm_clock; });
  const bool several = high->sm_clock > low->sm_clock;
  const double share = several ? fitted_share(description, records) : memory_share;
  Work work = split(description, records.front().seconds, records.front().sm_clock, share);
  double scale = 1;
  time_error(description, work, records, &scale);
  work.sm_cycles *= scale;
  work.memory_seconds *= scale;

  const bool has_power = std::any_of(records.begin(), records.end(), [](const auto& each) { return each.watts > 0; });
  if (!has_power) {
    work.core_activity = 1;
    return work;
  }
  constexpr double most_activity = 20;
  fit_activity(description, work, &Work::core_activity, most_activity, records);
  // Less power than full memory traffic alone would draw: then there is less of that.
  constexpr double none = 1e-3;
  if (work.core_activity < none) fit_activity(description, work, &Work::memory_activity, 1, records);
  return work;
}

}  // namespace wattune::simgpu
