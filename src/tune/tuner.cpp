#include "tune/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "result/metrics.hpp"
#include "result/order.hpp"

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
        metrics_(problem),
        charged_(options.objectives) {
    const Objective time{"time", Direction::minimize};
    if (std::ranges::find(charged_, time.name, &Objective::name) == charged_.end()) charged_.push_back(time);
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
    result_.drift = drift_.drift();
    return std::move(result_);
  }

 private:
  void loop() {
    replay();
    while (!stop()) {
      propose();
      if (evaluator_.held() == 0) return;
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
      if (evaluation.tier == DriftWatch::tier) reference_trial_ = std::max(reference_trial_, evaluation.trial + 1);
      if (evaluation.tier != options_.tier) continue;
      if (!tells_objectives(evaluation)) continue;
      if (const auto point = space_.find(evaluation.configuration)) known_[*point] = &evaluation;
    }
  }

  /// Whether an evaluation of another run serves this one: a success in which an objective was not measured (energy, in
  /// a run for time) does not, nor one that was given up as hopeless where this run needs more than that.
  [[nodiscard]] bool tells_objectives(const Evaluation& evaluation) const {
    if (!evaluation.ok() || is_of_this_run(evaluation)) return true;
    const bool given_up = was_given_up(evaluation);
    if (given_up && (options_.given_up_suffices || !options_.constraints.empty())) return options_.given_up_suffices;
    const auto time = evaluation.quantities.find("time");
    if (time == evaluation.quantities.end()) return true;  // of a tier that measures nothing
    if (std::ranges::find(time->second.flags, "abandoned_early") != time->second.flags.end()) return true;
    const auto has_all = [&](const Evaluation& known) {
      return std::ranges::all_of(options_.objectives,
                                 [&](const Objective& objective) { return known.quantities.contains(objective.name); });
    };
    Evaluation with_metrics = evaluation;
    if (given_up) {
      for (const char* rough : {"energy", "power", "energy_above_idle"}) with_metrics.quantities.erase(rough);
    }
    metrics_.apply(with_metrics);
    return has_all(with_metrics);
  }

  static bool was_given_up(const Evaluation& evaluation) {
    if (evaluation.quantities.contains("energy_bound")) return true;
    const auto energy = evaluation.quantities.find("energy");
    return energy != evaluation.quantities.end() &&
           std::ranges::find(energy->second.flags, "abandoned_early") != energy->second.flags.end();
  }

  [[nodiscard]] bool is_of_this_run(const Evaluation& line) const {
    return !options_.run.empty() && line.run == options_.run && line.tier == options_.tier;
  }

  /// Asks and tells what the journal has recorded of this same run, in the recorded order: each line says how many
  /// proposals had been made before it came. Proposals whose results are missing, for they were under way when the run
  /// was killed, are handed out at the end.
  void replay() {
    for (const auto& line : journal_.before().evaluations) {
      if (!is_of_this_run(line)) continue;
      if (stop()) return;
      ask_as_before(line);
      const auto found = waiting_.find(line.proposal);
      if (found == waiting_.end() || found->second.point != space_.find(line.configuration)) {
        if (!planned_reached()) note_deviation();
        break;
      }
      tell(found->second.point, line, true);
      waiting_.erase(found);
    }
    for (auto& [number, proposal] : std::exchange(waiting_, {})) tell_or_submit(std::move(proposal));
  }

  /// Asks what was asked before a line of this run came, also in vain: that may have moved the strategy on.
  void ask_as_before(const Evaluation& line) {
    tell_known_before(&line);
    while (static_cast<std::int64_t>(proposed_) < line.asked && !planned_reached()) {
      if (!ask_to_wait()) return;
      tell_known_before(&line);
    }
    if (line.declined != 0 && !planned_reached()) ask_to_wait();
  }

  /// @return false where the strategy has no proposal.
  bool ask_to_wait() {
    auto proposal = ask();
    if (!proposal) return false;
    const std::int64_t number = proposal->number;
    waiting_.emplace(number, std::move(*proposal));
    return true;
  }

  /// Results that other runs had added to the journal before a line of this one: they were told as soon as the strategy
  /// proposed them.
  void tell_known_before(const Evaluation* line) {
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
      const auto known = known_.find(waiting->second.point);
      if (known != known_.end() && !is_of_this_run(*known->second) && known->second < line) {
        tell(waiting->second.point, *known->second, true);
        waiting = waiting_.erase(waiting);
      } else {
        ++waiting;
      }
    }
  }

  void note_deviation() const {
    if (!options_.on_note) return;
    options_.on_note(
        "the strategy does not propose what it did when this run began (another version of wattune?): results in the "
        "journal are reused where it asks for them");
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

  /// Hands out proposals. Once the strategy has none, it is asked again only after it was told something.
  void propose() {
    if (!declined_ && !planned_reached()) {
      if (auto reference = drift_.due(result_.state.seconds)) evaluator_.submit(std::move(*reference));
    }
    while (!declined_ && !planned_reached() && evaluator_.held() < evaluator_.capacity()) {
      auto proposal = ask();
      if (!proposal) {
        declined_ = true;
        return;
      }
      tell_or_submit(std::move(*proposal));
    }
  }

  std::optional<Proposal> ask() {
    const auto points = strategy_.ask(1);
    if (points.empty()) return std::nullopt;
    Proposal proposal;
    proposal.point = points.front();
    proposal.configuration = space_.values(proposal.point);
    proposal.number = static_cast<std::int64_t>(proposed_++);
    proposal.told = static_cast<std::int64_t>(result_.state.evaluated);
    return proposal;
  }

  void tell_or_submit(Proposal proposal) {
    const auto known = known_.find(proposal.point);
    if (known != known_.end()) {
      tell(proposal.point, *known->second, true);
    } else {
      evaluator_.submit(std::move(proposal));
    }
  }

  void take(Evaluator::Done done) {
    metrics_.apply(done.evaluation);
    update_time();
    if (done.proposal.tier == DriftWatch::tier) {
      done.evaluation.tier = DriftWatch::tier;
      done.evaluation.trial = reference_trial_++;
      drift_.add(done.evaluation, result_.state.seconds);
      journal_.append(done.evaluation);
      return;
    }
    drift_.see(done.proposal, done.evaluation, result_.state.seconds);
    done.evaluation.asked = static_cast<std::int64_t>(proposed_);
    done.evaluation.declined = declined_ ? 1 : 0;
    done.evaluation.run = options_.run;
    // Told first: what cannot be written is among the results all the same.
    tell(done.proposal.point, done.evaluation, false);
    journal_.append(done.evaluation);
    evaluator_.recorded(done.evaluation);
    check_that_something_builds(false);
  }

  void tell(const Point& point, Evaluation evaluation, bool reused) {
    if (reused) {
      metrics_.apply(evaluation);  // their expressions may be newer than the journal
      evaluator_.recorded(evaluation);
      ++result_.state.reused;
    }
    options_.constraints.update(bests_, evaluation);
    strategy_.tell(point, options_.constraints.penalised(evaluation, bests_, charged_));
    declined_ = false;
    result_.state.last_reused = reused;
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
    throw UsageError(
        fmt::format("{}: kernel '{}' did not build in any of the {} configurations tried; correct it (or give "
                    "--keep-going to go on "
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
  /// What is told worse where conditions are missed: time as well, which some methods look at in their first step.
  std::vector<Objective> charged_;
  ConstraintSet::Bests bests_ = options_.constraints.none_yet();
  double began_ = monotonic_seconds();
  double device_began_ = options_.clock != nullptr ? options_.clock->now() : 0;
  DriftWatch drift_{options_.reference_every_seconds};
  std::int64_t reference_trial_ = 0;  ///< that the journal does not have
  std::map<Point, const Evaluation*> known_;
  std::size_t proposed_ = 0;
  std::map<std::int64_t, Proposal> waiting_;  ///< of replay(): asked for and not told yet, by number
  bool declined_ = false;                     ///< the strategy had no proposal and was told nothing since
  std::size_t build_failures_ = 0;
  bool something_built_ = false;
  std::string build_message_;
  TuneResult result_;
};

}  // namespace

std::string run_key(const std::string& strategy, std::uint64_t seed, std::span<const Objective> objectives,
                    const StrategyOptions& strategy_options, std::span<const std::string> conditions) {
  Hasher hasher;
  hasher.add(strategy).add(seed);
  for (const auto& objective : objectives) {
    hasher.add(objective.name).add(to_string(objective.direction));
  }
  for (const auto& [name, value] : strategy_options) hasher.add(name).add(value);
  for (const auto& condition : conditions) hasher.add(condition);
  return hasher.hex().substr(0, 8);
}

TuneResult tune(const Problem& problem, const SearchSpace& space, Strategy& strategy, Evaluator& evaluator,
                Journal& journal, const TuneOptions& options) {
  return Run(problem, space, strategy, evaluator, journal, options).run();
}

}  // namespace wattune
