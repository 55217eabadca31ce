#include "report/format.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace wattune {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Format, UnitsAreThosePeopleUse) {
  EXPECT_EQ(format_value(1.5, "s"), "1.500 s");
  EXPECT_EQ(format_value(0.0012345, "s"), "1.234 ms");
  EXPECT_EQ(format_value(12.3456e-6, "s"), "12.35 us");
  EXPECT_EQ(format_value(3e-9, "s"), "3.000 ns");
  EXPECT_EQ(format_value(1410e6, "Hz"), "1410 MHz");
  EXPECT_EQ(format_value(210.26, "W"), "210.3 W");
  EXPECT_EQ(format_value(0.2595, "J"), "259.5 mJ");
  EXPECT_EQ(format_value(1.5e6, "J"), "1.500 MJ");
  EXPECT_EQ(format_value(61, "degC"), "61.00 degC");
  EXPECT_EQ(format_value(12345.6, "GFLOP/s"), "12346 GFLOP/s");
  EXPECT_EQ(format_value(2.5, ""), "2.500");
  EXPECT_EQ(format_value(-0.002, "s"), "-2.000 ms");
}

TEST(Format, WhatRoundsUpTakesTheLargerUnit) {
  EXPECT_EQ(format_value(999.96e-6, "s"), "1.000 ms");
  EXPECT_EQ(format_value(999.4e-6, "s"), "999.4 us");
  EXPECT_EQ(format_value(1e-3, "s"), "1.000 ms");
  EXPECT_EQ(format_value(9.9996, "W"), "10.00 W");
}

TEST(Format, PercentagesStayShort) {
  EXPECT_EQ(format_percent(0.1234), "12.34");
  EXPECT_EQ(format_percent(-0.5), "-50.00");
  EXPECT_EQ(format_percent(1e300), "1.0e+302");
  EXPECT_EQ(format_percent(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(format_percent(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Format, MissingIsNeverZero) {
  EXPECT_EQ(format_value(nan, "s"), "-");
  EXPECT_EQ(format_value(0, "s"), "0 s");
  EXPECT_EQ(format_quantity(Quantity{}), "-");
}

TEST(Format, TheUncertaintyDecidesTheDigits) {
  auto text = [](double value, double error) { return format_quantity({value, "s", error, 5, {}}); };
  EXPECT_EQ(text(1.23456e-3, 5.2e-6), "1.235 +- 0.005 ms");
  EXPECT_EQ(text(1.23456e-3, 1.2e-6), "1.2346 +- 0.0012 ms");
  EXPECT_EQ(text(1.23456e-3, 1.97e-6), "1.235 +- 0.002 ms");
  EXPECT_EQ(text(1.23456e-3, 4e-4), "1.2 +- 0.4 ms");
  EXPECT_EQ(text(512.3, 25), "512 +- 25 s");
  EXPECT_EQ(text(1.5, 0), "1.500 s");
  EXPECT_EQ(text(1.5, nan), "1.500 s");
  EXPECT_EQ(text(1.5, 1e-14), "1.500 +- 1e-14 s");
}

TEST(Format, VeryLargeAndVerySmallNumbersAreShort) {
  EXPECT_EQ(format_value(2.5e12, "FLOP/s"), "2.500e+12 FLOP/s");
  EXPECT_EQ(format_value(2.5e-7, "x"), "2.500e-07 x");
  EXPECT_EQ(format_quantity({2.5e12, "FLOP/s", 1e9, 5, {}}), "2.500e+12 +- 1e+09 FLOP/s");
}

TEST(Format, Configurations) {
  EXPECT_EQ(format_configuration({Value(128), Value("row"), Value(true)}, {"block", "layout", "unroll"}),
            "block=128 layout=row unroll=True");
}

}  // namespace
}  // namespace wattune
