#include "board/sensor.hpp"

#include <algorithm>
#include <cmath>

#include "board/random.hpp"

namespace wattune::simgpu {

namespace {

/// The first moment at or after `now` of those that lie at phase + k * period.
double first_after(double now, double phase, double period) {
  return phase + std::ceil((now - phase) / period) * period;
}

}  // namespace

void Sensor::reset(std::uint64_t seed, double now, double watts, double phase, double gain) {
  if (!description_.present()) return;
  const double period = description_.period;
  state_ = SensorState{};
  state_.seed = seed;
  state_.gain = gain;
  state_.now = now;
  state_.level = watts;
  state_.next_update = first_after(now, phase, period);
  // As if the past had been like this for ever.
  state_.updates = max_samples;
  state_.phase = state_.next_update - static_cast<double>(max_samples) * period;
  std::fill(std::begin(state_.values), std::end(state_.values), gain * watts);
  for (std::uint64_t back = 1; back <= max_window_periods; ++back) {
    const double time = state_.next_update - static_cast<double>(back) * period;
    state_.tick_energy[(state_.updates - back) % max_window_periods] = -watts * (now - time);
  }
  state_.window_energy = -watts * (now - (state_.next_update - description_.window));
}

void Sensor::advance(double time, double watts) {
  const double seconds = time - state_.now;
  if (seconds <= 0) return;
  state_.energy += watts * seconds;
  if (description_.rise > 0) {
    const double gap = state_.level - watts;
    const double left = std::exp(-seconds / description_.rise);
    state_.energy += gap * description_.rise * (1 - left);
    state_.level = watts + gap * left;
  } else {
    state_.level = watts;
  }
  state_.now = time;
}

void Sensor::update() {
  const bool sees_part = description_.window < description_.period;
  const auto periods =
      sees_part ? 1 : static_cast<std::uint64_t>(std::llround(description_.window / description_.period));
  const double since =
      sees_part ? state_.window_energy : state_.tick_energy[(state_.updates - periods) % max_window_periods];
  const double mean = (state_.energy - since) / description_.window;
  const double noise = description_.noise > 0 ? description_.noise * normal(state_.seed, state_.updates) : 0;
  state_.values[state_.updates % max_samples] = std::max(0.0, state_.gain * mean * (1 + noise));
  state_.tick_energy[state_.updates % max_window_periods] = state_.energy;
  ++state_.updates;
  state_.next_update = state_.phase + static_cast<double>(state_.updates) * description_.period;
}

void Sensor::feed(double time, double watts) {
  if (!description_.present()) return;
  // After so many updates nothing remembers what was before: a long steady time costs no more than a short one.
  constexpr double memory = max_samples + max_window_periods + 2;
  const double ahead = std::floor((time - state_.next_update) / description_.period) - memory;
  if (ahead > 0) {
    const auto skipped = static_cast<std::uint64_t>(ahead);
    state_.updates += skipped;
    state_.next_update = state_.phase + static_cast<double>(state_.updates) * description_.period;
    advance(state_.next_update - description_.period, watts);
    state_.tick_energy[(state_.updates - 1) % max_window_periods] = state_.energy;
  }
  while (true) {
    const double opens = state_.next_update - description_.window;
    if (state_.now < opens && opens <= time) {
      advance(opens, watts);
      state_.window_energy = state_.energy;
    }
    if (state_.next_update > time) break;
    advance(state_.next_update, watts);
    update();
  }
  advance(time, watts);
}

double Sensor::reading() const {
  return description_.present() ? state_.values[(state_.updates - 1) % max_samples] : 0;
}

std::vector<PowerSample> Sensor::samples(double after, std::size_t count) const {
  std::vector<PowerSample> result;
  if (!description_.present()) return result;
  const auto most = std::min<std::uint64_t>(count, max_samples);
  for (std::uint64_t number = state_.updates - most; number < state_.updates; ++number) {
    const double time = state_.phase + static_cast<double>(number) * description_.period;
    if (time > after) result.push_back({time, state_.values[number % max_samples]});
  }
  return result;
}

void Counter::reset(std::uint64_t seed, double now, double joules, double phase, double gain) {
  if (!description_.present()) return;
  state_ = CounterState{};
  state_.seed = seed;
  state_.gain = gain;
  state_.now = now;
  state_.energy = joules;
  state_.next_update = first_after(now, phase, description_.period);
  state_.phase = state_.next_update;
  state_.value = std::floor(joules / description_.resolution) * description_.resolution;
}

void Counter::feed(double time, double watts) {
  if (!description_.present() || time <= state_.now) return;
  if (state_.next_update <= time) {
    // Of several steps only the last can still be read.
    state_.updates += 1 + static_cast<std::uint64_t>((time - state_.next_update) / description_.period);
    const double step = state_.phase + static_cast<double>(state_.updates - 1) * description_.period;
    const double jitter = description_.jitter > 0 ? description_.jitter * normal(state_.seed, state_.updates) : 0;
    const double joules = state_.energy + state_.gain * watts * (std::min(step, time) - state_.now + jitter);
    state_.value = std::max(state_.value, std::floor(joules / description_.resolution) * description_.resolution);
    state_.next_update = state_.phase + static_cast<double>(state_.updates) * description_.period;
  }
  state_.energy += state_.gain * watts * (time - state_.now);
  state_.now = time;
}

}  // namespace wattune::simgpu
