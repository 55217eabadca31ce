#include "board/board.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "board/random.hpp"

namespace wattune::simgpu {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Temperature may move so far before power is computed anew: leakage then changes by a few tenths of a per cent.
constexpr double thermal_grain = 0.125;
/// Others leave at least this share of the board's time.
constexpr double least_share = 0.05;
/// Places in the sequence of random numbers that a seed gives.
enum Draw : std::uint64_t { draw_gain, draw_counter, draw_average, draw_instant, draw_samples, draw_joules };

}  // namespace

void Board::reset(std::uint64_t seed) {
  state_ = BoardState{};
  state_.seed = seed;
  state_.power_limit = description_.power_limit_default;
  state_.sm_clock = description_.control.idle_clock;
  state_.memory_clock = description_.control.idle_memory_clock;
  state_.allowed = static_cast<unsigned>(description_.sm_clocks.size() - 1);
  state_.busy_at = -never;
  state_.reasons = throttle::idle;

  // Cold means as warm as a board that has been idle for long.
  const ThermalModel& thermal = description_.thermal;
  double temperature = thermal.ambient;
  constexpr int enough = 20;
  for (int i = 0; i < enough; ++i) {
    state_.power = board_power(description_, {state_.sm_clock, state_.memory_clock, temperature, false}, {});
    state_.die_kelvin = state_.power * thermal.die_resistance;
    state_.cooler_kelvin = state_.power * thermal.cooler_resistance;
    temperature = thermal.ambient + state_.die_kelvin + state_.cooler_kelvin;
  }
  state_.filtered_power = state_.power;

  const SensorSet& sensors = description_.sensors;
  const auto phase = [&](Draw draw, double period) { return uniform(seed, draw) * period; };
  const double watts = state_.power;
  state_.gain = 1 + sensors.gain_spread * (2 * uniform(seed, draw_gain) - 1);
  constexpr double most_joules = 1e6;
  Counter(sensors.counter, state_.counter)
      .reset(mix(seed + draw_counter), 0, most_joules * uniform(seed, draw_joules),
             phase(draw_counter, sensors.counter.period), state_.gain);
  Sensor(sensors.average, state_.average)
      .reset(mix(seed + draw_average), 0, watts, phase(draw_average, sensors.average.period), state_.gain);
  Sensor(sensors.instant, state_.instant)
      .reset(mix(seed + draw_instant), 0, watts, phase(draw_instant, sensors.instant.period), state_.gain);
  Sensor(sensors.samples, state_.samples)
      .reset(mix(seed + draw_samples), 0, watts, phase(draw_samples, sensors.samples.period), state_.gain);
}

// --- Time ---

void Board::idle_until(double time) {
  advance(nullptr, 0, time);
}

double Board::run(const Work& work, double launches, double until) {
  return advance(&work, launches, until);
}

double Board::advance(const Work* work, double launches, double until) {
  while (state_.now < until && (!work || launches > 0)) {
    Demand demand = demand_now(work);
    if (state_.now >= state_.next_control && needs_control(demand)) {
      control(demand.computing);
      demand = demand_now(work);
    }
    set_reasons(demand.computing);
    const double remaining = work ? launches * demand.launch_seconds : never;
    double step = std::min(until - state_.now, thermal_step(demand.watts));
    if (needs_control(demand)) step = std::min(step, std::max(state_.next_control - state_.now, 0.0));
    const double sleeps_at = state_.busy_at + description_.control.idle_seconds;
    if (!demand.computing && state_.now < sleeps_at) step = std::min(step, sleeps_at - state_.now);
    if (remaining <= step) {
      launches = 0;
      step = remaining;
    } else if (work) {
      launches -= step / demand.launch_seconds;
    }
    const bool last = step == until - state_.now;
    pass(last ? until : state_.now + step, demand.watts);
    if (demand.computing) state_.busy_at = state_.now;
  }
  return work ? std::max(launches, 0.0) : 0;
}

Board::Demand Board::demand_now(const Work* work) const {
  const Work& others = state_.foreign;
  Load load;
  double share = 0;
  const double foreign_seconds = launch_seconds(description_, others, state_.sm_clock, state_.memory_clock);
  if (foreign_seconds > 0) {
    share = std::min(foreign_seconds, 1 - least_share);
    const Load full = load_of(description_, others, state_.sm_clock, state_.memory_clock);
    load += {share * full.core, share * full.memory};
  }
  Demand demand{work != nullptr || share > 0, 0, 0};
  if (work) {
    demand.launch_seconds = launch_seconds(description_, *work, state_.sm_clock, state_.memory_clock) / (1 - share);
    const Load full = load_of(description_, *work, state_.sm_clock, state_.memory_clock);
    load += {(1 - share) * full.core, (1 - share) * full.memory};
  }
  const OperatingPoint at{state_.sm_clock, state_.memory_clock, temperature(), state_.contexts > 0 || demand.computing};
  demand.watts = board_power(description_, at, load);
  return demand;
}

double Board::thermal_step(double watts) const {
  const ThermalModel& thermal = description_.thermal;
  const auto step = [watts](double kelvin, double resistance, double seconds) {
    const double gap = std::abs(watts * resistance - kelvin);
    return gap > thermal_grain ? -seconds * std::log1p(-thermal_grain / gap) : never;
  };
  return std::min(step(state_.die_kelvin, thermal.die_resistance, thermal.die_seconds),
                  step(state_.cooler_kelvin, thermal.cooler_resistance, thermal.cooler_seconds));
}

void Board::pass(double time, double watts) {
  const double seconds = time - state_.now;
  const ThermalModel& thermal = description_.thermal;
  const auto relax = [seconds](double& value, double towards, double constant) {
    value = towards + (value - towards) * std::exp(-seconds / constant);
  };
  relax(state_.die_kelvin, watts * thermal.die_resistance, thermal.die_seconds);
  relax(state_.cooler_kelvin, watts * thermal.cooler_resistance, thermal.cooler_seconds);
  relax(state_.filtered_power, watts, description_.control.power_filter);
  for (unsigned bit = 0; bit < std::size(state_.reason_seconds); ++bit) {
    if (state_.reasons >> bit & 1) state_.reason_seconds[bit] += seconds;
  }
  const SensorSet& sensors = description_.sensors;
  Counter(sensors.counter, state_.counter).feed(time, watts);
  Sensor(sensors.average, state_.average).feed(time, watts);
  Sensor(sensors.instant, state_.instant).feed(time, watts);
  Sensor(sensors.samples, state_.samples).feed(time, watts);
  state_.energy += watts * seconds;
  state_.power = watts;
  state_.now = time;
}

// --- True values ---

double Board::true_power() const {
  return state_.power;
}

double Board::true_energy() const {
  return state_.energy;
}

double Board::sm_clock() const {
  return state_.sm_clock;
}

double Board::memory_clock() const {
  return state_.memory_clock;
}

double Board::voltage() const {
  return core_voltage(description_, state_.sm_clock);
}

double Board::temperature() const {
  return description_.thermal.ambient + state_.die_kelvin + state_.cooler_kelvin;
}

std::uint64_t Board::throttle_reasons() const {
  return state_.reasons;
}

std::uint64_t Board::throttle_nanoseconds(std::uint64_t reason) const {
  constexpr double nanoseconds = 1e9;
  const int bit = std::countr_zero(reason);
  if (bit >= static_cast<int>(std::size(state_.reason_seconds))) return 0;
  return static_cast<std::uint64_t>(state_.reason_seconds[bit] * nanoseconds);
}

double Board::meter_gain() const {
  return state_.gain;
}

bool Board::busy() const {
  // A utilisation counter forgets within such a time.
  constexpr double remembered = 0.1;
  return state_.now < state_.busy_at + remembered;
}

// --- Meters ---

double Board::counter_joules() const {
  return state_.counter.value;
}

double Board::average_power() const {
  return Sensor(description_.sensors.average, state_.average).reading();
}

double Board::instant_power() const {
  return Sensor(description_.sensors.instant, state_.instant).reading();
}

std::vector<Board::Sample> Board::sample_buffer(double after) const {
  return Sensor(description_.sensors.samples, state_.samples).samples(after, description_.sensors.sample_count);
}

}  // namespace wattune::simgpu
