// Sensors alone, fed with traces whose truth is known; and those of the boards.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "curve.hpp"

namespace wattune::simgpu {
namespace {

constexpr double on_watts = 641.6;
constexpr double off_watts = 119.7;

TEST(Sensor, HoldsTheMeanOfItsWindowUntilTheNextUpdate) {
  const SensorDescription description{.period = 0.1, .window = 0.1};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 100, 0.05);
  EXPECT_DOUBLE_EQ(sensor.reading(), 100);
  sensor.feed(0.1, 100);
  sensor.feed(0.149, 300);
  EXPECT_DOUBLE_EQ(sensor.reading(), 100);
  sensor.feed(0.151, 300);
  EXPECT_NEAR(sensor.reading(), 200, 1e-9);
  sensor.feed(0.26, 300);
  EXPECT_NEAR(sensor.reading(), 300, 1e-9);
}

TEST(Sensor, SeesOnlyThePartOfThePeriodThatItsWindowCovers) {
  const SensorDescription description{.period = 0.1, .window = 0.025};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 100, 0);
  sensor.feed(0.07, 500);
  sensor.feed(0.1001, 100);
  EXPECT_NEAR(sensor.reading(), 100, 1e-9);
  sensor.feed(0.18, 100);
  sensor.feed(0.2001, 500);
  EXPECT_NEAR(sensor.reading(), 100 + 400 * 0.02 / 0.025, 1e-9);
}

TEST(Sensor, AveragesOverSeveralPeriods) {
  const SensorDescription description{.period = 0.1, .window = 1};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 100, 0);
  sensor.feed(0.3001, 200);
  EXPECT_NEAR(sensor.reading(), 130, 1e-9);
  sensor.feed(1.2001, 200);
  EXPECT_NEAR(sensor.reading(), 200, 1e-9);
}

TEST(Sensor, RisesWithItsTimeConstant) {
  const SensorDescription description{.period = 0.001, .window = 0.001, .rise = 0.1};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 0, 0);
  sensor.feed(0.1, 100);
  EXPECT_NEAR(sensor.reading(), 100 * (1 - std::exp(-1)), 0.5);
}

TEST(Sensor, ALongSteadyTimeIsAsIfItHadBeenFedInPieces) {
  const SensorDescription description{.period = 0.02, .window = 0.04, .noise = 0.01};
  SensorState at_once{};
  SensorState in_pieces{};
  Sensor(description, at_once).reset(7, 0, 50, 0.013);
  Sensor(description, in_pieces).reset(7, 0, 50, 0.013);
  Sensor(description, at_once).feed(1000, 80);
  for (double time = 0.007; time < 1000; time += 0.007) Sensor(description, in_pieces).feed(time, 80);
  Sensor(description, in_pieces).feed(1000, 80);
  const auto one = Sensor(description, at_once).samples(0, max_samples);
  const auto other = Sensor(description, in_pieces).samples(0, max_samples);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_DOUBLE_EQ(one[i].time, other[i].time);
    EXPECT_NEAR(one[i].watts, other[i].watts, 1e-6);
  }
}

TEST(Sensor, NoiseFollowsFromTheSeedAndHasTheSizeDescribed) {
  const SensorDescription description{.period = 0.01, .window = 0.01, .noise = 0.02};
  const auto readings = [&](std::uint64_t seed) {
    SensorState state{};
    Sensor sensor(description, state);
    sensor.reset(seed, 0, 100, 0);
    std::vector<double> values;
    for (int i = 1; i <= 2000; ++i) {
      sensor.feed(i * 0.01 + 0.005, 100);
      values.push_back(sensor.reading());
    }
    return values;
  };
  const auto values = readings(5);
  EXPECT_EQ(values, readings(5));
  EXPECT_NE(values, readings(6));
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 2000;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  EXPECT_NEAR(mean, 100, 0.2);
  EXPECT_NEAR(std::sqrt(squares / 2000), 2, 0.15);
}

TEST(Sensor, SaysTooMuchByItsGain) {
  const SensorDescription description{.period = 0.1, .window = 0.1};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 100, 0, 1.05);
  sensor.feed(0.5001, 100);
  EXPECT_NEAR(sensor.reading(), 105, 1e-9);
}

TEST(Sensor, KeepsItsLastUpdatesOldestFirst) {
  const SensorDescription description{.period = 0.02, .window = 0.02};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 10, 0.01);
  sensor.feed(1, 10);
  sensor.feed(2, 20);
  const auto samples = sensor.samples(0, 119);
  ASSERT_EQ(samples.size(), 100);
  EXPECT_NEAR(samples.front().time, 0.01, 1e-12);
  EXPECT_NEAR(samples.back().time, 1.99, 1e-9);
  EXPECT_NEAR(samples.back().watts, 20, 1e-9);
  EXPECT_NEAR(samples[49].watts, 10, 1e-9);
  EXPECT_EQ(sensor.samples(1.95, 119).size(), 2);
  EXPECT_EQ(sensor.samples(0, 30).size(), 30);
}

TEST(Sensor, ThatABoardLacksReadsNothing) {
  const SensorDescription description{.period = 0};
  SensorState state{};
  Sensor sensor(description, state);
  sensor.reset(1, 0, 10, 0);
  sensor.feed(5, 10);
  EXPECT_EQ(sensor.reading(), 0);
  EXPECT_TRUE(sensor.samples(0, 119).empty());
}

TEST(Counter, StepsOnceAPeriodToTheEnergySoFar) {
  const CounterDescription description{.period = 0.1, .resolution = 1e-3};
  CounterState state{};
  Counter counter(description, state);
  counter.reset(1, 0, 1000, 0.03);
  counter.feed(0.029, 200);
  EXPECT_DOUBLE_EQ(counter.joules(), 1000);
  counter.feed(0.05, 200);
  EXPECT_NEAR(counter.joules(), 1006, 1e-3);
  counter.feed(0.1299, 200);
  EXPECT_NEAR(counter.joules(), 1006, 1e-3);
  counter.feed(100, 200);
  EXPECT_NEAR(counter.joules(), 1000 + 200 * 99.93, 2e-3);
}

TEST(Counter, NeverGoesBackHoweverItJitters) {
  const CounterDescription description{.period = 0.01, .resolution = 1e-3, .jitter = 0.02};
  CounterState state{};
  Counter counter(description, state);
  counter.reset(3, 0, 10, 0);
  double last = counter.joules();
  for (int i = 1; i < 3000; ++i) {
    counter.feed(i * 0.003, i % 7 ? 20 : 300);
    ASSERT_GE(counter.joules(), last);
    last = counter.joules();
  }
}

/// Errors of readings of an H200 while a load is switched on and off.
struct SquareWave {
  double counter;               ///< relative error of the counter's mean power
  std::vector<double> instant;  ///< relative errors of the mean of instantaneous readings, by phase of the load
};

SquareWave measure(double on_ms, double off_ms) {
  const SensorSet& sensors = board_named("h200").sensors;
  const double period = (on_ms + off_ms) / 1e3;
  const double expected = (on_watts * on_ms + off_watts * off_ms) / (on_ms + off_ms);
  SquareWave result{0, {}};
  constexpr int phases = 10;
  for (int phase = 0; phase < phases; ++phase) {
    CounterState counter_state{};
    SensorState instant_state{};
    Counter counter(sensors.counter, counter_state);
    Sensor instant(sensors.instant, instant_state);
    counter.reset(11, 0, 5000, 0.02);
    instant.reset(12, 0, off_watts, 0.07);
    const double start = 10 + phase * period / phases;
    const auto feed = [&](double time, double watts) {
      counter.feed(time, watts);
      instant.feed(time, watts);
    };
    double before = 0;
    double sum = 0;
    constexpr int warm_up = 20;
    feed(start - warm_up * period, off_watts);
    constexpr int waves = 100;
    for (int wave = -warm_up; wave < waves; ++wave) {
      if (wave == 0) {
        before = counter.joules();
        sum = 0;
      }
      feed(start + wave * period + on_ms / 1e3, on_watts);
      feed(start + (wave + 1) * period, off_watts);
      sum += instant.reading();
    }
    const double mean = (counter.joules() - before) / (waves * period);
    result.counter = std::max(result.counter, std::abs(mean / expected - 1));
    result.instant.push_back(sum / waves / expected - 1);
  }
  return result;
}

double worst(const std::vector<double>& errors) {
  return std::abs(
      *std::max_element(errors.begin(), errors.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
}

struct Row {
  double on_ms, off_ms;
  double worst_instant;  ///< at least so wrong at some phase
};

class OnOffTable : public testing::TestWithParam<Row> {};

TEST_P(OnOffTable, CounterSeesEverythingAndInstantaneousReadingAQuarter) {
  const Row row = GetParam();
  const SquareWave wave = measure(row.on_ms, row.off_ms);
  EXPECT_LT(wave.counter, 0.03);
  EXPECT_GT(worst(wave.instant), row.worst_instant);
}
// The errors are those seen on the real board, whose phase nobody knows: here the worst phase is at least as bad.
INSTANTIATE_TEST_SUITE_P(OfAnH200, OnOffTable,
                         testing::Values(Row{50, 50, 0.08}, Row{25, 75, 0.18}, Row{75, 25, 0.18}, Row{33, 67, 0.65},
                                         Row{5, 95, 0.41}));

TEST(OnOffTable, WithoutSwitchingBothAgree) {
  const SquareWave wave = measure(50, 0);
  EXPECT_LT(wave.counter, 0.005);
  EXPECT_LT(worst(wave.instant), 0.005);
}

TEST(OnOffTable, APartOfThePeriodHidesTheLoadAltogether) {
  // 5 ms of 100 at the right moment are all that the reading sees; at most others it sees none of them.
  const auto errors = measure(5, 95).instant;
  EXPECT_THAT(errors, testing::Contains(testing::DoubleNear(off_watts / 145.8 - 1, 0.02)));
}

TEST(BoardSensors, CounterOfAShortWindowIsAsSharpAsOnARealH200) {
  // Standard deviation of the mean power over n steps, in per cent: 0.73, 0.33, 0.25, 0.15, 0.08 for 1, 2, 3, 5, 10.
  const CounterDescription& description = board_named("h200").sensors.counter;
  CounterState state{};
  Counter counter(description, state);
  counter.reset(21, 0, 1, 0);
  std::vector<double> joules;
  constexpr int steps = 4000;
  for (int i = 0; i < steps; ++i) {
    counter.feed(0.1 * i + 0.05, 600);
    joules.push_back(counter.joules());
  }
  for (const auto& [n, percent] : {std::pair(1, 0.73), std::pair(3, 0.25), std::pair(10, 0.08)}) {
    double squares = 0;
    for (int i = 0; i + n < steps; ++i) {
      const auto first = static_cast<std::size_t>(i);
      const double watts = (joules[first + static_cast<std::size_t>(n)] - joules[first]) / (0.1 * n);
      squares += (watts / 600 - 1) * (watts / 600 - 1);
    }
    const double spread = 100 * std::sqrt(squares / (steps - n));
    EXPECT_GT(spread, percent / 2) << n;
    EXPECT_LT(spread, percent * 1.5) << n;
  }
}

TEST(BoardSensors, H200HasThoseThatWereSeen) {
  BoardState state;
  Board board(board_named("h200"), state);
  board.reset(3);
  board.set_contexts(1);
  board.run(workload_named(board_named("h200"), "gemm"), 1e9, 10);
  const auto samples = board.sample_buffer(0);
  ASSERT_EQ(samples.size(), 119);
  EXPECT_NEAR(samples[1].time - samples[0].time, 0.02, 1e-9);
  EXPECT_NEAR(board.average_power() / board.true_power(), board.meter_gain(), 0.01);
  EXPECT_NEAR(board.instant_power() / board.true_power(), board.meter_gain(), 0.02);
  EXPECT_LE(samples.back().time, board.now());
}

}  // namespace
}  // namespace wattune::simgpu
