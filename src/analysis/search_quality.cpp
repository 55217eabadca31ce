#include "analysis/search_quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "method/answer.hpp"
#include "result/order.hpp"

namespace wattune {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Of the normal distribution: within so many standard errors lies the mean, with 95 %.
constexpr double confidence_95 = 1.959964;

double mean_of(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

std::vector<std::string> parameter_names(const Recording& recording) {
  std::vector<std::string> names;
  for (const Parameter& parameter : recording.space().parameters()) names.push_back(parameter.name);
  return names;
}

/// After n steps, or the last one before.
double after(const std::vector<double>& series, std::size_t n) {
  if (series.empty() || n == 0) return nan;
  return series[std::min(n, series.size()) - 1];
}

}  // namespace

double gap_of(double value, double optimum, Direction direction) {
  return (direction == Direction::minimize ? value / optimum : optimum / value) - 1;
}

double SearchRun::gap_after(std::size_t n) const {
  return after(gaps, n);
}
double SearchRun::seconds_after(std::size_t n) const {
  return after(seconds, n);
}

std::optional<std::size_t> SearchRun::evaluations_until(double gap) const {
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] <= gap) return i + 1;
  }
  return std::nullopt;
}

SearchQuality::SearchQuality(const Recording& recording, Objective objective)
    : recording_(recording), objective_(std::move(objective)) {
  for (const Evaluation* evaluation : recording.evaluations()) {
    if (objective_value(*evaluation, objective_) && (best_ == nullptr || better(*evaluation, *best_, objective_)))
      best_ = evaluation;
  }
  if (best_ == nullptr) throw UsageError(fmt::format("no evaluation of these results has '{}'", objective_.name));
  optimum_ = *objective_value(*best_, objective_);
  for (const Evaluation* evaluation : recording.evaluations()) {
    const auto value = objective_value(*evaluation, objective_);
    if (!value) continue;
    // Ratios say how much worse a value is only among positive ones.
    if (*value <= 0)
      throw UsageError(
          fmt::format("'{}' is not positive in every evaluation ({}): gaps are ratios", objective_.name, *value));
    gaps_.push_back(gap_of(*value, optimum_, objective_.direction));
  }
  std::sort(gaps_.begin(), gaps_.end());
}

SearchRun SearchQuality::judge(const SearchPlan& plan, const SearchTrace& trace) const {
  SearchRun run;
  run.strategy = plan.strategy;
  run.seed = plan.seed;
  std::optional<MethodAnswer> method;
  if (plan.method) method.emplace(plan.strategy, parameter_names(recording_), *plan.method);
  double best_gap = nan;
  double seconds = 0;
  for (const Evaluation* evaluation : trace.evaluations) {
    // A method answers for its own answer, which need not be the best that it has seen.
    const Evaluation* counts = evaluation;
    if (method) {
      method->add(*evaluation);
      counts = method->best();
    }
    const auto value = counts == nullptr ? std::nullopt : objective_value(*counts, objective_);
    if (value) {
      const double gap = gap_of(*value, optimum_, objective_.direction);
      if (method || !(best_gap <= gap)) best_gap = gap;
    }
    seconds += tuning_seconds(*evaluation).value_or(0);
    run.gaps.push_back(best_gap);
    run.seconds.push_back(seconds > 0 ? seconds : nan);
  }
  return run;
}

double SearchQuality::random_gap(std::size_t n) const {
  // The best of n different configurations has rank above k with probability C(M - k, n) / C(M, n).
  const auto all = static_cast<double>(recording_.space().size());
  double above = 1;
  double expected = 0;
  for (std::size_t k = 0; k < gaps_.size() && above > 0; ++k) {
    const double left = all - static_cast<double>(k);
    const double next = std::max(0.0, above * (1 - static_cast<double>(n) / left));
    expected += (above - next) * gaps_[k];
    above = next;
  }
  return expected + above * gaps_.back();
}

double SearchQuality::counted_gap(const SearchRun& run, std::size_t n) const {
  const double gap = run.gap_after(n);
  return std::isnan(gap) ? gaps_.back() : gap;
}

GapSummary SearchQuality::summary(std::span<const SearchRun> runs, std::size_t evaluations) const {
  GapSummary result;
  result.strategy = runs.front().strategy;
  result.evaluations = evaluations;
  result.runs = runs.size();
  std::vector<double> gaps;
  std::vector<double> seconds;
  for (const SearchRun& run : runs) {
    gaps.push_back(counted_gap(run, evaluations));
    seconds.push_back(run.seconds_after(evaluations));
    result.exact_rate += run.gap_after(evaluations) == 0 ? 1 : 0;  // NaN where nothing was found
  }
  const auto count = static_cast<double>(runs.size());
  result.exact_rate /= count;
  result.mean = mean_of(gaps);
  double squares = 0;
  for (const double gap : gaps) squares += (gap - result.mean) * (gap - result.mean);
  result.deviation = runs.size() > 1 ? std::sqrt(squares / (count - 1)) : nan;
  result.confidence = confidence_95 * result.deviation / std::sqrt(count);
  result.least = *std::min_element(gaps.begin(), gaps.end());
  result.largest = *std::max_element(gaps.begin(), gaps.end());
  result.median = median_of(gaps);
  const double random = random_gap(evaluations);
  result.score = random > 0 ? 1 - result.mean / random : nan;
  result.seconds = mean_of(seconds);
  return result;
}

EffortSummary SearchQuality::effort(std::span<const SearchRun> runs, double gap) {
  EffortSummary result;
  result.strategy = runs.front().strategy;
  result.gap = gap;
  std::vector<double> needed;
  for (const SearchRun& run : runs) {
    if (const auto evaluations = run.evaluations_until(gap)) needed.push_back(static_cast<double>(*evaluations));
  }
  result.reached = static_cast<double>(needed.size()) / static_cast<double>(runs.size());
  if (needed.empty()) return result;
  result.mean = mean_of(needed);
  if (2 * needed.size() > runs.size()) {
    // Those that did not come so far would stand behind all others.
    needed.resize(runs.size(), std::numeric_limits<double>::infinity());
    const double median = median_of(std::move(needed));
    if (std::isfinite(median)) result.median = median;
  }
  return result;
}

double SearchQuality::overall_score(std::span<const SearchRun> runs, std::size_t budget) const {
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t n = 1; n <= budget; ++n) {
    const double random = random_gap(n);
    if (random <= 0) break;  // random search, too, has seen everything
    double mean = 0;
    for (const SearchRun& run : runs) mean += counted_gap(run, n) / static_cast<double>(runs.size());
    sum += 1 - mean / random;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : nan;
}

}  // namespace wattune
