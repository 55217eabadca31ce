// What the formats have in common: detection, round trips, CSV, merging and checking.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "recorded.hpp"
#include "result/order.hpp"
#include "store/formats/edit.hpp"
#include "store/formats/json_stream.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Results with everything that a journal can hold.
Results rich_results() {
  Results results;
  JournalHeader& header = results.header;
  header.problem_hash = "5a19049d0a0e9641d9925512d3126834";
  header.problem_name = "gemm";
  header.problem_file = "gemm.json";
  header.problem_size = {256, 128};
  header.parameter_names = {"block", "layout", "scale", "fast"};
  header.parameter_values = {{32, 64}, {"row", "7", "a,\"b\""}, {0.5, 2.45}, {true, false}};
  header.parameter_kinds = {"launch", "code", "code", "code"};
  header.restrictions = {"block * scale < 1000"};
  header.device_name = "NVIDIA H200";
  header.board = "GPU-1";
  header.backend = "cuda";
  header.seed = 18446744073709551615U;
  header.version = "0.1.0";
  results.objectives = {"energy"};
  Evaluation good;
  good.configuration = {32, "7", 2.45, true};
  good.verification = "verified";
  good.quantities["time"] = {0.1 + 0.2, "s", 1e-5, 6, {"noisy", "thermal"}};
  good.quantities["energy"] = {5.1984707984952845, "J", 0.01, 3, {}};
  good.quantities["sm_clock"] = {1980e6, "Hz", 0, 79, {}};
  good.quantities["GFLOP/s"] = {10899.6458348327, "GFLOP/s", 8.2, 6, {}};
  good.phases = {{"compile", 0.08845206099999814}, {"energy", 1.2838910079999977}, {"time", 0.07}};
  good.resources = {{"registers", 32}};
  good.board = "GPU-1";
  good.timestamp = "2026-11-30T00:52:31.421Z";
  good.proposal = 4;
  good.told = 3;
  good.asked = 5;
  good.run = "abcd1234";
  Evaluation bad;
  bad.configuration = {64, "a,\"b\"", 0.5, false};
  bad.outcome = Outcome::timeout;
  bad.message = "ran for more than 60 s,\n\"really\"";
  bad.trial = 2;
  bad.quantities["max_error"] = {1e-3, "", std::numeric_limits<double>::quiet_NaN(), 1, {}};
  results.evaluations = {good, bad};
  return results;
}

std::vector<std::string> lines_of(const Results& results) {
  std::vector<std::string> lines;
  for (const auto& evaluation : results.evaluations)
    lines.push_back(to_json(evaluation, results.header.parameter_names).dump());
  return lines;
}

class Formats : public FormatsTest {};

TEST_F(Formats, RoundTripsLoseNothing) {
  const Results results = rich_results();
  for (const ResultFormat format :
       {ResultFormat::journal, ResultFormat::kernel_tuner, ResultFormat::t4, ResultFormat::csv}) {
    SCOPED_TRACE(to_string(format));
    const Results again = through(results, format);
    EXPECT_EQ(again.format, format);
    EXPECT_THAT(again.notes, IsEmpty());
    EXPECT_EQ(lines_of(again), lines_of(results));
    EXPECT_EQ(again.header.parameter_names, results.header.parameter_names);
    EXPECT_TRUE(again.evaluations[0].configuration[1].is_string());
    EXPECT_TRUE(again.evaluations[0].configuration[3].is_bool());
    if (format == ResultFormat::csv) continue;  // has no place for the header
    EXPECT_EQ(again.header.parameter_values, results.header.parameter_values);
    EXPECT_EQ(again.header.restrictions, results.header.restrictions);
    EXPECT_EQ(again.header.problem_hash, results.header.problem_hash);
    EXPECT_EQ(again.header.seed, results.header.seed);
    EXPECT_EQ(again.header.device_name, results.header.device_name);
  }
}

TEST_F(Formats, JournalOfTheProjectSurvivesAllOfThem) {
  const auto file = std::filesystem::path(WATTUNE_SOURCE_DIR) / "data" / "h200" / "gemm-4096.jsonl.gz";
  const Results journal = read_results(file);
  ASSERT_EQ(journal.evaluations.size(), 200U);
  for (const ResultFormat format : {ResultFormat::kernel_tuner, ResultFormat::t4, ResultFormat::csv}) {
    EXPECT_EQ(lines_of(through(journal, format)), lines_of(journal)) << to_string(format);
  }
}

TEST_F(Formats, CompressedFilesAreReadAndWritten) {
  const Results results = parse(small_cache);
  write_results(results, path("a.json.gz"), ResultFormat::kernel_tuner);
  write_results(results, path("a.json"), ResultFormat::kernel_tuner);
  EXPECT_EQ(text_of(path("a.json.gz")).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(lines_of(read_results(path("a.json.gz"))), lines_of(read_results(path("a.json"))));
}

TEST_F(Formats, ACompressedFileThatIsCutOffTellsSo) {
  Results results = rich_results();
  for (int i = 0; i < 2000; ++i) {
    Evaluation more = results.evaluations[0];
    more.configuration[0] = i + 1000;
    more.quantities["time"].value = 1.0 / (i + 1);
    results.evaluations.push_back(more);
  }
  write_results(results, path("a.json.gz"), ResultFormat::kernel_tuner);
  std::filesystem::resize_file(path("a.json.gz"), std::filesystem::file_size(path("a.json.gz")) * 3 / 4);
  const Results read = read_results(path("a.json.gz"));
  EXPECT_GT(read.evaluations.size(), 500U);
  EXPECT_THAT(read.notes, Contains(HasSubstr("cut off")));
}

TEST_F(Formats, NamesTellFormats) {
  EXPECT_EQ(format_for("a.jsonl.gz"), ResultFormat::journal);
  EXPECT_EQ(format_for("a.json"), ResultFormat::kernel_tuner);
  EXPECT_EQ(format_for("a_T4.json.gz"), ResultFormat::t4);
  EXPECT_EQ(format_for("a.t4.json"), ResultFormat::t4);
  EXPECT_EQ(format_for("a.csv"), ResultFormat::csv);
  EXPECT_THROW(format_for("a.txt"), UsageError);
}

TEST_F(Formats, ErrorsNameTheFileAndWhatIsWrong) {
  const auto message = [&](const std::string& text) {
    try {
      parse(text);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(""), HasSubstr("'test.json': the file is empty"));
  EXPECT_THAT(message("{\"a\": 1}"), HasSubstr("no Kernel Tuner cache (there is no key 'tune_params_keys')"));
  EXPECT_THAT(message("hello"), HasSubstr("neither a journal, a Kernel Tuner cache nor T4"));
  try {
    read_results(path("missing.json"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing.json': No such file or directory; check the path"));
  }
}

TEST_F(Formats, AFullDiskLeavesTheOldFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  std::filesystem::create_symlink("/dev/full", path("a.json.part"));
  std::ofstream(path("a.json")) << "old";
  EXPECT_THROW(write_results(rich_results(), path("a.json"), ResultFormat::kernel_tuner), RunError);
  EXPECT_EQ(text_of(path("a.json")), "old");
}

TEST_F(Formats, CsvOfOthersIsReadByItsUnits) {
  const Results results = parse("block;tile;time [ms];energy [mJ]\r\n32;1.5;2;\"30\"\r\n64;2;;\r\n128;x");
  EXPECT_THAT(results.header.parameter_names, ElementsAre("block", "tile"));
  ASSERT_EQ(results.evaluations.size(), 2U);
  EXPECT_EQ(results.evaluations[0].quantities.at("time").value, 2e-3);
  EXPECT_EQ(results.evaluations[0].quantities.at("energy").value, 30e-3);
  EXPECT_THAT(results.evaluations[1].quantities, IsEmpty());
  EXPECT_THAT(results.notes, ElementsAre(HasSubstr("the last line (line 4) is torn")));
}

TEST_F(Formats, CsvMayBeginWithAClockInMegahertz) {
  const Results results = parse("clock [MHz],power [W]\n405,44\n");
  EXPECT_THAT(results.header.parameter_names, ElementsAre("clock"));
  ASSERT_EQ(results.evaluations.size(), 1U);
  EXPECT_EQ(results.evaluations[0].configuration[0], Value(405));
  EXPECT_EQ(results.evaluations[0].quantities.at("power").value, 44);
}

TEST_F(Formats, EveryNumberComesBackFromMilliseconds) {
  Results results = rich_results();
  results.evaluations.resize(1);
  double number = 1e-9;
  for (int i = 0; i < 2000; ++i) {
    number *= 1.01234567;
    results.evaluations[0].quantities["time"].value = number;
    results.evaluations[0].configuration[0] = i;
    results.evaluations.push_back(results.evaluations[0]);
  }
  results.evaluations.erase(results.evaluations.begin());
  EXPECT_EQ(lines_of(through(results, ResultFormat::kernel_tuner)), lines_of(results));
}

TEST_F(Formats, MergingKeepsEveryMeasurementOnce) {
  const Results a = rich_results();
  Results b = rich_results();
  b.evaluations.erase(b.evaluations.begin() + 1);
  Evaluation again = b.evaluations[0];
  again.quantities["time"].value = 0.2;
  again.timestamp = "later";
  b.evaluations.push_back(again);
  const Results both[] = {a, b};
  const std::string names[] = {"a", "b"};
  const Results merged = merge_results(both, names);
  ASSERT_EQ(merged.evaluations.size(), 3U);
  EXPECT_EQ(merged.evaluations[2].trial, 1);
  const auto counting = competing(merged.evaluations);
  EXPECT_EQ(counting.size(), 2U);
  EXPECT_EQ(merged.evaluations[*best(merged.evaluations, counting, {"time", Direction::minimize})]
                .quantities.at("time")
                .value,
            0.2);
}

TEST_F(Formats, MergingMatchesParametersByName) {
  Results a = parse("x,y,time [s]\n1,2,3\n");
  Results b = parse("y,x,time [s]\n5,4,3\n");
  const Results both[] = {a, b};
  const std::string names[] = {"a", "b"};
  const Results merged = merge_results(both, names);
  EXPECT_THAT(merged.evaluations[1].configuration, ElementsAre(Value(4), Value(5)));
  EXPECT_THAT(merged.header.parameter_values[0], ElementsAre(Value(1), Value(4)));
}

TEST_F(Formats, ResultsOfDifferentDevicesAreNotMerged) {
  Results both[] = {rich_results(), rich_results()};
  both[1].header.device_name = "NVIDIA A100";
  const std::string names[] = {"a.json", "b.json"};
  try {
    merge_results(both, names);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("cannot merge 'b.json': its device is 'NVIDIA A100', that of the first file 'NVIDIA H200'"));
  }
}

TEST_F(Formats, CheckingTakesTrialsForNoDuplicates) {
  Results results = rich_results();
  results.format = ResultFormat::journal;
  for (const std::int64_t trial : {0, 1, 2}) {
    Evaluation evaluation = results.evaluations[0];
    evaluation.tier = "final";
    evaluation.trial = trial;
    results.evaluations.push_back(evaluation);
  }
  EXPECT_THAT(check_results(results), IsEmpty());
  results.evaluations.push_back(Evaluation(results.evaluations.back()));  // the last trial again
  const auto findings = check_results(results);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "duplicate");
  EXPECT_EQ(findings[0].count, 1U);
}

TEST_F(Formats, CheckingFindsWhatIsTwiceInAFileWithoutTrials) {
  const auto findings = check_results(parse("x,outcome,time [s]\n1,ok,0.5\n2,ok,0.25\n1,ok,0.75\n"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "duplicate");
}

TEST_F(Formats, CheckingFindsWhatIsWrong) {
  Results results = rich_results();
  EXPECT_THAT(check_results(results), IsEmpty());
  Evaluation outside = results.evaluations[0];
  outside.configuration[0] = 48;
  Evaluation twice = results.evaluations[0];
  twice.quantities["time"].unit = "ms";
  twice.quantities.erase("energy");
  twice.quantities["GFLOP/s"].unit = "";
  results.evaluations.push_back(outside);
  results.evaluations.push_back(twice);
  results.notes = {"the last entry is torn"};
  std::vector<std::string> kinds;
  for (const auto& finding : check_results(results)) kinds.push_back(finding.kind);
  EXPECT_THAT(kinds,
              ::testing::UnorderedElementsAre("dropped", "duplicate", "outside", "unit", "unit", "unit", "missing"));
}

TEST_F(Formats, TimesEnergiesAndPowersThatCannotBeCountAsNotMeasured) {
  Results results = rich_results();
  EXPECT_EQ(drop_impossible(results), "");
  const auto recorded = results.evaluations[0].quantities;
  ASSERT_TRUE(results.evaluations[0].ok());
  results.evaluations[0].quantities["energy"] = {-5, "J", 0, 1, {}};
  EXPECT_THAT(drop_impossible(results),
              ::testing::MatchesRegex("energy -5 J of \\(.*\\) cannot be: it counts as not measured"));
  EXPECT_FALSE(results.evaluations[0].quantities.contains("energy"));
  EXPECT_TRUE(results.evaluations[0].quantities.contains("time"));
  results.evaluations[0].quantities = recorded;
  results.evaluations[0].quantities["time"].value = 0;
  results.evaluations[0].quantities["power"] = {std::numeric_limits<double>::infinity(), "W", 0, 1, {}};
  results.evaluations[0].quantities["ps_power"] = {
      std::numeric_limits<double>::quiet_NaN(), "W", 0, 1, {}};  // not measured
  results.evaluations[0].quantities["temperature"] = {-3, "degC", 0, 1, {}};
  EXPECT_THAT(drop_impossible(results), HasSubstr("2 times, energies or powers are zero, negative or infinite"));
  EXPECT_FALSE(results.evaluations[0].quantities.contains("time"));
  EXPECT_TRUE(results.evaluations[0].quantities.contains("temperature"));
  EXPECT_EQ(drop_impossible(results), "");
}

TEST_F(Formats, EvaluationsWithValuesThatNoParameterListsAreLeftOutAndTold) {
  Results results = rich_results();
  const std::size_t count = results.evaluations.size();
  EXPECT_EQ(drop_outside(results), "");
  Evaluation outside = results.evaluations[0];
  outside.configuration[0] = "abc";
  results.evaluations.push_back(outside);
  outside.tier = "reference";
  results.evaluations.push_back(outside);
  EXPECT_THAT(
      drop_outside(results),
      ::testing::MatchesRegex("1 evaluation with a value that its parameter does not have is left out: \\(abc.*\\)"));
  EXPECT_EQ(results.evaluations.size(), count + 1);
}

TEST_F(Formats, FailuresAreDroppedByKind) {
  Results results = parse(small_cache);
  const Outcome kinds[] = {Outcome::compile, Outcome::launch};
  EXPECT_EQ(drop_failed(results, kinds), 2U);
  EXPECT_EQ(drop_failed(results, {}), 2U);
  EXPECT_EQ(results.evaluations.size(), 2U);
}

TEST_F(Formats, ObjectivesThatAreNotRecordedAreToldWithWhatIs) {
  const Results results = parse(small_cache);
  EXPECT_EQ(quantity_named(results, "energy"), "nvml_energy");
  EXPECT_EQ(quantity_named(results, "sm_clock"), "core_freq");
  try {
    objectives_of(results, {"power"}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("'power' is not recorded in these results; there are: GFLOP/s, core_freq, nvml_energy, time"));
  }
}

TEST_F(Formats, WhyNothingCanBeChosenIsToldByTheKindsOfFailures) {
  Results results = parse(small_cache);
  const std::size_t all = competing(results.evaluations).size();
  for (auto& evaluation : results.evaluations) evaluation.outcome = Outcome::compile;
  const std::string text = fmt::format("none of its {0} configurations has a valid energy ({0} compile errors)", all);
  EXPECT_EQ(why_none_has(results, "energy"), text);
  results.file = "a.json";
  try {
    objectives_of(results, {"energy"}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), "a.json: " + text);
  }
  results.evaluations.resize(1);
  EXPECT_EQ(why_none_has(results, "time"), "its one configuration has no valid time (1 compile error)");
  results.evaluations.clear();
  EXPECT_EQ(why_none_has(results, "time"), "it holds no evaluation");
}

TEST_F(Formats, AQuantityThatIsNowhereFiniteIsNotRecorded) {
  Results results = parse(small_cache);
  for (auto& evaluation : results.evaluations) {
    if (evaluation.ok()) evaluation.quantities["odd"] = {std::numeric_limits<double>::quiet_NaN(), "", 0, 0, {}};
  }
  try {
    quantity_named(results, "odd");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has a valid odd ("));
    EXPECT_THAT(error.what(), HasSubstr("without it"));
  }
}

TEST_F(Formats, AClockCannotBeCalledAsAResultIs) {
  for (const char* name : {"power", "time", "outcome", "a [b]"}) {
    EXPECT_THROW(parse(fmt::format("{} [MHz],power [W]\n300,40\n", name)), UsageError) << name;
  }
  EXPECT_EQ(parse("clock [MHz],power [W]\n300,40\n").evaluations.size(), 1U);
}

/// Sources may hand out as little as they like.
class Trickle : public ByteSource {
 public:
  explicit Trickle(std::string_view text) : text_(text) {}
  std::size_t read(char* buffer, std::size_t count) override {
    const std::size_t n = text_.copy(buffer, std::min<std::size_t>(count, 7));
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

TEST_F(Formats, AreReadWhateverPiecesTheBytesComeIn) {
  Trickle source(small_cache);
  EXPECT_EQ(lines_of(read_results(source, "x")), lines_of(parse(small_cache)));
}

}  // namespace
}  // namespace wattune
