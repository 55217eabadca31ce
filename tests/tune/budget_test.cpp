#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tune/tuner.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

TEST(ParseBudget, reads_evaluations_times_and_shares) {
  EXPECT_EQ(parse_budget("200").evaluations, 200U);
  EXPECT_EQ(parse_budget("200 evaluations").evaluations, 200U);
  EXPECT_DOUBLE_EQ(*parse_budget("90s").seconds, 90);
  EXPECT_DOUBLE_EQ(*parse_budget("10min").seconds, 600);
  EXPECT_DOUBLE_EQ(*parse_budget("1.5 h").seconds, 5400);
  EXPECT_DOUBLE_EQ(*parse_budget("5%").fraction, 0.05);
}

TEST(ParseBudget, takes_several_joined_by_commas_and_the_smaller_of_two_alike) {
  const Budget budget = parse_budget("200, 10min,50,1h");
  EXPECT_EQ(budget.evaluations, 50U);
  EXPECT_DOUBLE_EQ(*budget.seconds, 600);
  EXPECT_FALSE(budget.fraction);
}

TEST(ParseBudget, refuses_what_is_no_budget_and_says_what_is) {
  for (const char* text : {"", "soon", "-5", "0", "1.5", "10 parsecs", "200,", "101%", "nan", "inf", "1e400", "5x"}) {
    try {
      parse_budget(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("--budget"));
      EXPECT_THAT(error.what(), HasSubstr("10min"));
    }
  }
}

TEST(BudgetText, says_what_ends_the_run) {
  EXPECT_EQ(to_string(parse_budget("200,10min,5%")), "200 evaluations or 5 % of the space or 10 min");
  EXPECT_EQ(to_string(Budget{}), "no limit");
}

}  // namespace
}  // namespace wattune
