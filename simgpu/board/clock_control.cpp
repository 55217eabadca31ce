// How a board steers its clocks: settings, power cap, heat, idleness. And what it says about that.

#include <algorithm>
#include <cmath>

#include "board/board.hpp"

namespace wattune::simgpu {

namespace {

/// Heat moves the clock this often: the die follows slowly.
constexpr double thermal_period = 0.1;
/// More than temperature moves between two moments.
constexpr double thermal_margin = 0.5;
/// So much cooler, heat no longer holds the clock.
constexpr double thermal_release = 5;
constexpr std::uint64_t thermal_reasons =
    throttle::software_thermal | throttle::hardware_thermal | throttle::hardware_slowdown;

unsigned last_index(const std::vector<double>& clocks) {
  return static_cast<unsigned>(clocks.size() - 1);
}

/// Index of the highest clock that is not above one.
unsigned index_below(const std::vector<double>& clocks, double clock) {
  constexpr double rounding = 1;  // Hz
  const auto above = std::upper_bound(clocks.begin(), clocks.end(), clock + rounding);
  return above == clocks.begin() ? 0 : static_cast<unsigned>(above - clocks.begin() - 1);
}

double clamp_to(double clock, const ClockRange& range) {
  return range.high > 0 ? std::clamp(clock, std::min(range.low, range.high), range.high) : clock;
}

}  // namespace

// --- Settings ---

void Board::settings_changed() {
  state_.settled_at = state_.now + description_.control.settle_seconds;
}

void Board::lock_sm_clock(double low_hz, double high_hz) {
  state_.sm_lock = {low_hz, high_hz};
  settings_changed();
}

void Board::reset_sm_clock() {
  state_.sm_lock = {};
  settings_changed();
}

void Board::lock_memory_clock(double low_hz, double high_hz) {
  state_.memory_lock = {low_hz, high_hz};
  settings_changed();
}

void Board::reset_memory_clock() {
  state_.memory_lock = {};
  settings_changed();
}

void Board::set_application_clocks(double memory_hz, double sm_hz) {
  state_.application_memory_clock = memory_hz;
  state_.application_sm_clock = sm_hz;
  settings_changed();
}

void Board::reset_application_clocks() {
  set_application_clocks(0, 0);
}

void Board::set_power_limit(double watts) {
  state_.power_limit = watts;
}

void Board::set_contexts(unsigned count) {
  state_.contexts = count;
}

void Board::set_foreign_load(const Work& work_per_second) {
  state_.foreign = work_per_second;
}

void Board::set_clock_stuck(bool stuck) {
  state_.clock_stuck = stuck ? 1 : 0;
}

// --- What the clock should be ---

bool Board::stays_awake() const {
  return (state_.contexts > 0 && description_.control.idle_keeps_clock) ||
         state_.now < state_.busy_at + description_.control.idle_seconds;
}

double Board::wanted_clock(bool computing) const {
  double clock = state_.application_sm_clock > 0 ? state_.application_sm_clock : description_.default_clock;
  if (!computing && !stays_awake()) clock = description_.control.idle_clock;
  clock = std::min(clamp_to(clock, state_.sm_lock), description_.top_clock);
  return description_.sm_clocks[index_below(description_.sm_clocks, clock)];
}

double Board::wanted_memory_clock(bool computing) const {
  const double highest = description_.memory_clocks.back();
  double clock = state_.application_memory_clock > 0 ? state_.application_memory_clock : highest;
  if (!computing && !stays_awake()) clock = description_.control.idle_memory_clock;
  return clamp_to(clock, state_.memory_lock);
}

bool Board::needs_control(const Demand& demand) const {
  const double calm = state_.power_limit * (1 - description_.control.hysteresis);
  return demand.watts > calm || state_.filtered_power > calm ||
         temperature() > description_.thermal.slowdown - thermal_margin ||
         state_.allowed < last_index(description_.sm_clocks) || state_.sm_clock != wanted_clock(demand.computing) ||
         state_.memory_clock != wanted_memory_clock(demand.computing);
}

// --- Control steps ---

void Board::control(bool computing) {
  state_.next_control = state_.now + description_.control.control_period;
  limit_by_heat();
  limit_clock();
  move_clocks(computing);
}

void Board::limit_by_heat() {
  if (state_.now < state_.next_thermal) return;
  state_.next_thermal = state_.now + thermal_period;
  const auto& clocks = description_.sm_clocks;
  if (temperature() > description_.thermal.hardware_slowdown) {
    state_.allowed = std::min(state_.allowed, index_below(clocks, description_.top_clock / 2));
    state_.held_by |= throttle::hardware_slowdown | throttle::hardware_thermal;
  } else if (temperature() > description_.thermal.slowdown) {
    const unsigned current = index_below(clocks, state_.sm_clock);
    state_.allowed = std::min(state_.allowed, current > 0 ? current - 1 : 0);
    state_.held_by |= throttle::software_thermal;
    state_.held_by &= ~(throttle::hardware_slowdown | throttle::hardware_thermal);
  } else if (temperature() < description_.thermal.slowdown - thermal_release) {
    state_.held_by &= ~thermal_reasons;
  } else if (state_.held_by & thermal_reasons) {
    state_.allowed = std::min(state_.allowed + 1, last_index(clocks));
    if (state_.allowed == last_index(clocks)) state_.held_by = 0;
  }
}

void Board::limit_clock() {
  const ClockControl& control = description_.control;
  const auto& clocks = description_.sm_clocks;
  if (state_.filtered_power > state_.power_limit) {
    // Far above the limit the clock falls by several steps at once.
    constexpr double coarse = 0.05;
    const double excess = state_.filtered_power / state_.power_limit - 1;
    const unsigned steps = 1 + std::min(control.ramp_steps, static_cast<unsigned>(excess / coarse));
    const unsigned current = index_below(clocks, state_.sm_clock);
    state_.allowed = std::min(state_.allowed, current > steps ? current - steps : 0);
    state_.held_by |= throttle::power_cap;
    state_.calm_steps = 0;
  } else if (state_.allowed < last_index(clocks) && (state_.held_by & thermal_reasons) == 0 &&
             state_.filtered_power < state_.power_limit * (1 - control.hysteresis)) {
    constexpr double far = 0.8;
    const bool eager = state_.filtered_power < far * state_.power_limit;
    if (!eager && ++state_.calm_steps < control.raise_after) return;
    state_.calm_steps = 0;
    state_.allowed = std::min(last_index(clocks), state_.allowed + (eager ? control.ramp_steps : 1));
    if (state_.allowed == last_index(clocks)) state_.held_by = 0;
  }
}

void Board::move_clocks(bool computing) {
  if (state_.clock_stuck != 0) return;
  const auto& clocks = description_.sm_clocks;
  const unsigned current = index_below(clocks, state_.sm_clock);
  unsigned next = current;
  if (state_.now >= state_.settled_at) {
    const unsigned wanted = std::min(index_below(clocks, wanted_clock(computing)), state_.allowed);
    const unsigned ramp = description_.control.ramp_steps;
    next = wanted > current ? std::min(wanted, current + ramp) : std::max(wanted, current > ramp ? current - ramp : 0);
    state_.memory_clock = wanted_memory_clock(computing);
  }
  state_.sm_clock = clocks[std::min(next, state_.allowed)];
}

void Board::set_reasons(bool computing) {
  state_.reasons = 0;
  if (!computing) {
    state_.reasons = throttle::idle;
    return;
  }
  const double wanted = wanted_clock(true);
  if (state_.held_by != 0 && state_.sm_clock < wanted) state_.reasons |= state_.held_by;
  if (wanted < std::min(description_.default_clock, description_.top_clock)) {
    state_.reasons |= throttle::application_clocks;
  }
}

}  // namespace wattune::simgpu
