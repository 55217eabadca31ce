#include "tune/profile.hpp"

namespace wattune {

void Profile::idle_ended(double seconds) {
  idle_seconds += seconds;
  if (evaluations < start) idle_seconds_at_start += seconds;
}

void Profile::add(const Evaluation& evaluation) {
  for (const auto& [phase, seconds] : evaluation.phases) {
    if (phase == "compile") {
      compile_seconds += seconds;
      continue;
    }
    phases[phase] += seconds;
    if (evaluations < start) seconds_at_start += seconds;
  }
  ++evaluations;
}

double Profile::busy_seconds() const {
  double sum = 0;
  for (const auto& [phase, seconds] : phases) sum += seconds;
  return sum;
}

double Profile::idle_share() const {
  const double idle = idle_seconds - idle_seconds_at_start;
  const double busy = busy_seconds() - seconds_at_start;
  return idle + busy > 0 ? idle / (idle + busy) : 0;
}

}  // namespace wattune
