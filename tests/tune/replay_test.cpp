// Recorded results in the place of a device.

#include "tune/replay.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

/// Two parameters with a hole in their space, a valley, and some failures.
Results recorded_valley() {
  Results results;
  results.header.parameter_names = {"x", "y"};
  results.header.parameter_values.resize(2);
  for (int i = 0; i < 20; ++i) {
    results.header.parameter_values[0].push_back(i);
    results.header.parameter_values[1].push_back(i);
  }
  for (int x = 0; x < 20; ++x) {
    for (int y = 0; y < 20; ++y) {
      if ((x + y) % 3 == 1) continue;
      Evaluation evaluation;
      evaluation.configuration = {x, y};
      if ((x * y) % 7 == 5)
        evaluation.outcome = Outcome::launch;
      else
        evaluation.quantities["time"] = {1e-3 * (1 + std::pow(x - 12, 2) + std::pow(y - 3, 2)), "s", 0, 1, {}};
      evaluation.phases["compile"] = 2;
      evaluation.phases["strategy"] = 100;
      results.evaluations.push_back(std::move(evaluation));
    }
  }
  return results;
}

const Objective less_time{"time", Direction::minimize};

TEST(Replay, SpaceIsTheSetOfRecordedConfigurations) {
  const Results results = recorded_valley();
  const Recording recording(results);
  EXPECT_EQ(recording.space().size(), results.evaluations.size());
  for (const auto& evaluation : results.evaluations) {
    const auto point = recording.space().find(evaluation.configuration);
    ASSERT_TRUE(point && recording.space().contains(*point));
    EXPECT_EQ(&recording.at(*point), &evaluation);
  }
}

TEST(Replay, ConfigurationsThatAreNotRecordedFailWhereAllValidOnesMayBeProposed) {
  Results results = recorded_valley();
  results.header.restrictions = {"x + y < 10"};
  const Recording recording(results, true);
  EXPECT_EQ(recording.space().size(), 55U);
  EXPECT_GT(recording.outside(), 0U);
  EXPECT_EQ(recording.at(*recording.space().find(std::vector<Value>{0, 1})).outcome, Outcome::measurement);
  EXPECT_TRUE(recording.at(*recording.space().find(std::vector<Value>{0, 0})).ok());
}

TEST(Replay, EveryStrategyEvaluatesEachConfigurationOnceWithinItsBudget) {
  const Results results = recorded_valley();
  const Recording recording(results);
  for (const auto& description : strategy_descriptions()) {
    SCOPED_TRACE(description.name);
    for (const std::size_t budget : {1U, 37U, 1000U}) {
      const auto strategy = make_strategy(description.name, recording.space(), 3, less_time);
      const auto trace = search_recorded(recording, *strategy, budget);
      EXPECT_LE(trace.evaluations.size(), std::min<std::size_t>(budget, results.evaluations.size()));
      EXPECT_GT(trace.evaluations.size(), 0U);
      EXPECT_EQ(std::set(trace.evaluations.begin(), trace.evaluations.end()).size(), trace.evaluations.size());
    }
  }
}

/// A search may know of a configuration only what it was told: with every entry that it has not evaluated spoilt, it
/// takes the same way.
TEST(Replay, NoStrategyReadsWhatItHasNotEvaluated) {
  const Results results = recorded_valley();
  const Recording recording(results);
  for (const auto& description : strategy_descriptions()) {
    SCOPED_TRACE(description.name);
    const auto strategy = make_strategy(description.name, recording.space(), 11, less_time);
    const auto trace = search_recorded(recording, *strategy, 60);
    const std::set<const Evaluation*> visited(trace.evaluations.begin(), trace.evaluations.end());
    Results spoilt = results;
    for (std::size_t i = 0; i < results.evaluations.size(); ++i) {
      if (visited.contains(&results.evaluations[i])) continue;
      Evaluation& entry = spoilt.evaluations[i];
      entry.outcome = i % 2 == 0 ? Outcome::ok : Outcome::compile;
      entry.quantities["time"] = {i % 3 == 0 ? 1e-12 : -7.0, "s", 0, 1, {}};
    }
    const Recording other(spoilt);
    const auto again = make_strategy(description.name, other.space(), 11, less_time);
    const auto second = search_recorded(other, *again, 60);
    ASSERT_EQ(second.evaluations.size(), trace.evaluations.size());
    for (std::size_t i = 0; i < trace.evaluations.size(); ++i) {
      EXPECT_EQ(second.evaluations[i]->configuration, trace.evaluations[i]->configuration) << i;
    }
  }
}

TEST(Replay, ManySearchesAtATimeAreThoseOfOneAtATime) {
  const Results results = recorded_valley();
  const Recording recording(results);
  std::vector<SearchPlan> plans;
  for (std::uint64_t seed = 0; seed < 20; ++seed) plans.push_back({"local_search", seed});
  const auto one = search_many(recording, plans, {{less_time}, {}, {}}, 50, 1);
  const auto four = search_many(recording, plans, {{less_time}, {}, {}}, 50, 4);
  for (std::size_t i = 0; i < plans.size(); ++i) EXPECT_EQ(one[i].evaluations, four[i].evaluations);
}

TEST(Replay, UnknownStrategiesAreToldFromAnyThread) {
  const Results results = recorded_valley();
  const Recording recording(results);
  const std::vector<SearchPlan> plans(8, SearchPlan{"no_such", 1});
  EXPECT_THROW(search_many(recording, plans, {{less_time}, {}, {}}, 5, 3), UsageError);
}

TEST(Replay, EvaluatorGivesRecordedResultsAndMovesItsClockByWhatTheyTook) {
  const Results results = recorded_valley();
  ReplayEvaluator evaluator(results, {"y", "x"}, "r.json");
  Proposal proposal;
  proposal.configuration = {3, 12};
  proposal.number = 7;
  evaluator.submit(proposal);
  EXPECT_EQ(evaluator.held(), 1U);
  const auto done = evaluator.next(0, -1);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->evaluation.quantities.at("time").value, 1e-3);
  EXPECT_EQ(done->evaluation.configuration, (std::vector<Value>{3, 12}));
  EXPECT_EQ(done->evaluation.proposal, 7);
  EXPECT_EQ(evaluator.clock().now(), 2);
  proposal.configuration = {0, 1};
  evaluator.submit(proposal);
  EXPECT_THAT(evaluator.next(0, -1)->evaluation.message, HasSubstr("not recorded in 'r.json'"));
  EXPECT_FALSE(evaluator.next(0, -1));
}

TEST(Replay, EvaluatorRefusesResultsOfOtherParameters) {
  const Results results = recorded_valley();
  try {
    ReplayEvaluator evaluator(results, {"x", "z"}, "r.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot replay 'r.json': its parameters are x, y, those of the problem x, z"));
  }
}

}  // namespace
}  // namespace wattune
