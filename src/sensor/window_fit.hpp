#pragma once
// Finds what part of the time a sensor's updates see, from a load that was switched on and off.

#include <optional>
#include <vector>

#include "sensor/load_trace.hpp"

namespace wattune {

/// A moment at which a reading changed, and what it changed to.
struct Update {
  double time;
  double watts;
};

struct WindowFit {
  double window;  ///< s, that an update is the mean of
  double delay;   ///< s, from the end of the window to the update
  double rise;    ///< s, time constant; 0 where none shows
  double off_watts;
  double on_watts;
  double scatter;    ///< W, of the updates around the fit
  double explained;  ///< share of the updates' variance that the fit explains
};

/// Least squares over window, delay and rise time; power of the load, and a slow rise of it with heat, follow linearly.
/// @param period between updates, s. @param longest window to look for, s.
/// Nothing where there are too few updates, or they do not follow the load (explained below 0.5).
std::optional<WindowFit> fit_window(const std::vector<Update>& updates, const std::vector<Burst>& bursts, double period,
                                    double longest);

}  // namespace wattune
