// How a board behaves over time: clocks, limits, heat, reasons.

#include <gtest/gtest.h>

#include <cstring>

#include "curve.hpp"

namespace wattune::simgpu {
namespace {

constexpr double endless = 1e12;

class BoardTest : public testing::Test {
 protected:
  void use(const std::string& id) {
    description = &board_named(id);
    board.emplace(*description, state);
    board->reset(1);
    board->set_contexts(1);
  }
  void run(const std::string& workload, double seconds) {
    board->run(workload_named(*description, workload), endless, board->now() + seconds);
  }
  const Description* description = nullptr;
  BoardState state;
  std::optional<Board> board;
};

TEST_F(BoardTest, RunsLaunchesForAsLongAsTheyTake) {
  use("a100-pcie-40gb");
  run("fma_chain", 1);
  const Work& work = workload_named(*description, "fma_chain");
  const double start = board->now();
  EXPECT_EQ(board->run(work, 20, start + 1), 0);
  EXPECT_NEAR(board->now() - start, 20 * work.sm_cycles / (1410 * mega), 1e-9);
}

TEST_F(BoardTest, AnInterruptedLaunchGoesOnWhereItWas) {
  use("a100-pcie-40gb");
  run("fma_chain", 1);
  const Work& work = workload_named(*description, "fma_chain");
  const double start = board->now();
  double left = 3;
  while (left > 0) left = board->run(work, left, board->now() + 0.0007);
  EXPECT_NEAR(board->now() - start, 3 * work.sm_cycles / (1410 * mega), 1e-7);
}

TEST_F(BoardTest, ATimeThatHasPassedChangesNothing) {
  use("h200");
  run("gemm", 1);
  const BoardState before = state;
  board->idle_until(0.5);
  EXPECT_EQ(board->run(workload_named(*description, "gemm"), 2, 0.5), 2);
  EXPECT_EQ(std::memcmp(&before, &state, sizeof state), 0);
}

TEST_F(BoardTest, ComputeBoundTimeFollowsTheClockAndMemoryBoundTimeHardly) {
  use("a100-pcie-40gb");
  const auto seconds = [&](const std::string& workload, double mhz) {
    return launch_seconds(*description, workload_named(*description, workload), mhz * mega, 1215 * mega);
  };
  EXPECT_NEAR(seconds("fma_chain", 705) / seconds("fma_chain", 1410), 2, 1e-9);
  EXPECT_LT(seconds("stream_copy", 1005) / seconds("stream_copy", 1410), 1.02);
  EXPECT_GT(seconds("stream_copy", 210) / seconds("stream_copy", 1410), 2);
}

TEST_F(BoardTest, TheClockFollowsALockAfterItHasSettled) {
  use("a100-pcie-40gb");
  run("fma_chain", 1);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1410 * mega);
  board->lock_sm_clock(810 * mega, 810 * mega);
  run("fma_chain", 0.01);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1410 * mega);
  run("fma_chain", 0.2);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 810 * mega);
  EXPECT_EQ(board->throttle_reasons(), throttle::application_clocks);
  board->reset_sm_clock();
  run("fma_chain", 0.2);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1410 * mega);
  EXPECT_EQ(board->throttle_reasons(), 0);
}

TEST_F(BoardTest, APowerLimitLowersTheClockInItsSteps) {
  use("a100-pcie-40gb");
  run("gemm", 30);
  board->set_power_limit(150);
  const std::uint64_t before = board->throttle_nanoseconds(throttle::power_cap);
  run("gemm", 10);
  EXPECT_TRUE(board->throttle_reasons() & throttle::power_cap);
  // Real ones were seen at about 1045 MHz.
  EXPECT_GT(board->sm_clock(), 960 * mega);
  EXPECT_LT(board->sm_clock(), 1110 * mega);
  const double steps = (board->sm_clock() - 210 * mega) / (15 * mega);
  EXPECT_NEAR(steps, std::round(steps), 1e-6);
  EXPECT_GT(board->throttle_nanoseconds(throttle::power_cap) - before, 9'900'000'000U);
  const double energy = board->true_energy();
  run("gemm", 10);
  EXPECT_NEAR((board->true_energy() - energy) / 10, 150, 2);
}

TEST_F(BoardTest, UnderALimitTheClockWanders) {
  use("rtx-a4000");
  run("fma_chain", 60);
  double low = 1e12;
  double high = 0;
  for (int i = 0; i < 500; ++i) {
    run("fma_chain", 0.01);
    low = std::min(low, board->sm_clock());
    high = std::max(high, board->sm_clock());
  }
  EXPECT_GT(high, low);
  EXPECT_LT(high - low, 100 * mega);
}

TEST_F(BoardTest, TheClockComesBackWhenTheLimitDoes) {
  use("v100-pcie");
  board->set_power_limit(100);
  run("gemm", 5);
  EXPECT_LT(board->sm_clock(), 1000 * mega);
  board->set_power_limit(250);
  run("gemm", 5);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1380 * mega);
  EXPECT_EQ(board->throttle_reasons() & throttle::power_cap, 0);
}

TEST_F(BoardTest, HeatLowersTheClock) {
  use("titan-rtx");
  Description hot = *description;
  hot.thermal.ambient = 50;
  hot.power_limit_default = 320;
  Board oven(hot, state);
  oven.reset(1);
  oven.set_contexts(1);
  const Work& work = workload_named(hot, "gemm");
  oven.run(work, endless, 600);
  EXPECT_EQ(oven.throttle_reasons() & throttle::software_thermal, throttle::software_thermal);
  EXPECT_GT(oven.throttle_nanoseconds(throttle::software_thermal), 0);
  EXPECT_NEAR(oven.temperature(), hot.thermal.slowdown, 2);
  EXPECT_LT(oven.true_power(), 300);

  // Cooler, under a power limit, it is that which holds the clock.
  oven.set_power_limit(150);
  oven.run(work, endless, 900);
  EXPECT_EQ(oven.throttle_reasons(), throttle::power_cap);
  oven.set_power_limit(320);
  oven.idle_until(1200);
  oven.run(workload_named(hot, "fma_chain"), endless, 1201);
  EXPECT_DOUBLE_EQ(oven.sm_clock(), hot.top_clock);
}

TEST_F(BoardTest, AnOverheatedBoardRunsAtHalfItsClock) {
  use("a100-pcie-40gb");
  Description hot = *description;
  hot.thermal.ambient = 95;
  Board oven(hot, state);
  oven.reset(1);
  oven.set_contexts(1);
  oven.run(workload_named(hot, "gemm"), endless, 5);
  EXPECT_TRUE(oven.throttle_reasons() & throttle::hardware_thermal);
  EXPECT_TRUE(oven.throttle_reasons() & throttle::hardware_slowdown);
  EXPECT_LE(oven.sm_clock(), 705 * mega);
}

TEST_F(BoardTest, AWorkstationBoardFallsAsleepWithAContextAndADataCentreBoardDoesNot) {
  for (const auto& [id, keeps] : {std::pair("rtx-a6000", false), std::pair("h200", true)}) {
    use(id);
    run("fma_chain", 1);
    const double clock = board->sm_clock();
    board->idle_until(board->now() + 20);
    EXPECT_EQ(board->sm_clock() == clock, keeps) << id;
    EXPECT_EQ(board->throttle_reasons(), throttle::idle);
  }
}

TEST_F(BoardTest, WithoutContextsTheClockFallsAndABareBoardDrawsLess) {
  for (const Description& each : descriptions()) {
    use(each.id);
    board->idle_until(30);
    const double with_context = board->true_power();
    board->set_contexts(0);
    board->idle_until(60);
    EXPECT_LT(board->true_power(), with_context) << each.id;
    EXPECT_DOUBLE_EQ(board->sm_clock(), each.control.idle_clock) << each.id;
  }
}

TEST_F(BoardTest, AClockThatIsStuckIgnoresSettings) {
  use("a100-pcie-40gb");
  run("fma_chain", 1);
  board->set_clock_stuck(true);
  board->lock_sm_clock(510 * mega, 510 * mega);
  run("fma_chain", 1);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1410 * mega);
}

TEST_F(BoardTest, ApplicationClocksHoldWhileComputing) {
  use("v100-pcie");
  board->set_application_clocks(877 * mega, 1230 * mega);
  run("fma_chain", 1);
  EXPECT_DOUBLE_EQ(board->sm_clock(), 1230 * mega);
  EXPECT_TRUE(board->throttle_reasons() & throttle::application_clocks);
}

TEST_F(BoardTest, ALowerMemoryClockSlowsWhatMovesDataAndSavesPower) {
  use("rtx-a4000");
  run("stream_copy", 1);
  const Work& work = workload_named(*description, "stream_copy");
  const double fast = launch_seconds(*description, work, board->sm_clock(), board->memory_clock());
  board->lock_memory_clock(810 * mega, 810 * mega);
  run("stream_copy", 1);
  EXPECT_DOUBLE_EQ(board->memory_clock(), 810 * mega);
  EXPECT_GT(launch_seconds(*description, work, board->sm_clock(), board->memory_clock()), 5 * fast);
}

TEST_F(BoardTest, ALoadOfOthersTakesTimeAndPower) {
  use("a100-pcie-40gb");
  const Work& work = workload_named(*description, "fma_chain");
  board->idle_until(1);
  const double idle = board->true_power();
  Work others = work;
  others.sm_cycles *= 50;  // half a second of each second
  board->set_foreign_load(others);
  board->idle_until(5);
  EXPECT_GT(board->true_power(), idle + 20);
  EXPECT_TRUE(board->busy());
  EXPECT_EQ(board->throttle_reasons(), 0);
  const double start = board->now();
  board->run(work, 10, endless);
  EXPECT_NEAR(board->now() - start, 2 * 10 * work.sm_cycles / (1410 * mega), 0.01);
}

TEST_F(BoardTest, PowerDriftsByTheHeatOfTheBoard) {
  use("h200");
  run("gemm", 2);
  const double soon = board->true_power();
  run("gemm", 200);
  EXPECT_GT(board->true_power(), soon * 1.002);
  EXPECT_LT(board->true_power(), soon * 1.06);
}

TEST_F(BoardTest, EqualSeedsGiveEqualStatesAndOthersOtherMeters) {
  const auto history = [](std::uint64_t seed) {
    BoardState state{};
    Board board(board_named("h200"), state);
    board.reset(seed);
    board.set_contexts(1);
    board.run(workload_named(board_named("h200"), "tensor_gemm"), 1e9, 3);
    board.idle_until(4);
    return state;
  };
  const BoardState one = history(4);
  const BoardState same = history(4);
  const BoardState other = history(5);
  EXPECT_EQ(std::memcmp(&one, &same, sizeof one), 0);
  EXPECT_NE(one.gain, other.gain);
  EXPECT_NE(one.counter.value, other.counter.value);
  EXPECT_DOUBLE_EQ(one.energy, other.energy);
}

TEST_F(BoardTest, EnergyDoesNotDependOnHowTimeIsCut) {
  use("a100-pcie-40gb");
  const Work& work = workload_named(*description, "gemm");
  board->run(work, endless, 20);
  const double at_once = board->true_energy();
  use("a100-pcie-40gb");
  for (double time = 0.0013; time < 20; time += 0.0013) board->run(work, endless, time);
  board->run(work, endless, 20);
  EXPECT_NEAR(board->true_energy() / at_once, 1, 0.003);
}

TEST_F(BoardTest, AHangingKernelPassesTimeAtLittlePower) {
  use("h200");
  run("gemm", 1);
  const double busy = board->true_power();
  Work hanging;
  hanging.fixed_seconds = 1e9;
  EXPECT_GT(board->run(hanging, 1, board->now() + 5), 0.9);
  EXPECT_LT(board->true_power(), 0.3 * busy);
  EXPECT_NE(board->throttle_reasons(), throttle::idle);
}

}  // namespace
}  // namespace wattune::simgpu
