#pragma once
// Real time, for messages, watchdogs, budgets and time stamps; and the clock by which waiting on a device is done.

#include <chrono>
#include <string>

namespace wattune {

/// Seconds on the machine's monotonic clock.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The time in which a device works. Simulated devices and tests bring a clock of their own, which moves without anyone
/// having to wait.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since some moment; never goes back.
  virtual double now() = 0;
  /// Returns at once where that moment has passed.
  virtual void sleep_until(double seconds) = 0;
};

/// The machine's monotonic clock.
Clock& real_clock();

/// Now as ISO 8601 in UTC with milliseconds, for example 2026-01-31T12:00:00.000Z.
std::string utc_timestamp();

}  // namespace wattune
