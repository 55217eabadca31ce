#include "evaluate/energy.hpp"

#include <cmath>

#include "on_gpu.hpp"
#include "power/nvml/nvml_meter.hpp"

namespace wattune {
namespace {

class Energy : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    std::string why_not;
    meter = open_nvml_meter(device->info().uuid, device->info().pci, &why_not);
    if (!meter) GTEST_SKIP() << why_not;
    kernel = load(compile(fma_source, "chain"));
    const std::uint64_t blocks = 2 * device->info().compute_units;
    out = device->allocate(sizeof(float) * blocks * 1024);
    launch.kernel = kernel.get();
    launch.shape = {{blocks, 1, 1}, {1024, 1, 1}};
    launch.arguments = {whole(*out), scalar(100000)};
    auto one = device->batch(launch, 1, {});
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_FALSE((*one)->enqueue());
    ASSERT_FALSE((*one)->enqueue());
    ASSERT_TRUE((*one)->wait());
    const double seconds = (*one)->wait().value();
    launches = static_cast<unsigned>(std::max(1.0, std::ceil(0.02 / seconds)));
    auto made = device->batch(launch, launches, {});
    ASSERT_TRUE(made) << made.error().message;
    batch = std::move(*made);
  }
  std::map<std::string, Quantity> measure(unsigned window) {
    EnergyOptions options;
    options.ticks = window;
    const double before = real_clock().now();
    auto result = measure_energy(*batch, *meter, ticks, options);
    if (!result) throw std::runtime_error(result.error().message);
    const Quantity& power = result->at("power");
    std::cout << window << " ticks in " << real_clock().now() - before << " s: " << power.value << " W +- "
              << power.stderr_value << ", " << result->at("energy").value * 1e3 << " mJ +- "
              << result->at("energy").stderr_value * 1e3 << ", SM clock " << result->at("sm_clock").value * 1e-6
              << " MHz, " << result->at("temperature").value << " degC";
    for (const auto& flag : power.flags) std::cout << ", " << flag;
    std::cout << '\n';
    return std::move(*result);
  }

  std::unique_ptr<PowerMeter> meter;
  TickHistory ticks;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Buffer> out;
  Launch launch;
  unsigned launches = 1;
  std::unique_ptr<Batch> batch;
};

TEST_F(Energy, of_a_short_window_agrees_with_that_of_a_long_one) {
  const auto longer = measure(30);
  const auto shorter = measure(3);
  EXPECT_NEAR(shorter.at("power").value / longer.at("power").value, 1, 0.02);
  EXPECT_NEAR(shorter.at("energy").value / longer.at("energy").value, 1, 0.02);
  EXPECT_LT(longer.at("power").stderr_value / longer.at("power").value, 0.01);
  EXPECT_EQ(longer.at("energy").n, 30);
  EXPECT_EQ(longer.at("energy").flags, shorter.at("energy").flags);
}

TEST_F(Energy, agrees_with_the_counter_around_a_loop_of_known_launches) {
  measure(3);  // the board is warm and its clock is up
  // The counter before and after a loop of two seconds, and power as its own sensor tells it: no ticks, no fit.
  const double started = real_clock().now();
  const double energy_before = meter->energy_joules().value();
  unsigned replays = 0;
  double sum = 0;
  int samples = 0;
  while (real_clock().now() - started < 2) {
    while (batch->outstanding() < 3) ASSERT_FALSE(batch->enqueue());
    ASSERT_TRUE(batch->wait());
    ++replays;
    if (real_clock().now() - started < 1) continue;  // the reading is an average over the last second
    sum += meter->power_watts().value_or(std::nan(""));
    ++samples;
  }
  const double loop = real_clock().now() - started;
  const double energy = meter->energy_joules().value() - energy_before;
  while (batch->outstanding() > 0) ASSERT_TRUE(batch->wait());
  const auto measured = measure(10);
  std::cout << "counter around the loop " << energy / loop << " W, power reading " << sum / samples << " W, " << replays
            << " replays of " << launches << " launches\n";
  // A tick at each end of two seconds is uncertain.
  EXPECT_NEAR(energy / loop / measured.at("power").value, 1, 0.1);
  EXPECT_NEAR(sum / samples / measured.at("power").value, 1, 0.05);
  const double per_launch = energy / replays / launches;
  EXPECT_NEAR(per_launch / measured.at("energy").value, 1, 0.15);
}

TEST_F(Energy, of_half_the_work_is_half) {
  const auto whole_work = measure(5);
  launch.arguments = {whole(*out), scalar(50000)};
  auto half = device->batch(launch, 2 * launches, {});
  ASSERT_TRUE(half) << half.error().message;
  batch = std::move(*half);
  const auto half_work = measure(5);
  EXPECT_NEAR(half_work.at("energy").value / whole_work.at("energy").value, 0.5, 0.03);
}

}  // namespace
}  // namespace wattune
