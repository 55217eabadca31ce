#include "model/recorded_power.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Two kernels, x = 1 and 2, each at some requested clocks.
Results recording() {
  Results results;
  results.header.parameter_names = {"x", "nvml_gr_clock"};
  results.header.parameter_values = {{1, 2}, {500, 1000, 1500}};
  const auto add = [&](int x, int requested, double clock, double power) {
    Evaluation evaluation;
    evaluation.configuration = {x, requested};
    evaluation.quantities["core_freq"] = {clock, "Hz", nan, 1, {}};
    evaluation.quantities["nvml_power"] = {power, "W", nan, 1, {}};
    evaluation.quantities["time"] = {2, "s", nan, 1, {}};
    results.evaluations.push_back(evaluation);
  };
  add(1, 500, 5e8, 50);
  add(2, 500, 5e8, 40);
  add(2, 1000, 1e9, 60);
  add(2, 1500, 1.4e9, 80);
  add(1, 1500, 1.4e9, 90);
  return results;
}

std::string message_of(const Results& results, const RecordedPowerChoice& choice) {
  try {
    recorded_power(results, choice, "data.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RecordedPowerTest, TheKernelWithTheMostClocksIsTakenAndToldOf) {
  const RecordedPower recorded = recorded_power(recording(), {}, "data.json");
  EXPECT_EQ(recorded.configuration, "x=2");
  ASSERT_THAT(recorded.samples, SizeIs(3));
  EXPECT_EQ(recorded.samples[2].clock_hz, 1.4e9);
  EXPECT_EQ(recorded.samples[2].requested_hz, 1.5e9);
  EXPECT_THAT(recorded.requested_clocks, ElementsAre(5e8, 1e9, 1.5e9));
  ASSERT_THAT(recorded.notes, SizeIs(1));
  EXPECT_THAT(recorded.notes[0], HasSubstr("--where"));
}

TEST(RecordedPowerTest, AnotherKernelIsChosenByItsParameters) {
  RecordedPowerChoice choice;
  choice.where = {{"x", "1"}};
  const RecordedPower recorded = recorded_power(recording(), choice, "data.json");
  EXPECT_EQ(recorded.configuration, "x=1");
  EXPECT_THAT(recorded.samples, SizeIs(2));
  EXPECT_THAT(recorded.notes, IsEmpty());
  choice.where = {{"x", "7"}};
  EXPECT_THAT(message_of(recording(), choice), HasSubstr("as --where asks"));
  choice.where = {{"y", "7"}};
  EXPECT_THAT(message_of(recording(), choice), HasSubstr("there is no parameter 'y'; there are x, nvml_gr_clock"));
}

TEST(RecordedPowerTest, WhatCannotBeUsedIsLeftOutAndCounted) {
  Results results = recording();
  results.evaluations[0].outcome = Outcome::launch;
  results.evaluations[1].quantities["nvml_power"].value = 0;
  results.evaluations[2].quantities["core_freq"].value = nan;
  const RecordedPower recorded = recorded_power(results, {}, "data.json");
  ASSERT_THAT(recorded.notes, SizeIs(3));
  EXPECT_THAT(recorded.notes[0], HasSubstr("1 failed evaluation left out"));
  EXPECT_THAT(recorded.notes[1], HasSubstr("2 evaluations left out"));
}

TEST(RecordedPowerTest, PowerFollowsFromEnergyAndTimeWhereItIsNotRecorded) {
  Results results = recording();
  for (auto& evaluation : results.evaluations) {
    evaluation.quantities["nvml_energy"] = {2 * evaluation.quantities["nvml_power"].value, "J", nan, 1, {}};
    evaluation.quantities.erase("nvml_power");
  }
  const RecordedPower recorded = recorded_power(results, {}, "data.json");
  EXPECT_EQ(recorded.power, "energy / time");
  EXPECT_EQ(recorded.samples[2].power_w, 80);
}

TEST(RecordedPowerTest, RequestedClocksAreASecondChoiceThatIsToldOf) {
  Results results = recording();
  for (auto& evaluation : results.evaluations) evaluation.quantities.erase("core_freq");
  const RecordedPower recorded = recorded_power(results, {}, "data.json");
  EXPECT_EQ(recorded.clock, "nvml_gr_clock");
  EXPECT_EQ(recorded.samples[2].clock_hz, 1.5e9);
  EXPECT_THAT(recorded.notes[0], HasSubstr("requested"));
}

TEST(RecordedPowerTest, ErrorsNameTheFileAndWhatThereIs) {
  Results results = recording();
  EXPECT_THAT(message_of(results, {"foo", "", "", {}}),
              HasSubstr("'data.json': --clock 'foo' is not recorded; there are quantities: core_freq"));
  EXPECT_THAT(message_of(results, {"", "time", "", {}}), HasSubstr("is in s; power is in W"));
  EXPECT_THAT(message_of(results, {"nvml_power", "", "", {}}), HasSubstr("a clock is in Hz or MHz"));
  for (auto& evaluation : results.evaluations) evaluation.quantities.erase("nvml_power");
  EXPECT_THAT(message_of(results, {}), HasSubstr("no power is recorded"));
  for (auto& evaluation : results.evaluations) evaluation.outcome = Outcome::compile;
  EXPECT_THAT(message_of(results, {}), HasSubstr("has a valid power ("));
  results.evaluations.clear();
  EXPECT_THAT(message_of(results, {}), HasSubstr("'data.json': it holds no evaluation"));
}

}  // namespace
}  // namespace wattune
