// T4 results, of careful and of sloppy writers.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "recorded.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class T4 : public FormatsTest {};

const std::string sloppy = R"({
  "metadata": {"timeunit": "miliseconds"},
  "results": [
    {"timestamp": "2023-12-22", "configuration": {"x": 16, "y": "a"}, "times": {"compilation": 918.5, "framework": 105.25, "search_algorithm": 0,
      "validation": 2.0, "runtimes": [3.5, 4.5]}, "invalidity": "correct", "correctness": 1,
      "measurements": [{"name": "time", "value": 4.0, "unit": ""}, {"name": "energy", "value": 250, "unit": "mJ"}], "objectives": ["time"]},
    {"configuration": {"y": "b", "x": 16}, "times": {"compilation_time": 1.0, "runtimes": []}, "invalidity": "runtime", "correctness": 0,
      "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}], "objectives": ["time"]},
    {"configuration": {"x": 32, "y": "a"}, "times": {}, "invalidity": "correct", "correctness": 1,
      "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": ""}]},
    {"configuration": {"x": 16, "y": "a"}, "times": {}, "invalidity": "timeout", "correctness": 0, "measurements": [{"name": "time", "value": NaN}]}
  ],
  "schema_version": "1.0.0"
})";

TEST_F(T4, OfSloppyWritersIsRead) {
  const Results results = parse(sloppy);
  EXPECT_EQ(results.format, ResultFormat::t4);
  EXPECT_THAT(results.header.parameter_names, ElementsAre("x", "y"));
  EXPECT_THAT(results.header.parameter_values[0], ElementsAre(Value(16), Value(32)));
  ASSERT_EQ(results.evaluations.size(), 4U);
  const Evaluation& first = results.evaluations[0];
  EXPECT_EQ(first.quantities.at("time").value, 4e-3);
  EXPECT_THAT(first.quantities.at("time").samples, ElementsAre(3.5e-3, 4.5e-3));
  EXPECT_EQ(first.quantities.at("energy").value, 0.25);
  EXPECT_EQ(first.quantities.at("energy").unit, "J");
  EXPECT_EQ(first.phases.at("compile"), 918.5e-3);
  EXPECT_EQ(results.evaluations[1].outcome, Outcome::launch);
  EXPECT_THAT(results.evaluations[1].configuration, ElementsAre(Value(16), Value("b")));
  EXPECT_EQ(results.evaluations[2].outcome, Outcome::compile);
  EXPECT_EQ(results.evaluations[3].outcome, Outcome::timeout);
  EXPECT_EQ(results.evaluations[3].trial, 1);
  EXPECT_THAT(results.objectives, ElementsAre("time"));
}

TEST_F(T4, CutOffKeepsWhatIsWhole) {
  const Results results = parse(sloppy.substr(0, sloppy.find("\"x\": 32")));
  EXPECT_EQ(results.evaluations.size(), 2U);
  EXPECT_THAT(results.notes, Contains(HasSubstr("torn")));
}

TEST_F(T4, KeepsItsResultsWhenWrittenAndReadAgain) {
  const Results results = parse(sloppy);
  const Results again = through(results, ResultFormat::t4);
  ASSERT_EQ(again.evaluations.size(), results.evaluations.size());
  for (std::size_t i = 0; i < results.evaluations.size(); ++i) {
    EXPECT_EQ(to_json(again.evaluations[i], again.header.parameter_names),
              to_json(results.evaluations[i], results.header.parameter_names));
  }
}

/// Both files of the hub were made of the same measurements.
TEST_F(T4, TwinOfAKernelTunerCacheHoldsTheSameResults) {
  const auto t4_file = recorded("hub/convolution_A100_T4.json.gz");
  SKIP_WITHOUT(t4_file);
  const Results t4 = read_results(t4_file);
  const Results cache = read_results(recorded("hub/convolution_A100.json.gz"));
  ASSERT_EQ(t4.evaluations.size(), cache.evaluations.size());
  ASSERT_EQ(t4.header.parameter_names, cache.header.parameter_names);
  for (std::size_t i = 0; i < t4.evaluations.size(); ++i) {
    const Evaluation& a = t4.evaluations[i];
    const Evaluation& b = cache.evaluations[i];
    ASSERT_EQ(a.configuration, b.configuration) << i;
    ASSERT_EQ(a.outcome, b.outcome) << i;
    ASSERT_EQ(a.ok(), a.quantities.contains("time")) << i;
    if (!a.ok()) continue;
    ASSERT_EQ(to_json(a.quantities.at("time")), to_json(b.quantities.at("time"))) << i;
    ASSERT_EQ(a.phases.at("compile"), b.phases.at("compile")) << i;
  }
}

/// The check itself is python3-jsonschema's.
int check_schema(const std::filesystem::path& schema, const std::filesystem::path& file) {
  const std::string command =
      "python3 -c 'import json, sys, jsonschema\n"
      "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' '" +
      schema.string() + "' '" + file.string() + "' >/dev/null 2>&1";
  return std::system(command.c_str());
}

TEST_F(T4, PassesTheSchema) {
  const auto schema = recorded("schema/T4/1.0.0/results-schema.json");
  SKIP_WITHOUT(schema);
  if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0) GTEST_SKIP() << "there is no python3-jsonschema";
  write_results(parse(sloppy), path("a.json"), ResultFormat::t4);
  EXPECT_EQ(check_schema(schema, path("a.json")), 0);
  write_results(parse(small_cache), path("b.json"), ResultFormat::t4);
  EXPECT_EQ(check_schema(schema, path("b.json")), 0);
  EXPECT_EQ(check_schema(recorded("schema/T4/1.0.0/metadata-schema.json"), path("b.json")), 0);
  // The check would find a fault.
  std::ofstream(path("c.json")) << R"({"results": [{"configuration": {}}]})";
  EXPECT_NE(check_schema(schema, path("c.json")), 0);
}

}  // namespace
}  // namespace wattune
