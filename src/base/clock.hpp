#pragma once
// Real time, for messages, watchdogs, budgets and time stamps.

#include <chrono>
#include <string>

namespace wattune {

/// Seconds on the machine's monotonic clock.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Now as ISO 8601 in UTC with milliseconds, for example 2026-01-31T12:00:00.000Z.
std::string utc_timestamp();

}  // namespace wattune
