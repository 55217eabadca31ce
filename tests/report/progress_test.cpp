#include "report/progress.hpp"

#include <gmock/gmock.h>

#include "report/table.hpp"
#include "sample.hpp"

namespace wattune {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressOptions options(bool terminal) {
    ProgressOptions result;
    result.terminal = terminal;
    result.width = [this] { return width; };
    result.write = [this](std::string_view text) { written += text; };
    result.clock = [this] { return now; };
    result.objective = {"time", Direction::minimize};
    return result;
  }
  static Evaluation good(double time) { return measured({Value(1)}, {{"time", seconds(time, 1e-6)}}); }
  static Evaluation bad() { return failed({Value(1)}, Outcome::compile, "no"); }

  double now = 1000;
  std::size_t width = 80;
  std::string written;
};

TEST_F(ProgressTest, TheLineSaysWhatIsDoneHowWellAndHowLongItTakes) {
  ProgressOptions with_plan = options(false);
  with_plan.evaluations = 200;
  Progress progress(with_plan);
  progress.add(good(3e-3), true);  // from the journal: counts, but not for the rate
  now += 10;
  progress.add(good(2e-3));
  now += 10;
  progress.add(bad());
  EXPECT_EQ(progress.line(), "[  3/200] 1 failed, best time 2.000 ms, 6.0/min, 32 min 50 s left");
}

TEST_F(ProgressTest, TheBudgetOfTimeLimitsWhatIsLeft) {
  ProgressOptions limited = options(false);
  limited.evaluations = 1000;
  limited.seconds = 60;
  Progress progress(limited);
  now += 10;
  progress.add(good(1e-3));
  EXPECT_THAT(progress.line(), HasSubstr("50 s left"));
  progress.plan(2);
  EXPECT_THAT(progress.line(), HasSubstr("[1/2]"));
  EXPECT_THAT(progress.line(), HasSubstr("10 s left"));
  now += 1000;
  EXPECT_THAT(progress.line(), HasSubstr(" 0.0 s left"));
}

TEST_F(ProgressTest, WithoutALimitNothingIsSaidOfWhatIsLeft) {
  Progress progress(options(false));
  now += 0.5;
  progress.add(good(1e-3));
  EXPECT_EQ(progress.line(), "[1] 0 failed, best time 1.000 ms, 2.0/s");
}

TEST_F(ProgressTest, TheRateIsTheRecentOne) {
  Progress progress(options(false));
  for (int i = 0; i < 100; ++i) {
    now += 1;
    progress.add(good(1e-3));
  }
  for (int i = 0; i < 100; ++i) {
    now += 0.1;
    progress.add(good(1e-3));
  }
  EXPECT_THAT(progress.line(), HasSubstr("10.0/s"));
}

TEST_F(ProgressTest, AnObjectiveToMaximiseHasItsBestValue) {
  ProgressOptions maximize = options(false);
  maximize.objective = {"GFLOP/s", Direction::maximize};
  Progress progress(maximize);
  for (const double rate : {100.0, 300.0, 200.0}) {
    progress.add(measured({Value(1)}, {{"GFLOP/s", Quantity{rate, "GFLOP/s", 1, 3, {}}}}));
  }
  EXPECT_THAT(progress.line(), HasSubstr("best GFLOP/s 300.0"));
}

TEST_F(ProgressTest, OnATerminalOneLineIsRewrittenWithinItsWidth) {
  width = 30;
  Progress progress(options(true));
  progress.add(good(1e-3));
  EXPECT_THAT(written, ::testing::StartsWith("\r[1] 0 failed"));
  EXPECT_THAT(written, EndsWith("\033[K"));
  EXPECT_THAT(written, Not(HasSubstr("\n")));
  EXPECT_LE(display_width(written.substr(1, written.size() - 4)), width - 1);
}

TEST_F(ProgressTest, OnATerminalItIsDrawnNoMoreOftenThanIsSeen) {
  Progress progress(options(true));
  for (int i = 0; i < 1000; ++i) {
    now += 0.001;
    progress.add(good(1e-3));
  }
  EXPECT_LE(std::count(written.begin(), written.end(), '\r'), 11);
}

TEST_F(ProgressTest, ElsewhereALineComesEveryFewSecondsAndAtTheEnd) {
  Progress progress(options(false));
  for (int i = 0; i < 120; ++i) {
    now += 0.1;
    progress.add(good(1e-3));
  }
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 2);
  EXPECT_THAT(written, Not(HasSubstr("\r")));
  progress.finish();
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 3);
  EXPECT_THAT(written, HasSubstr("[120] 0 failed"));
}

TEST_F(ProgressTest, ElsewhereNothingIsRepeatedWhileNothingFinishes) {
  Progress progress(options(false));
  for (int i = 0; i < 110; ++i) {
    now += 1;
    progress.tick();
  }
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 2);  // after 5 s and after 65 s
  progress.add(good(1e-3));
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 3);
}

TEST_F(ProgressTest, TicksDrawWhileNothingFinishes) {
  ProgressOptions limited = options(true);
  limited.seconds = 100;
  Progress progress(limited);
  progress.tick();
  EXPECT_THAT(written, HasSubstr("[0] 0 failed, 1 min 40 s left"));
  now += 1;
  progress.tick();
  EXPECT_THAT(written, HasSubstr("1 min 39 s left"));
}

TEST_F(ProgressTest, MessagesStayAboveTheLine) {
  Progress progress(options(true));
  progress.add(good(1e-3));
  written.clear();
  progress.message("warning: something");
  EXPECT_THAT(written, ::testing::StartsWith("\r\033[Kwarning: something\n\r[1]"));
  written.clear();
  progress.finish();
  EXPECT_THAT(written, EndsWith("\n"));
  written.clear();
  progress.finish();
  progress.tick();
  progress.message("after");
  EXPECT_EQ(written, "after\n");
}

TEST_F(ProgressTest, ARunWithoutEvaluationsSaysNothing) {
  Progress progress(options(false));
  progress.finish();
  EXPECT_EQ(written, "");
}

}  // namespace
}  // namespace wattune
