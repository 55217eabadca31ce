// Fits of devices whose truth is known, at 1 % noise.

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.hpp"
#include "model/clock_choice.hpp"
#include "model/two_stage.hpp"
#include "synthetic_devices.hpp"

namespace wattune {
namespace {

constexpr double noise = 0.01;
constexpr std::size_t points = 10;

/// Of many devices: shares of 1, sorted.
struct Quality {
  std::vector<double> losses;  ///< energy lost by running at the predicted optimum
  std::vector<double> ridge_errors;
  std::size_t covered = 0;        ///< intervals that hold the true ridge
  std::size_t within_errors = 0;  ///< parameters within the 95 % range of their standard errors
  std::size_t parameters = 0;

  void add(const SyntheticDevice& device, const PowerFit& fit) {
    std::vector<double> reached;
    for (const double clock : device.supported) reached.push_back(std::min(clock, device.highest_actual()));
    const double best = most_efficient_clock(device.model, reached);
    const double chosen = std::min(most_efficient_clock(fit.model, device.supported), device.highest_actual());
    losses.push_back(device.model.power(chosen) / chosen / (device.model.power(best) / best) - 1);
    const double ridge = device.model.voltage.ridge();
    ridge_errors.push_back(std::fabs(fit.ridge_hz / ridge - 1));
    if (fit.ridge_interval.low_hz <= ridge && ridge <= fit.ridge_interval.high_hz) ++covered;
    check("P_idle", device.model.base_w, fit);
    check("alpha", device.model.slope_w_per_hz * 1e6, fit);
    check("beta", device.model.voltage.rise() * 1e6, fit);
  }

  void sort() {
    std::sort(losses.begin(), losses.end());
    std::sort(ridge_errors.begin(), ridge_errors.end());
  }

  [[nodiscard]] double coverage() const { return static_cast<double>(covered) / static_cast<double>(losses.size()); }

 private:
  void check(const std::string& name, double truth, const PowerFit& fit) {
    constexpr double t_of_six_degrees = 2.447;
    for (const auto& p : fit.parameters) {
      if (p.name != name) continue;
      ++parameters;
      if (std::fabs(p.value - truth) <= t_of_six_degrees * p.standard_error) ++within_errors;
    }
  }
};

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// @param sample gives the samples of a device
template <typename Sampler>
Quality quality_of(std::size_t devices, const Sampler& sample) {
  std::mt19937_64 random(20240117);
  Quality quality;
  while (quality.losses.size() < devices) {
    const SyntheticDevice device = draw_device(random);
    if (!shows_its_ridge(device, spread_clocks(device.supported, points))) continue;
    quality.add(device, fit_power_model(sample(device, random), PowerForm::free));
  }
  quality.sort();
  return quality;
}

std::vector<PowerSample> evenly(const SyntheticDevice& device, std::mt19937_64& random) {
  std::vector<PowerSample> samples;
  for (const double clock : spread_clocks(device.supported, points))
    samples.push_back(device.measure(clock, noise, random));
  return samples;
}

std::vector<PowerSample> in_two_stages(const SyntheticDevice& device, std::mt19937_64& random) {
  return sample_in_two_stages(device.supported, [&](double clock) { return device.measure(clock, noise, random); });
}

void report(const char* what, const Quality& q) {
  std::printf(
      "%s: loss median %.3f %%, p90 %.3f %%; ridge error median %.3f %%, p90 %.2f %%; intervals cover %.1f %%; errors "
      "cover %.1f %%\n",
      what, 100 * quantile(q.losses, 0.5), 100 * quantile(q.losses, 0.9), 100 * quantile(q.ridge_errors, 0.5),
      100 * quantile(q.ridge_errors, 0.9), 100 * q.coverage(),
      100.0 * static_cast<double>(q.within_errors) / static_cast<double>(q.parameters));
}

/// How many devices; a larger number by hand: WATTUNE_SYNTHETIC_DEVICES=5000.
std::size_t devices_to_try() {
  const char* text = std::getenv("WATTUNE_SYNTHETIC_DEVICES");
  return text == nullptr ? 160 : std::stoul(text);
}

TEST(SyntheticFitTest, TenSpreadClocksGiveTheOptimumAndAnHonestInterval) {
  const Quality quality = quality_of(devices_to_try(), evenly);
  report("ten spread clocks", quality);
  EXPECT_LE(quantile(quality.losses, 0.5), 0.003);
  EXPECT_LE(quantile(quality.losses, 0.9), 0.013);
  EXPECT_LE(quantile(quality.ridge_errors, 0.5), 0.012);
  EXPECT_GE(quality.coverage(), 0.90);
  EXPECT_LE(quality.coverage(), 0.99);
  EXPECT_GE(static_cast<double>(quality.within_errors) / static_cast<double>(quality.parameters), 0.88);
}

TEST(SyntheticFitTest, FiveClocksAroundTheFirstRidgePlaceItBetter) {
  const Quality quality = quality_of(devices_to_try(), in_two_stages);
  report("five spread clocks and five around the first ridge", quality);
  EXPECT_LE(quantile(quality.ridge_errors, 0.5), 0.010);
  EXPECT_LE(quantile(quality.losses, 0.5), 0.003);
  EXPECT_LE(quantile(quality.losses, 0.9), 0.013);
}

TEST(TwoStageTest, MeasuresSpreadClocksFirstAndThenAroundTheRidge) {
  std::mt19937_64 random(5);
  SyntheticDevice device = draw_device(random);
  device.model.limit_w = std::numeric_limits<double>::infinity();
  std::vector<double> asked;
  const auto samples = sample_in_two_stages(device.supported, [&](double clock) {
    asked.push_back(clock);
    return device.measure(clock, 0, random);
  });
  ASSERT_EQ(asked.size(), 10U);
  EXPECT_EQ(asked[0], device.supported.front());
  EXPECT_EQ(asked[4], device.supported.back());
  const double ridge = device.model.voltage.ridge();
  EXPECT_LT(asked[5], ridge);
  EXPECT_GT(asked[9], ridge);
  EXPECT_NEAR(fit_power_model(samples, PowerForm::free).ridge_hz, ridge, 1e-3 * ridge);
}

TEST(TwoStageTest, TooFewClocksAreAnError) {
  const std::vector<double> supported = {1e9, 1.1e9, 1.2e9};
  EXPECT_THROW(sample_in_two_stages(supported, [](double clock) { return PowerSample{clock, 50}; }), UsageError);
}

}  // namespace
}  // namespace wattune
