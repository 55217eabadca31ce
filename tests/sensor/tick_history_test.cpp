#include "sensor/tick_history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wattune {
namespace {

/// A tick of a counter with a period of 0.1 s at 500 W, seen `error` seconds late.
Tick tick(int number, double error = 0, double uncertainty = 0.002) {
  const double time = 7 + 0.1 * number;
  return {time + error, uncertainty, 500 * time};
}

TickHistory regular_history() {
  TickHistory history;
  for (int i = 0; i < 20; ++i) history.add(tick(i, i % 2 == 0 ? 0.001 : -0.001));
  return history;
}

TEST(TickHistory, knows_period_and_next_step_after_a_few) {
  TickHistory history;
  for (int i = 0; i < 4; ++i) history.add(tick(i));
  EXPECT_FALSE(history.regular());
  EXPECT_FALSE(history.next(8));
  history.add(tick(4));
  ASSERT_TRUE(history.regular());
  EXPECT_NEAR(history.period(), 0.1, 1e-9);
  EXPECT_NEAR(history.next(12.34).value(), 12.4, 1e-6);
}

TEST(TickHistory, bridges_steps_that_were_missed_and_pauses) {
  TickHistory history;
  for (const int i : {0, 1, 2, 4, 5, 6, 9, 50, 51, 300}) history.add(tick(i));
  ASSERT_TRUE(history.regular());
  EXPECT_NEAR(history.period(), 0.1, 1e-9);
}

TEST(TickHistory, takes_steps_between_where_they_were_seen_and_where_they_were_due) {
  const TickHistory history = regular_history();
  const double time = history.time(tick(30, 0.002));
  EXPECT_GT(time, 10.0002);
  EXPECT_LT(time, 10.0018);
  EXPECT_GT(history.jitter(), 0.0001);
  EXPECT_LT(history.jitter(), 0.001);
}

TEST(TickHistory, does_not_believe_a_call_that_was_held_up) {
  const TickHistory history = regular_history();
  EXPECT_NEAR(history.time(tick(30, 0.009, 0.01)), 10, 0.0005);
}

TEST(TickHistory, takes_the_last_step_of_a_time_in_which_nobody_looked) {
  // Looked at just after step 29 was due, and again just before step 30 was: it came early.
  const TickHistory history = regular_history();
  EXPECT_NEAR(history.time({9.9 + 0.0498, 0.05, 0}), 10, 0.0005);
  // And over two steps.
  EXPECT_NEAR(history.time({9.95, 0.1, 0}), 10, 0.0005);
}

TEST(TickHistory, refuses_a_step_of_which_it_cannot_be_told_which_it_was) {
  TickHistory history = regular_history();    // the last step was at 8.9
  EXPECT_FALSE(history.add({9.05, 0.1, 0}));  // looked at 8.95 and 9.15: if it was read in between, 9.0 or 9.1
  EXPECT_TRUE(history.add({9.22, 0.05, 0}));  // held up as well, but only 9.2 was due
  EXPECT_NEAR(history.next(9.25).value(), 9.3, 0.0005);
}

TEST(TickHistory, knows_a_step_that_came_early_by_the_one_before) {
  TickHistory history = regular_history();
  ASSERT_TRUE(history.add(tick(20)));
  // Looked at just before it was due, and nothing but the step before lies in between.
  EXPECT_TRUE(history.add({9.0499, 0.0499, 0}));
  EXPECT_NEAR(history.time({9.0499, 0.0499, 0}), 9.1, 0.0005);
}

TEST(TickHistory, stays_as_it_is_where_one_tick_does_not_fit) {
  TickHistory history = regular_history();
  history.add(tick(30, 0.04));
  history.add(tick(31));
  EXPECT_NEAR(history.next(10.21).value(), 10.3, 0.0005);
}

TEST(TickHistory, begins_anew_where_the_counter_changes_its_ways) {
  TickHistory history = regular_history();
  for (int i = 0; i < 19; ++i) history.add({20.05 + 0.02 * i, 0.001, 0});
  ASSERT_TRUE(history.regular());
  EXPECT_NEAR(history.period(), 0.02, 1e-6);
}

TEST(TickHistory, has_no_period_where_steps_have_none) {
  TickHistory history;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> gap(0.01, 0.4);
  double time = 0;
  for (int i = 0; i < 50; ++i) history.add({time += gap(random), 1e-4, 0});
  EXPECT_FALSE(history.regular());
}

TEST(WindowPower, divides_energy_by_time) {
  const std::vector<Tick> ticks = {tick(30), tick(31), tick(32), tick(33)};
  const auto power = window_power(ticks, 1, regular_history());
  EXPECT_NEAR(power.watts, 500, 0.2);
  EXPECT_EQ(power.intervals, 2);
  EXPECT_NEAR(power.begin, 10.1, 3e-4);
  EXPECT_NEAR(power.end, 10.3, 3e-4);
}

TEST(WindowPower, is_sharper_with_a_history_than_from_the_times_seen) {
  const std::vector<Tick> ticks = {tick(30, 0.002), tick(31, -0.002), tick(32, -0.002)};
  const auto power = window_power(ticks, 0, regular_history());
  const auto as_seen = window_power(ticks, 0, TickHistory());
  EXPECT_LT(std::abs(power.watts - 500), 0.7 * std::abs(as_seen.watts - 500));
}

TEST(WindowPower, knows_ticks_that_were_missed) {
  const std::vector<Tick> ticks = {tick(30), tick(31), tick(34), tick(35)};
  const auto power = window_power(ticks, 0, regular_history());
  EXPECT_EQ(power.intervals, 5);
  EXPECT_NEAR(power.watts, 500, 0.2);
}

TEST(WindowPower, takes_the_times_as_seen_where_they_have_no_period) {
  const auto power = window_power({{0, 0.001, 0}, {0.1, 0.001, 50}, {0.26, 0.001, 130}}, 0, TickHistory());
  EXPECT_NEAR(power.watts, 500, 1e-9);
  EXPECT_NEAR(power.standard_error, 500 * 0.001 * std::sqrt(2.0 / 3.0) / 0.26, 0.01);
}

TEST(WindowPower, states_an_error_that_the_times_of_its_ends_explain) {
  std::mt19937 random(5);
  std::normal_distribution<double> error(0, 0.001);
  TickHistory history;
  for (int i = 0; i < 60; ++i) history.add(tick(i, error(random)));
  int within = 0;
  constexpr int windows = 500;
  for (int i = 0; i < windows; ++i) {
    const int first = 100 + 3 * i;
    std::vector<Tick> ticks;
    for (int j = 0; j < 3; ++j) {
      ticks.push_back(tick(first + j, error(random)));
      history.add(ticks.back());
    }
    const auto power = window_power(ticks, 0, history);
    if (std::abs(power.watts - 500) <= 1.96 * power.standard_error) ++within;
  }
  EXPECT_GE(within, windows * 90 / 100);
}

}  // namespace
}  // namespace wattune
