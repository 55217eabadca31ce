#include "base/duration.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace wattune {
namespace {

TEST(Duration, WhatPeopleWaitForHasTwoParts) {
  EXPECT_EQ(format_duration(3.21), "3.2 s");
  EXPECT_EQ(format_duration(59.4), "59 s");
  EXPECT_EQ(format_duration(59.6), "1 min");
  EXPECT_EQ(format_duration(600), "10 min");
  EXPECT_EQ(format_duration(725), "12 min 5 s");
  EXPECT_EQ(format_duration(3720), "1 h 2 min");
  EXPECT_EQ(format_duration(7200), "2 h");
  EXPECT_EQ(format_duration(180000), "2 d 2 h");
}

TEST(Duration, IntervalsStandInTheUnitInWhichTheyReadBest) {
  EXPECT_EQ(format_interval(1), "1 s");
  EXPECT_EQ(format_interval(1.0004), "1 s");
  EXPECT_EQ(format_interval(0.99996), "1 s");
  EXPECT_EQ(format_interval(0.1), "100 ms");
  EXPECT_EQ(format_interval(0.0999999), "100 ms");
  EXPECT_EQ(format_interval(1.2345e-3), "1.23 ms");
  EXPECT_EQ(format_interval(999.9e-6), "1 ms");
  EXPECT_EQ(format_interval(25e-6), "25 us");
  EXPECT_EQ(format_interval(3e-9), "3 ns");
  EXPECT_EQ(format_interval(0), "0 s");
  EXPECT_EQ(format_interval(12.34), "12.3 s");
  EXPECT_EQ(format_interval(59.97), "1 min");
  EXPECT_EQ(format_interval(90), "1 min 30 s");
}

TEST(Duration, WhatIsNoneIsADash) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double none : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(format_duration(none), "-");
    EXPECT_EQ(format_interval(none), "-");
  }
}

}  // namespace
}  // namespace wattune
