#include "sensor/counter_watch.hpp"

#include <cmath>

namespace wattune {

void CounterWatch::look() {
  const double before = clock_.now();
  const auto joules = meter_.energy_joules();
  const double middle = 0.5 * (before + clock_.now());
  if (!joules) return;
  if (joules_ && *joules > *joules_) {
    const Tick tick{0.5 * (asked_ + middle), 0.5 * (middle - asked_), *joules};
    if (history_.add(tick)) ticks_.push_back(tick);
  }
  joules_ = joules;
  asked_ = middle;
}

std::vector<Update> CounterWatch::updates() const {
  std::vector<Update> result;
  for (std::size_t i = 1; i < ticks_.size(); ++i) {
    const double end = history_.due(ticks_[i]);
    const double seconds = end - history_.due(ticks_[i - 1]);
    // Polling that was held up sees two steps as one.
    if (std::lround(seconds / history_.period()) != 1) continue;
    result.push_back({end, (ticks_[i].joules - ticks_[i - 1].joules) / seconds});
  }
  return result;
}

}  // namespace wattune
