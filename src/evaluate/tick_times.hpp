#pragma once
// The moments at which an energy counter stepped, and the power between them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wattune {

/// A step of an energy counter as polling saw it.
struct Tick {
  double time;         ///< seconds; the middle of the interval in which it fell
  double uncertainty;  ///< half that interval, s
  double joules;       ///< the counter after it
};

struct WindowPower {
  double watts = 0;
  double standard_error = 0;   ///< NaN where the window is one tick with nothing to judge its time by
  std::int64_t intervals = 0;  ///< ticks that the window spans
  double begin = 0;            ///< s
  double end = 0;              ///< s
};

/// Average power from the tick at position `first` to the last. Counters step at a fixed period, while polling finds
/// each step some milliseconds late: where three ticks or more fit a period and a phase, the fitted times are used, in
/// whose favour the ticks before `first` count too; otherwise the times are taken as seen.
/// @pre first + 1 < ticks.size().
WindowPower window_power(const std::vector<Tick>& ticks, std::size_t first);

}  // namespace wattune
