#include "tune/launch_limit.hpp"

#include <gtest/gtest.h>

namespace wattune {
namespace {

Evaluation timed(double seconds, double verify_seconds = 0) {
  Evaluation evaluation;
  evaluation.quantities["time"] = {seconds, "s", 0, 5, {}};
  if (verify_seconds > 0) evaluation.phases["verify"] = verify_seconds;
  return evaluation;
}

TEST(LaunchLimit, knows_nothing_before_a_launch_was_timed) {
  LaunchLimit limit;
  EXPECT_FALSE(limit.of_phase("verify"));
  Evaluation failed = timed(1e-3);
  failed.outcome = Outcome::correctness;
  limit.learn(failed);
  EXPECT_FALSE(limit.fastest());
  EXPECT_FALSE(limit.of_phase("verify"));
}

TEST(LaunchLimit, is_many_times_the_fastest_launch_and_a_floor) {
  LaunchLimit limit;
  limit.learn(timed(0.5));
  limit.learn(timed(0.2));
  limit.learn(timed(0.3));
  EXPECT_DOUBLE_EQ(*limit.fastest(), 0.2);
  EXPECT_DOUBLE_EQ(*limit.of_phase("verify"), 10 + 100 * 0.2);
  EXPECT_DOUBLE_EQ(*limit.of_phase("warm_up"), 10 + 100 * 0.2);
}

TEST(LaunchLimit, leaves_time_for_comparing_large_outputs) {
  LaunchLimit limit;
  limit.learn(timed(1e-3, 8));
  EXPECT_DOUBLE_EQ(*limit.of_phase("verify"), 24 + 0.1);
  EXPECT_DOUBLE_EQ(*limit.of_phase("warm_up"), 10 + 0.1);
}

TEST(LaunchLimit, is_not_for_phases_whose_length_is_chosen) {
  LaunchLimit limit;
  limit.learn(timed(1e-3));
  EXPECT_FALSE(limit.of_phase("load"));
  EXPECT_FALSE(limit.of_phase("time"));
  EXPECT_FALSE(limit.of_phase("energy"));
}

}  // namespace
}  // namespace wattune
