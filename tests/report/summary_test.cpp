#include "report/summary.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "sample.hpp"

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Objective least_time{"time", Direction::minimize};
const Objective least_energy{"energy", Direction::minimize};
const std::vector<std::string> names = {"block", "layout"};

RunInfo sample_run() {
  RunInfo run;
  run.problem = "gemm";
  run.device_id = "cuda:0";
  run.device_name = "Example GPU";
  run.board = "GPU-1";
  run.space_size = 96;
  run.cartesian = 128;
  run.strategy = "random";
  run.seed = 42;
  run.seconds = 725;
  run.journal = "out/gemm-01234567.jsonl";
  run.reused = 2;
  return run;
}

std::vector<Evaluation> sample_evaluations() {
  return {measured({Value(32), Value("row")}, {{"time", seconds(2.5e-3, 5e-6)}, {"energy", joules(0.2, 0.003)}}),
          measured({Value(64), Value("row")}, {{"time", seconds(1.25e-3, 4e-6)}, {"energy", joules(0.3, 0.003)}}),
          measured({Value(64), Value("column")}, {{"time", seconds(2.75e-3, 4e-6)}, {"energy", joules(0.3, 0.003)}}),
          failed({Value(128), Value("row")}, Outcome::compile, "\nkernel.cu(3): error: \x1b[31mno tile\nmore"),
          failed({Value(128), Value("column")}, Outcome::compile, "another"),
          failed({Value(256), Value("row")}, Outcome::timeout, "ran longer than 10 s")};
}

std::string summarize(const std::vector<Evaluation>& evaluations, const std::vector<Objective>& objectives,
                      const std::vector<Metric>& metrics = {}, const RunInfo& run = sample_run()) {
  return summary(run, names, evaluations, objectives, metrics);
}

TEST(Summary, ShowsWhatObserversSawButNotAllThatIsMeasured) {
  auto evaluations = sample_evaluations();
  evaluations[1].quantities["room"] = {21.5, "degC", 0.1, 5, {}};
  evaluations[1].quantities["registers"] = {64, "", 0, 1, {}};
  const auto text = summarize(evaluations, {least_time});
  EXPECT_THAT(text, HasSubstr("room 21.50 +- 0.10 degC"));
  EXPECT_THAT(text, Not(HasSubstr("registers")));
}

TEST(Summary, OfARunWithTwoObjectives) {
  EXPECT_EQ(summarize(sample_evaluations(), {least_time, least_energy}),
            R"(gemm on Example GPU (cuda:0)
6 evaluations in 12 min 5 s, 3 failed, 2 taken from the journal; 6 configurations of 96 valid (128 before restrictions)
Strategy random, seed 42

Best time: 1.250 +- 0.004 ms
  block=64 layout=row
  energy 300 +- 3 mJ

Best energy: 200 +- 3 mJ
  block=32 layout=row
  time 2.500 +- 0.005 ms

The best 3 of 3 by time
#       time (ms)  energy (mJ)  block  layout
1  1.250 +- 0.004     300 +- 3     64     row
2  2.500 +- 0.005     200 +- 3     32     row
3  2.750 +- 0.004     300 +- 3     64  column

Pareto front of time, energy: 2 configurations
#  on the front       time (ms)  energy (mJ)  block  layout
1  sure          1.250 +- 0.004     300 +- 3     64     row
2  sure          2.500 +- 0.005     200 +- 3     32     row
From the best time to the best energy: 100.0 +- 0.8 % more time for 33.3 +- 1.2 % less energy

Failed   count  for example
compile      2  kernel.cu(3): error:  [31mno tile
timeout      1  ran longer than 10 s

Results: out/gemm-01234567.jsonl
)");
}

TEST(Summary, ShowsMetricsFlagsAndWhatIsNotVerified) {
  auto evaluations = sample_evaluations();
  evaluations[1].quantities["GFLOP/s"] = {1234.5, "GFLOP/s", 3, 3, {}};
  evaluations[1].quantities["time"].flags = {"power_capped"};
  evaluations[1].verification = "consistent";
  const std::vector<Metric> metrics = {{"GFLOP/s", Expression::parse("1 / time"), "GFLOP/s", std::nullopt},
                                       {"per_watt", Expression::parse("1 / power"), "", std::nullopt}};
  EXPECT_THAT(
      summarize(evaluations, {least_time}, metrics),
      AllOf(HasSubstr("  energy 300 +- 3 mJ, GFLOP/s 1234 +- 3\n"), HasSubstr("measured under: power_capped"),
            HasSubstr("there is no reference to verify it by"),
            HasSubstr("Metric per_watt = 1 / power was left out: power was not measured"), Not(HasSubstr("Pareto"))));
}

TEST(Summary, OneConfigurationMayBeBestInEverything) {
  auto evaluations = sample_evaluations();
  evaluations[1].quantities["energy"].value = 0.1;
  EXPECT_THAT(summarize(evaluations, {least_time, least_energy}), HasSubstr("the configuration of best time\n"));
}

TEST(Summary, AnObjectiveThatNothingWasMeasuredInSaysSo) {
  EXPECT_THAT(summarize(sample_evaluations(), {{"power", Direction::minimize}}),
              HasSubstr("Best power: none; no configuration was measured in it"));
}

TEST(Summary, WhereNothingCompilesTheCompilerIsHeardOutOnce) {
  const std::vector<Evaluation> evaluations = {
      failed({Value(32), Value("row")}, Outcome::compile, "line 1\nline 2\nline 3"),
      failed({Value(64), Value("row")}, Outcome::compile, "line 1\nother")};
  const std::string text = summarize(evaluations, {least_time});
  EXPECT_THAT(text, AllOf(HasSubstr("No configuration compiled. The compiler's message for block=32 layout=row:\n"
                                    "line 1\nline 2\nline 3\n"),
                          Not(HasSubstr("other"))));
}

TEST(Summary, SaysWhatIsSimulatedAndInterrupted) {
  RunInfo run = sample_run();
  run.simulated = true;
  run.interrupted = true;
  run.reused = 0;
  EXPECT_THAT(summarize(sample_evaluations(), {least_time}, {}, run),
              AllOf(HasSubstr("(cuda:0), simulated"), HasSubstr("Interrupted. What was measured is kept"),
                    Not(HasSubstr("taken from"))));
}

TEST(Summary, OfNothingIsStillAReport) {
  EXPECT_THAT(summarize({}, {least_time}), AllOf(HasSubstr("0 evaluations"), HasSubstr("Best time: none")));
}

TEST(Summary, KeepsToTheWidthOfTheScreen) {
  SummaryOptions options;
  options.max_width = 60;
  auto evaluations = sample_evaluations();
  evaluations[5].message = std::string(200, 'x');
  std::istringstream lines(summary(sample_run(), names, evaluations, std::vector{least_time}, {}, options));
  std::string line;
  bool in_table = false;
  while (std::getline(lines, line)) {
    in_table = line.empty() ? false : in_table || line.starts_with("#") || line.starts_with("Failed");
    EXPECT_TRUE(!in_table || line.size() <= 60U) << line;
  }
}

TEST(Summary, ALongFrontIsShownInExcerpts) {
  std::vector<Evaluation> evaluations;
  for (int i = 0; i < 100; ++i) {
    evaluations.push_back(measured({Value(i), Value("row")},
                                   {{"time", seconds(1e-3 + 1e-5 * i, 1e-6)}, {"energy", joules(1 - 1e-3 * i, 1e-4)}}));
  }
  EXPECT_THAT(summarize(evaluations, {least_time, least_energy}),
              AllOf(HasSubstr("100 configurations\n(20 of them, spread evenly)"), HasSubstr("The best 10 of 100")));
}

TEST(RunJson, HasTheDocumentedKeys) {
  const auto evaluations = sample_evaluations();
  const nlohmann::json object = run_to_json(sample_run(), names, evaluations, std::vector{least_time, least_energy});
  EXPECT_EQ(object["device"], "cuda:0");
  EXPECT_EQ(object["simulated"], false);
  EXPECT_EQ(object["seed"], 42);
  EXPECT_EQ(object["seconds"], 725);
  ASSERT_EQ(object["evaluations"].size(), 6U);
  EXPECT_EQ(object["evaluations"][1]["configuration"], (nlohmann::json{{"block", 64}, {"layout", "row"}}));
  EXPECT_EQ(object["evaluations"][1]["quantities"]["time"]["unit"], "s");
  EXPECT_EQ(object["evaluations"][5]["message"], "ran longer than 10 s");
  EXPECT_EQ(object["best"]["energy"]["configuration"]["block"], 32);
  EXPECT_EQ(object["best"]["time"]["quantities"]["time"]["value"], 1.25e-3);
  EXPECT_EQ(object["pareto"], (nlohmann::json{1, 0}));
  EXPECT_EQ(object["front"]["members"][0], (nlohmann::json{{"index", 1}, {"sure", true}, {"rival", nullptr}}));
  EXPECT_EQ(object["front"]["knee"], nullptr);
  EXPECT_DOUBLE_EQ(object["front"]["trade_off"]["time"]["relative"].get<double>(), 1);
  EXPECT_EQ(object["counts"], (nlohmann::json{{"ok", 3}, {"compile", 2}, {"timeout", 1}}));
  EXPECT_EQ(object["space"], (nlohmann::json{{"cartesian", "128"}, {"valid", "96"}}));
}

TEST(RunJson, AMessageThatIsNoUtf8IsStillJson) {
  const std::vector<Evaluation> evaluations = {failed({Value(1), Value("row")}, Outcome::compile, "\xff error")};
  const std::string text = json_text(run_to_json(sample_run(), names, evaluations, std::vector{least_time}));
  const auto object = nlohmann::json::parse(text);
  EXPECT_THAT(object["evaluations"][0]["message"].get<std::string>(), HasSubstr(" error"));
  EXPECT_TRUE(object["best"].empty());
  EXPECT_TRUE(object["pareto"].empty());
}

}  // namespace
}  // namespace wattune
