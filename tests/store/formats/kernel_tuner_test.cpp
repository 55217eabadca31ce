// Kernel Tuner caches: all generations, whole and damaged.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "recorded.hpp"
#include "result/order.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KernelTunerCache : public FormatsTest {};

TEST_F(KernelTunerCache, IsReadInSiUnits) {
  const Results results = parse(small_cache);
  EXPECT_EQ(results.format, ResultFormat::kernel_tuner);
  EXPECT_EQ(results.header.device_name, "NVIDIA A100");
  EXPECT_EQ(results.header.problem_name, "vector_add");
  EXPECT_THAT(results.header.problem_size, ElementsAre(4096, 2));
  EXPECT_THAT(results.header.parameter_names, ElementsAre("block_size_x", "fast"));
  EXPECT_THAT(results.header.parameter_values[1], ElementsAre(Value(true), Value(false)));
  EXPECT_THAT(results.objectives, ElementsAre("time"));
  ASSERT_EQ(results.evaluations.size(), 6U);
  EXPECT_THAT(results.notes, IsEmpty());
  const Evaluation& first = results.evaluations[0];
  EXPECT_THAT(first.configuration, ElementsAre(Value(32), Value(true)));
  EXPECT_TRUE(first.configuration[1].is_bool());
  const Quantity& time = first.quantities.at("time");
  EXPECT_EQ(time.value, 2e-3);
  EXPECT_EQ(time.unit, "s");
  EXPECT_THAT(time.samples, ElementsAre(1.5e-3, 2.5e-3));
  EXPECT_EQ(time.n, 2);
  EXPECT_DOUBLE_EQ(time.stderr_value, 0.5e-3);
  EXPECT_EQ(first.quantities.at("core_freq").value, 1410e6);
  EXPECT_EQ(first.quantities.at("core_freq").unit, "Hz");
  EXPECT_EQ(first.quantities.at("nvml_energy").unit, "J");
  EXPECT_EQ(first.quantities.at("GFLOP/s").value, 100);
  EXPECT_EQ(first.phases.at("compile"), 400.5e-3);
  EXPECT_EQ(first.phases.at("verify"), 0);
  EXPECT_EQ(first.timestamp, "2023-12-22 09:54:05.502007+00:00");
}

TEST_F(KernelTunerCache, FailuresOfAllVersionsAreOutcomesWithoutATime) {
  const Results results = parse(small_cache);
  std::vector<Outcome> outcomes;
  for (const auto& evaluation : results.evaluations) outcomes.push_back(evaluation.outcome);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::ok, Outcome::launch, Outcome::compile, Outcome::measurement,
                                    Outcome::constraints, Outcome::ok));
  for (std::size_t i = 1; i < 6; ++i) EXPECT_FALSE(results.evaluations[i].quantities.contains("time")) << i;
}

TEST_F(KernelTunerCache, WithNanIsReadAndTheNumberIsMissing) {
  const Results results = parse(small_cache);
  EXPECT_FALSE(results.evaluations[5].quantities.contains("time"));
  EXPECT_EQ(results.evaluations[5].quantities.at("core_freq").value, 1400e6);
}

TEST_F(KernelTunerCache, NamesNanInAStringAsItIs) {
  std::string text = small_cache;
  text.replace(text.find("vector_add"), 10, "NaN kernel");
  EXPECT_EQ(parse(text).header.problem_name, "NaN kernel");
}

/// Wherever a file is cut off, all entries before the cut are read, and the loss is told of.
TEST_F(KernelTunerCache, CutOffAnywhereKeepsWhatIsWhole) {
  const std::size_t begin = small_cache.find("\"cache\"");
  for (std::size_t length = begin + 10; length + 1 < small_cache.size(); ++length) {
    const std::string text = small_cache.substr(0, length);
    std::size_t whole = 0;
    for (std::size_t at = text.find("},", begin); at != std::string::npos; at = text.find("},", at + 1)) ++whole;
    const Results results = parse(text);
    const bool last_is_whole = text.find("1400}") != std::string::npos;
    const std::size_t ended = text.ends_with('}') && !last_is_whole ? 1 : 0;
    EXPECT_EQ(results.evaluations.size(), last_is_whole ? 6 : whole + ended) << text.substr(begin);
    if (last_is_whole) continue;
    EXPECT_THAT(results.notes, Contains(::testing::AnyOf(HasSubstr("torn"), HasSubstr("not closed")))) << length;
  }
}

TEST_F(KernelTunerCache, TornInTheMiddleLosesOneEntry) {
  std::string text = small_cache;
  const std::size_t at = text.find("\"time\": \"RuntimeFailedConfig\"");
  text.erase(at + 5, text.find('\n', at) - at - 5);
  const Results results = parse(text);
  EXPECT_EQ(results.evaluations.size(), 5U);
  EXPECT_THAT(results.notes, Contains(HasSubstr("is damaged; dropped")));
}

TEST_F(KernelTunerCache, AnEntryThatIsNoJsonLosesOneEntry) {
  std::string text = small_cache;
  text.replace(text.find("\"time\": 1e20"), 12, "\"time\"; 1e20");
  const Results results = parse(text);
  EXPECT_EQ(results.evaluations.size(), 5U);
  EXPECT_THAT(results.notes, Contains(HasSubstr("is damaged; dropped")));
}

TEST_F(KernelTunerCache, WithoutParametersInItsEntriesIsReadByItsKeys) {
  std::string text = small_cache;
  text.replace(text.find("\"block_size_x\": 32, \"fast\": true, \"core"), 34, "");
  const Results results = parse(text);
  EXPECT_THAT(results.evaluations[0].configuration, ElementsAre(Value(32), Value(true)));
}

TEST_F(KernelTunerCache, UnderstandsListsOfObjectivesAndScalarSizes) {
  std::string text = small_cache;
  text.replace(text.find("\"objective\": \"time\""), 19, "\"objective\": [\"time\", \"energy\"]");
  text.replace(text.find("[\n4096,\n2\n]"), 11, "100");
  const Results results = parse(text);
  EXPECT_THAT(results.objectives, ElementsAre("time", "energy"));
  EXPECT_THAT(results.header.problem_size, ElementsAre(100));
}

TEST_F(KernelTunerCache, FaultyHeadersAreErrorsThatNameFileAndKey) {
  try {
    parse(R"({"tune_params_keys": "x", "cache": {}})");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'test.json': key 'tune_params_keys'"));
  }
}

TEST_F(KernelTunerCache, KeepsItsResultsWhenWrittenAndReadAgain) {
  const Results results = parse(small_cache);
  const Results again = through(results, ResultFormat::kernel_tuner);
  ASSERT_EQ(again.evaluations.size(), results.evaluations.size());
  for (std::size_t i = 0; i < results.evaluations.size(); ++i) {
    EXPECT_EQ(to_json(again.evaluations[i], again.header.parameter_names),
              to_json(results.evaluations[i], results.header.parameter_names));
  }
}

/// Kernel Tuner goes on with a cache by cutting off its last three characters, and refuses one with other keys.
TEST_F(KernelTunerCache, IsWrittenAsKernelTunerReadsIt) {
  write_results(parse(small_cache), path("out.json"), ResultFormat::kernel_tuner);
  std::string text = text_of(path("out.json"));
  text.resize(text.find_last_not_of(" \n") + 1);
  EXPECT_TRUE(text.ends_with("}\n}"));
  const auto object = nlohmann::json::parse(text);
  EXPECT_EQ(object.at("device_name"), "NVIDIA A100");
  EXPECT_EQ(object.at("kernel_name"), "vector_add");
  EXPECT_EQ(object.at("problem_size"), nlohmann::json({4096, 2}));
  EXPECT_EQ(object.at("tune_params_keys"), nlohmann::json({"block_size_x", "fast"}));
  EXPECT_EQ(object.at("objective"), "time");
  const auto& entry = object.at("cache").at("32,True");
  EXPECT_EQ(entry.at("time"), 2.0);
  EXPECT_EQ(entry.at("times"), nlohmann::json({1.5, 2.5}));
  EXPECT_EQ(entry.at("core_freq"), 1410.0);
  EXPECT_EQ(entry.at("compile_time"), 400.5);
  EXPECT_FALSE(entry.contains("wattune"));
  EXPECT_EQ(object.at("cache").at("32,False").at("time"), "RuntimeFailedConfig");
  EXPECT_EQ(object.at("cache").at("32,False").at("__error__"), "RuntimeFailedConfig");
  // Opened for appending, an entry is added, as Kernel Tuner writes it.
  text.resize(text.size() - 3);
  text += ",\n\"128,None\": {\"block_size_x\": 128, \"fast\": false, \"time\": 1.0},";
  EXPECT_EQ(parse(text).evaluations.size(), 7U);
}

TEST_F(KernelTunerCache, OfTheConvolutionHasTheRecordedResults) {
  const auto file = recorded("hub/convolution_A100.json.gz");
  SKIP_WITHOUT(file);
  const Results results = read_results(file);
  EXPECT_EQ(results.evaluations.size(), 4362U);
  std::map<Outcome, int> counts;
  for (const auto& evaluation : results.evaluations) ++counts[evaluation.outcome];
  EXPECT_EQ(counts[Outcome::ok], 4201);
  EXPECT_EQ(counts[Outcome::launch], 155);
  EXPECT_EQ(counts[Outcome::compile], 6);
  const auto best_index = best(results.evaluations, Objective{"time", Direction::minimize});
  ASSERT_TRUE(best_index);
  const Evaluation& best = results.evaluations[*best_index];
  EXPECT_EQ(best.quantities.at("time").value, 0.5536000076681376 / 1e3);
  EXPECT_THAT(best.configuration, ElementsAre(32, 4, 1, 3, 1, 0, 1, 1, 15, 15));
}

TEST_F(KernelTunerCache, OfTheBeamformerHasTheRecordedResults) {
  const auto file = recorded("ada_tensorcore_beamformer/cache.json.gz");
  SKIP_WITHOUT(file);
  const Results results = read_results(file);
  EXPECT_EQ(results.evaluations.size(), 5120U);
  EXPECT_EQ(std::count_if(results.evaluations.begin(), results.evaluations.end(), [](const auto& e) { return e.ok(); }),
            4690);
  const auto objectives = objectives_of(results, {}, {});
  ASSERT_EQ(objectives.size(), 1U);
  EXPECT_EQ(objectives[0].name, "TFLOPS/J");
  EXPECT_EQ(objectives[0].direction, Direction::maximize);
  const Evaluation& best = results.evaluations[*wattune::best(results.evaluations, objectives[0])];
  EXPECT_NEAR(best.quantities.at("TFLOPS/J").value, 0.93145, 1e-5);
  EXPECT_NEAR(best.quantities.at("time").value, 8.70195e-3, 1e-8);
  EXPECT_NEAR(best.quantities.at(quantity_named(results, "energy")).value, 0.590214, 1e-6);
  EXPECT_EQ(best.configuration[0], Value(1485));
}

TEST_F(KernelTunerCache, OfTimeAndEnergyHasItsParetoFront) {
  const auto file = recorded("kernel_tuner/test_cache_time_energy.json");
  SKIP_WITHOUT(file);
  const Results results = read_results(file);
  const Objective objectives[] = {{"time", Direction::minimize}, {"energy", Direction::minimize}};
  std::vector<Value> sizes;
  for (const std::size_t i : pareto_front(results.evaluations, objectives))
    sizes.push_back(results.evaluations[i].configuration[0]);
  EXPECT_THAT(sizes, ::testing::UnorderedElementsAre(Value(832), Value(896)));
}

}  // namespace
}  // namespace wattune
