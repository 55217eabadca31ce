#include "evaluate/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wattune {
namespace {

TEST(Statistics, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddle) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{4, 1, 3, 2}).median, 2.5);
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{5, 1, 3}).median, 3);
}

TEST(Statistics, OneSampleHasNoScatter) {
  const Summary summary = summarize(std::vector<double>{2});
  EXPECT_DOUBLE_EQ(summary.median, 2);
  EXPECT_DOUBLE_EQ(summary.minimum, 2);
  EXPECT_TRUE(std::isnan(summary.standard_error));
  EXPECT_TRUE(std::isnan(summary.deviation));
}

TEST(Statistics, TheStandardErrorIsThatOfTheMedian) {
  const Summary summary = summarize(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_NEAR(summary.deviation, std::sqrt(2.5), 1e-12);
  EXPECT_NEAR(summary.standard_error, 1.2533 * std::sqrt(2.5) / std::sqrt(5.0), 1e-12);
}

TEST(Statistics, ARiseIsADriftAndScatterIsNot) {
  std::vector<double> rising;
  std::vector<double> scattered;
  for (int i = 0; i < 30; ++i) {
    rising.push_back(1 + 0.02 * i);
    scattered.push_back(i % 2 == 0 ? 1.0 : 1.3);
  }
  EXPECT_TRUE(drifts(rising));
  EXPECT_FALSE(drifts(scattered));
  EXPECT_FALSE(drifts(std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace wattune
