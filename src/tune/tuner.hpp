#pragma once
// The engine: asks the strategy, has proposals evaluated, journals, tells the strategy, within budgets.

#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "problem/problem.hpp"
#include "result/constraint.hpp"
#include "result/evaluation.hpp"
#include "store/journal.hpp"
#include "strategy/strategy.hpp"
#include "tune/drift.hpp"
#include "tune/evaluator.hpp"

namespace wattune {

/// Reads "200", "200 evaluations", "10min", "90s", "1.5h", "5%" or several of these joined by commas into a budget
/// (whichever is reached first ends the run). @throws UsageError that says what is understood.
Budget parse_budget(const std::string& text);
/// The first of both in each of its parts.
Budget combine(const Budget& a, const Budget& b);
/// "40 evaluations or 10 min", for the screen; "no limit" where there is none.
std::string to_string(const Budget& budget);

/// Runs with the same key ask and tell alike, as long as results are the same. Budgets are not part of it: the same run
/// with a larger one goes on where the smaller one ended.
std::string run_key(const std::string& strategy, std::uint64_t seed, std::span<const Objective> objectives,
                    const StrategyOptions& strategy_options = {}, std::span<const std::string> conditions = {});

/// What a run knows at any moment.
struct TuneState {
  std::size_t evaluated = 0;  ///< results told to the strategy, reused ones included
  std::size_t reused = 0;     ///< of these, found in the journal
  std::size_t failed = 0;
  bool last_reused = false;            ///< whether the last one was
  std::optional<std::size_t> planned;  ///< the number of evaluations the budget or the space allows
  double seconds = 0;                  ///< since the run began
};

struct TuneOptions {
  Budget budget;
  /// What the best has to meet, and the objectives that count: the strategy is told worse values of what misses it.
  ConstraintSet constraints;
  std::vector<Objective> objectives;
  Clock* clock = nullptr;  ///< of the device: time budgets count it too; null: the machine's alone
  /// As run_key() gives it. Where the journal holds results of the same run, the strategy is asked and told in the
  /// order of that run first, so that it goes on as if it had not been interrupted. Empty: results are only reused.
  std::string run;
  /// What an earlier run gave up, because it cannot need the least energy, counts as measured: only where energy alone
  /// is minimised.
  bool given_up_suffices = false;
  std::string tier = "screen";  ///< of the evaluations: those of other tiers in the journal do not count
  bool keep_going = false;      ///< do not end the run where nothing builds
  /// Where energy is measured: how often, in seconds of the run, a reference configuration is measured again.
  std::optional<double> reference_every_seconds;
  int wake_fd = -1;  ///< becomes readable when the run is to be interrupted
  std::function<bool()> interrupted;
  std::function<void(const Evaluation&, const TuneState&)> on_evaluation;
  std::function<void(const TuneState&)> on_wait;    ///< about once a second while nothing finishes
  std::function<void(const std::string&)> on_note;  ///< notable events, one line each
};

struct TuneResult {
  std::vector<Evaluation> evaluations;  ///< of this run, reused ones included, in the order in which they were told
  TuneState state;
  std::optional<Drift> drift;  ///< of the reference's energy, where it was measured again
  bool interrupted = false;
  /// What ended the run early: a lost device, a full disk, a kernel that never builds. Empty where nothing did.
  std::exception_ptr error;
};

/// Runs until the budget is used up, the strategy has no more, or the run is interrupted.
/// An Error that ends the run early is part of the result, beside all that was measured before it; among them a
/// UsageError where the kernel builds in no configuration (after the first 20 variants, unless keep_going).
TuneResult tune(const Problem& problem, const SearchSpace& space, Strategy& strategy, Evaluator& evaluator,
                Journal& journal, const TuneOptions& options);

}  // namespace wattune
