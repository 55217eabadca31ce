#pragma once
// Conditions that the best configuration has to meet: 'time <= 1.05*best(time)'.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// Conditions on results, all of which have to hold. Each is an expression over parameters, measured quantities (SI)
/// and metrics, in which best(NAME) stands for the best value of NAME among all results so far, whether they meet the
/// conditions or not. Cheap to copy; const functions may be called by several threads.
class ConstraintSet {
 public:
  /// None: everything is feasible.
  ConstraintSet() = default;
  /// @param known the quantities and metrics there are. @param objectives say which of best(NAME) is better, where NAME
  /// is no measured quantity and its metric does not say it.
  /// @throws UsageError that names the condition, for what cannot be read, unknown names, and a best() without
  /// direction.
  ConstraintSet(std::span<const std::string> conditions, const Problem& problem, std::span<const std::string> known,
                std::span<const Objective> objectives);

  [[nodiscard]] bool empty() const noexcept { return conditions_.empty(); }
  /// The conditions as they were given.
  [[nodiscard]] const std::vector<std::string>& conditions() const noexcept { return conditions_; }
  /// Names of the quantities and metrics that the conditions need.
  [[nodiscard]] std::vector<std::string> quantities() const;

  /// The values of best(NAME), in the order of the names' first use; NaN where there is none yet.
  using Bests = std::vector<double>;
  [[nodiscard]] Bests none_yet() const;
  void update(Bests& bests, const Evaluation& evaluation) const;
  [[nodiscard]] Bests bests_of(std::span<const Evaluation> evaluations, std::span<const std::size_t> among) const;

  /// By how much an evaluation misses the conditions: 0 where it meets them all; of a comparison the difference of its
  /// sides relative to the right one; 1 of what is no comparison and is false; infinite where it failed or lacks a
  /// value.
  [[nodiscard]] double violation(const Evaluation& evaluation, const Bests& bests) const;

  /// Those of `among` that meet the conditions, with best(NAME) taken over all of `among`.
  [[nodiscard]] std::vector<std::size_t> feasible(std::span<const Evaluation> evaluations,
                                                  std::span<const std::size_t> among) const;

  /// What a strategy is told in place of an evaluation that misses the conditions, so that it is drawn to where they
  /// are met: objectives made worse by ten times the violation, relative to their size; a failure where that is
  /// infinite.
  [[nodiscard]] Evaluation penalised(Evaluation evaluation, const Bests& bests,
                                     std::span<const Objective> objectives) const;
  /// Whether penalised() has made this objective worse.
  [[nodiscard]] static bool is_penalised(const Evaluation& evaluation, const Objective& objective);

 private:
  struct Condition;
  struct Best {
    std::string quantity;
    Direction better;
  };

  std::vector<std::string> conditions_;
  std::vector<std::shared_ptr<const Condition>> compiled_;
  std::vector<std::string> parameters_;
  std::vector<std::string> names_;  ///< what programs are given: parameters, quantities, best values
  std::vector<std::string> used_;   ///< the quantities among them
  std::vector<Best> bests_;
};

}  // namespace wattune
