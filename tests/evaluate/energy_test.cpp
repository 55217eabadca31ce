#include "evaluate/energy.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "virtual_device.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

class MeasureEnergy : public testing::Test {
 protected:
  /// Watts while the device works, and while it does not.
  double load(double time) const {
    const bool busy = batch.first_start && time >= *batch.first_start && time < batch.busy_until;
    return busy ? 600 : 120;
  }

  VirtualClock clock;
  VirtualBatch batch{clock, 0.020, 10};
  VirtualMeter meter{clock, [this](double time) { return load(time); }};
  TickHistory ticks;
  EnergyOptions options;
};

TEST_F(MeasureEnergy, gives_power_and_energy_per_launch_of_a_constant_load) {
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result) << result.error().message;
  const Quantity power = result->at("power");
  EXPECT_NEAR(power.value, 600, 0.01 * 600);
  EXPECT_EQ(power.unit, "W");
  EXPECT_EQ(power.n, 2);
  const Quantity energy = result->at("energy");
  EXPECT_NEAR(energy.value, power.value * 0.002, 1e-9);
  EXPECT_EQ(energy.unit, "J");
  EXPECT_EQ(energy.n, 2);
  EXPECT_TRUE(energy.flags.empty());
}

TEST_F(MeasureEnergy, leaves_nothing_queued) {
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, keeps_at_least_two_replays_queued_and_more_of_short_ones) {
  VirtualBatch longer(clock, 0.2, 1);
  ASSERT_TRUE(measure_energy(longer, meter, ticks, options, clock));
  EXPECT_EQ(longer.most_outstanding, 2U);
  VirtualBatch shorter(clock, 0.005, 1);
  ASSERT_TRUE(measure_energy(shorter, meter, ticks, options, clock));
  EXPECT_EQ(shorter.most_outstanding, 8U);
}

TEST_F(MeasureEnergy, takes_a_window_of_as_many_ticks_as_asked_once_power_has_settled) {
  options.noise = 1;  // of any precision
  for (const unsigned wanted : {1U, 2U, 5U, 20U}) {
    options.ticks = wanted;
    const double before = clock.now();
    const auto result = measure_energy(batch, meter, ticks, options, clock);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->at("energy").n, wanted);
    const double periods = (clock.now() - before) / meter.period;
    EXPECT_GT(periods, wanted + options.settle_seconds / meter.period);
    EXPECT_LT(periods, std::max(wanted + 2.5, 7.0));
  }
}

TEST_F(MeasureEnergy, waits_until_power_is_level) {
  meter.power = [this](double time) {
    const double age = batch.first_start ? time - *batch.first_start : -1;
    return age < 0 ? 120 : 600 * (1 - 0.3 * std::exp(-age / 0.15));
  };
  options.noise = 0.003;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("power").value, 600, 0.01 * 600);
  EXPECT_EQ(result->at("power").n, 2);
}

TEST_F(MeasureEnergy, asks_a_counter_whose_steps_it_knows_only_when_one_is_due) {
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  const int before = meter.calls;
  const double began = clock.now();
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  EXPECT_LT(meter.calls - before, 6 * (clock.now() - began) / meter.period);
}

TEST_F(MeasureEnergy, counts_no_step_too_many_where_polling_is_held_up) {
  meter.power = [](double) { return 600.0; };
  meter.period = 0.02;
  meter.jitter_seconds = 0.002;
  std::mt19937 random(5);
  meter.held_back = [&](double) {
    if (random() % 10 == 0) clock.pass(1e-3 * static_cast<double>(random() % 60));
    return 0.0;
  };
  for (int i = 0; i < 2000; ++i) {
    options.ticks = 2 + i % 3;
    const auto result = measure_energy(batch, meter, ticks, options, clock);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_NEAR(result->at("power").value, 600, 60) << i;
  }
}

TEST_F(MeasureEnergy, queues_little_beyond_the_tick_that_ends_the_window) {
  VirtualBatch shorter(clock, 0.008, 4);
  meter.power = [](double) { return 450.0; };
  ASSERT_TRUE(measure_energy(shorter, meter, ticks, options, clock));
  const double began = clock.now();
  ASSERT_TRUE(measure_energy(shorter, meter, ticks, options, clock));
  const double seconds = clock.now() - began;
  EXPECT_LT(seconds, options.settle_seconds + 3 * meter.period + 0.025);
}

TEST_F(MeasureEnergy, gives_up_a_hopeless_kernel_after_one_tick) {
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  options.ticks = 20;
  options.hopeless = 0.9 * 600 * 0.002;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->at("energy").n, 1);
  EXPECT_NEAR(result->at("energy").value, 1.2, 0.05);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("abandoned_early"));
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, queues_little_while_a_kernel_may_be_given_up) {
  VirtualBatch brief(clock, 0.005, 1);
  double idle_until = 0;
  VirtualMeter of_brief{clock, [&](double time) { return time > idle_until ? 600.0 : 120.0; }};
  ASSERT_TRUE(measure_energy(brief, of_brief, ticks, options, clock));
  clock.sleep_until(*ticks.next(clock.now()) + 0.002);  // no call of the counter is near for long
  idle_until = clock.now();
  brief.most_outstanding = 0;
  of_brief.has_instant = true;
  options.hopeless = 0.5 * 600 * 0.005;
  const auto result = measure_energy(brief, of_brief, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("abandoned_early"));
  EXPECT_LE(brief.most_outstanding, 4U);
}

TEST_F(MeasureEnergy, gives_up_after_one_reading_where_that_is_far_off) {
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  meter.has_instant = true;
  options.hopeless = 0.5 * 600 * 0.002;
  const double began = clock.now();
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_LT(clock.now() - began, options.settle_seconds + 0.05);
  EXPECT_NEAR(result->at("energy").value, 1.2, 2 * result->at("energy").stderr_value);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("abandoned_early"));
}

TEST_F(MeasureEnergy, gives_nothing_up_for_a_reading_that_is_no_newer_than_the_load) {
  ASSERT_TRUE(measure_energy(batch, meter, ticks, options, clock));
  meter.has_instant = true;
  meter.stale_instant = 5000;
  options.hopeless = 1.5 * 600 * 0.002;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("energy").value, 1.2, 0.02);
  EXPECT_TRUE(result->at("energy").flags.empty());
}

TEST_F(MeasureEnergy, does_not_give_up_what_may_still_win) {
  meter.has_instant = true;
  options.hopeless = 0.99 * 600 * 0.002;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->at("energy").n, 2);
  EXPECT_TRUE(result->at("energy").flags.empty());
}

TEST_F(MeasureEnergy, gives_the_times_of_the_launches_in_the_window) {
  EnergyLoop loop(batch, meter, ticks, options, clock);
  ASSERT_FALSE(loop.start());
  EXPECT_GT(batch.outstanding(), 0U);
  ASSERT_TRUE(loop.finish());
  ASSERT_GE(loop.launch_seconds().size(), 8U);
  EXPECT_NEAR(loop.launch_seconds().front(), 0.002, 1e-12);
}

TEST_F(MeasureEnergy, can_be_stopped_instead_of_finished) {
  EnergyLoop loop(batch, meter, ticks, options, clock);
  ASSERT_FALSE(loop.start());
  ASSERT_FALSE(loop.stop());
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, ends_where_it_has_become_unwanted) {
  EnergyLoop loop(batch, meter, ticks, options, clock);
  ASSERT_FALSE(loop.start());
  const double before = clock.now();
  EXPECT_FALSE(loop.finish([&] { return clock.now() > before + 0.05; }));
  EXPECT_LT(clock.now() - before, meter.period);
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, gives_up_waiting_for_a_level_and_says_how_uncertain_it_is) {
  meter.power = [](double time) { return std::fmod(time, 0.4) < 0.2 ? 400 : 600; };
  const double before = clock.now();
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_GT(result->at("power").stderr_value, options.noise * result->at("power").value);
  EXPECT_LT((clock.now() - before) / meter.period, options.most_ticks + 4);
}

TEST_F(MeasureEnergy, does_not_count_what_came_before_power_had_settled) {
  // Power that rises over the first whole tick: 300 W until 0.15 s after the start of the load.
  meter.power = [this](double time) {
    const double age = batch.first_start ? time - *batch.first_start : -1;
    return age < 0 ? 120 : age < 0.11 ? 300 : 600;
  };
  options.settle_seconds = 0.12;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("power").value, 600, 6);
}

TEST_F(MeasureEnergy, stays_within_its_standard_errors_where_calls_jitter) {
  meter.jitter_seconds = 0.002;
  options.ticks = 3;
  int within_three = 0;
  double worst = 0;
  constexpr int repetitions = 60;
  for (int i = 0; i < repetitions; ++i) {
    const auto result = measure_energy(batch, meter, ticks, options, clock);
    ASSERT_TRUE(result);
    const Quantity power = result->at("power");
    ASSERT_TRUE(std::isfinite(power.stderr_value));
    worst = std::max(worst, std::abs(power.value - 600) / 600);
    if (std::abs(power.value - 600) <= 3 * power.stderr_value) ++within_three;
    clock.pass(0.0371);
  }
  EXPECT_LT(worst, 0.02);
  EXPECT_GE(within_three, repetitions * 8 / 10);
}

TEST_F(MeasureEnergy, gets_more_precise_with_more_ticks) {
  meter.jitter_seconds = 0.002;
  auto mean_error = [&](unsigned wanted) {
    options.ticks = wanted;
    double sum = 0;
    for (int i = 0; i < 20; ++i)
      sum += std::abs(measure_energy(batch, meter, ticks, options, clock)->at("power").value - 600);
    return sum / 20;
  };
  const double few = mean_error(2);
  EXPECT_LT(mean_error(40), few / 3);
}

TEST_F(MeasureEnergy, reports_the_scatter_of_the_power_as_standard_error) {
  // 30 W up and down from one tick to the next.
  meter.power = [](double time) { return 600 + (std::fmod(time - 99.937, 0.2) < 0.1 ? 30 : -30); };
  options.ticks = 10;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("power").value, 600, 6);
  EXPECT_NEAR(result->at("power").stderr_value, 30 / std::sqrt(9.0), 3);
}

TEST_F(MeasureEnergy, adds_the_uncertainty_of_time_to_that_of_energy) {
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  const double power_share = result->at("power").stderr_value / result->at("power").value;
  EXPECT_GE(result->at("energy").stderr_value / result->at("energy").value, power_share * 0.999);
}

TEST_F(MeasureEnergy, measures_replays_that_are_longer_than_the_window) {
  VirtualBatch longer(clock, 1.7, 4);
  meter.power = [](double) { return 450.0; };
  const auto result = measure_energy(longer, meter, ticks, options, clock);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->at("energy").value, 450 * 1.7 / 4, 450 * 1.7 / 4 * 0.01);
}

TEST_F(MeasureEnergy, records_clocks_and_temperature_of_the_window) {
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->at("sm_clock").value, 1.98e9);
  EXPECT_EQ(result->at("sm_clock").unit, "Hz");
  EXPECT_DOUBLE_EQ(result->at("memory_clock").value, 3.201e9);
  EXPECT_DOUBLE_EQ(result->at("temperature").value, 61);
  EXPECT_EQ(result->at("temperature").unit, "degC");
  EXPECT_GT(result->at("sm_clock").n, 5);
}

TEST_F(MeasureEnergy, leaves_out_what_the_meter_does_not_offer) {
  meter.memory_clock.reset();
  meter.temperature.reset();
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->count("memory_clock"), 0U);
  EXPECT_EQ(result->count("temperature"), 0U);
  EXPECT_EQ(result->count("sm_clock"), 1U);
}

TEST_F(MeasureEnergy, flags_reasons_to_throttle_inside_the_window_only) {
  meter.throttle = [this](double time) -> std::vector<std::string> {
    const double age = batch.first_start ? time - *batch.first_start : 0;
    if (age < 0.05) return {"thermal"};
    return {"power_capped"};
  };
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("power_capped"));
  EXPECT_THAT(result->at("power").flags, testing::ElementsAre("power_capped"));
}

TEST_F(MeasureEnergy, records_nothing_of_the_time_before_a_window_that_moved_on) {
  // Power rises for half a second, held back for another reason than later: the window moves on past that.
  auto age = [this](double time) { return batch.first_start ? time - *batch.first_start : -1; };
  meter.power = [&](double time) { return age(time) < 0 ? 120 : age(time) < 0.5 ? 300 + 600 * age(time) : 600; };
  meter.throttle = [&](double time) {
    return age(time) < 0.4 ? std::vector<std::string>{"thermal"} : std::vector<std::string>{"power_capped"};
  };
  options.noise = 0.003;
  options.most_ticks = 20;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("power").value, 600, 6);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("power_capped"));
  EXPECT_LT(result->at("sm_clock").n, 40);
}

TEST_F(MeasureEnergy, tells_for_how_long_of_a_launch_the_clock_was_held_back) {
  meter.held_back = [](double time) { return 40 + 0.3 * time; };
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->at("throttle_time").value, 0.3 * 0.002, 1e-5);
  EXPECT_EQ(result->at("throttle_time").unit, "s");
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("power_capped"));
}

TEST_F(MeasureEnergy, tells_the_power_of_the_memory_only_where_its_slow_sensor_has_seen_nothing_else) {
  meter.memory_power = 75;
  const auto quick = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(quick);
  EXPECT_EQ(quick->count("memory_power"), 0U);
  options.ticks = options.most_ticks = 13;
  const auto exact = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(exact);
  EXPECT_DOUBLE_EQ(exact->at("memory_power").value, 75);
  EXPECT_NEAR(exact->at("memory_energy").value, 75 * 0.002, 1e-9);
}

TEST_F(MeasureEnergy, flags_a_device_that_ran_out_of_work) {
  VirtualBatch tiny(clock, 1e-5, 1);  // 64 of them end before the counter has answered
  const auto result = measure_energy(tiny, meter, ticks, options, clock);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->at("energy").flags, testing::ElementsAre("drained"));
}

TEST_F(MeasureEnergy, spans_ticks_that_polling_missed) {
  // Calls that take longer than a tick: steps are seen two at a time, and still no energy is lost.
  meter.call_seconds = 0.13;
  options.ticks = 10;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->at("power").value, 600, 0.1 * 600);
  EXPECT_GE(result->at("power").n, 10);
}

TEST_F(MeasureEnergy, fails_without_touching_the_device_where_there_is_no_counter) {
  meter.has_counter = false;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::measurement);
  EXPECT_THAT(result.error().message, HasSubstr("virtual: it has no energy counter"));
  EXPECT_FALSE(batch.first_start);
}

TEST_F(MeasureEnergy, gives_up_in_time_where_the_counter_does_not_move) {
  meter.moves = false;
  options.max_seconds = 2;
  const double before = clock.now();
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::measurement);
  EXPECT_THAT(result.error().message, HasSubstr("in 2.012 s the energy counter moved 0 times"));
  EXPECT_LT(clock.now() - before, 2.5);
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, fails_where_the_counter_stops_answering) {
  meter.stops_after = 40;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::measurement);
  EXPECT_THAT(result.error().message, HasSubstr("stopped answering"));
  EXPECT_EQ(batch.outstanding(), 0U);
}

TEST_F(MeasureEnergy, passes_on_the_failure_of_the_batch) {
  batch.fail_after = 7;
  const auto result = measure_energy(batch, meter, ticks, options, clock);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::crash);
  EXPECT_EQ(result.error().message, "an illegal address");
}

}  // namespace
}  // namespace wattune
