#include "evaluate/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "evaluate/power_estimate.hpp"
#include "sensor/probe.hpp"

namespace wattune {

namespace {

/// Device seconds of work to keep queued: more than the slowest call to a meter takes (17 ms were seen), so that the
/// device does not run dry meanwhile; and no more, for what is queued at the end has to be waited for.
constexpr double queued_seconds = 0.04;
/// The same while a kernel may yet be given up, which ends the loop at once, and no slow call is near.
constexpr double briefly_queued_seconds = 0.015;
constexpr double near_seconds = 0.02;
constexpr unsigned least_queued = 2;
constexpr unsigned most_queued = 64;
/// Work beyond the tick that is expected to end the window: until the call that sees that tick has returned.
constexpr double overtime_seconds = 0.010;
/// The meter is asked no more often than this, the device whether a replay has ended no less often than this.
constexpr double poll_seconds = 0.0005;
constexpr double feed_seconds = 0.004;
/// Clocks and temperature are sampled no more often than this.
constexpr double sample_seconds = 0.01;
/// Share of the samples from which a reason to throttle counts.
constexpr double throttled_share = 0.005;
/// What a single reading of instantaneous power, and the power of one tick, may be off.
constexpr double reading_margin = 0.25;
constexpr double tick_margin = 0.05;
/// Counter and readings that differ by more contradict each other.
constexpr double largest_difference = 0.03;
constexpr std::int64_t least_compared = 5;
/// What the memory's sensor averages over, where nobody has found out.
constexpr double memory_window = 1.0;

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
  std::optional<double> sm_clock, memory_clock, temperature, memory_power, instant_power;
  std::vector<std::string> throttle_reasons;
  std::map<std::string, double> throttle_seconds;
};

}  // namespace

struct EnergyLoop::Impl {
  Impl(Batch& batch_in, PowerMeter& meter_in, TickHistory& history_in, const EnergyOptions& options_in, Clock& clock_in)
      : batch(batch_in),
        meter(meter_in),
        options(options_in),
        clock(clock_in),
        estimate(make_power_estimate(meter_in, history_in, options, clock_in)) {}

  std::optional<Failure> start();
  std::optional<Failure> loop(const std::function<bool()>& unwanted);
  std::optional<Failure> keep_busy();
  std::optional<Failure> pause();
  std::optional<Failure> drain();
  void sample(double now);
  void wait(double now);
  [[nodiscard]] bool hopeless();
  [[nodiscard]] bool may_end_soon() const;
  [[nodiscard]] double least_energy(double seconds) const {
    return options.least_watts * seconds + options.least_joules;
  }
  [[nodiscard]] Failure failure(const std::string& what) const;
  [[nodiscard]] double launch() const;
  [[nodiscard]] Samples launches_in(double begin, double end) const;
  [[nodiscard]] Samples sampled(std::optional<double> Sample::*value, double begin, double end) const;
  [[nodiscard]] std::map<std::string, double> throttled(const WindowPower& window) const;
  [[nodiscard]] bool counter_disagrees(const WindowPower& window) const;
  [[nodiscard]] std::vector<std::string> flags(const WindowPower& window) const;
  void add_memory(double launch_seconds, const WindowPower& window, std::map<std::string, Quantity>& quantities) const;
  tl::expected<std::map<std::string, Quantity>, Failure> result();

  Batch& batch;
  PowerMeter& meter;
  const EnergyOptions options;
  Clock& clock;
  std::unique_ptr<PowerEstimate> estimate;

  double started = 0;
  double next_sample = 0;
  std::vector<Replay> replays;
  std::vector<Sample> samples;
  std::vector<double> drained;  ///< when the device was found without work
  bool feeding = false;         ///< the device is to be kept busy
  bool abandoned = false;
  bool bounded = false;            ///< that without any measurement
  std::optional<double> unloaded;  ///< instantaneous power as last told before the load, W
  std::optional<double> reading;   ///< instantaneous power that was enough to give the kernel up, W
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
  if (batch.outstanding() == 0 && feeding) drained.push_back(clock.now());
  feeding = true;
  unsigned wanted = least_queued;
  if (!replays.empty() && replays.back().seconds > 0) {
    const double each = replays.back().seconds;
    double seconds = may_end_soon() ? briefly_queued_seconds : queued_seconds;
    unsigned least = least_queued;
    if (const auto end = estimate->end_due(launch())) {
      const double left = *end + overtime_seconds - clock.now();
      if (left < seconds) seconds = left, least = 1;
    }
    wanted = static_cast<unsigned>(std::clamp<double>(std::ceil(seconds / each), least, most_queued));
  }
  while (batch.outstanding() < wanted) {
    if (auto failed = batch.enqueue()) return failed;
  }
  return std::nullopt;
}

bool EnergyLoop::Impl::may_end_soon() const {
  return options.hopeless && !estimate->tells_power() && !estimate->due(clock.now() + near_seconds);
}

/// Seconds of one launch; 0 before the first replay has ended.
double EnergyLoop::Impl::launch() const {
  // The first replay is often slower.
  const std::size_t first = replays.size() > 2 ? 1 : 0;
  double seconds = 0;
  for (std::size_t i = first; i < replays.size(); ++i) seconds += replays[i].seconds;
  const double launches = static_cast<double>(replays.size() - first) * std::max(1U, batch.launches());
  return replays.empty() ? 0 : seconds / launches;
}

void EnergyLoop::Impl::sample(double now) {
  if (now < started + options.settle_seconds || now < next_sample) return;
  next_sample = now + sample_seconds;
  samples.push_back({now, meter.sm_clock_hz(), meter.memory_clock_hz(), meter.temperature_celsius(),
                     meter.memory_power_watts(), meter.instant_power_watts(), meter.throttle_reasons(),
                     meter.throttle_seconds()});
}

/// Lets the device run dry and begins anew when the estimate says.
std::optional<Failure> EnergyLoop::Impl::pause() {
  feeding = false;
  estimate->end();
  // The meter is watched on: when the next update is due has to be known.
  while (batch.outstanding() > 0) {
    const auto seconds = batch.poll();
    if (!seconds) return seconds.error();
    if (*seconds) replays.push_back({clock.now(), **seconds});
    if (auto failed = estimate->look(launch())) return failed;
    clock.sleep_until(clock.now() + poll_seconds);
  }
  const double restart = estimate->restart(clock.now(), launch());
  while (clock.now() + 2 * poll_seconds < restart) {
    if (auto failed = estimate->look(launch())) return failed;
    clock.sleep_until(clock.now() + poll_seconds);
  }
  clock.sleep_until(restart);
  estimate->begin(clock.now());
  return std::nullopt;
}

/// Whether the kernel uses more energy than allowed, as far as is known by now.
bool EnergyLoop::Impl::hopeless() {
  if (!options.hopeless || replays.empty()) return false;
  const double seconds = replays.back().seconds / std::max(1U, batch.launches());
  bounded = least_energy(seconds) > *options.hopeless;
  if (bounded) return true;
  if (clock.now() < started + options.settle_seconds) return false;
  if (estimate->tells_power()) {
    const double margin = estimate->kind() == EnergyEstimator::counter ? tick_margin : reading_margin;
    return (1 - margin) * estimate->window(seconds).watts * seconds > *options.hopeless;
  }
  reading = meter.instant_power_watts();
  // A sensor that has not been renewed since still tells of what ran before.
  if (reading == unloaded) reading.reset();
  if (reading && (1 - reading_margin) * *reading * seconds > *options.hopeless) return true;
  reading.reset();
  return false;
}

void EnergyLoop::Impl::wait(double now) {
  clock.sleep_until(now + (estimate->due(clock.now()) ? estimate->poll_interval() : feed_seconds));
}

std::optional<Failure> EnergyLoop::Impl::start() {
  // Before the load, so that a meter which does not tell what is needed costs no work on the device.
  if (auto failed = estimate->prepare()) return failed;
  if (options.hopeless) unloaded = meter.instant_power_watts();
  started = clock.now();
  estimate->begin(started);
  return keep_busy();
}

std::optional<Failure> EnergyLoop::Impl::loop(const std::function<bool()>& unwanted) {
  while (!estimate->finished(launch())) {
    if (unwanted && unwanted()) return failure("it is not wanted any more");
    if (estimate->wants_pause(launch())) {
      if (auto failed = pause()) return failed;
    }
    if (auto failed = keep_busy()) return failed;
    const double now = clock.now();
    if (estimate->due(now)) {
      if (auto failed = estimate->look(launch())) return failed;
    }
    sample(now);
    if (hopeless()) {
      abandoned = true;
      return std::nullopt;
    }
    if (estimate->finished(launch())) break;
    if (clock.now() - started > options.max_seconds + estimate->patience(launch())) {
      return failure(
          fmt::format("in {:g} s {}", options.max_seconds + estimate->patience(launch()), estimate->progress()));
    }
    wait(now);
  }
  estimate->conclude(launch());
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

Samples EnergyLoop::Impl::sampled(std::optional<double> Sample::*value, double begin, double end) const {
  Samples result;
  for (const auto& sample : samples) {
    if (sample.time >= begin && sample.time <= end && sample.*value) result.add(*(sample.*value));
  }
  return result;
}

/// The share of the window for which each reason held the clock back, where the meter counts that.
std::map<std::string, double> EnergyLoop::Impl::throttled(const WindowPower& window) const {
  const Sample* first = nullptr;
  const Sample* last = nullptr;
  for (const auto& sample : samples) {
    if (sample.throttle_seconds.empty()) continue;
    if (sample.time <= window.begin || first == nullptr) first = &sample;
    if (sample.time <= window.end) last = &sample;
  }
  std::map<std::string, double> shares;
  if (first == nullptr || last == nullptr || last->time <= first->time) return shares;
  for (const auto& [reason, seconds] : last->throttle_seconds) {
    const auto before = first->throttle_seconds.find(reason);
    if (before == first->throttle_seconds.end()) continue;
    shares[reason] = std::clamp((seconds - before->second) / (last->time - first->time), 0.0, 1.0);
  }
  return shares;
}

/// Whether readings over the same window say something else. Only where they see launches evenly, and show nothing of
/// what was before.
bool EnergyLoop::Impl::counter_disagrees(const WindowPower& window) const {
  if (estimate->kind() != EnergyEstimator::counter || !options.profile || !options.profile->instant) return false;
  const ReadingProfile& instant = *options.profile->instant;
  if (!instant.window || launch() > 0.1 * *instant.window) return false;
  const double late = *instant.window + instant.delay.value_or(0) + 4 * instant.rise.value_or(0);
  Samples fresh;
  std::optional<double> before;
  for (const auto& sample : samples) {
    if (!sample.instant_power || sample.time > window.end) continue;
    const bool settled = sample.time - late > started + options.settle_seconds;
    if (settled && before && *sample.instant_power != *before) fresh.add(*sample.instant_power);
    before = sample.instant_power;
  }
  if (fresh.count() < least_compared) return false;
  const double allowed =
      largest_difference * window.watts + 3 * std::hypot(fresh.standard_error(), window.standard_error);
  return std::abs(fresh.mean() - window.watts) > allowed;
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
  for (const auto& [reason, share] : throttled(window)) {
    if (share > throttled_share && std::find(result.begin(), result.end(), reason) == result.end()) {
      result.push_back(reason);
    }
  }
  if (counter_disagrees(window)) result.emplace_back("counter_disagrees");
  if (std::any_of(drained.begin(), drained.end(), inside)) result.emplace_back("drained");
  if (abandoned) result.emplace_back("abandoned_early");
  return result;
}

/// The memory's power is an average over a long time: what it tells at the end of a loop that lasted longer.
void EnergyLoop::Impl::add_memory(double launch_seconds, const WindowPower& window,
                                  std::map<std::string, Quantity>& quantities) const {
  double late = memory_window;
  if (options.profile && options.profile->average) late = options.profile->average->window.value_or(memory_window);
  const Samples watts = sampled(&Sample::memory_power, started + options.settle_seconds + late, window.end);
  if (watts.empty()) return;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  quantities["memory_power"] = {watts.mean(), "W", unknown, 1, {}};
  quantities["memory_energy"] = {watts.mean() * launch_seconds, "J", unknown, 1, {}};
}

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::Impl::result() {
  if (bounded) {
    const Samples seconds = launches_in(started, clock.now());
    window_launches = seconds.values();
    std::map<std::string, Quantity> bound;
    bound["energy_bound"] = {least_energy(seconds.mean()), "J", 0, seconds.count(), {"lower_bound"}};
    return bound;
  }
  WindowPower power;
  if (reading) {
    power = {*reading, 0.5 * reading_margin * *reading, 1, started, clock.now(), 0};
  } else {
    power = estimate->window(launch());
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
    if (const Samples values = sampled(value, power.begin, power.end); !values.empty())
      quantities[name] = quantity(values, unit);
  };
  add("sm_clock", &Sample::sm_clock, "Hz");
  add("memory_clock", &Sample::memory_clock, "Hz");
  add("temperature", &Sample::temperature, "degC");
  add_memory(time, power, quantities);
  if (const auto shares = throttled(power); !shares.empty()) {
    double most = 0;
    for (const auto& [reason, share] : shares) most = std::max(most, share);
    quantities["throttle_time"] = {most * time, "s", std::numeric_limits<double>::quiet_NaN(), 1, {}};
  }
  return quantities;
}

std::optional<double> measure_idle_power(PowerMeter& meter, TickHistory& history, Clock& clock, double seconds) {
  if (!meter.energy_joules()) return idle_power(meter, clock, 2 * seconds);
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
      const Tick tick{0.5 * (asked + middle), 0.5 * (middle - asked), *now};
      if (history.add(tick)) ticks.push_back(tick);
    }
    energy = now;
    asked = middle;
    clock.sleep_until(before + poll_seconds);
  }
  // The first tick closes a period in which something may still have run.
  if (ticks.size() < 3) return std::nullopt;
  if (history.regular()) history.learn_jitter(ticks, 1);
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

tl::expected<std::map<std::string, Quantity>, Failure> EnergyLoop::finish(const std::function<bool()>& unwanted) {
  auto failed = impl_->loop(unwanted);
  // A batch that failed has nothing left to wait for; after any other failure its replays are still running.
  auto draining = impl_->drain();
  if (failed || draining) {
    impl_->window_launches = impl_->launches_in(impl_->started, impl_->clock.now()).values();
    return tl::unexpected(std::move(failed ? *failed : *draining));
  }
  return impl_->result();
}

EnergyEstimator EnergyLoop::estimator() const noexcept {
  return impl_->estimate->kind();
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
