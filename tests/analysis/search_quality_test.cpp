#include "analysis/search_quality.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace wattune {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

/// One parameter; NaN fails.
Results line_of(const std::vector<double>& values) {
  Results results;
  results.header.parameter_names = {"x"};
  results.header.parameter_values.resize(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    results.header.parameter_values[0].push_back(static_cast<int>(i));
    Evaluation evaluation;
    evaluation.configuration = {static_cast<int>(i)};
    evaluation.phases["benchmark"] = 1;
    if (std::isnan(values[i]))
      evaluation.outcome = Outcome::compile;
    else
      evaluation.quantities["time"] = {values[i], "s", 0, 1, {}};
    results.evaluations.push_back(std::move(evaluation));
  }
  return results;
}

SearchTrace trace_of(const Results& results, const std::vector<std::size_t>& order) {
  SearchTrace trace;
  for (const std::size_t i : order) trace.evaluations.push_back(&results.evaluations[i]);
  return trace;
}

const double nan = std::numeric_limits<double>::quiet_NaN();

TEST(SearchQualityTest, GapsAreRatiosToTheOptimumInEitherDirection) {
  EXPECT_DOUBLE_EQ(gap_of(3, 2, Direction::minimize), 0.5);
  EXPECT_DOUBLE_EQ(gap_of(2, 3, Direction::maximize), 0.5);
}

TEST(SearchQualityTest, FailuresCountAsEvaluations) {
  const Results results = line_of({nan, 4, 2, 3});
  const Recording recording(results);
  const SearchQuality quality(recording, {"time", Direction::minimize});
  EXPECT_EQ(quality.optimum(), 2);
  EXPECT_EQ(quality.successes(), 3U);
  const SearchRun run = quality.judge({"s", 1}, trace_of(results, {0, 1, 3, 2}));
  EXPECT_TRUE(std::isnan(run.gaps[0]));
  EXPECT_THAT(std::vector(run.gaps.begin() + 1, run.gaps.end()), ElementsAre(1.0, 0.5, 0.0));
  EXPECT_THAT(run.seconds, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(run.evaluations_until(0.5), 3U);
  EXPECT_EQ(run.evaluations_until(0), 4U);
  EXPECT_EQ(run.gap_after(1000), 0);
  EXPECT_FALSE(quality.judge({"s", 1}, trace_of(results, {0, 1})).evaluations_until(0.1));
}

TEST(SearchQualityTest, SummariesHaveMeanSpreadExactRateAndEffort) {
  const Results results = line_of({nan, 4, 2, 3});
  const Recording recording(results);
  const SearchQuality quality(recording, {"time", Direction::minimize});
  const std::vector<SearchRun> runs = {quality.judge({"s", 1}, trace_of(results, {2})),
                                       quality.judge({"s", 2}, trace_of(results, {3})),
                                       quality.judge({"s", 3}, trace_of(results, {0}))};
  const GapSummary summary = quality.summary(runs, 1);
  EXPECT_DOUBLE_EQ(summary.mean, 0.5);  // 0, 0.5, and the worst that is recorded, 1
  EXPECT_DOUBLE_EQ(summary.deviation, 0.5);
  EXPECT_DOUBLE_EQ(summary.median, 0.5);
  EXPECT_DOUBLE_EQ(summary.largest, 1);
  EXPECT_DOUBLE_EQ(summary.exact_rate, 1.0 / 3);
  const EffortSummary effort = SearchQuality::effort(runs, 0.5);
  EXPECT_DOUBLE_EQ(effort.reached, 2.0 / 3);
  EXPECT_EQ(effort.median, 1.0);
  EXPECT_FALSE(SearchQuality::effort(runs, 0).median);
}

/// Against all orders, one by one.
TEST(SearchQualityTest, RandomSearchIsExpectedExactly) {
  const std::vector<double> values = {nan, 4, 2, 3, nan, 2.5};
  const Results results = line_of(values);
  const Recording recording(results);
  const SearchQuality quality(recording, {"time", Direction::minimize});
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<double> sums(values.size(), 0.0);
  double orders = 0;
  do {
    double best = 4;  // the worst, where nothing was found
    for (std::size_t n = 0; n < order.size(); ++n) {
      if (values[order[n]] < best) best = values[order[n]];
      sums[n] += best / 2 - 1;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (std::size_t n = 0; n < order.size(); ++n)
    EXPECT_THAT(quality.random_gap(n + 1), DoubleNear(sums[n] / orders, 1e-12)) << n;
}

TEST(SearchQualityTest, RandomSearchScoresAboutNothing) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(1 + std::fmod(i * 0.618034, 1.0));
  const Results results = line_of(values);
  const Recording recording(results);
  const SearchQuality quality(recording, {"time", Direction::minimize});
  std::vector<SearchPlan> plans;
  for (std::uint64_t seed = 0; seed < 400; ++seed) plans.push_back({"random", seed});
  const auto traces = search_many(recording, plans, {{quality.objective()}, {}, {}}, 100, 2);
  std::vector<SearchRun> runs;
  for (std::size_t i = 0; i < plans.size(); ++i) runs.push_back(quality.judge(plans[i], traces[i]));
  EXPECT_NEAR(quality.overall_score(runs, 100), 0, 0.1);
}

TEST(SearchQualityTest, ObjectivesThatNothingHasAreRefused) {
  const Results results = line_of({1, 2});
  const Recording recording(results);
  EXPECT_THROW(SearchQuality(recording, {"energy", Direction::minimize}), UsageError);
}

}  // namespace
}  // namespace wattune
