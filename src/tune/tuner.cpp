#include "tune/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "result/metrics.hpp"

namespace wattune {

namespace {

/// So many variants that all fail to build mean that the kernel, not the variant, is at fault.
constexpr std::size_t build_failures_that_end_a_run = 20;

/// One run of the engine.
class Run {
 public:
  Run(const Problem& problem, const SearchSpace& space, Strategy& strategy, Evaluator& evaluator, Journal& journal,
      const TuneOptions& options)
      : problem_(problem),
        space_(space),
        strategy_(strategy),
        evaluator_(evaluator),
        journal_(journal),
        options_(options),
        metrics_(problem) {
    plan();
    remember_journal();
  }

  TuneResult run() {
    try {
      loop();
      journal_.flush();
      check_that_something_builds(true);
      check_that_something_runs();
    } catch (const Error&) {
      result_.error = std::current_exception();
    }
    update_time();
    return std::move(result_);
  }

 private:
  void loop() {
    while (!stop()) {
      propose();
      if (evaluator_.held() == 0) {
        if (exhausted_ || planned_reached()) return;
        continue;
      }
      if (auto done = evaluator_.next(1.0, options_.wake_fd)) {
        take(std::move(*done));
      } else if (options_.on_wait) {
        update_time();
        options_.on_wait(result_.state);
      }
    }
  }

  void plan() {
    const Count size = space_.size();
    Count planned = size;
    if (options_.budget.evaluations) planned = std::min<Count>(planned, *options_.budget.evaluations);
    if (options_.budget.fraction) {
      const auto share = std::ceil(*options_.budget.fraction * static_cast<double>(size));
      planned = std::min<Count>(planned, std::max<Count>(1, static_cast<Count>(share)));
    }
    constexpr Count countable = 1ULL << 62;
    if (planned < countable) result_.state.planned = static_cast<std::size_t>(planned);
  }

  void remember_journal() {
    for (const auto& evaluation : journal_.before().evaluations) {
      if (evaluation.tier != options_.tier) continue;
      if (const auto point = space_.find(evaluation.configuration)) known_[*point] = &evaluation;
    }
  }

  bool stop() {
    update_time();
    if (options_.interrupted && options_.interrupted()) {
      result_.interrupted = true;
      return true;
    }
    return options_.budget.seconds && result_.state.seconds >= *options_.budget.seconds;
  }

  [[nodiscard]] bool planned_reached() const { return result_.state.planned && proposed_ >= *result_.state.planned; }

  void propose() {
    while (!exhausted_ && !planned_reached() && evaluator_.held() < evaluator_.capacity()) {
      const auto points = strategy_.ask(1);
      if (points.empty()) {
        exhausted_ = evaluator_.held() == 0;
        return;
      }
      Proposal proposal;
      proposal.point = points.front();
      proposal.configuration = space_.values(proposal.point);
      proposal.number = static_cast<std::int64_t>(proposed_++);
      proposal.told = static_cast<std::int64_t>(result_.state.evaluated);
      const auto known = known_.find(proposal.point);
      if (known != known_.end()) {
        Evaluation evaluation = *known->second;
        metrics_.apply(evaluation);  // their expressions may be newer than the journal
        tell(proposal.point, evaluation, true);
      } else {
        evaluator_.submit(std::move(proposal));
      }
    }
  }

  void take(Evaluator::Done done) {
    metrics_.apply(done.evaluation);
    journal_.append(done.evaluation);
    tell(done.proposal.point, done.evaluation, false);
    check_that_something_builds(false);
  }

  void tell(const Point& point, const Evaluation& evaluation, bool reused) {
    strategy_.tell(point, evaluation);
    result_.state.last_reused = reused;
    if (reused) ++result_.state.reused;
    result_.evaluations.push_back(evaluation);
    ++result_.state.evaluated;
    if (!evaluation.ok()) ++result_.state.failed;
    if (evaluation.outcome == Outcome::compile) {
      ++build_failures_;
      if (build_message_.empty()) build_message_ = evaluation.message;
    } else {
      something_built_ = true;
    }
    update_time();
    if (options_.on_evaluation) options_.on_evaluation(evaluation, result_.state);
  }

  void check_that_something_builds(bool at_end) {
    if (something_built_ || build_failures_ == 0 || result_.interrupted) return;
    if (!at_end && (options_.keep_going || build_failures_ < build_failures_that_end_a_run)) return;
    throw UsageError(fmt::format(
        "{}: kernel '{}' did not build in any of the {} configurations tried; correct it (or give --keep-going to go on "
        "all the same). The compiler said:\n{}",
        problem_.kernel.file.string(), problem_.kernel.kernel_name, build_failures_, build_message_));
  }

  void check_that_something_runs() const {
    if (result_.interrupted || result_.state.evaluated == 0 || result_.state.failed < result_.state.evaluated) return;
    throw RunError(fmt::format("none of the {} configurations tried succeeded; the table counts the reasons",
                               result_.state.evaluated));
  }

  /// On simulated devices real time counts where it is longer: compilers take it.
  void update_time() {
    result_.state.seconds = monotonic_seconds() - began_;
    if (options_.clock != nullptr) {
      result_.state.seconds = std::max(result_.state.seconds, options_.clock->now() - device_began_);
    }
  }

  const Problem& problem_;
  const SearchSpace& space_;
  Strategy& strategy_;
  Evaluator& evaluator_;
  Journal& journal_;
  const TuneOptions& options_;
  const MetricSet metrics_;
  double began_ = monotonic_seconds();
  double device_began_ = options_.clock != nullptr ? options_.clock->now() : 0;
  std::map<Point, const Evaluation*> known_;
  std::size_t proposed_ = 0;
  bool exhausted_ = false;
  std::size_t build_failures_ = 0;
  bool something_built_ = false;
  std::string build_message_;
  TuneResult result_;
};

}  // namespace

TuneResult tune(const Problem& problem, const SearchSpace& space, Strategy& strategy, Evaluator& evaluator,
                Journal& journal, const TuneOptions& options) {
  return Run(problem, space, strategy, evaluator, journal, options).run();
}

}  // namespace wattune
