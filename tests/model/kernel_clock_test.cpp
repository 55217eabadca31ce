#include "model/kernel_clock.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "base/error.hpp"
#include "model/two_stage.hpp"
#include "synthetic_devices.hpp"

namespace wattune {
namespace {

using ::testing::ElementsAre;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<TimeSample> times_of(const KernelTimeModel& model, const std::vector<double>& clocks) {
  std::vector<TimeSample> samples;
  for (const double clock : clocks) samples.push_back({clock, model.time(clock)});
  return samples;
}

const std::vector<double> clocks = {3e8, 5e8, 7e8, 9e8, 1.1e9, 1.3e9, 1.5e9, 1.7e9};

TEST(KernelTimeTest, IsTheSlowerOfItsPartsWhereTheyOverlap) {
  EXPECT_NEAR((KernelTimeModel{1e9, 0, 3}.time(5e8)), 2, 1e-12);
  EXPECT_NEAR((KernelTimeModel{0, 0.5, 3}.time(5e8)), 0.5, 1e-12);
  EXPECT_NEAR((KernelTimeModel{1e9, 0.5, 1}.time(1e9)), 1.5, 1e-12);
  EXPECT_NEAR((KernelTimeModel{1e9, 0.5, 200}.time(1e9)), 1, 1e-3);
}

TEST(KernelTimeTest, ExactTimesAreFoundAgainWhateverTheKernelWaitsFor) {
  for (const KernelTimeModel truth :
       {KernelTimeModel{1e6, 0, 2}, KernelTimeModel{0, 1e-3, 2}, KernelTimeModel{1e6, 1e-3, 2},
        KernelTimeModel{1e6, 1e-3, 1}, KernelTimeModel{1e6, 1e-3, 8}}) {
    const KernelTimeModel fit = fit_kernel_time(times_of(truth, clocks));
    for (const double clock : {4e8, 1e9, 1.6e9}) EXPECT_NEAR(fit.time(clock) / truth.time(clock), 1, 2e-3);
  }
}

TEST(KernelTimeTest, TooFewClocksAndTimesThatAreNoneAreErrors) {
  EXPECT_THROW(fit_kernel_time({}), UsageError);
  EXPECT_THROW(fit_kernel_time(times_of({1e6, 0, 1}, {1e9, 1e9, 2e9})), UsageError);
  for (const double wrong : {0.0, -1.0, nan}) {
    auto samples = times_of({1e6, 0, 1}, clocks);
    samples[2].time_s = wrong;
    EXPECT_THROW(fit_kernel_time(samples), UsageError);
  }
}

TEST(KernelPowerTest, UsesTheDevicesVoltageAndLimit) {
  PowerModel device;
  device.voltage = VoltageCurve::hinge(1e9, 1e-9);
  device.limit_w = 200;
  const std::vector<ClockPower> samples = {
      {5e8, 40 + 5e8 * 3e-8}, {1e9, 40 + 1e9 * 3e-8}, {1.5e9, 40 + 1.5e9 * 3e-8 * 2.25}};
  const PowerModel fit = fit_kernel_power(samples, device).model;
  EXPECT_NEAR(fit.base_w, 40, 1e-6);
  EXPECT_NEAR(fit.slope_w_per_hz, 3e-8, 1e-15);
  EXPECT_EQ(fit.limit_w, 200);
  EXPECT_THROW(fit_kernel_power(std::vector<ClockPower>{{1e9, 50}, {1e9, 51}}, device), UsageError);
  EXPECT_THROW(fit_kernel_power(std::vector<ClockPower>{{1e9, 50}, {2e9, nan}}, device), UsageError);
}

TEST(KernelPowerTest, HeatIsToldFromTheClockWhereTemperaturesAreKnown) {
  PowerModel device;
  device.voltage = VoltageCurve::hinge(2e9, 0);
  std::vector<ClockPower> samples;
  // Measured one after the other, each warmer than the last.
  const std::vector<std::pair<double, double>> course = {{1.0e9, 40}, {0.8e9, 44}, {1.2e9, 46},
                                                         {1.0e9, 48}, {0.9e9, 49}, {1.1e9, 50}};
  for (const auto& [clock, temperature] : course)
    samples.push_back({clock, 40 + 3e-8 * clock + 0.5 * (temperature - 45), temperature});
  const KernelPower fit = fit_kernel_power(samples, device);
  EXPECT_NEAR(fit.watts_per_kelvin, 0.5, 0.02);
  EXPECT_NEAR(fit.model.power(1e9), 70 + 0.5 * (fit.temperature - 45), 0.2);
  samples[2].temperature = nan;
  EXPECT_EQ(fit_kernel_power(samples, device).watts_per_kelvin, 0);
}

TEST(KernelClockTest, VerifiesOnEitherSideOfThePrediction) {
  const std::vector<double> supported = {900e6, 940e6, 1000e6, 1060e6, 1100e6};
  EXPECT_THAT(clocks_to_verify(supported, 1000e6), ElementsAre(940e6, 1000e6, 1060e6));
  EXPECT_THAT(clocks_to_verify(supported, 1100e6), ElementsAre(1060e6, 1100e6));
}

/// Mean energy lost by running at the predicted clock, over many devices whose voltage curve was itself fitted, with
/// 0.3 % noise of time and 1 % of power.
double mean_loss(double floor_share, double exponent) {
  std::mt19937_64 random(11);
  const auto noisy = [&](double value, double noise) {
    return value * (1 + noise * std::normal_distribution<>()(random));
  };
  std::vector<double> losses;
  while (losses.size() < 40) {
    const SyntheticDevice device = draw_device(random);
    const double top = device.highest_actual();
    std::vector<double> reached;
    for (const double clock : device.supported) {
      if (clock <= top) reached.push_back(clock);
    }
    // The floor is the given share of the time that the kernel's own clock takes at the top.
    const KernelClockModel truth{{1e6, floor_share * 1e6 / top, exponent}, device.model};
    std::vector<TimeSample> times;
    for (const double clock : spread_clocks(reached, 12))
      times.push_back({clock, noisy(truth.time.time(clock), 0.003)});
    std::vector<ClockPower> powers;
    for (const double clock : spread_clocks(reached, 3))
      powers.push_back({clock, noisy(truth.power.power(clock), 0.01)});
    const auto calibration =
        sample_in_two_stages(device.supported, [&](double clock) { return device.measure(clock, 0.01, random); });
    const PowerFit fit = fit_power_model(calibration, PowerForm::free);
    const KernelClockModel model{fit_kernel_time(times), fit_kernel_power(powers, fit.model).model};
    const double best = most_efficient_clock(truth, reached);
    losses.push_back(truth.energy(most_efficient_clock(model, reached)) / truth.energy(best) - 1);
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

TEST(KernelClockTest, ComputeBoundBalancedAndMemoryBoundKernelsGetTheirOwnOptimum) {
  EXPECT_LE(mean_loss(0, 2), 0.005);
  EXPECT_LE(mean_loss(1, 3), 0.005);
  EXPECT_LE(mean_loss(3, 3), 0.005);
}

TEST(KernelClockTest, AMemoryBoundKernelsOptimumIsBelowTheRidge) {
  const PowerModel device{30, 0, 4e-8, 0, 200, VoltageCurve::hinge(1.3e9, 8e-10)};
  std::vector<double> supported;
  for (double clock = 3e8; clock < 1.9e9; clock += 15e6) supported.push_back(clock);
  EXPECT_NEAR(most_efficient_clock({{1e6, 0, 3}, device}, supported), 1.3e9, 15e6);
  EXPECT_LT(most_efficient_clock({{1e6, 1.5e-3, 3}, device}, supported), 1e9);
}

}  // namespace
}  // namespace wattune
