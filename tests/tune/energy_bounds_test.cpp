#include "tune/energy_bounds.hpp"

#include <gtest/gtest.h>

namespace wattune {
namespace {

DeviceSettings at(double mhz) {
  return {.sm_clock_hz = mhz * 1e6, .memory_clock_hz = {}, .power_limit_w = {}};
}

Evaluation measured(double joules, double beyond_idle) {
  Evaluation evaluation;
  evaluation.quantities["energy"] = {joules, "J", 0.01, 2, {}};
  evaluation.quantities["energy_above_idle"] = {beyond_idle, "J", 0.01, 2, {}};
  return evaluation;
}

TEST(EnergyBounds, reckon_with_a_share_of_the_least_beyond_idle_power_once_enough_was_measured) {
  EnergyBounds bounds;
  EXPECT_FALSE(bounds.least());
  for (int i = 0; i < 4; ++i) bounds.learn(measured(3, 2), at(1000));
  EXPECT_DOUBLE_EQ(*bounds.least(), 3);
  EXPECT_EQ(bounds.beyond_idle(at(1000)), 0);
  bounds.learn(measured(4, 1), at(1000));
  EXPECT_DOUBLE_EQ(bounds.beyond_idle(at(1000)), EnergyBounds::share_of_least * 1);
  EXPECT_DOUBLE_EQ(*bounds.least(), 3);
}

TEST(EnergyBounds, are_those_of_the_same_settings) {
  EnergyBounds bounds;
  for (int i = 0; i < 5; ++i) bounds.learn(measured(3, 2), at(1000));
  EXPECT_EQ(bounds.beyond_idle(at(990)), 0);
  EXPECT_EQ(bounds.beyond_idle({}), 0);
  EXPECT_GT(bounds.beyond_idle(at(1000)), 0);
}

TEST(EnergyBounds, learn_nothing_from_failures_and_what_was_given_up) {
  EnergyBounds bounds;
  Evaluation failed = measured(1, 0.1);
  failed.outcome = Outcome::correctness;
  Evaluation given_up = measured(2, 0.1);
  given_up.quantities.at("energy").flags = {"abandoned_early"};
  for (int i = 0; i < 5; ++i) {
    bounds.learn(failed, {});
    bounds.learn(given_up, {});
  }
  EXPECT_DOUBLE_EQ(*bounds.least(), 2);
  EXPECT_EQ(bounds.beyond_idle({}), 0);
  for (int i = 0; i < 5; ++i) bounds.learn(measured(3, 2), {});
  EXPECT_DOUBLE_EQ(bounds.beyond_idle({}), EnergyBounds::share_of_least * 2);
}

TEST(EnergyBounds, below_idle_power_count_as_none) {
  EnergyBounds bounds;
  for (int i = 0; i < 5; ++i) bounds.learn(measured(3, -0.2), {});
  EXPECT_EQ(bounds.beyond_idle({}), 0);
}

}  // namespace
}  // namespace wattune
