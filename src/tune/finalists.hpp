#pragma once
// The best few of a run, measured again: longer, several times, in turn.

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "problem/problem.hpp"
#include "store/journal.hpp"
#include "tune/evaluator.hpp"
#include "tune/tuner.hpp"

namespace wattune {

struct FinalistOptions {
  std::size_t count = 5;  ///< by each objective
  std::size_t least_trials = 4;
  std::size_t most_trials = 8;
  ConstraintSet constraints;  ///< what misses them is no finalist
  double half_width = 0.005;  ///< trials go on until the 95 % interval of each mean is within this share of it
  int wake_fd = -1;
  std::function<bool()> interrupted;
  std::function<void(const std::string&)> on_note;
};

/// Measures the best configurations by these objectives again, as tier `final`, in rounds that go forth and back
/// (A B C, C B A, ...), so that drift of the temperature falls on all alike. Trials that the journal has count. A
/// configuration whose first measurement was better than the best of the finalists joins them, so that nobody wins by
/// one lucky measurement. Each trial goes to the journal; to `result` goes for each finalist one evaluation of tier
/// `final` with the means over its trials (n: trials; standard errors hold the spread between them).
/// Failures of finalists leave them as they were; what ends the run is result.error. Nothing happens after a run that
/// ended early, nor without objectives.
void measure_finalists(const Problem& problem, const SearchSpace& space, std::span<const Objective> objectives,
                       Evaluator& evaluator, Journal& journal, TuneResult& result, const FinalistOptions& options);

/// The half-width of the 95 % interval of a mean of so many samples, in standard errors (Student's t).
double student_half_width(std::size_t samples);

}  // namespace wattune
