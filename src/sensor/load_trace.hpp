#pragma once
// When a load was on, and what a sensor of a given window would make of it.

#include <vector>

namespace wattune {

/// A time in which the load ran, s.
struct Burst {
  double begin;
  double end;
};

/// The share of time that a load was on, as seen through a first-order lag.
class LoadTrace {
 public:
  /// @param bursts in order, not overlapping. @param rise time constant of the lag, s; 0: none.
  LoadTrace(const std::vector<Burst>& bursts, double rise);

  /// Mean of the lagged load (0 to 1) over a window. @pre begin < end
  [[nodiscard]] double mean(double begin, double end) const;
  /// The lagged load at a moment.
  [[nodiscard]] double level(double time) const;

 private:
  struct Edge {
    double time;
    double level;    ///< lagged, at this moment
    double on_time;  ///< s that the load was on before
    bool on;         ///< from here
  };
  [[nodiscard]] double integral(double time) const;
  [[nodiscard]] const Edge* before(double time) const;

  std::vector<Edge> edges_;
  double rise_;
};

}  // namespace wattune
