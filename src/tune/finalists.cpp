#include "tune/finalists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "base/student.hpp"
#include "result/metrics.hpp"
#include "result/order.hpp"
#include "result/trials.hpp"

namespace wattune {

namespace {

constexpr const char* tier = "final";

class Finals {
 public:
  Finals(const Problem& problem, const SearchSpace& space, std::span<const Objective> objectives, Evaluator& evaluator,
         Journal& journal, TuneResult& result, const FinalistOptions& options)
      : space_(space),
        objectives_(objectives),
        evaluator_(evaluator),
        journal_(journal),
        result_(result),
        options_(options),
        metrics_(problem) {
    for (const auto& line : journal.before().evaluations) {
      if (line.tier != tier || !line.ok()) continue;
      const auto point = space.find(line.configuration);
      if (!point) continue;
      // Metrics of now, not those of the run that measured it.
      trials_[*point].push_back(line);
      metrics_.apply(trials_[*point].back());
    }
  }

  void run() {
    tell_of_bounded();
    while (!interrupted()) {
      const auto newcomers = choose();
      if (newcomers.empty()) return;
      if (options_.on_note) options_.on_note(fmt::format("measuring the best {} again, longer", newcomers.size()));
      measure(newcomers);
      for (const auto& point : newcomers) conclude(point);
    }
  }

 private:
  /// What was not measured is told, for that it cannot win rests on what variants of a kernel have in common.
  void tell_of_bounded() const {
    const auto bounded = std::ranges::count_if(result_.evaluations, [](const Evaluation& evaluation) {
      return evaluation.quantities.contains("energy_bound") && !evaluation.quantities.contains("energy");
    });
    if (bounded == 0 || !options_.on_note) return;
    options_.on_note(fmt::format(
        "not measured, because too slow to need the least energy: {} of {} configurations (--no-skip measures all)",
        bounded, result_.evaluations.size()));
  }

  /// The best by each objective that are no finalists yet: at first so many as asked, later those alone that look
  /// better than the best finalist.
  std::vector<Point> choose() {
    std::vector<Point> chosen;
    const auto rivals = options_.constraints.feasible(result_.evaluations, competing(result_.evaluations));
    for (const auto& objective : objectives_) {
      const auto order = ranked(result_.evaluations, rivals, objective);
      const std::size_t count = rounds_ == 0 ? options_.count : order.size();
      for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
        const Evaluation& evaluation = result_.evaluations[order[i]];
        const Point point = space_.find(evaluation.configuration).value();
        const bool known = finalists_.contains(point);
        if (known && rounds_ > 0) break;  // what follows is worse than this one
        if (!known && std::find(chosen.begin(), chosen.end(), point) == chosen.end()) chosen.push_back(point);
      }
    }
    ++rounds_;
    return chosen;
  }

  void measure(std::vector<Point> points) {
    for (std::size_t round = 0; round < options_.most_trials && !interrupted(); ++round) {
      std::vector<Point> wanted;
      std::copy_if(points.begin(), points.end(), std::back_inserter(wanted),
                   [&](const Point& point) { return wants_trial(point, round); });
      if (wanted.empty()) return;
      for (const auto& point : wanted) evaluate(point, static_cast<std::int64_t>(round));
      std::reverse(points.begin(), points.end());
    }
  }

  bool wants_trial(const Point& point, std::size_t round) const {
    if (failed_.contains(point)) return false;
    const auto found = trials_.find(point);
    if (found == trials_.end() || found->second.size() < options_.least_trials) return true;
    if (found->second.size() > round) return false;  // the journal has that many
    const Evaluation mean = mean_of_trials(found->second);
    return std::any_of(objectives_.begin(), objectives_.end(), [&](const Objective& objective) {
      const auto quantity = mean.quantities.find(objective.name);
      if (quantity == mean.quantities.end()) return false;
      const double half = student_half_width(found->second.size()) * quantity->second.stderr_value;
      return half > options_.half_width * std::abs(quantity->second.value);
    });
  }

  void evaluate(const Point& point, std::int64_t trial) {
    if (interrupted()) return;
    Proposal proposal;
    proposal.point = point;
    proposal.configuration = space_.values(point);
    proposal.tier = tier;
    proposal.number = -1;
    auto done = evaluate_alone(evaluator_, std::move(proposal), options_.wake_fd, [this] { return interrupted(); });
    if (!done) return;
    done->evaluation.tier = tier;
    done->evaluation.trial = next_trial(point, trial);
    metrics_.apply(done->evaluation);
    journal_.append(done->evaluation);
    if (done->evaluation.ok()) {
      trials_[point].push_back(done->evaluation);
    } else {
      failed_[point] = true;
    }
  }

  /// A number that no trial of the configuration has: they are lines of their own in the journal.
  std::int64_t next_trial(const Point& point, std::int64_t trial) const {
    const auto found = trials_.find(point);
    if (found == trials_.end()) return trial;
    for (const auto& line : found->second) trial = std::max(trial, line.trial + 1);
    return trial;
  }

  void conclude(const Point& point) {
    finalists_[point] = true;
    const auto found = trials_.find(point);
    if (found == trials_.end() || failed_.contains(point)) return;
    result_.evaluations.push_back(mean_of_trials(found->second));
  }

  [[nodiscard]] bool interrupted() {
    if (options_.interrupted && options_.interrupted()) result_.interrupted = true;
    return result_.interrupted;
  }

  const SearchSpace& space_;
  std::span<const Objective> objectives_;
  Evaluator& evaluator_;
  Journal& journal_;
  TuneResult& result_;
  const FinalistOptions& options_;
  const MetricSet metrics_;
  std::map<Point, std::vector<Evaluation>> trials_;
  std::map<Point, bool> failed_;
  std::map<Point, bool> finalists_;
  std::size_t rounds_ = 0;
};

}  // namespace

double student_half_width(std::size_t samples) {
  if (samples < 2) return std::numeric_limits<double>::infinity();
  return student_two_sided(0.95, static_cast<int>(samples - 1));
}

void measure_finalists(const Problem& problem, const SearchSpace& space, std::span<const Objective> objectives,
                       Evaluator& evaluator, Journal& journal, TuneResult& result, const FinalistOptions& options) {
  if (objectives.empty() || options.count == 0 || result.interrupted || result.error) return;
  try {
    Finals(problem, space, objectives, evaluator, journal, result, options).run();
    journal.flush();
  } catch (const Error&) {
    result.error = std::current_exception();
  }
}

}  // namespace wattune
