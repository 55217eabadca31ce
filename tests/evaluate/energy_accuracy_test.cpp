// How far energies are from the truth, and whether their uncertainty says so. Figures are printed.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "evaluate/energy.hpp"
#include "synthetic_sensor.hpp"

namespace wattune {
namespace {

enum class Sensor { counter, full_duty, quarter_duty, one_second };

struct Case {
  Sensor sensor;
  double launch;
  bool exact;
};

const char* name_of(Sensor sensor) {
  switch (sensor) {
    case Sensor::counter:
      return "counter";
    case Sensor::full_duty:
      return "full_duty";
    case Sensor::quarter_duty:
      return "quarter_duty";
    case Sensor::one_second:
      return "one_second";
  }
  return "";
}

struct Accuracy {
  double bias;
  double spread;
  double covered;
  double stated;  ///< mean relative standard error
  double seconds;
};

simgpu::SensorDescription reading_of(Sensor sensor) {
  simgpu::SensorDescription reading;
  reading.period = 0.1;
  reading.window = sensor == Sensor::quarter_duty ? 0.025 : sensor == Sensor::one_second ? 1.0 : 0.1;
  reading.noise = 0.004;
  return reading;
}

SensorProfile profile_of(const simgpu::SensorDescription& reading) {
  SensorProfile profile;
  profile.average = ReadingProfile{
      reading.period, 4e-6, 4e-6, reading.window, std::min(1.0, reading.window / reading.period), {}, 0.0, {}};
  return profile;
}

/// Another one gives boards and kernels that nothing was chosen on.
std::uint64_t first_seed() {
  const char* seed = std::getenv("WATTUNE_ACCURACY_SEED");
  return seed == nullptr ? 17 : std::strtoull(seed, nullptr, 10);
}

/// Each run is a board of its own, with phases of its own.
Accuracy accuracy(const Case& which, int runs) {
  Accuracy result{0, 0, 0, 0, 0};
  double squares = 0;
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(run) * 1000003 + first_seed();
    VirtualClock clock;
    clock.pass(simgpu::uniform(seed, 5));
    TwoLevelKernel kernel{which.launch};
    kernel.high_share = 0.2 + 0.6 * simgpu::uniform(seed, 6);
    simgpu::CounterDescription counter{0.1, 1e-3, 0.0004};
    const auto reading = reading_of(which.sensor);
    SyntheticBoard board(clock, kernel, counter, reading, seed);
    SyntheticMeter meter(clock, board, which.sensor == Sensor::counter);
    const auto launches = static_cast<unsigned>(std::max(1.0, std::round(0.01 / kernel.seconds)));
    SyntheticBatch batch(clock, board, kernel.seconds, launches);
    TickHistory history;
    EnergyOptions options;
    options.estimator = which.sensor == Sensor::counter ? EnergyEstimator::counter : EnergyEstimator::integral;
    options.profile = profile_of(reading);
    if (which.exact) {
      options.ticks = options.most_ticks = 13;
      options.noise = 0.003;
    }
    if (which.sensor == Sensor::counter) measure_idle_power(meter, history, clock);
    const double began = clock.now();
    const auto measured = measure_energy(batch, meter, history, options, clock);
    result.seconds += (clock.now() - began) / runs;
    if (!measured) throw std::runtime_error(measured.error().message);
    const Quantity& energy = measured->at("energy");
    const double off = energy.value / kernel.joules() - 1;
    result.bias += off / runs;
    squares += off * off / runs;
    result.stated += energy.stderr_value / energy.value / runs;
    if (std::abs(energy.value - kernel.joules()) <= 1.96 * energy.stderr_value) result.covered += 1.0 / runs;
  }
  result.spread = std::sqrt(squares);
  return result;
}

class EnergyAccuracy : public testing::TestWithParam<Case> {};

TEST_P(EnergyAccuracy, is_without_bias_and_as_stated) {
  const Case& which = GetParam();
  constexpr int runs = 1000;
  const Accuracy found = accuracy(which, runs);
  std::cout << name_of(which.sensor) << (which.exact ? " exact " : " quick ") << which.launch * 1e3 << " ms: bias "
            << 100 * found.bias << " %, rms error " << 100 * found.spread << " %, stated " << 100 * found.stated
            << " %, within 95 % half-width " << 100 * found.covered << " %, " << found.seconds << " s\n";
  EXPECT_LT(std::abs(found.bias), which.launch <= 0.01 ? 0.0025 : 0.01);
  EXPECT_GE(found.covered, 0.90);
  // Of long launches little is known of what the windows leave out: the statement may be too careful, though not by
  // much.
  if (which.launch <= 0.01) {
    EXPECT_LE(found.covered, 0.99);
  } else {
    EXPECT_LT(found.stated, 5 * found.spread);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Sensor sensor : {Sensor::counter, Sensor::full_duty, Sensor::quarter_duty}) {
    for (const double launch : {0.00001, 0.0001, 0.004, 0.01, 0.1, 0.237, 1.5}) {
      for (const bool exact : {false, true}) all.push_back({sensor, launch, exact});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(synthetic, EnergyAccuracy, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(name_of(info.param.sensor)) + (info.param.exact ? "_exact_" : "_quick_") +
         std::to_string(std::lround(info.param.launch * 1e6)) + "us";
});

}  // namespace
}  // namespace wattune
