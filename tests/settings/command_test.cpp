#include "settings/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Command, IsCutIntoWordsThatQuotationMarksHoldTogether) {
  EXPECT_THAT(split_command("sudo  set -c 'a b' x\"y z\"w ''", "--c"),
              ElementsAre("sudo", "set", "-c", "a b", "xy zw", ""));
  EXPECT_THROW(split_command("  ", "--c"), UsageError);
  EXPECT_THROW(split_command("'' a", "--c"), UsageError);
  try {
    split_command("set 'a", "--voltage-command");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--voltage-command: a quotation mark (') is not closed"));
  }
}

TEST(Command, TakesValuesInPlaceOfKnownNamesOnly) {
  EXPECT_THAT(fill_in({"-i", "{uuid}", "--clock={value},{value}", "{print $1}", "{", "{uuid"},
                      {{"uuid", "GPU-{value}"}, {"value", "600"}}),
              ElementsAre("-i", "GPU-{value}", "--clock=600,600", "{print $1}", "{", "{uuid"));
}

TEST(Command, GivesWhatTheProgramPrints) {
  const auto result = run_command({"printf", "%s|%s", "a b", ""}, 20);
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.output, "a b|");
  EXPECT_EQ(result.problem, "");
}

TEST(Command, SaysHowTheProgramFailed) {
  EXPECT_EQ(run_command({"sh", "-c", "echo no such board >&2; exit 3"}, 20).problem,
            "exited with code 3: no such board");
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, 20).problem, "was killed by signal 9");
  EXPECT_THAT(run_command({"/nonexistent/program"}, 20).problem, HasSubstr("cannot be run: No such file"));
}

TEST(Command, IsKilledWithAllThatItHasStartedWhenItsTimeIsUp) {
  const auto result = run_command({"sh", "-c", "sleep 1000 & sleep 1000"}, 0.1);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.problem, "did not end within 0.1 s");
}

TEST(Command, DoesNotWaitForWhatItLeavesRunning) {
  const double began = monotonic_seconds();
  EXPECT_TRUE(run_command({"sh", "-c", "sleep 60 & echo done"}, 50).ok);
  EXPECT_LT(monotonic_seconds() - began, 50);
}

TEST(Command, KeepsTheFirstOfALotOfOutput) {
  const auto result = run_command({"sh", "-c", "head -c 1000000 /dev/zero"}, 50);
  EXPECT_TRUE(result.ok) << result.problem;
  EXPECT_EQ(result.output.size(), std::size_t{1} << 16);
}

TEST(Command, LetsSomethingElseBeDoneMeanwhile) {
  int turns = 0;
  EXPECT_TRUE(run_command({"sleep", "0.1"}, 20, [&] { ++turns; }).ok);
  EXPECT_GT(turns, 1);
}

}  // namespace
}  // namespace wattune
