#include "model/clock_choice.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "model/capped_least_squares.hpp"
#include "model/recorded_power.hpp"

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PowerModel model_with(double ridge, double rise) {
  PowerModel model;
  model.base_w = 30;
  model.slope_w_per_hz = 4e-8;
  model.voltage = VoltageCurve::hinge(ridge, rise);
  return model;
}

TEST(ClockChoiceTest, TheOptimumIsTheRidgeWhereVoltageRisesSteeply) {
  EXPECT_NEAR(most_efficient_clock(model_with(1.3e9, 8e-10), 4e8, 2.1e9), 1.3e9, 1);
}

TEST(ClockChoiceTest, TheOptimumLiesAboveTheRidgeWhereVoltageRisesSlowly) {
  // P/f = 30/f + 4e-8 (1 + b (f - r))^2 is least where 30/f^2 = 8e-8 b (1 + b (f - r)).
  const double rise = 5e-11;
  const double clock = most_efficient_clock(model_with(1e9, rise), 4e8, 3e9);
  EXPECT_GT(clock, 1.1e9);
  EXPECT_NEAR(30 / (clock * clock) / (8e-8 * rise * (1 + rise * (clock - 1e9))), 1, 1e-3);
}

TEST(ClockChoiceTest, BeyondTheLimitNothingIsChosen) {
  PowerModel model = model_with(1.5e9, 8e-10);
  model.limit_w = 60;  // at 750 MHz
  const std::vector<double> clocks = {400e6, 700e6, 800e6, 1500e6, 2000e6};
  EXPECT_EQ(most_efficient_clock(model, clocks), 700e6);
  model.limit_w = 1;
  EXPECT_EQ(most_efficient_clock(model, clocks), 400e6);
}

TEST(ClockChoiceTest, ClocksAtTheEdgeOfTheWidthAreInside) {
  const std::vector<double> supported = {900e6, 950e6, 1000e6, 1050e6, 1100e6, 1150e6};
  EXPECT_THAT(choose_clocks(supported, 1000e6, 0.1, 0).clocks, ElementsAre(900e6, 950e6, 1000e6, 1050e6, 1100e6));
  EXPECT_NEAR(choose_clocks(supported, 1000e6, 0.1, 0).reduction, 1.0 / 6, 1e-12);
  EXPECT_THAT(choose_clocks(supported, 1000e6, 0.1, 3).clocks, ElementsAre(900e6, 1000e6, 1100e6));
  EXPECT_THAT(choose_clocks(supported, 1000e6, 0.1, 1).clocks, ElementsAre(1000e6));
  EXPECT_THAT(choose_clocks(supported, 1000e6, 0.001, 10).clocks, ElementsAre(1000e6));
}

TEST(VoltageCurveTest, IsLinearBetweenMeasuredPointsAndConstantBeyond) {
  const std::vector<std::pair<double, double>> points = {{1e9, 800}, {5e8, 700}, {5e8, 900}, {2e9, 1600}};
  const VoltageCurve curve = VoltageCurve::measured(points);
  EXPECT_DOUBLE_EQ(curve.at(1e8), 1);
  EXPECT_DOUBLE_EQ(curve.at(1e9), 1);
  EXPECT_DOUBLE_EQ(curve.at(1.5e9), 1.5);
  EXPECT_DOUBLE_EQ(curve.at(9e9), 2);
}

TEST(VoltageCurveTest, TheRidgeOfAMeasuredCurveIsWhereItLeavesItsFlatPart) {
  // As boards have it: steps of 6.25 mV, rising faster and faster.
  std::vector<std::pair<double, double>> points;
  for (int clock = 210; clock <= 1410; clock += 15) {
    const double beyond = std::max(0, clock - 1020);
    points.emplace_back(clock * 1e6, 6.25 * std::round((712.5 + 0.25 * beyond + 0.0007 * beyond * beyond) / 6.25));
  }
  const auto ridge = voltage_ridge(points);
  ASSERT_TRUE(ridge);
  EXPECT_NEAR(ridge->ridge, 1020e6, 20e6);
  EXPECT_LE(ridge->low, ridge->ridge);
  EXPECT_GT(ridge->high, ridge->ridge);
}

TEST(VoltageCurveTest, AFlatCurveHasNoRidge) {
  const std::vector<std::pair<double, double>> flat = {
      {1e9, 800}, {1.1e9, 801}, {1.2e9, 800}, {1.3e9, 802}, {1.4e9, 800}};
  EXPECT_FALSE(voltage_ridge(flat));
}

TEST(VoltageRidgeTest, DoesNotLieBeforeAClockOfLeastVoltage) {
  const std::vector<std::pair<double, double>> points = {{9e8, 0.775},     {1.065e9, 0.775},  {1.215e9, 0.775},
                                                         {1.38e9, 0.8049}, {1.545e9, 0.8625}, {1.71e9, 0.9438},
                                                         {1.875e9, 1.056}};
  const auto ridge = voltage_ridge(points);
  ASSERT_TRUE(ridge);
  EXPECT_GE(ridge->ridge, 1.215e9);
  EXPECT_EQ(ridge->low, 1.215e9);
  EXPECT_EQ(ridge->high, 1.38e9);
}

TEST(CappedLeastSquaresTest, FindsLineAndLimit) {
  std::vector<CappedRow> rows;
  for (int x = 1; x <= 8; ++x) rows.push_back({{static_cast<double>(x), 1, 0}, std::min(3.0 + 2 * x, 13.5)});
  const CappedSolution solution = solve_capped(rows, 2, 2);
  EXPECT_NEAR(solution.coefficients[0], 2, 1e-9);
  EXPECT_NEAR(solution.coefficients[1], 3, 1e-9);
  EXPECT_NEAR(solution.limit, 13.5, 1e-9);
  EXPECT_NEAR(solution.residual, 0, 1e-9);
}

TEST(CappedLeastSquaresTest, NoCoefficientIsNegative) {
  std::vector<CappedRow> rows;
  for (int x = 1; x <= 5; ++x) rows.push_back({{static_cast<double>(x), 1, 0}, 2.0 * x - 1});
  const CappedSolution solution = solve_uncapped(rows, 2);
  EXPECT_EQ(solution.coefficients[1], 0);
  EXPECT_GT(solution.coefficients[0], 1.5);
}

TEST(SupportedClocksTest, AreReadAsRangeAndAsList) {
  EXPECT_THAT(parse_supported_clocks("300:345:15"), ElementsAre(300e6, 315e6, 330e6, 345e6));
  EXPECT_THAT(parse_supported_clocks("135:150:7.5"), ElementsAre(135e6, 142.5e6, 150e6));
  EXPECT_THAT(parse_supported_clocks("900,300,300"), ElementsAre(300e6, 900e6));
}

TEST(SupportedClocksTest, WhatCannotBeReadIsAnError) {
  for (const char* text :
       {"", "a", "300:400", "400:300:15", "300:400:0", "1:2:3:4", "300,,400", "300:400:1e-9", "-5", "nan", "1e999"}) {
    try {
      parse_supported_clocks(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("--supported"));
    }
  }
}

TEST(SupportedClocksTest, AreGuessedFromTheStepsOfTheRequestedOnes) {
  EXPECT_THAT(guess_supported_clocks({300e6, 330e6, 375e6}), ElementsAre(300e6, 315e6, 330e6, 345e6, 360e6, 375e6));
  EXPECT_THAT(guess_supported_clocks({135e6, 142e6, 150e6}), ElementsAre(135e6, 142e6, 150e6));
  EXPECT_THAT(guess_supported_clocks({500e6}), ElementsAre(500e6));
}

}  // namespace
}  // namespace wattune
