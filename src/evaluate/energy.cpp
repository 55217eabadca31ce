#include "evaluate/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "evaluate/tick_times.hpp"

namespace wattune {

namespace {

/// Device seconds of work to keep queued: more than the slowest call to a meter takes (17 ms were seen), so that the
/// device does not run dry meanwhile; and no more, for what is queued at the end has to be waited for.
constexpr double queued_seconds = 0.04;
constexpr unsigned least_queued = 2;
constexpr unsigned most_queued = 64;
/// The counter is asked no more often than this; a tick's time is known no better, and the fit of all makes up for it.
constexpr double poll_seconds = 0.0005;
/// Clocks and temperature are sampled no more often than this.
constexpr double sample_seconds = 0.01;
/// Share of the samples from which a reason to throttle counts.
constexpr double throttled_share = 0.005;

/// Mean and standard error of samples.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] std::int64_t count() const noexcept { return static_cast<std::int64_t>(values_.size()); }
  [[nodiscard]] double mean() const {
    return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
  }
  /// NaN for fewer than two.
  [[nodiscard]] double standard_error() const {
    if (values_.size() < 2) return std::numeric_limits<double>::quiet_NaN();
    const double centre = mean();
    double squares = 0;
    for (const double value : values_) squares += (value - centre) * (value - centre);
    const double n = static_cast<double>(values_.size());
    return std::sqrt(squares / (n - 1) / n);
  }

 private:
  std::vector<double> values_;
};

Quantity quantity(const Samples& samples, const char* unit) {
  return {samples.mean(), unit, samples.standard_error(), samples.count(), {}};
}

Failure measurement_failure(const PowerMeter& meter, const std::string& what) {
  return {Outcome::measurement, fmt::format("measuring energy with {}: {}", meter.name(), what)};
}

/// One replay that has finished.
struct Replay {
  double seen;     ///< clock time at which it was found finished
  double seconds;  ///< device time
};

/// What the meter told beside the energy.
struct Sample {
  double time;
  std::optional<double> sm_clock, memory_clock, temperature;
  std::vector<std::string> throttle_reasons;
};

class EnergyLoop {
 public:
  EnergyLoop(Batch& batch, PowerMeter& meter, const EnergyOptions& options, Clock& clock)
      : batch_(batch), meter_(meter), options_(options), clock_(clock) {}

  tl::expected<std::map<std::string, Quantity>, Failure> run();

 private:
  std::optional<Failure> loop();
  std::optional<Failure> keep_busy();
  std::optional<Failure> read_counter();
  std::optional<Failure> drain();
  void sample();
  [[nodiscard]] bool in_window() const { return ticks_.size() > options_.ramp_ticks; }
  [[nodiscard]] std::size_t window_ticks() const { return std::max(1U, options_.ticks); }
  /// The tick at which the window begins that ends now.
  [[nodiscard]] std::size_t window_begin() const { return ticks_.size() - 1 - window_ticks(); }
  [[nodiscard]] bool finished() const;
  [[nodiscard]] Samples launch_seconds(double begin, double end) const;
  [[nodiscard]] Samples sampled(std::optional<double> Sample::*value, const WindowPower& window) const;
  [[nodiscard]] std::vector<std::string> flags(const WindowPower& window) const;
  tl::expected<std::map<std::string, Quantity>, Failure> result() const;

  Batch& batch_;
  PowerMeter& meter_;
  EnergyOptions options_;
  Clock& clock_;

  double started_ = 0;
  std::optional<double> energy_;  ///< the counter as last read
  double asked_ = 0;              ///< when that was: the middle of the call
  double next_sample_ = 0;
  std::vector<Tick> ticks_;  ///< after the load began; the first ends a tick that was partly idle
  std::vector<Replay> replays_;
  std::vector<Sample> samples_;
  std::vector<double> drained_;  ///< when the device was found without work
};

std::optional<Failure> EnergyLoop::keep_busy() {
  while (batch_.outstanding() > 0) {
    const auto seconds = batch_.poll();
    if (!seconds) return seconds.error();
    if (!*seconds) break;
    replays_.push_back({clock_.now(), **seconds});
  }
  if (batch_.outstanding() == 0 && !replays_.empty()) drained_.push_back(clock_.now());
  unsigned wanted = least_queued;
  if (!replays_.empty() && replays_.back().seconds > 0) {
    const double replays = std::ceil(queued_seconds / replays_.back().seconds);
    wanted = static_cast<unsigned>(std::clamp<double>(replays, least_queued, most_queued));
  }
  while (batch_.outstanding() < wanted) {
    if (auto failure = batch_.enqueue()) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> EnergyLoop::read_counter() {
  const double before = clock_.now();
  const auto energy = meter_.energy_joules();
  const double middle = 0.5 * (before + clock_.now());
  if (!energy) {
    return measurement_failure(meter_, energy_ ? "the energy counter stopped answering" : "it has no energy counter");
  }
  if (energy_ && *energy < *energy_) {
    return measurement_failure(
        meter_,
        fmt::format("the energy counter went back from {} to {} J: was the driver reloaded?", *energy_, *energy));
  }
  // The step fell between the last call and this one.
  if (energy_ && *energy > *energy_) ticks_.push_back({0.5 * (asked_ + middle), 0.5 * (middle - asked_), *energy});
  energy_ = energy;
  asked_ = middle;
  return std::nullopt;
}

void EnergyLoop::sample() {
  const double now = clock_.now();
  if (!in_window() || now < next_sample_) return;
  next_sample_ = now + sample_seconds;
  samples_.push_back(
      {now, meter_.sm_clock_hz(), meter_.memory_clock_hz(), meter_.temperature_celsius(), meter_.throttle_reasons()});
}

std::optional<Failure> EnergyLoop::loop() {
  // Before the load, so that a meter without a counter costs no work on the device.
  if (auto failure = read_counter()) return failure;
  started_ = clock_.now();
  while (!finished()) {
    if (auto failure = keep_busy()) return failure;
    const double polled = clock_.now();
    if (auto failure = read_counter()) return failure;
    sample();
    if (!finished() && clock_.now() - started_ > options_.max_seconds) {
      return measurement_failure(meter_,
                                 fmt::format("the energy counter moved {} times in {:g} s, too few for a window of {} "
                                             "ticks after {} of ramp",
                                             ticks_.size(), options_.max_seconds, options_.ticks, options_.ramp_ticks));
    }
    clock_.sleep_until(polled + poll_seconds);
  }
  return std::nullopt;
}

std::optional<Failure> EnergyLoop::drain() {
  while (batch_.outstanding() > 0) {
    const auto seconds = batch_.wait();
    if (!seconds) return seconds.error();
    replays_.push_back({clock_.now(), *seconds});
  }
  return std::nullopt;
}

Samples EnergyLoop::launch_seconds(double begin, double end) const {
  const double launches = std::max(1U, batch_.launches());
  Samples inside;
  for (const auto& replay : replays_) {
    if (replay.seen > begin && replay.seen <= end) inside.add(replay.seconds / launches);
  }
  if (!inside.empty()) return inside;
  // Replays longer than the window: those that ran in it end after it.
  for (const auto& replay : replays_) {
    if (replay.seen > begin) inside.add(replay.seconds / launches);
  }
  return inside;
}

Samples EnergyLoop::sampled(std::optional<double> Sample::*value, const WindowPower& window) const {
  Samples result;
  for (const auto& sample : samples_) {
    if (sample.time >= window.begin && sample.time <= window.end && sample.*value) result.add(*(sample.*value));
  }
  return result;
}

std::vector<std::string> EnergyLoop::flags(const WindowPower& window) const {
  const auto inside = [&](double time) { return time >= window.begin && time <= window.end; };
  std::map<std::string, int> reasons;
  int samples = 0;
  for (const auto& sample : samples_) {
    if (!inside(sample.time)) continue;
    ++samples;
    for (const auto& reason : sample.throttle_reasons) ++reasons[reason];
  }
  std::vector<std::string> result;
  for (const auto& [reason, count] : reasons) {
    if (count > throttled_share * samples) result.push_back(reason);
  }
  if (std::any_of(drained_.begin(), drained_.end(), inside)) result.emplace_back("drained");
  return result;
}

bool EnergyLoop::finished() const {
  if (ticks_.size() <= options_.ramp_ticks + window_ticks()) return false;
  if (ticks_.size() > options_.ramp_ticks + std::max<std::size_t>(options_.most_ticks, window_ticks())) return true;
  const WindowPower power = window_power(ticks_, window_begin());
  // A window of one tick has no error to judge by.
  return !(power.standard_error > options_.noise * power.watts);
}

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::result() const {
  const WindowPower power = window_power(ticks_, window_begin());
  const Samples seconds = launch_seconds(power.begin, power.end);
  if (seconds.empty()) return tl::unexpected(measurement_failure(meter_, "no replay of the batch ended in the window"));

  std::map<std::string, Quantity> quantities;
  quantities["power"] = {power.watts, "W", power.standard_error, power.intervals, flags(power)};
  const double time = seconds.mean();
  const double time_share = seconds.count() > 1 && time > 0 ? seconds.standard_error() / time : 0;
  const double power_share = power.watts > 0 ? power.standard_error / power.watts : 0;
  const double energy = power.watts * time;
  quantities["energy"] = {energy, "J", energy * std::hypot(power_share, time_share), power.intervals, flags(power)};
  auto add = [&](const char* name, std::optional<double> Sample::*value, const char* unit) {
    if (const Samples samples = sampled(value, power); !samples.empty()) quantities[name] = quantity(samples, unit);
  };
  add("sm_clock", &Sample::sm_clock, "Hz");
  add("memory_clock", &Sample::memory_clock, "Hz");
  add("temperature", &Sample::temperature, "degC");
  return quantities;
}

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::run() {
  auto failure = loop();
  // A batch that failed has nothing left to wait for; after any other failure its replays are still running.
  auto draining = drain();
  if (failure) return tl::unexpected(std::move(*failure));
  if (draining) return tl::unexpected(std::move(*draining));
  return result();
}

}  // namespace

tl::expected<std::map<std::string, Quantity>, Failure> measure_energy(Batch& batch, PowerMeter& meter,
                                                                      const EnergyOptions& options, Clock& clock) {
  return EnergyLoop(batch, meter, options, clock).run();
}

}  // namespace wattune
