// Simulated boards draw the power that was measured on real ones.

#include <gtest/gtest.h>

#include "curve.hpp"

namespace wattune::simgpu {
namespace {

constexpr double tolerance = 0.03;

/// Says the figure whether or not it passes, so that documentation can quote it.
void expect_agreement(const std::string& board, const std::string& workload, const Curve& curve) {
  const double rms = relative_rms(board_named(board), workload, curve);
  std::cout << board << " " << workload << ": " << curve.size() << " points, rms " << 100 * rms << " %\n";
  testing::Test::RecordProperty("rms_percent", std::to_string(100 * rms));
  EXPECT_LT(rms, tolerance);
}

TEST(PowerCurve, SyntheticKernelOnAnA100) {
  expect_agreement(
      "a100-pcie-40gb", "fma_chain",
      {{210, 42.0}, {330, 47.0}, {600, 58.6}, {870, 71.5}, {1005, 78.1}, {1140, 92.0}, {1275, 116.6}, {1410, 153.4}});
}

TEST(PowerCurve, MatrixProductOnAnA100) {
  expect_agreement("a100-pcie-40gb", "gemm", {{210, 58}, {1020, 142}, {1200, 198}});
}

TEST(PowerCurve, MatrixProductOnAV100) {
  expect_agreement("v100-pcie", "gemm", {{802, 94.2}, {945, 106.5}, {1087, 125.6}, {1237, 154.0}, {1380, 198.4}});
}

TEST(PowerCurve, MatrixProductOnATitanRtx) {
  expect_agreement("titan-rtx", "gemm", {{300, 72}, {900, 127}, {1260, 174}, {1515, 239}});
}

TEST(PowerCurve, MatrixProductsMeetThePowerCapWhereRealOnesDo) {
  EXPECT_NEAR(warm_power(board_named("a100-pcie-40gb"), "gemm", 1320), 250, 7.5);
  EXPECT_NEAR(warm_power(board_named("a100-pcie-40gb"), "gemm", 1410), 250, 4);
  EXPECT_NEAR(warm_power(board_named("titan-rtx"), "gemm", 1710), 320, 6);
  EXPECT_NEAR(warm_power(board_named("titan-rtx"), "gemm", 1800), 320, 6);
}

TEST(PowerCurve, SyntheticKernelOnAnRtxA4000AsRecorded) {
  const auto file = recorded("a4000_power_clock/cache.json");
  if (!file) GTEST_SKIP() << "no recorded data beside the repository";
  Curve curve;
  for (const auto& [key, entry] : file->at("cache").items()) {
    // The clock that was asked for; at the upper end the power limit decides.
    curve.push_back({entry.at("nvml_gr_clock").get<double>(), entry.at("nvml_power").get<double>()});
  }
  expect_agreement("rtx-a4000", "fma_chain", curve);
}

/// The digitised curves of the synthetic kernel. Where lines of two boards cross, the digitised file has their colours
/// confused: points of one lie on the line of the other, and jump by a third between neighbours. They are counted to
/// the board whose line they lie on.
class DigitisedCurve : public testing::Test {
 protected:
  void SetUp() override {
    file = recorded("curves/power_fit_five_gpus.json");
    if (!file) GTEST_SKIP() << "no recorded data beside the repository";
  }
  [[nodiscard]] Curve points(const std::string& name, double from, double to) const {
    Curve curve;
    for (const auto& point : file->at(name)) {
      const double mhz = point.at(0).get<double>();
      if (mhz >= from && mhz <= to) curve.push_back({mhz, point.at(1).get<double>()});
    }
    return curve;
  }
  static Curve joined(Curve a, const Curve& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  std::optional<nlohmann::json> file;
  static constexpr double every = 1e9;
};

TEST_F(DigitisedCurve, A100) {
  expect_agreement("a100-pcie-40gb", "fma_chain", points("A100", 0, every));
}

TEST_F(DigitisedCurve, V100) {
  expect_agreement("v100-pcie", "fma_chain", points("V100", 0, every));
}

TEST_F(DigitisedCurve, RtxA6000) {
  expect_agreement("rtx-a6000", "fma_chain", points("A6000", 0, every));
}

TEST_F(DigitisedCurve, RtxA4000) {
  // Above 1900 MHz they are the V100's line at its highest clock, 113.7 W: see below.
  expect_agreement("rtx-a4000", "fma_chain", joined(points("A4000", 500, 1900), points("Titan RTX", 0, 800)));
}

TEST_F(DigitisedCurve, TitanRtx) {
  expect_agreement("titan-rtx", "fma_chain", joined(points("Titan RTX", 800, every), points("A4000", 0, 500)));
}

TEST_F(DigitisedCurve, V100AtItsHighestClock) {
  expect_agreement("v100-pcie", "fma_chain", points("A4000", 1900, every));
}

class DigitisedVoltage : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DigitisedVoltage, IsWithinOneStepOfTheRegulator) {
  const auto file = recorded("curves/voltage_a100_a4000.json");
  if (!file) GTEST_SKIP() << "no recorded data beside the repository";
  const auto [name, id] = GetParam();
  constexpr double step = 0.0125;
  for (const auto& point : file->at(name)) {
    const double mhz = point.at(0).get<double>();
    EXPECT_NEAR(core_voltage(board_named(id), mhz * mega), point.at(1).get<double>() / 1e3, step) << mhz << " MHz";
  }
}
INSTANTIATE_TEST_SUITE_P(Boards, DigitisedVoltage,
                         testing::Values(std::pair("A100", "a100-pcie-40gb"), std::pair("A4000", "rtx-a4000")));

TEST(PowerFact, H200IdlesAt80WattsBareAnd120WithAContext) {
  BoardState state;
  Board board(board_named("h200"), state);
  board.reset(1);
  board.idle_until(300);
  EXPECT_NEAR(board.true_power(), 80, 2);
  board.set_contexts(1);
  board.idle_until(600);
  EXPECT_NEAR(board.true_power(), 120, 2);
  EXPECT_DOUBLE_EQ(board.sm_clock(), 1980 * mega);
}

TEST(PowerFact, H200DrawsWhatWasSeenUnderLoad) {
  const Description& h200 = board_named("h200");
  EXPECT_NEAR(warm_power(h200, "fma_chain", 1980), 430, 10);
  EXPECT_NEAR(warm_power(h200, "gemm", 1980), 665, 25);
  EXPECT_NEAR(warm_power(h200, "stream_copy", 1980), 592, 15);
}

TEST(PowerFact, TensorCoresHoldAnH200AtItsPowerCapWithALowerClock) {
  BoardState state;
  Board board(board_named("h200"), state);
  board.reset(1);
  board.set_contexts(1);
  const Work& work = workload_named(board_named("h200"), "tensor_gemm");
  board.run(work, 1e9, 60);
  EXPECT_EQ(board.throttle_reasons() & throttle::power_cap, throttle::power_cap);
  EXPECT_GE(board.sm_clock(), 1425 * mega);
  EXPECT_LE(board.sm_clock(), 1560 * mega);
  const double before = board.true_energy();
  board.run(work, 1e9, 70);
  EXPECT_NEAR((board.true_energy() - before) / 10, 700, 7);
}

// What the tuner's models assume is not what the board does: power is no constant plus alpha f v^2.
TEST(PowerFact, LeakageFollowsTemperature) {
  const Description& a100 = board_named("a100-pcie-40gb");
  const double cold = board_power(a100, {1410 * mega, 1215 * mega, 30, true}, {1, 0});
  const double hot = board_power(a100, {1410 * mega, 1215 * mega, 75, true}, {1, 0});
  EXPECT_GT(hot / cold, 1.05);
  EXPECT_LT(hot / cold, 1.25);
}

}  // namespace
}  // namespace wattune::simgpu
