// From launches and records to work.

#include "board/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "board/random.hpp"
#include "curve.hpp"

namespace wattune::simgpu {
namespace {

LaunchShape shape_of(unsigned blocks, unsigned threads, unsigned registers = 32, std::uint64_t shared = 0) {
  LaunchShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  shape.registers_per_thread = registers;
  shape.shared_bytes = shared;
  return shape;
}

double seconds_of(const Description& board, const Work& work) {
  return launch_seconds(board, work, board.default_clock, board.memory_clocks.back());
}

TEST(Occupancy, FollowsTheScarcestResource) {
  const Description& a100 = board_named("a100-pcie-40gb");
  EXPECT_EQ(occupancy(a100, shape_of(1000, 1024)).blocks_per_multiprocessor, 2);
  EXPECT_EQ(occupancy(a100, shape_of(1000, 32)).blocks_per_multiprocessor, 32);
  EXPECT_EQ(occupancy(a100, shape_of(1000, 256, 64)).blocks_per_multiprocessor, 4);
  EXPECT_EQ(occupancy(a100, shape_of(1000, 128, 32, 48 * 1024)).blocks_per_multiprocessor, 3);
  EXPECT_DOUBLE_EQ(occupancy(a100, shape_of(1000, 256, 64)).share, 0.5);
}

TEST(Occupancy, IsNoneWhereALaunchDoesNotFit) {
  const Description& a100 = board_named("a100-pcie-40gb");
  EXPECT_EQ(occupancy(a100, shape_of(1, 2048)).blocks_per_multiprocessor, 0);
  EXPECT_EQ(occupancy(a100, shape_of(1, 1024, 128)).blocks_per_multiprocessor, 0);
  EXPECT_EQ(occupancy(a100, shape_of(1, 128, 32, 200 * 1024)).blocks_per_multiprocessor, 0);
  EXPECT_EQ(occupancy(a100, shape_of(0, 128)).blocks_per_multiprocessor, 0);
}

// Seen on an H200: 54.1 and 54.7 TFLOP/s, but 321 and 430 W.
TEST(LaunchWork, OneLargeBlockOnEachMultiprocessorIsAsFastAsTwoAndDrawsAThirdLess) {
  const Description& h200 = board_named("h200");
  Variant variant{.kernel_hash = 1, .variant_hash = 2, .defines = {}};
  // A chain in registers: nothing is moved.
  const Demand demand{1e13, 1e3};
  const Work one = launch_work(h200, shape_of(132, 1024), variant, demand);
  const Work two = launch_work(h200, shape_of(264, 1024), variant, demand);
  EXPECT_NEAR(seconds_of(h200, one) / seconds_of(h200, two), 54.7 / 54.1, 0.01);
  const double idle = 120;
  const double watts_one = steady_state(h200, one, 1980 * mega, 3201 * mega).watts;
  const double watts_two = steady_state(h200, two, 1980 * mega, 3201 * mega).watts;
  EXPECT_NEAR((watts_one - idle) / (watts_two - idle), 201.0 / 310.0, 0.03);
}

TEST(LaunchWork, ALastIncompleteRoundOfBlocksCostsAWholeOne) {
  const Description& a100 = board_named("a100-pcie-40gb");
  const Variant variant{.kernel_hash = 1, .variant_hash = 2, .defines = {}};
  const auto per_block = [&](unsigned blocks) {
    return launch_work(a100, shape_of(blocks, 1024), variant, {blocks * 1e9, 1}).sm_cycles / blocks;
  };
  EXPECT_NEAR(per_block(217) / per_block(216), 3 * 216.0 / (2 * 217.0), 0.01);
  EXPECT_NEAR(per_block(108 * 50 + 1) / per_block(108 * 50), 1.02, 0.005);
}

TEST(LaunchWork, PartialWarpsAreWaste) {
  const Description& a100 = board_named("a100-pcie-40gb");
  const Variant variant{.kernel_hash = 1, .variant_hash = 2, .defines = {}};
  const Demand demand{1e12, 1};
  EXPECT_GT(launch_work(a100, shape_of(10800, 33), variant, demand).sm_cycles,
            1.5 * launch_work(a100, shape_of(10800, 64), variant, demand).sm_cycles);
}

TEST(LaunchWork, IsTheSameForTheSameVariantAndGuessesUnknownDemands) {
  const Description& v100 = board_named("v100-pcie");
  const Variant variant{.kernel_hash = 8, .variant_hash = 9, .defines = {{"BLOCK", 32}}};
  const Work once = launch_work(v100, shape_of(800, 256), variant, {});
  const Work again = launch_work(v100, shape_of(800, 256), variant, {});
  EXPECT_EQ(once.sm_cycles, again.sm_cycles);
  EXPECT_EQ(once.core_activity, again.core_activity);
  EXPECT_GT(seconds_of(v100, once), 0);
  const Work twice = launch_work(v100, shape_of(1600, 256), variant, {});
  EXPECT_NEAR(twice.sm_cycles / once.sm_cycles, 2, 1e-9);
}

/// A space like that of a tiled matrix product.
struct Measured {
  double seconds, joules;
  std::vector<int> place;
};

std::vector<Measured> matrix_product_space(const Description& board, std::uint64_t kernel) {
  std::vector<Measured> result;
  const double n = 4096;
  for (const int tile_m : {16, 32, 64, 128}) {
    for (const int tile_n : {16, 32, 64, 128}) {
      for (const int threads_m : {8, 16, 32}) {
        for (const int threads_n : {8, 16, 32}) {
          for (const int vector : {1, 2, 4, 8}) {
            for (const int shared : {0, 1}) {
              if (tile_m % (threads_m * vector) != 0 || tile_n % threads_n != 0) continue;
              Variant variant{.kernel_hash = kernel, .variant_hash = kernel, .defines = {}};
              for (const auto& [name, value] :
                   {std::pair("MWG", tile_m), std::pair("NWG", tile_n), std::pair("MDIMC", threads_m),
                    std::pair("NDIMC", threads_n), std::pair("VWM", vector), std::pair("SA", shared)}) {
                variant.defines.push_back({name, static_cast<double>(value)});
                variant.variant_hash = mix(variant.variant_hash ^ static_cast<std::uint64_t>(value));
              }
              LaunchShape shape;
              shape.grid = {static_cast<unsigned>(4096 / tile_m), static_cast<unsigned>(4096 / tile_n), 1};
              shape.block = {static_cast<unsigned>(threads_m), static_cast<unsigned>(threads_n), 1};
              shape.registers_per_thread = plausible_registers(variant);
              if (occupancy(board, shape).blocks_per_multiprocessor == 0) continue;
              const Work work = launch_work(board, shape, variant, {2 * n * n * n, 3 * 4 * n * n});
              const double seconds = seconds_of(board, work);
              const double watts = steady_state(board, work, board.base_clock, board.memory_clocks.back()).watts;
              result.push_back({seconds, seconds * watts, {tile_m, tile_n, threads_m, threads_n, vector, shared}});
            }
          }
        }
      }
    }
  }
  return result;
}

TEST(LaunchWork, SpacesSpreadAsRealOnesDo) {
  const Description& a100 = board_named("a100-pcie-40gb");
  for (const std::uint64_t kernel : {1U, 2U, 3U, 4U, 5U}) {
    auto space = matrix_product_space(a100, kernel);
    ASSERT_GT(space.size(), 300);
    std::sort(space.begin(), space.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    const double fastest = space.front().seconds;
    const double gflops = 2 * std::pow(4096.0, 3) / fastest / 1e9;
    std::cout << "kernel " << kernel << ": fastest " << gflops << " GFLOP/s, median/fastest "
              << space[space.size() / 2].seconds / fastest << ", slowest/fastest " << space.back().seconds / fastest
              << "\n";
    EXPECT_GT(space[space.size() / 2].seconds / fastest, 2.5);
    EXPECT_LT(space[space.size() / 2].seconds / fastest, 10);
    EXPECT_GT(gflops, 0.2 * 19500);
    EXPECT_LT(gflops, 19500);
  }
}

TEST(LaunchWork, LikeVariantsHaveLikeSpeedInPart) {
  const Description& a100 = board_named("a100-pcie-40gb");
  const auto space = matrix_product_space(a100, 3);
  // Neighbours differ in one value; their logarithms of time are closer than those of any two.
  double near = 0;
  double any = 0;
  int nears = 0;
  int anys = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    for (std::size_t j = i + 1; j < space.size(); ++j) {
      int differences = 0;
      for (std::size_t k = 0; k < space[i].place.size(); ++k) differences += space[i].place[k] != space[j].place[k];
      const double distance = std::pow(std::log(space[i].seconds / space[j].seconds), 2);
      any += distance;
      ++anys;
      if (differences == 1) {
        near += distance;
        ++nears;
      }
    }
  }
  EXPECT_LT(near / nears, 0.85 * any / anys);
  EXPECT_GT(near / nears, 0.2 * any / anys);
}

TEST(LaunchWork, TheFastestIsNotAlwaysTheGreenest) {
  int differ = 0;
  for (std::uint64_t kernel = 1; kernel <= 10; ++kernel) {
    const auto space = matrix_product_space(board_named("h200"), kernel);
    const auto fastest =
        std::min_element(space.begin(), space.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; });
    const auto greenest =
        std::min_element(space.begin(), space.end(), [](auto& a, auto& b) { return a.joules < b.joules; });
    differ += fastest != greenest;
  }
  EXPECT_GE(differ, 3);
}

TEST(PlausibleRegisters, AreReproducibleAndWithinWhatCompilersGive) {
  for (std::uint64_t hash = 0; hash < 500; ++hash) {
    const Variant variant{.kernel_hash = 1, .variant_hash = hash, .defines = {}};
    const unsigned registers = plausible_registers(variant);
    EXPECT_EQ(registers, plausible_registers(variant));
    EXPECT_GE(registers, 16);
    EXPECT_LE(registers, 255);
  }
}

TEST(RecordedWork, GivesBackTimeAndPowerAtItsClock) {
  for (const char* id : {"a100-pcie-40gb", "rtx-a4000", "v100-pcie"}) {
    const Description& board = board_named(id);
    const double clock = 1005 * mega;
    const Work work = recorded_work(board, {{0.004, 85, clock}});
    EXPECT_NEAR(launch_seconds(board, work, clock, board.memory_clocks.back()), 0.004, 1e-9);
    EXPECT_NEAR(steady_state(board, work, clock, board.memory_clocks.back()).watts, 85, 0.1);
    EXPECT_GT(launch_seconds(board, work, clock / 2, board.memory_clocks.back()), 0.004);
  }
}

TEST(RecordedWork, FindsWhatIsMemorysFromSeveralClocks) {
  const Description& board = board_named("a100-pcie-40gb");
  std::vector<Record> records;
  Work truth = workload_named(board, "gemm");
  truth.memory_seconds = 0.02;  // twice the time of computing at the highest clock
  for (const double mhz : {510.0, 810.0, 1110.0, 1410.0}) {
    records.push_back({launch_seconds(board, truth, mhz * mega, 1215 * mega),
                       steady_state(board, truth, mhz * mega, 1215 * mega).watts, mhz * mega});
  }
  const Work work = recorded_work(board, records);
  EXPECT_NEAR(work.memory_seconds, truth.memory_seconds, 0.05 * truth.memory_seconds);
  for (const double mhz : {600.0, 960.0, 1260.0}) {
    EXPECT_NEAR(
        launch_seconds(board, work, mhz * mega, 1215 * mega) / launch_seconds(board, truth, mhz * mega, 1215 * mega), 1,
        0.03);
  }
}

TEST(RecordedWork, PowerBelowThatOfMemoryMeansLessTraffic) {
  const Description& board = board_named("a100-pcie-40gb");
  const Work work = recorded_work(board, {{0.004, 60, 1005 * mega}}, 1);
  EXPECT_NEAR(steady_state(board, work, 1005 * mega, 1215 * mega).watts, 60, 0.5);
}

TEST(RecordedWork, RefusesRecordsWithoutTimeOrClock) {
  const Description& board = board_named("a100-pcie-40gb");
  EXPECT_THROW((void)recorded_work(board, {}), UsageError);
  EXPECT_THROW((void)recorded_work(board, {{0, 100, 1e9}}), UsageError);
  EXPECT_THROW((void)recorded_work(board, {{0.1, 100, 0}}), UsageError);
}

}  // namespace
}  // namespace wattune::simgpu
