#pragma once
// How well searches did: gaps to the optimum over many seeds, against each other and against random search.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tune/replay.hpp"

namespace wattune {

/// value / optimum - 1 where less is better, optimum / value - 1 where more is.
double gap_of(double value, double optimum, Direction direction);

/// One search in numbers.
struct SearchRun {
  std::string strategy;
  std::uint64_t seed = 0;
  std::vector<double>
      gaps;  ///< of the best so far, or a method's answer, after each evaluation; NaN before the first success
  std::vector<double> seconds;  ///< recorded tuning time so far, after each evaluation; NaN where it is not recorded

  /// After n evaluations; after the last one where the search ended earlier. NaN where nothing was found.
  [[nodiscard]] double gap_after(std::size_t n) const;
  [[nodiscard]] double seconds_after(std::size_t n) const;
  /// Evaluations until the gap was at most this.
  [[nodiscard]] std::optional<std::size_t> evaluations_until(double gap) const;
};

/// Searches of one strategy after a number of evaluations. A run that has found nothing yet counts with the worst value
/// that is recorded.
struct GapSummary {
  std::string strategy;
  std::size_t evaluations = 0;
  std::size_t runs = 0;
  double mean = 0, deviation = 0, confidence = 0;  ///< confidence: half the width of the mean's 95 % interval
  double least = 0, median = 0, largest = 0;
  double exact_rate = 0;  ///< share of runs that have found an optimum
  double score = 0;       ///< 1 - mean / the mean gap of random search: 1 optimal, 0 as good as random search
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< mean recorded tuning time
};

/// Evaluations that the runs of a strategy needed to come within a gap.
struct EffortSummary {
  std::string strategy;
  double gap = 0;
  double reached = 0;            ///< share of runs that did within the budget
  std::optional<double> mean;    ///< of those
  std::optional<double> median;  ///< of all; nothing where fewer than half did
};

/// What recorded results offer, by an objective.
class SearchQuality {
 public:
  /// @param recording must outlive this object. @throws UsageError where no evaluation has the objective.
  SearchQuality(const Recording& recording, Objective objective);

  [[nodiscard]] const Evaluation& best() const { return *best_; }
  [[nodiscard]] double optimum() const { return optimum_; }
  [[nodiscard]] const Objective& objective() const { return objective_; }
  /// Evaluations with the objective.
  [[nodiscard]] std::size_t successes() const { return gaps_.size(); }

  [[nodiscard]] SearchRun judge(const SearchPlan& plan, const SearchTrace& trace) const;
  /// The expected gap of random search without repetition after n evaluations, exactly.
  [[nodiscard]] double random_gap(std::size_t n) const;

  [[nodiscard]] GapSummary summary(std::span<const SearchRun> runs, std::size_t evaluations) const;
  [[nodiscard]] static EffortSummary effort(std::span<const SearchRun> runs, double gap);
  /// The mean of the score over all numbers of evaluations up to `budget`.
  [[nodiscard]] double overall_score(std::span<const SearchRun> runs, std::size_t budget) const;

 private:
  [[nodiscard]] double counted_gap(const SearchRun& run, std::size_t n) const;

  const Recording& recording_;
  Objective objective_;
  const Evaluation* best_ = nullptr;
  double optimum_ = 0;
  std::vector<double> gaps_;  ///< of all successes, ascending
};

}  // namespace wattune
