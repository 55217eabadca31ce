#include "evaluate/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wattune {

namespace {

/// Device seconds of work to keep queued: more than the slowest call to a meter takes (17 ms were seen), so that the
/// device does not run dry meanwhile; and no more, for what is queued at the end has to be waited for.
constexpr double queued_seconds = 0.04;
constexpr unsigned least_queued = 2;
constexpr unsigned most_queued = 64;
/// Work beyond the tick that is expected to end the window: until the call that sees that tick has returned.
constexpr double overtime_seconds = 0.006;
/// Calls of the counter are slow and load the driver: where its next step is known they begin so many calls before it.
constexpr double calls_ahead = 2.5;
/// The counter is asked no more often than this, the device whether a replay has ended no less often than this.
constexpr double poll_seconds = 0.0005;
constexpr double feed_seconds = 0.004;
/// Clocks and temperature are sampled no more often than this.
constexpr double sample_seconds = 0.01;
/// Share of the samples from which a reason to throttle counts.
constexpr double throttled_share = 0.005;
/// What a single reading of instantaneous power, and the power of one tick, may be off.
constexpr double reading_margin = 0.25;
constexpr double tick_margin = 0.05;

/// Mean and standard error of samples.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] std::int64_t count() const noexcept { return static_cast<std::int64_t>(values_.size()); }
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }
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

}  // namespace

struct EnergyLoop::Impl {
  Impl(Batch& batch_in, PowerMeter& meter_in, TickHistory& history_in, const EnergyOptions& options_in, Clock& clock_in)
      : batch(batch_in), meter(meter_in), history(history_in), options(options_in), clock(clock_in) {}

  std::optional<Failure> start();
  std::optional<Failure> loop();
  std::optional<Failure> keep_busy();
  std::optional<Failure> read_counter();
  std::optional<Failure> drain();
  void sample(double now);
  void wait(double now);
  [[nodiscard]] bool counter_is_due(double now) const;
  [[nodiscard]] std::optional<double> end_due() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool hopeless();
  [[nodiscard]] Failure failure(const std::string& what) const;
  [[nodiscard]] std::size_t window_ticks() const { return std::max(1U, options.ticks); }
  [[nodiscard]] WindowPower window() const;
  [[nodiscard]] Samples launches_in(double begin, double end) const;
  [[nodiscard]] Samples sampled(std::optional<double> Sample::*value, const WindowPower& window) const;
  [[nodiscard]] std::vector<std::string> flags(const WindowPower& window) const;
  tl::expected<std::map<std::string, Quantity>, Failure> result();

  Batch& batch;
  PowerMeter& meter;
  TickHistory& history;
  const EnergyOptions options;
  Clock& clock;

  double started = 0;
  std::optional<double> energy;  ///< the counter as last read
  double asked = 0;              ///< when that was: the middle of the call
  double call_seconds = 0.003;   ///< what a call takes
  double next_sample = 0;
  std::vector<Tick> ticks;       ///< after power had settled; the first begins the window or what precedes it
  std::vector<Replay> replays;
  std::vector<Sample> samples;
  std::vector<double> drained;   ///< when the device was found without work
  bool abandoned = false;
  bool bounded = false;           ///< that without any measurement
  std::optional<double> unloaded;  ///< instantaneous power as last told before the load, W
  std::optional<double> reading;   ///< the same during it, where that was enough to give the kernel up
  std::vector<double> window_launches;
};

Failure EnergyLoop::Impl::failure(const std::string& what) const {
  return {Outcome::measurement, fmt::format("measuring energy with {}: {}", meter.name(), what)};
}

std::optional<Failure> EnergyLoop::Impl::keep_busy() {
  while (batch.outstanding() > 0) {
    const auto seconds = batch.poll();
    if (!seconds) return seconds.error();
    if (!*seconds) break;
    replays.push_back({clock.now(), **seconds});
  }
  if (batch.outstanding() == 0 && !replays.empty()) drained.push_back(clock.now());
  unsigned wanted = least_queued;
  if (!replays.empty() && replays.back().seconds > 0) {
    const double each = replays.back().seconds;
    double seconds = queued_seconds;
    if (const auto end = end_due()) seconds = std::min(seconds, *end + overtime_seconds - clock.now());
    const unsigned least = seconds < queued_seconds ? 1 : least_queued;
    wanted = static_cast<unsigned>(std::clamp<double>(std::ceil(seconds / each), least, most_queued));
  }
  while (batch.outstanding() < wanted) {
    if (auto failed = batch.enqueue()) return failed;
  }
  return std::nullopt;
}

/// When the tick is due that may end the window.
std::optional<double> EnergyLoop::Impl::end_due() const {
  if (!history.regular()) return std::nullopt;
  if (ticks.size() > window_ticks()) return history.next(history.time(ticks.back()) + 0.5 * history.period());
  const double begin = ticks.empty() ? history.next(started + options.settle_seconds).value() : ticks.front().time;
  return begin + static_cast<double>(window_ticks()) * history.period();
}

/// Between steps whose times are known there is nothing to ask for.
bool EnergyLoop::Impl::counter_is_due(double now) const {
  if (!history.regular()) return true;
  const double last = ticks.empty() ? started + options.settle_seconds : history.time(ticks.back());
  const double due = history.next(last + (ticks.empty() ? 0 : 0.5 * history.period())).value();
  return now >= due - calls_ahead * call_seconds - poll_seconds;
}

std::optional<Failure> EnergyLoop::Impl::read_counter() {
  const double before = clock.now();
  const auto now = meter.energy_joules();
  const double after = clock.now();
  const double middle = 0.5 * (before + after);
  call_seconds += 0.2 * (std::min(after - before, 0.02) - call_seconds);
  if (!now) return failure(energy ? "the energy counter stopped answering" : "it has no energy counter");
  if (energy && *now < *energy) {
    return failure(
        fmt::format("the energy counter went back from {} to {} J: was the driver reloaded?", *energy, *now));
  }
  if (energy && *now > *energy) {
    // The step fell between the last call and this one.
    const Tick tick{0.5 * (asked + middle), 0.5 * (middle - asked), *now};
    history.add(tick);
    if (tick.time >= started + options.settle_seconds) ticks.push_back(tick);
  }
  energy = now;
  asked = middle;
  return std::nullopt;
}

void EnergyLoop::Impl::sample(double now) {
  if (ticks.empty() || now < next_sample) return;
  next_sample = now + sample_seconds;
  samples.push_back(
      {now, meter.sm_clock_hz(), meter.memory_clock_hz(), meter.temperature_celsius(), meter.throttle_reasons()});
}

WindowPower EnergyLoop::Impl::window() const {
  const std::size_t first = ticks.size() > window_ticks() ? ticks.size() - 1 - window_ticks() : 0;
  return window_power(ticks, first, history);
}

bool EnergyLoop::Impl::finished() const {
  if (ticks.size() <= window_ticks()) return false;
  if (ticks.size() > std::max<std::size_t>(options.most_ticks, window_ticks())) return true;
  // The first ticks of all place those that come after them.
  if (!history.regular()) return false;
  const WindowPower power = window();
  return power.standard_error <= options.noise * power.watts;
}

/// Whether the kernel uses more energy than allowed, as far as is known by now.
bool EnergyLoop::Impl::hopeless() {
  if (!options.hopeless || replays.empty()) return false;
  const double seconds = replays.back().seconds / std::max(1U, batch.launches());
  bounded = options.least_watts * seconds > *options.hopeless;
  if (bounded) return true;
  if (clock.now() < started + options.settle_seconds) return false;
  if (ticks.size() > 1) return (1 - tick_margin) * window().watts * seconds > *options.hopeless;
  reading = meter.instant_power_watts();
  // A sensor that has not been renewed since still tells of what ran before.
  if (reading == unloaded) reading.reset();
  if (reading && (1 - reading_margin) * *reading * seconds > *options.hopeless) return true;
  reading.reset();
  return false;
}

void EnergyLoop::Impl::wait(double now) {
  const bool due = counter_is_due(clock.now());
  clock.sleep_until(now + (due ? poll_seconds : feed_seconds));
}

std::optional<Failure> EnergyLoop::Impl::start() {
  // Before the load, so that a meter without a counter costs no work on the device.
  if (!history.regular()) {
    if (auto failed = read_counter()) return failed;
  }
  if (options.hopeless) unloaded = meter.instant_power_watts();
  started = clock.now();
  return keep_busy();
}

std::optional<Failure> EnergyLoop::Impl::loop() {
  while (!finished()) {
    if (auto failed = keep_busy()) return failed;
    const double now = clock.now();
    if (counter_is_due(now)) {
      if (auto failed = read_counter()) return failed;
    }
    sample(now);
    if (hopeless()) {
      abandoned = true;
      return std::nullopt;
    }
    if (!finished() && clock.now() - started > options.max_seconds) {
      return failure(fmt::format("the energy counter moved {} times in {:g} s, too few for a window of {} ticks",
                                 ticks.size(), options.max_seconds, window_ticks()));
    }
    if (!finished()) wait(now);
  }
  return std::nullopt;
}

std::optional<Failure> EnergyLoop::Impl::drain() {
  while (batch.outstanding() > 0) {
    const auto seconds = batch.wait();
    if (!seconds) return seconds.error();
    replays.push_back({clock.now(), *seconds});
  }
  return std::nullopt;
}

Samples EnergyLoop::Impl::launches_in(double begin, double end) const {
  const double launches = std::max(1U, batch.launches());
  Samples inside;
  for (const auto& replay : replays) {
    if (replay.seen > begin && replay.seen <= end) inside.add(replay.seconds / launches);
  }
  if (!inside.empty()) return inside;
  // Replays longer than the window: those that ran in it end after it.
  for (const auto& replay : replays) {
    if (replay.seen > begin) inside.add(replay.seconds / launches);
  }
  return inside;
}

Samples EnergyLoop::Impl::sampled(std::optional<double> Sample::*value, const WindowPower& window) const {
  Samples result;
  for (const auto& sample : samples) {
    if (sample.time >= window.begin && sample.time <= window.end && sample.*value) result.add(*(sample.*value));
  }
  return result;
}

std::vector<std::string> EnergyLoop::Impl::flags(const WindowPower& window) const {
  const auto inside = [&](double time) { return time >= window.begin && time <= window.end; };
  std::map<std::string, int> reasons;
  int count = 0;
  for (const auto& sample : samples) {
    if (!inside(sample.time)) continue;
    ++count;
    for (const auto& reason : sample.throttle_reasons) ++reasons[reason];
  }
  std::vector<std::string> result;
  for (const auto& [reason, times] : reasons) {
    if (times > throttled_share * count) result.push_back(reason);
  }
  if (std::any_of(drained.begin(), drained.end(), inside)) result.emplace_back("drained");
  if (abandoned) result.emplace_back("abandoned_early");
  return result;
}

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::Impl::result() {
  if (bounded) {
    const Samples seconds = launches_in(started, clock.now());
    window_launches = seconds.values();
    std::map<std::string, Quantity> bound;
    bound["energy_bound"] = {options.least_watts * seconds.mean(), "J", 0, seconds.count(), {"lower_bound"}};
    return bound;
  }
  WindowPower power;
  if (reading) {
    power = {*reading, 0.5 * reading_margin * *reading, 1, started, clock.now()};
  } else {
    power = window();
  }
  const Samples seconds = launches_in(power.begin, power.end);
  if (seconds.empty()) return tl::unexpected(failure("no replay of the batch ended in the window"));
  window_launches = seconds.values();

  std::map<std::string, Quantity> quantities;
  quantities["power"] = {power.watts, "W", power.standard_error, power.intervals, flags(power)};
  const double time = seconds.mean();
  const double time_share = seconds.count() > 1 && time > 0 ? seconds.standard_error() / time : 0;
  const double power_share = power.watts > 0 ? power.standard_error / power.watts : 0;
  const double joules = power.watts * time;
  quantities["energy"] = {joules, "J", joules * std::hypot(power_share, time_share), power.intervals, flags(power)};
  auto add = [&](const char* name, std::optional<double> Sample::*value, const char* unit) {
    if (const Samples values = sampled(value, power); !values.empty()) quantities[name] = quantity(values, unit);
  };
  add("sm_clock", &Sample::sm_clock, "Hz");
  add("memory_clock", &Sample::memory_clock, "Hz");
  add("temperature", &Sample::temperature, "degC");
  return quantities;
}

std::optional<double> measure_idle_power(PowerMeter& meter, TickHistory& history, Clock& clock, double seconds) {
  std::vector<Tick> ticks;
  std::optional<double> energy;
  double asked = 0;
  const double began = clock.now();
  constexpr std::size_t enough = 6;
  while (ticks.size() < enough && clock.now() < began + seconds) {
    const double before = clock.now();
    const auto now = meter.energy_joules();
    const double middle = 0.5 * (before + clock.now());
    if (!now) return std::nullopt;
    if (energy && *now > *energy) {
      ticks.push_back({0.5 * (asked + middle), 0.5 * (middle - asked), *now});
      history.add(ticks.back());
    }
    energy = now;
    asked = middle;
    clock.sleep_until(before + poll_seconds);
  }
  // The first tick closes a period in which something may still have run.
  if (ticks.size() < 3) return std::nullopt;
  return window_power(ticks, 1, history).watts;
}

EnergyLoop::EnergyLoop(Batch& batch, PowerMeter& meter, TickHistory& history, const EnergyOptions& options,
                       Clock& clock)
    : impl_(std::make_unique<Impl>(batch, meter, history, options, clock)) {}

EnergyLoop::~EnergyLoop() = default;

std::optional<Failure> EnergyLoop::start() {
  return impl_->start();
}

std::optional<Failure> EnergyLoop::stop() {
  return impl_->drain();
}

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::finish() {
  auto failed = impl_->loop();
  // A batch that failed has nothing left to wait for; after any other failure its replays are still running.
  auto draining = impl_->drain();
  if (failed || draining) {
    impl_->window_launches = impl_->launches_in(impl_->started, impl_->clock.now()).values();
    return tl::unexpected(std::move(failed ? *failed : *draining));
  }
  return impl_->result();
}

const std::vector<double>& EnergyLoop::launch_seconds() const noexcept {
  return impl_->window_launches;
}

tl::expected<std::map<std::string, Quantity>, Failure> measure_energy(Batch& batch, PowerMeter& meter,
                                                                      TickHistory& history,
                                                                      const EnergyOptions& options, Clock& clock) {
  EnergyLoop loop(batch, meter, history, options, clock);
  if (auto failed = loop.start()) {
    loop.stop();
    return tl::unexpected(std::move(*failed));
  }
  return loop.finish();
}

}  // namespace wattune
