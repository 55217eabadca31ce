#include "sensor/load_trace.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

LoadTrace::LoadTrace(const std::vector<Burst>& bursts, double rise) : rise_(rise) {
  edges_.reserve(2 * bursts.size());
  for (const auto& burst : bursts) {
    for (const bool on : {true, false}) {
      const double time = on ? burst.begin : burst.end;
      const double before = edges_.empty() ? 0 : edges_.back().on_time;
      const double level_then = level(time);
      edges_.push_back({time, level_then, before + (on ? 0 : burst.end - burst.begin), on});
    }
  }
}

const LoadTrace::Edge* LoadTrace::before(double time) const {
  const auto after = std::upper_bound(edges_.begin(), edges_.end(), time,
                                      [](double moment, const Edge& edge) { return moment < edge.time; });
  return after == edges_.begin() ? nullptr : &*std::prev(after);
}

double LoadTrace::level(double time) const {
  const Edge* edge = before(time);
  if (edge == nullptr) return 0;
  const double target = edge->on ? 1 : 0;
  if (rise_ <= 0) return target;
  return target + (edge->level - target) * std::exp(-(time - edge->time) / rise_);
}

/// With level' = (load - level) / rise the integral of the level is that of the load less rise * level.
double LoadTrace::integral(double time) const {
  const Edge* edge = before(time);
  if (edge == nullptr) return 0;
  const double on = edge->on_time + (edge->on ? time - edge->time : 0);
  return on - rise_ * level(time);
}

double LoadTrace::mean(double begin, double end) const {
  return (integral(end) - integral(begin)) / (end - begin);
}

}  // namespace wattune
