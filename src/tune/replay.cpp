#include "tune/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "base/error.hpp"
#include "result/order.hpp"

namespace wattune {

namespace {

ParameterKind kind_from(const std::string& text) {
  for (const ParameterKind kind : {ParameterKind::launch, ParameterKind::device_setting}) {
    if (to_string(kind) == text) return kind;
  }
  return ParameterKind::code;
}

/// Positions of values in their lists, looked up by hash: lists and files are long.
class Positions {
 public:
  explicit Positions(const std::vector<Parameter>& parameters) : by_value_(parameters.size()) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (std::uint32_t position = 0; position < parameters[i].values.size(); ++position) {
        by_value_[i].try_emplace(key_of(parameters[i].values[position]), position);
      }
    }
  }

  [[nodiscard]] std::optional<Point> find(const std::vector<Value>& configuration) const {
    Point point;
    for (std::size_t i = 0; i < configuration.size(); ++i) {
      const auto found = by_value_[i].find(key_of(configuration[i]));
      if (found == by_value_[i].end()) return std::nullopt;
      point.push_back(found->second);
    }
    return point;
  }

 private:
  static std::string key_of(const Value& value) {
    std::string key;
    append_key(key, {value});
    return key;
  }

  std::vector<std::unordered_map<std::string, std::uint32_t>> by_value_;
};

}  // namespace

SearchSpace Recording::make_space(const Results& results, bool all_valid) {
  auto parameters = parameters_of(results);
  if (results.evaluations.empty()) throw UsageError("there are no results to search: the file holds no evaluation");
  if (all_valid) {
    std::vector<Restriction> restrictions;
    for (const auto& expression : results.header.restrictions)
      restrictions.push_back({expression, "restrictions of the results"});
    SearchSpace space = SearchSpace::build(std::move(parameters), std::move(restrictions));
    if (space.size() >> 64 != 0)
      throw UsageError("the space of these results is beyond 2^64 configurations; replay what is recorded");
    return space;
  }
  const Positions positions(parameters);
  std::vector<Point> points;
  for (const std::size_t i : competing(results.evaluations)) {
    if (auto point = positions.find(results.evaluations[i].configuration)) points.push_back(std::move(*point));
  }
  return SearchSpace::of_points(std::move(parameters), std::move(points));
}

Recording::Recording(const Results& results, bool all_valid) : space_(make_space(results, all_valid)) {
  for (const auto& kind : results.header.parameter_kinds) kinds_.push_back(kind_from(kind));
  const Positions positions(space_.parameters());
  for (const std::size_t i : competing(results.evaluations)) {
    const Evaluation& evaluation = results.evaluations[i];
    const auto point = positions.find(evaluation.configuration);
    const auto index = point ? space_.index(*point) : std::nullopt;
    if (!index) {
      ++outside_;
      continue;
    }
    by_index_[static_cast<std::uint64_t>(*index)] = &evaluation;
    evaluations_.push_back(&evaluation);
  }
  if (evaluations_.empty()) throw UsageError("there are no results to search: no evaluation lies within the space");
  not_recorded_.outcome = Outcome::measurement;
  not_recorded_.message = "not recorded";
}

const Evaluation& Recording::at(std::span<const std::uint32_t> point) const {
  const auto index = space_.index(point);
  const auto found = index ? by_index_.find(static_cast<std::uint64_t>(*index)) : by_index_.end();
  return found == by_index_.end() ? not_recorded_ : *found->second;
}

SearchTrace search_recorded(const Recording& recording, Strategy& strategy, std::size_t budget) {
  // A strategy that proposes nothing but what it knows has come to its end.
  constexpr std::size_t most_repeated = 100'000;
  SearchTrace trace;
  std::unordered_set<std::uint64_t> seen;
  std::size_t repeated = 0;
  while (trace.evaluations.size() < budget && repeated < most_repeated) {
    const auto points = strategy.ask(1);
    if (points.empty()) break;
    const Point& point = points.front();
    const auto index = recording.space().index(point);
    const Evaluation& evaluation = recording.at(point);
    if (!index || !seen.insert(static_cast<std::uint64_t>(*index)).second) {
      ++repeated;
    } else {
      repeated = 0;
      trace.evaluations.push_back(&evaluation);
    }
    strategy.tell(point, evaluation);
  }
  return trace;
}

std::vector<SearchTrace> search_many(const Recording& recording, std::span<const SearchPlan> plans,
                                     const StrategySetup& setup, std::size_t budget, unsigned threads) {
  std::vector<SearchTrace> traces(plans.size());
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < plans.size(); i = next++) {
      try {
        const SearchPlan& plan = plans[i];
        const auto strategy = plan.method ? make_method(plan.strategy, recording.space(), plan.seed, *plan.method)
                                          : make_strategy(plan.strategy, recording.space(), plan.seed, setup);
        traces[i] = search_recorded(recording, *strategy, budget);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = plans.size();
      }
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> pool;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, plans.size()); ++i) pool.emplace_back(work);
  work();
  pool.clear();
  if (error) std::rethrow_exception(error);
  return traces;
}

ReplayEvaluator::ReplayEvaluator(const Results& results, const std::vector<std::string>& parameter_names,
                                 std::string file)
    : results_(results), file_(std::move(file)) {
  const auto& recorded = results.header.parameter_names;
  std::vector<std::size_t> places;
  for (const auto& name : parameter_names) {
    const auto found = std::find(recorded.begin(), recorded.end(), name);
    if (found != recorded.end()) places.push_back(static_cast<std::size_t>(found - recorded.begin()));
  }
  if (places.size() != parameter_names.size() || places.size() != recorded.size()) {
    throw UsageError(fmt::format("cannot replay '{}': its parameters are {}, those of the problem {}", file_,
                                 fmt::join(recorded, ", "), fmt::join(parameter_names, ", ")));
  }
  for (const std::size_t i : competing(results.evaluations)) {
    std::vector<Value> configuration;
    for (const std::size_t place : places) configuration.push_back(results.evaluations[i].configuration[place]);
    std::string key;
    append_key(key, configuration);
    by_key_[std::move(key)] = i;
  }
}

std::optional<Evaluator::Done> ReplayEvaluator::next(double, int) {
  if (waiting_.empty()) return std::nullopt;
  Done done{std::move(waiting_.front()), {}};
  waiting_.pop_front();
  std::string key;
  append_key(key, done.proposal.configuration);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    done.evaluation = results_.evaluations[found->second];
  } else {
    done.evaluation.outcome = Outcome::measurement;
    done.evaluation.message = fmt::format("not recorded in '{}'", file_);
  }
  // It is an evaluation of this run, not of the one that was recorded.
  done.evaluation.configuration = done.proposal.configuration;
  done.evaluation.tier = "screen";
  done.evaluation.trial = 0;
  done.evaluation.run.clear();
  done.evaluation.asked = 0;
  done.evaluation.declined = 0;
  done.evaluation.proposal = done.proposal.number;
  done.evaluation.told = done.proposal.told;
  clock_.advance(tuning_seconds(done.evaluation).value_or(0));
  return done;
}

}  // namespace wattune
