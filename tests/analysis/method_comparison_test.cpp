#include "analysis/method_comparison.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A row of results: variant, clock in MHz, time in ms, power in W; failed where the time is not positive.
struct Row {
  int variant, clock;
  double time, power;
};

Results results_of(const std::vector<Row>& rows) {
  Results results;
  results.header.parameter_names = {"x", "nvml_gr_clock"};
  results.header.parameter_values.resize(2);
  for (const Row& row : rows) {
    for (const auto& [i, value] : {std::pair{0, row.variant}, std::pair{1, row.clock}}) {
      auto& values = results.header.parameter_values[static_cast<std::size_t>(i)];
      if (std::find(values.begin(), values.end(), Value(value)) == values.end()) values.emplace_back(value);
    }
    Evaluation evaluation;
    evaluation.configuration = {row.variant, row.clock};
    evaluation.phases["benchmark"] = 2;
    if (row.time > 0) {
      evaluation.quantities["time"] = {row.time * 1e-3, "s", row.time * 1e-5, 4, {}};
      evaluation.quantities["power"] = {row.power, "W", 0, 1, {}};
    } else {
      evaluation.outcome = Outcome::launch;
    }
    results.evaluations.push_back(std::move(evaluation));
  }
  complete_energy(results);
  return results;
}

/// Energies in mJ, by variant, at 500, 1000 and 1500 MHz: 1: 400, 240, 300; 2: 300, 250, 400; 3: 210, 320, 500.
Results example() {
  return results_of({{1, 500, 8, 50},
                     {1, 1000, 4, 60},
                     {1, 1500, 3, 100},
                     {2, 500, 6, 50},
                     {2, 1000, 2.5, 100},
                     {2, 1500, 2, 200},
                     {3, 500, 7, 30},
                     {3, 1000, 4, 80},
                     {3, 1500, 2.5, 200},
                     {4, 500, 0, 0},
                     {4, 1000, 0, 0},
                     {4, 1500, 0, 0}});
}

const ComparedMethod& named(const std::vector<ComparedMethod>& methods, const std::string& name) {
  return *std::ranges::find(methods, name, &ComparedMethod::name);
}

std::pair<int, int> configuration(const ComparedMethod& method) {
  const auto& values = method.answer.value().configuration;
  return {static_cast<int>(values[0].as_int()), static_cast<int>(values[1].as_int())};
}

TEST(MethodComparisonTest, MethodsAreWorkedOutFromWhatIsRecorded) {
  const Results results = example();
  auto methods = enumerate_methods(results, {.base_clock = 900});
  set_gaps(methods, {"energy", Direction::minimize});
  EXPECT_EQ(configuration(named(methods, "race-to-idle")), std::pair(2, 1500));
  EXPECT_EQ(configuration(named(methods, "energy-at-max")), std::pair(1, 1500));
  EXPECT_EQ(configuration(named(methods, "race-to-idle+clocks")), std::pair(2, 1000));
  EXPECT_EQ(configuration(named(methods, "energy-to-solution+clocks")), std::pair(1, 1000));
  EXPECT_EQ(configuration(named(methods, "energy-to-solution")), std::pair(3, 500));
  EXPECT_EQ(configuration(named(methods, "two-clock")), std::pair(3, 500));
  EXPECT_NEAR(named(methods, "race-to-idle").gap, 400.0 / 210 - 1, 1e-9);
  EXPECT_EQ(named(methods, "energy-to-solution").gap, 0);
}

TEST(MethodComparisonTest, EvaluationsAndTimeAreThoseThatAMethodTakes) {
  const Results results = example();
  const auto methods = enumerate_methods(results, {.base_clock = 1000});
  EXPECT_EQ(named(methods, "race-to-idle").evaluations, 12U);
  EXPECT_EQ(named(methods, "race-to-idle").settings, 3U);
  EXPECT_EQ(named(methods, "energy-at-max").evaluations, 4U);
  EXPECT_EQ(named(methods, "energy-at-max").settings, 1U);
  EXPECT_EQ(named(methods, "race-to-idle+clocks").evaluations, 6U);
  EXPECT_EQ(named(methods, "energy-at-max").seconds, 8);
}

TEST(MethodComparisonTest, NoMethodIsBetterThanSearchingEverything) {
  for (int seed = 0; seed < 50; ++seed) {
    std::vector<Row> rows;
    unsigned state = static_cast<unsigned>(seed) * 7919U + 1U;
    const auto random = [&] { return (state = state * 1103515245U + 12345U) >> 16U & 0x3ffU; };
    for (int variant = 0; variant < 9; ++variant) {
      for (int clock = 300; clock <= 1500; clock += 100)
        rows.push_back({variant, clock, 1.0 + random(), 50.0 + random()});
    }
    const Results results = results_of(rows);
    auto methods = enumerate_methods(results, {.base_clock = 900});
    set_gaps(methods, {"energy", Direction::minimize});
    EXPECT_EQ(named(methods, "energy-to-solution").gap, 0);
    for (const auto& method : methods) EXPECT_GE(method.gap, 0) << method.name;
  }
}

TEST(MethodComparisonTest, AClockAtWhichEverythingFailsIsNotTheMaximum) {
  const Results results = results_of(
      {{1, 1000, 4, 60}, {2, 1000, 3, 100}, {1, 500, 9, 20}, {2, 500, 6, 60}, {1, 1500, 0, 0}, {2, 1500, 0, 0}});
  const auto methods = enumerate_methods(results, {});
  EXPECT_EQ(configuration(named(methods, "energy-at-max")), std::pair(1, 1000));
  EXPECT_EQ(configuration(named(methods, "race-to-idle+clocks")), std::pair(2, 1000));
  EXPECT_TRUE(named(methods, "two-clock").answer);
}

TEST(MethodComparisonTest, WithoutABaseClockThatMethodIsMissing) {
  const Results results = example();
  const auto methods = enumerate_methods(results, {});
  EXPECT_FALSE(named(methods, "energy-to-solution+clocks").answer);
  EXPECT_THAT(named(methods, "energy-to-solution+clocks").missing, HasSubstr("--base-clock"));
}

TEST(MethodComparisonTest, ABaseClockBetweenRecordedOnesIsTheNearestAndOneBeyondThemIsRefused) {
  const Results results = example();
  EXPECT_THAT(named(enumerate_methods(results, {.base_clock = 900}), "energy-to-solution+clocks").remark,
              HasSubstr("begins at 1000 MHz"));
  EXPECT_EQ(named(enumerate_methods(results, {.base_clock = 1000}), "energy-to-solution+clocks").remark, "");
  for (const double clock : {499.0, 1e6}) {
    try {
      enumerate_methods(results, {.base_clock = clock});
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(clock < 1000 ? "the nearest clock is 500 MHz" : "the nearest clock is 1500 MHz"));
    }
  }
}

TEST(MethodComparisonTest, TooFewClocksForTheModelAreTold) {
  const auto methods =
      enumerate_methods(results_of({{1, 500, 8, 50}, {1, 1000, 4, 60}, {2, 500, 6, 50}, {2, 1000, 2.5, 100}}), {});
  EXPECT_THAT(named(methods, "model-steered").remark, HasSubstr("2 are recorded: all are searched"));
  EXPECT_EQ(named(methods, "model-steered").settings, 2U);
}

TEST(MethodComparisonTest, OnlySettingsThatAreRecordedCountAsSearched) {
  Results results = example();
  results.header.parameter_values[1].emplace_back(2000);
  EXPECT_EQ(named(enumerate_methods(results, {}), "model-steered").settings, 3U);
}

TEST(CoverageTest, WhatIsNotRecordedIsCounted) {
  Results results = example();
  EXPECT_FALSE(coverage_of(results).is_partial());
  results.evaluations.pop_back();
  const Coverage seen = coverage_of(results);
  EXPECT_TRUE(seen.is_partial());
  EXPECT_EQ(seen.recorded, 11U);
  EXPECT_EQ(seen.occurring, 12U);
  EXPECT_FALSE(seen.valid);
  results.header.problem_hash = "1a2b";
  results.header.restrictions = {"x < 4"};
  const Coverage by_header = coverage_of(results);
  ASSERT_TRUE(by_header.valid);
  EXPECT_TRUE(*by_header.valid == 9);
}

TEST(MethodComparisonTest, AtOneClockOnlyMethodsWithoutClocksAnswer) {
  const Results results = results_of({{1, 1000, 4, 60}, {2, 1000, 3, 100}});
  const auto methods = enumerate_methods(results, {.base_clock = 1000});
  EXPECT_EQ(named(methods, "race-to-idle").remark, "at default clocks");
  EXPECT_TRUE(named(methods, "energy-at-max").answer);
  EXPECT_FALSE(named(methods, "two-clock").answer);
}

TEST(MethodComparisonTest, EnergyIsPowerTimesTimeWhereItIsNotRecorded) {
  const Results results = results_of({{1, 1000, 4, 60}});
  EXPECT_DOUBLE_EQ(results.evaluations[0].quantities.at("energy").value, 0.24);
  EXPECT_EQ(results.evaluations[0].quantities.at("energy").unit, "J");
}

TEST(MethodComparisonTest, ResultsWithoutTheObjectiveAreRefused) {
  const Results results = results_of({{1, 1000, 0, 0}});
  EXPECT_THROW(enumerate_methods(results, {}), UsageError);
}

TEST(MethodComparisonTest, RunsAreFoundByTheirMethodsInTheJournal) {
  Results results = example();
  results.evaluations[2].run = "two-clock:1a2b3c4d";
  results.evaluations[1].run = "two-clock:1a2b3c4d";
  results.evaluations[5].run = "race-to-idle:00000000";
  results.evaluations[0].run = "1a2b3c4d";
  const auto runs = recorded_runs(results, {});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, "two-clock");
  EXPECT_EQ(runs[0].evaluations, 2U);
  EXPECT_EQ(configuration(runs[0]), std::pair(1, 1000));
  EXPECT_EQ(configuration(runs[1]), std::pair(2, 1500));
  EXPECT_TRUE(recorded_runs(example(), {}).empty());
}

TEST(MethodComparisonTest, TrialsOfFinalistsCountByTheirMean) {
  Results results = example();
  for (const std::size_t i : {1U, 4U}) results.evaluations[i].run = "energy-to-solution:1a2b3c4d";
  for (const double energy : {0.3, 0.5}) {
    Evaluation trial = results.evaluations[1];
    trial.run.clear();
    trial.tier = "final";
    trial.quantities["energy"].value = energy;
    results.evaluations.push_back(trial);
  }
  const auto runs = recorded_runs(results, {});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].evaluations, 2U);
  EXPECT_EQ(configuration(runs[0]), std::pair(2, 1000));
}

TEST(CommonClockTest, TheClockOfLeastSumIsFound) {
  const std::vector<Results> kernels = {
      results_of({{1, 500, 1, 100}, {1, 1000, 1, 130}, {1, 1500, 1, 300}}),
      results_of({{1, 500, 1, 400}, {1, 1000, 1, 130}, {1, 1500, 1, 120}, {1, 2000, 1, 1}}),
  };
  const std::vector<std::string> files = {"a", "b"};
  const CommonClock common = common_clock(kernels, files);
  EXPECT_EQ(common.clock, 1000);  // 2000 MHz is not recorded of the other kernel
  EXPECT_NEAR(common.energy(), 0.26, 1e-12);
  EXPECT_EQ(common.kernels[0].own_clock, 500);
  EXPECT_EQ(common.kernels[1].own_clock, 2000);
}

TEST(CommonClockTest, DifferentDeviceModelsAreRefused) {
  std::vector<Results> kernels(3, results_of({{1, 500, 1, 100}}));
  kernels[1].header.device_name = "Board A";
  kernels[2].header.device_name = "Board B";
  try {
    common_clock(kernels, std::vector<std::string>{"a", "b", "c"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'b' is of a 'Board A', 'c' of a 'Board B'"));
  }
  kernels.pop_back();
  EXPECT_EQ(common_clock(kernels, std::vector<std::string>{"a", "b"}).clock, 500);
}

TEST(CommonClockTest, WithoutAClockThatAllHaveItIsRefused) {
  const std::vector<Results> kernels = {results_of({{1, 500, 1, 100}}), results_of({{1, 600, 1, 100}})};
  EXPECT_THROW(common_clock(kernels, std::vector<std::string>{"a", "b"}), UsageError);
  Results other = results_of({{1, 500, 1, 100}});
  other.header.parameter_names[1] = "y";
  try {
    common_clock(std::vector{other}, std::vector<std::string>{"a.json"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'a.json' has no parameter nvml_gr_clock"));
  }
}

TEST(CappingTest, ClocksAndLimitsAreHeldApart) {
  Results results = results_of({{200, 500, 8, 50}, {200, 1500, 3, 100}, {100, 500, 8, 40}, {100, 1500, 4, 90}});
  results.header.parameter_names[0] = "nvml_pwr_limit";
  const auto capping = compare_capping(results, {"energy", Direction::minimize});
  ASSERT_TRUE(capping);
  EXPECT_THAT(capping->by_clock.best->configuration, ElementsAre(200, 1500));
  EXPECT_EQ(capping->by_clock.settings, 2U);
  EXPECT_THAT(capping->by_limit.best->configuration, ElementsAre(200, 1500));
  EXPECT_NEAR(capping->by_limit.time_spread, 0.02, 1e-12);
  EXPECT_FALSE(compare_capping(example(), {"energy", Direction::minimize}));
}

TEST(MethodComparisonTest, TheBeamformerIsAsIsKnown) {
  const std::filesystem::path file = WATTUNE_SOURCE_DIR "/../shared/data/ada_tensorcore_beamformer/cache.json.gz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  Results results = read_results(file);
  complete_energy(results);
  ComparisonOptions options;
  options.efficiency = {"TFLOPS/J", Direction::maximize};
  options.base_clock = 1500;
  auto methods = enumerate_methods(results, options);
  set_gaps(methods, options.efficiency);
  const Evaluation& efficient = named(methods, "energy-to-solution").answer.value();
  EXPECT_THAT(efficient.configuration, ElementsAre(1485, 32, 2, 2, 64, 128, 2));
  EXPECT_NEAR(efficient.quantities.at("TFLOPS/J").value, 0.93145, 5e-6);
  EXPECT_NEAR(efficient.quantities.at("energy").value, 0.590214, 5e-7);
  EXPECT_NEAR(efficient.quantities.at("time").value, 8.70195e-3, 5e-9);
  const Evaluation& fast = named(methods, "race-to-idle").answer.value();
  EXPECT_THAT(fast.configuration, ElementsAre(1815, 32, 1, 2, 64, 64, 2));
  EXPECT_NEAR(fast.quantities.at("time").value, 6.83475e-3, 5e-9);
  EXPECT_NEAR(fast.quantities.at("energy").value, 0.665234, 5e-7);
  EXPECT_NEAR(named(methods, "race-to-idle").gap, 0.127, 5e-4);
}

}  // namespace
}  // namespace wattune
