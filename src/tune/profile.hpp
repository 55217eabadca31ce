#pragma once
// Where the wall time of a run went.

#include <cstddef>
#include <map>
#include <string>

#include "result/evaluation.hpp"

namespace wattune {

struct Profile {
  /// The first evaluations come before the compilers are ahead; waiting for them is counted apart.
  static constexpr std::size_t start = 10;

  std::map<std::string, double> phases;  ///< seconds in the worker, by phase: load, verify, warm_up, time, energy
  double compile_seconds = 0;            ///< in compile processes, beside everything else
  double idle_seconds = 0;               ///< the worker had nothing to do: mostly, it waited for a compilation
  double idle_seconds_at_start = 0;      ///< of these, before the first evaluations
  double seconds_at_start = 0;           ///< in the phases of the first evaluations
  std::size_t evaluations = 0;           ///< by the worker or refused by the compiler; reused ones do not count
  std::size_t compiled = 0;              ///< variants
  std::size_t cached = 0;                ///< variants found in the cache on disk

  void idle_ended(double seconds);
  void add(const Evaluation& evaluation);
  /// Seconds in all phases of the worker.
  [[nodiscard]] double busy_seconds() const;
  /// Share of the device's time, after the first evaluations, in which it had nothing to do. 0 to 1.
  [[nodiscard]] double idle_share() const;
};

}  // namespace wattune
