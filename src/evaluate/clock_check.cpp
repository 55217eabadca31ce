#include "evaluate/clock_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "evaluate/load.hpp"

namespace wattune {

namespace {

ClockReading read_clocks(PowerMeter& meter) {
  return {meter.sm_clock_hz(), meter.memory_clock_hz(), meter.throttle_reasons()};
}

bool is_near(const std::optional<double>& actual, const std::optional<double>& wanted, double tolerance) {
  return !actual || !wanted || std::fabs(*actual - *wanted) <= tolerance;
}

bool is_there(const ClockReading& reading, const DeviceSettings& settings, double tolerance) {
  if (!is_near(reading.memory_clock_hz, settings.memory_clock_hz, tolerance)) return false;
  if (is_near(reading.sm_clock_hz, settings.sm_clock_hz, tolerance)) return true;
  return reading.is_throttled_by("power_capped") && *reading.sm_clock_hz < *settings.sm_clock_hz;
}

std::string held_back_by(const std::vector<std::string>& reasons) {
  return reasons.empty()
             ? "and nothing is known to hold it back: does another lock or an administrator's rule override it?"
             : fmt::format("held back by: {}", fmt::join(reasons, ", "));
}

Failure not_there(const ClockReading& reading, const DeviceSettings& settings, double seconds) {
  const bool memory = is_near(reading.sm_clock_hz, settings.sm_clock_hz, ReachOptions{}.tolerance_hz) &&
                      reading.memory_clock_hz && settings.memory_clock_hz;
  const double actual = memory ? *reading.memory_clock_hz : reading.sm_clock_hz.value_or(0);
  const double wanted = memory ? *settings.memory_clock_hz : settings.sm_clock_hz.value_or(0);
  return {Outcome::measurement,
          fmt::format("the {} clock is {:.0f} MHz under load {:g} s after it was set to {:.0f} MHz, {}",
                      memory ? "memory" : "SM", actual * 1e-6, seconds, wanted * 1e-6,
                      held_back_by(reading.throttle_reasons))};
}

}  // namespace

bool ClockReading::is_throttled_by(const std::string& reason) const {
  return std::find(throttle_reasons.begin(), throttle_reasons.end(), reason) != throttle_reasons.end();
}

tl::expected<ClockReading, Failure> reach_clocks(Batch& batch, PowerMeter& meter, const DeviceSettings& settings,
                                                 const ReachOptions& options, Clock& clock) {
  Load load(batch);
  const double deadline = clock.now() + options.limit_seconds;
  unsigned agreeing = 0;
  ClockReading reading;
  std::optional<Failure> failure;
  while (agreeing < options.readings) {
    if ((failure = load.keep_busy())) break;
    reading = read_clocks(meter);
    agreeing = is_there(reading, settings, options.tolerance_hz) ? agreeing + 1 : 0;
    if (agreeing == 0 && clock.now() > deadline) {
      failure = not_there(reading, settings, options.limit_seconds);
      break;
    }
    clock.sleep_until(clock.now() + options.poll_seconds);
  }
  auto draining = load.drain();
  if (failure) return tl::unexpected(std::move(*failure));
  if (draining) return tl::unexpected(std::move(*draining));
  return reading;
}

tl::expected<ClockReading, Failure> settled_clocks(Batch& batch, PowerMeter& meter, Clock& clock) {
  constexpr double most_seconds = 1.0;
  constexpr double poll_seconds = 0.01;
  constexpr unsigned wanted = 20;
  Load load(batch);
  const double deadline = clock.now() + most_seconds;
  unsigned equal = 0;
  ClockReading reading;
  std::optional<Failure> failure;
  while (equal < wanted && clock.now() < deadline) {
    if ((failure = load.keep_busy())) break;
    const ClockReading next = read_clocks(meter);
    equal = next.sm_clock_hz == reading.sm_clock_hz ? equal + 1 : 0;
    reading = next;
    clock.sleep_until(clock.now() + poll_seconds);
  }
  auto draining = load.drain();
  if (failure) return tl::unexpected(std::move(*failure));
  if (draining) return tl::unexpected(std::move(*draining));
  return reading;
}

std::optional<Failure> check_window_clock(const Evaluation& evaluation, const DeviceSettings& settings) {
  const auto clock = evaluation.quantities.find("sm_clock");
  if (!settings.sm_clock_hz || clock == evaluation.quantities.end()) return std::nullopt;
  if (std::fabs(clock->second.value - *settings.sm_clock_hz) <= ReachOptions{}.tolerance_hz) return std::nullopt;
  std::vector<std::string> flags;
  if (const auto power = evaluation.quantities.find("power"); power != evaluation.quantities.end()) {
    flags = power->second.flags;
  }
  const bool capped = std::find(flags.begin(), flags.end(), "power_capped") != flags.end();
  if (capped && clock->second.value < *settings.sm_clock_hz) return std::nullopt;
  return Failure{Outcome::measurement,
                 fmt::format("the SM clock was {:.0f} MHz while energy was measured, instead of {:.0f} MHz as set, {}",
                             clock->second.value * 1e-6, *settings.sm_clock_hz * 1e-6, held_back_by(flags))};
}

}  // namespace wattune
