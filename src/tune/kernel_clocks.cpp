#include "tune/kernel_clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "model/two_stage.hpp"
#include "result/metrics.hpp"
#include "result/order.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

namespace {

constexpr const char* timing_tier = "timing";
constexpr const char* power_tier = "clock";
/// Below this share of the clock that was set a power limit holds the board back.
constexpr double reached_share = 0.99;
constexpr std::size_t least_timings = 4;

/// Of this configuration no clock can be told; of others it may.
struct NoClock {
  std::string why;
};

std::size_t axis_of(const Problem& problem) {
  const auto names = problem.parameter_names();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), parameter_of(Setting::sm_clock)) -
                                  names.begin());
}

std::string key_of(const std::string& tier, const std::vector<Value>& configuration) {
  std::string key = tier + ' ';
  append_key(key, configuration);
  return key;
}

std::optional<double> value_of(const Evaluation& evaluation, const char* name) {
  const auto found = evaluation.quantities.find(name);
  if (!evaluation.ok() || found == evaluation.quantities.end() || !(found->second.value > 0)) return std::nullopt;
  return found->second.value;
}

double nearest(const std::vector<double>& clocks, double wanted) {
  return *std::min_element(clocks.begin(), clocks.end(),
                           [&](double a, double b) { return std::fabs(a - wanted) < std::fabs(b - wanted); });
}

/// Three clocks around a first guess, far enough apart that a slope is told, near enough that it holds there.
std::vector<double> clocks_around(const std::vector<double>& clocks, double guess) {
  constexpr double reach = 0.2;
  const double center = std::max(std::min(guess, clocks.back() / (1 + reach)), clocks.front() / (1 - reach));
  std::vector<double> chosen;
  for (const double share : {1.0, 1 - reach, 1 + reach}) chosen.push_back(nearest(clocks, share * center));
  return chosen;
}

}  // namespace

KernelClockSearch::KernelClockSearch(const Problem& problem, const SearchSpace& space, Evaluator& evaluator,
                                     Journal& journal, KernelClockOptions options)
    : problem_(problem),
      space_(space),
      evaluator_(evaluator),
      journal_(journal),
      options_(std::move(options)),
      metrics_(problem),
      axis_(axis_of(problem)) {
  for (const auto& line : journal.before().evaluations) {
    if (line.tier != timing_tier && line.tier != power_tier) continue;
    Evaluation& known = known_[key_of(line.tier, line.configuration)] = line;
    metrics_.apply(known);  // of now, not those of the run that measured it
  }
}

std::vector<Value> KernelClockSearch::at_clock(std::vector<Value> configuration, double clock) const {
  const auto& values = problem_.parameters[axis_].values;
  const double scale = edge_scale(Setting::sm_clock);
  configuration[axis_] = *std::min_element(values.begin(), values.end(), [&](const Value& a, const Value& b) {
    return std::fabs(a.as_double() * scale - clock) < std::fabs(b.as_double() * scale - clock);
  });
  return configuration;
}

/// Hz, ascending.
std::vector<double> KernelClockSearch::clocks_of(const std::vector<Value>& configuration) const {
  std::vector<double> clocks;
  for (const auto& value : problem_.parameters[axis_].values) {
    std::vector<Value> at = configuration;
    at[axis_] = value;
    const auto point = space_.find(at);
    if (point && space_.contains(*point)) clocks.push_back(value.as_double() * edge_scale(Setting::sm_clock));
  }
  std::sort(clocks.begin(), clocks.end());
  return clocks;
}

/// @throws Interrupted
Evaluation KernelClockSearch::measure(const std::vector<Value>& configuration, double clock, const char* tier) {
  Proposal proposal;
  proposal.configuration = at_clock(configuration, clock);
  const std::string key = key_of(tier, proposal.configuration);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (options_.interrupted && options_.interrupted()) throw Interrupted{};
  proposal.point = space_.find(proposal.configuration).value();
  proposal.tier = tier;
  proposal.number = -1;
  auto done = evaluate_alone(evaluator_, std::move(proposal), options_.wake_fd, options_.interrupted);
  if (!done) throw Interrupted{};
  done->evaluation.tier = tier;
  metrics_.apply(done->evaluation);
  journal_.append(done->evaluation);
  return known_[key] = std::move(done->evaluation);
}

/// From timings spread over the clocks. Where the power limit holds the board back, time says nothing of the clock.
KernelTimeModel KernelClockSearch::time_model(const std::vector<Value>& configuration,
                                              const std::vector<double>& clocks, KernelClock& found) {
  std::vector<TimeSample> samples;
  for (const double clock : spread_clocks(clocks, std::min(options_.timings, clocks.size()))) {
    const Evaluation evaluation = measure(configuration, clock, timing_tier);
    ++found.timings;
    const auto seconds = value_of(evaluation, "time");
    const double actual = value_of(evaluation, "sm_clock").value_or(clock);
    if (seconds && actual > reached_share * clock) samples.push_back({actual, *seconds});
    if (!evaluation.ok()) found.problem = evaluation.message;
  }
  if (samples.size() < least_timings) {
    throw NoClock{found.problem.empty() ? "the power limit holds the board back at nearly all clocks" : found.problem};
  }
  found.problem.clear();
  return fit_kernel_time(samples);
}

void KernelClockSearch::measure_power(const std::vector<Value>& configuration, double clock, KernelClock& found,
                                      TuneResult& result) {
  if (std::find(measured_.begin(), measured_.end(), clock) != measured_.end()) return;
  measured_.push_back(clock);
  Evaluation evaluation = measure(configuration, clock, power_tier);
  ++found.measurements;
  const auto watts = value_of(evaluation, "power");
  if (watts && value_of(evaluation, "energy")) {
    powers_.push_back({value_of(evaluation, "sm_clock").value_or(clock), *watts,
                       value_of(evaluation, "temperature").value_or(std::numeric_limits<double>::quiet_NaN())});
    evaluations_.push_back(evaluation);
  }
  if (!evaluation.ok()) found.problem = evaluation.message;
  result.evaluations.push_back(std::move(evaluation));
}

/// Those at which the conditions are met by what the model tells; all where it cannot tell, or where they are met at
/// none.
std::vector<double> KernelClockSearch::clocks_for(const std::vector<Value>& configuration,
                                                  const std::vector<double>& clocks, const KernelClockModel& model,
                                                  const TuneResult& result) const {
  if (options_.constraints.empty()) return clocks;
  const auto bests = options_.constraints.bests_of(result.evaluations, competing(result.evaluations));
  std::vector<double> chosen;
  for (const double clock : clocks) {
    Evaluation predicted;
    predicted.configuration = at_clock(configuration, clock);
    predicted.quantities["time"].value = model.time.time(clock);
    predicted.quantities["power"].value = model.power.uncapped_power(clock);
    predicted.quantities["energy"].value = model.energy(clock);
    metrics_.apply(predicted);
    if (options_.constraints.violation(predicted, bests) == 0) chosen.push_back(clock);
  }
  return chosen.empty() ? clocks : chosen;
}

/// The board warms up from one measurement to the next: their energies are compared as at one temperature. Nothing
/// where none meets the conditions.
std::optional<Evaluation> KernelClockSearch::best_measured(const TuneResult& result) const {
  const auto bests = options_.constraints.bests_of(result.evaluations, competing(result.evaluations));
  const KernelPower power = fit_kernel_power(powers_, options_.device);
  std::optional<Evaluation> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < evaluations_.size(); ++i) {
    const double heat =
        power.watts_per_kelvin > 0 ? power.watts_per_kelvin * (powers_[i].temperature - power.temperature) : 0;
    const double energy = *value_of(evaluations_[i], "energy") * (1 - heat / powers_[i].power_w);
    if (energy < least && options_.constraints.violation(evaluations_[i], bests) == 0) {
      least = energy;
      best = evaluations_[i];
    }
  }
  return best;
}

void KernelClockSearch::search(const std::vector<Value>& configuration, KernelClock& found, TuneResult& result) {
  const std::vector<double> clocks = clocks_of(configuration);
  found.candidates = clocks.size();
  if (clocks.size() < least_timings)
    throw NoClock{fmt::format("it has {} clocks to choose from, too few", clocks.size())};
  const KernelTimeModel time = time_model(configuration, clocks, found);
  const double guess = most_efficient_clock(KernelClockModel{time, options_.device}, clocks);
  for (const double clock : clocks_around(clocks, guess)) measure_power(configuration, clock, found, result);
  std::set<double> distinct;
  for (const auto& power : powers_) distinct.insert(power.clock_hz);
  if (distinct.size() < 2) throw NoClock{found.problem.empty() ? "power is not told" : found.problem};
  const KernelClockModel model{time, fit_kernel_power(powers_, options_.device).model};
  found.predicted_hz = most_efficient_clock(model, clocks_for(configuration, clocks, model, result));
  for (const double clock : clocks_to_verify(clocks, found.predicted_hz))
    measure_power(configuration, clock, found, result);
  const auto best = best_measured(result);
  if (!best) throw NoClock{"it meets the conditions at none of the clocks where it was measured"};
  found.best = *best;
  found.problem.clear();
  if (!options_.compare) return;
  found.highest = measure(configuration, clocks.back(), power_tier);
  if (std::find(measured_.begin(), measured_.end(), clocks.back()) == measured_.end())
    result.evaluations.push_back(*found.highest);
}

std::optional<KernelClock> KernelClockSearch::find(const std::vector<Value>& configuration, TuneResult& result) {
  KernelClock found;
  measured_.clear();
  powers_.clear();
  evaluations_.clear();
  try {
    search(configuration, found, result);
  } catch (const Interrupted&) {
    result.interrupted = true;
    return std::nullopt;
  } catch (const NoClock& none) {
    found.problem = none.why;
  }
  return found;
}

std::vector<std::vector<Value>> clock_candidates(const Problem& problem, const TuneResult& result,
                                                 const Objective& objective, const ConstraintSet& constraints,
                                                 std::size_t count) {
  const std::size_t axis = axis_of(problem);
  std::vector<std::vector<Value>> chosen;
  std::set<std::string> seen;
  const auto rivals = constraints.feasible(result.evaluations, competing(result.evaluations));
  for (const std::size_t index : ranked(result.evaluations, rivals, objective)) {
    if (chosen.size() == count) break;
    std::vector<Value> rest = result.evaluations[index].configuration;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (seen.insert(key_of("", rest)).second) chosen.push_back(result.evaluations[index].configuration);
  }
  return chosen;
}

}  // namespace wattune
