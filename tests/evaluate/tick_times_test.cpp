#include "evaluate/tick_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wattune {
namespace {

/// Ticks every 0.1 s at 500 W whose observed times are off by `errors`.
std::vector<Tick> ticks_with(const std::vector<double>& errors) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double time = 0.1 * static_cast<double>(i);
    ticks.push_back({time + errors[i], 0.003, 500 * time});
  }
  return ticks;
}

TEST(WindowPower, divides_energy_by_time) {
  const auto power = window_power(ticks_with({0, 0, 0, 0}), 1);
  EXPECT_NEAR(power.watts, 500, 1e-9);
  EXPECT_NEAR(power.standard_error, 0, 1e-6);
  EXPECT_EQ(power.intervals, 2);
  EXPECT_NEAR(power.begin, 0.1, 1e-12);
  EXPECT_NEAR(power.end, 0.3, 1e-12);
}

TEST(WindowPower, uses_the_fitted_period_and_not_the_jitter_of_its_ends) {
  const auto power = window_power(ticks_with({0.001, -0.002, 0.002, 0.001, -0.001, 0.002}), 1);
  // As seen, the window would be 0.404 s for 200 J: 495 W.
  EXPECT_LT(std::abs(power.watts - 500), 0.5 * std::abs(200 / 0.404 - 500));
  EXPECT_LT(std::abs(power.watts - 500), 3 * power.standard_error);
}

TEST(WindowPower, knows_ticks_that_were_missed) {
  auto ticks = ticks_with({0, 0, 0, 0, 0, 0, 0});
  ticks.erase(ticks.begin() + 3);
  const auto power = window_power(ticks, 1);
  EXPECT_EQ(power.intervals, 5);
  EXPECT_NEAR(power.watts, 500, 1e-9);
}

TEST(WindowPower, takes_the_times_as_seen_where_they_have_no_period) {
  std::vector<Tick> ticks;
  for (const double time : {0.0, 0.1, 0.16, 0.31, 0.38, 0.52}) ticks.push_back({time, 0.001, 500 * time});
  const auto power = window_power(ticks, 0);
  EXPECT_NEAR(power.watts, 500, 1e-9);
  EXPECT_NEAR(power.standard_error, 500 * 0.001 * std::sqrt(2.0 / 3.0) / 0.52, 0.01);
}

TEST(WindowPower, does_not_know_its_error_from_one_tick_alone) {
  const auto power = window_power(ticks_with({0, 0}), 0);
  EXPECT_NEAR(power.watts, 500, 1e-9);
  EXPECT_TRUE(std::isnan(power.standard_error));
}

}  // namespace
}  // namespace wattune
