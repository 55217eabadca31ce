#include "settings/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_board.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> in_megahertz(std::vector<double> clocks) {
  for (double& clock : clocks) clock *= 1e-6;
  return clocks;
}

class Selection : public testing::Test {
 protected:
  std::vector<double> clocks(const std::string& text) const {
    return in_megahertz(select_settings(Setting::sm_clock, text, capabilities, "--clocks"));
  }
  std::vector<double> limits(const std::string& text) const {
    return select_settings(Setting::power_limit, text, capabilities, "--power-limits");
  }
  std::string clocks_error(const std::string& text) const {
    return error_of([&] { static_cast<void>(clocks(text)); });
  }

  FakeSettableBoard board{std::make_shared<FakeSettings>(), "GPU-1"};
  const Capabilities& capabilities = board.capabilities();
};

TEST_F(Selection, ListOfClocksIsSortedAndUnique) {
  EXPECT_THAT(clocks("1200,210,1200"), ElementsAre(210, 1200));
}

TEST_F(Selection, RangeWithoutNumberGivesEverySupportedClockInIt) {
  EXPECT_THAT(clocks("1380:1410"), ElementsAre(1380, 1395, 1410));
}

TEST_F(Selection, RangeWithNumberIsEvenlySpacedAndHoldsBothEnds) {
  EXPECT_THAT(clocks("210:1410:5"), ElementsAre(210, 510, 810, 1110, 1410));
  EXPECT_THAT(clocks(":3"), ElementsAre(210, 810, 1410));
}

TEST_F(Selection, MoreValuesThanThereAreGiveThoseThatThereAre) {
  EXPECT_THAT(clocks("1395:1410:9"), ElementsAre(1395, 1410));
}

TEST_F(Selection, AllGivesEveryClock) {
  EXPECT_EQ(clocks("all").size(), 81U);
}

TEST_F(Selection, UnsupportedClockNamesTheNearest) {
  EXPECT_EQ(clocks_error("1203"), "--clocks: 1203 MHz is not supported by Fake 100; the nearest are 1200, 1215 MHz");
  EXPECT_THAT(clocks_error("1500"), HasSubstr("the nearest are 1410 MHz"));
}

TEST_F(Selection, RangeWithoutSupportedClocksSaysWhatIsSupported) {
  EXPECT_THAT(clocks_error("1411:1424"), HasSubstr("it supports 210 to 1410 MHz"));
}

TEST_F(Selection, WhatCannotBeReadSaysHowToWriteIt) {
  EXPECT_THAT(clocks_error("fast"), HasSubstr("write a list (A,B,C), a range (LO:HI)"));
  EXPECT_THAT(clocks_error("1:2:3:4"), HasSubstr("too many colons"));
  EXPECT_THAT(clocks_error("210:1410:none"), HasSubstr("no number of values"));
  EXPECT_THAT(clocks_error("-5"), HasSubstr("no positive number in MHz"));
  EXPECT_THAT(clocks_error(""), HasSubstr("no positive number"));
}

TEST_F(Selection, PowerLimitsGoFromTheLeastToTheDefault) {
  EXPECT_THAT(limits(":3"), ElementsAre(150, 200, 250));
  EXPECT_EQ(limits("all").size(), 7U);
}

TEST_F(Selection, PowerLimitAboveTheDefaultIsTakenWhereAsked) {
  EXPECT_THAT(limits("300"), ElementsAre(300));
}

TEST_F(Selection, PowerLimitThatTheBoardDoesNotTakeNamesTheRange) {
  EXPECT_EQ(error_of([&] { limits("100"); }),
            "--power-limits: 100 W is not supported by Fake 100; it takes 150 to 300 W");
}

TEST_F(Selection, ParameterHasWholeNumbersInTheUnitsOfTheEdges) {
  const Parameter parameter = setting_parameter(Setting::sm_clock, {1200e6, 1215e6});
  EXPECT_EQ(parameter.name, "nvml_gr_clock");
  EXPECT_EQ(parameter.values, (std::vector<Value>{std::int64_t{1200}, std::int64_t{1215}}));
}

TEST_F(Selection, ValuesOfAProblemFileAreChecked) {
  const std::vector<Value> values = {std::int64_t{1200}, std::int64_t{1201}};
  EXPECT_THAT(error_of([&] { check_setting_values(Setting::sm_clock, values, capabilities, "p.json: nvml_gr_clock"); }),
              HasSubstr("p.json: nvml_gr_clock: 1201 MHz is not supported"));
}

}  // namespace
}  // namespace wattune
