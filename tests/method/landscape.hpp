#pragma once
// A made-up kernel on a made-up board: fast variants draw more power, energy has its least inside the range of clocks.

#include <cmath>

#include "method/method.hpp"

namespace wattune::landscape {

inline std::vector<Parameter> parameters() {
  Parameter clock{"nvml_gr_clock", {}};
  for (int mhz = 300; mhz <= 1500; mhz += 75) clock.values.emplace_back(mhz);
  return {{"block", {32, 64, 128, 256, 512}}, {"tile", {1, 2, 4, 8}}, {"unroll", {1, 2, 4}}, clock};
}

/// @param failing fails everywhere: a value of block
inline Evaluation evaluate(const SearchSpace& space, const Point& point, int failing = 0) {
  Evaluation evaluation;
  evaluation.configuration = space.values(point);
  const auto& v = evaluation.configuration;
  if (v[0].as_int() == failing) {
    evaluation.outcome = Outcome::launch;
    return evaluation;
  }
  const double slowness = 1 + 0.3 * std::abs(std::log2(v[0].as_double() / 128)) +
                          0.2 * std::abs(std::log2(v[1].as_double() / 4)) + 0.05 * std::log2(v[2].as_double());
  const double activity = 1 + (v[1].as_double() == 4 ? 0.5 : 0) + 0.04 * v[2].as_double();
  const double f = v[3].as_double() / 1000;
  const double volt = 1 + std::max(0.0, f - 0.9) * 0.9;
  const double time = 1e-3 * slowness / f;
  const double power = 30 + 60 * activity * f * volt * volt;
  evaluation.quantities["time"] = {time, "s", 0, 1, {}};
  evaluation.quantities["power"] = {power, "W", 0, 1, {}};
  evaluation.quantities["energy"] = {time * power, "J", 0, 1, {}};
  evaluation.phases["time"] = 1;
  return evaluation;
}

}  // namespace wattune::landscape
