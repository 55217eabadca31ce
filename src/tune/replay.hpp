#pragma once
// Recorded results in the place of a device: for strategies on their own (search_recorded), and behind the Evaluator
// interface for the engine (ReplayEvaluator).

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "method/method.hpp"
#include "store/formats/results.hpp"
#include "strategy/strategy.hpp"
#include "tune/evaluator.hpp"

namespace wattune {

/// Results as a space that can be searched. Const functions may be called by several threads.
class Recording {
 public:
  /// @param results must outlive this object. A configuration counts by the evaluation by which it competes.
  /// @param all_valid the space is that of the parameters and restrictions, of which some configurations may not be
  /// recorded; they fail when they are evaluated. Else the configurations that are recorded are the valid ones.
  /// @throws UsageError where nothing is recorded, or the restrictions are faulty.
  explicit Recording(const Results& results, bool all_valid = false);

  [[nodiscard]] const SearchSpace& space() const { return space_; }
  [[nodiscard]] const std::vector<ParameterKind>& kinds() const { return kinds_; }
  /// The evaluations of the space's points, in the order of the file.
  [[nodiscard]] std::span<const Evaluation* const> evaluations() const { return evaluations_; }
  /// What evaluating a valid point gives.
  [[nodiscard]] const Evaluation& at(std::span<const std::uint32_t> point) const;
  /// Evaluations that are no part of the space: a value that its parameter does not have, a restriction violated.
  [[nodiscard]] std::size_t outside() const { return outside_; }

 private:
  static SearchSpace make_space(const Results& results, bool all_valid);
  SearchSpace space_;
  std::vector<ParameterKind> kinds_;
  std::vector<const Evaluation*> evaluations_;
  std::unordered_map<std::uint64_t, const Evaluation*> by_index_;
  Evaluation not_recorded_;
  std::size_t outside_ = 0;
};

/// A search on recorded results, as it went.
struct SearchTrace {
  std::vector<const Evaluation*> evaluations;  ///< in the order in which they were told; each configuration once
};

/// Asks and tells a strategy until it has had `budget` evaluations or has no more to propose. A failed configuration is
/// an evaluation; one that was evaluated before is not, and is told again.
SearchTrace search_recorded(const Recording& recording, Strategy& strategy, std::size_t budget);

/// One of many searches.
struct SearchPlan {
  std::string strategy;
  std::uint64_t seed = 0;
  std::shared_ptr<const MethodSetup> method = nullptr;  ///< `strategy` names a method, which is told this
};
/// Makes each search (`setup` is for strategies), on as many threads (0: one for each core). @return their traces, in
/// order. @throws what a search throws.
std::vector<SearchTrace> search_many(const Recording& recording, std::span<const SearchPlan> plans,
                                     const StrategySetup& setup, std::size_t budget, unsigned threads);

/// Device time that moves by what evaluations took when they were recorded.
class ReplayClock : public Clock {
 public:
  double now() override { return now_; }
  void sleep_until(double seconds) override { now_ = seconds > now_ ? seconds : now_; }
  void advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

/// Gives the engine recorded results for what it would have had measured.
class ReplayEvaluator : public Evaluator {
 public:
  /// @param results must outlive this object. Their parameters must have the same names as the problem's, in any order.
  /// @throws UsageError where they do not. @param file the results' name, for messages.
  ReplayEvaluator(const Results& results, const std::vector<std::string>& parameter_names, std::string file);

  [[nodiscard]] std::size_t capacity() const override { return 1; }
  void submit(Proposal proposal) override { waiting_.push_back(std::move(proposal)); }
  [[nodiscard]] std::size_t held() const override { return waiting_.size(); }
  std::optional<Done> next(double seconds, int wake_fd) override;

  [[nodiscard]] ReplayClock& clock() { return clock_; }

 private:
  const Results& results_;
  std::string file_;
  std::unordered_map<std::string, std::size_t> by_key_;  ///< by the configuration in the problem's order
  std::deque<Proposal> waiting_;
  ReplayClock clock_;
};

}  // namespace wattune
