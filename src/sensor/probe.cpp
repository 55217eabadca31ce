#include "sensor/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sensor/counter_watch.hpp"
#include "sensor/tick_history.hpp"
#include "sensor/window_fit.hpp"

namespace wattune {

namespace {

using Reading = std::optional<double> (PowerMeter::*)();

/// The readings are asked so often, the counter (whose calls are slow) less often, the driver's record seldom.
constexpr double reading_poll = 0.4e-3;
constexpr double counter_poll = 1.5e-3;
constexpr double record_poll = 0.1437;
/// Bursts and pauses last from this to that: shorter and longer than the windows of sensors, at all phases.
constexpr double shortest_burst = 4e-3;
constexpr double longest_burst = 0.35;
/// No sensor is known that averages over more.
constexpr double longest_window = 2.2;
/// Until the slowest of sensors shows nothing any more of what was before.
constexpr double forget_seconds = 1.2;
constexpr std::size_t least_updates = 8;
/// A board at its power cap says so within this.
constexpr double cap_seconds = 0.5;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Evenly spread numbers from 0 to 1 in no order (multiples of an irrational number).
double spread(std::size_t number, double step) {
  const double value = static_cast<double>(number + 1) * step;
  return value - std::floor(value);
}

/// Switches a load on and off for times that cover several orders of magnitude.
class Switcher {
 public:
  Switcher(SwitchedLoad& load, Clock& clock) : load_(load), clock_(clock) {}

  void step() {
    if (load_.running()) {
      was_running_ = true;
      return;
    }
    const double now = clock_.now();
    if (was_running_) {
      was_running_ = false;
      next_ = load_.bursts().back().end + duration(0.7548776662);
    }
    if (now < next_) return;
    load_.switch_on(duration(0.6180339887));
    was_running_ = true;
    ++count_;
  }
  void end() { load_.finish(); }

 private:
  [[nodiscard]] double duration(double step) const {
    return shortest_burst * std::pow(longest_burst / shortest_burst, spread(count_, step));
  }

  SwitchedLoad& load_;
  Clock& clock_;
  bool was_running_ = false;
  double next_ = 0;
  std::size_t count_ = 0;
};

/// The moments at which a reading changes.
class Watch {
 public:
  Watch(PowerMeter& meter, Reading reading, Clock& clock) : meter_(meter), reading_(reading), clock_(clock) {}

  void look() {
    const double now = clock_.now();
    const auto watts = (meter_.*reading_)();
    if (!watts) return;
    if (value_ && *watts != *value_) {
      updates_.push_back({0.5 * (asked_ + now), *watts});
      history_.add({updates_.back().time, 0.5 * (now - asked_), 0});
    }
    value_ = watts;
    asked_ = now;
  }
  [[nodiscard]] bool answers() const { return value_.has_value(); }
  [[nodiscard]] const std::vector<Update>& updates() const { return updates_; }
  [[nodiscard]] const TickHistory& history() const { return history_; }

 private:
  PowerMeter& meter_;
  Reading reading_;
  Clock& clock_;
  std::optional<double> value_;
  double asked_ = 0;
  std::vector<Update> updates_;
  TickHistory history_;
};

/// The driver's record, its stamps made times of our clock.
class RecordWatch {
 public:
  RecordWatch(PowerMeter& meter, Clock& clock) : meter_(meter), clock_(clock) {}

  void look() {
    if (clock_.now() < next_) return;
    next_ = clock_.now() + record_poll;
    const auto found = meter_.recorded_power(last_);
    if (found.empty()) return;
    // What was recorded before the first look was before the load, too.
    if (last_ > 0) samples_.insert(samples_.end(), found.begin(), found.end());
    last_ = found.back().stamp;
    offset_ = std::min(offset_, clock_.now() - last_);
  }
  [[nodiscard]] std::vector<Update> updates() const {
    std::vector<Update> result;
    for (const auto& sample : samples_) result.push_back({sample.stamp + offset_, sample.watts});
    return result;
  }

 private:
  PowerMeter& meter_;
  Clock& clock_;
  double next_ = 0;
  double last_ = 0;
  double offset_ = 1e300;
  std::vector<PowerSample> samples_;
};

struct CallCost {
  double usual;
  double slow;
};

template <typename Call>
CallCost cost_of(Clock& clock, std::size_t count, Call call) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) {
    const double before = clock.now();
    call();
    seconds.push_back(clock.now() - before);
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds[count / 2], seconds[(count * 99) / 100]};
}

class Probe {
 public:
  Probe(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const ProbeOptions& options)
      : meter_(meter), load_(load), clock_(clock), options_(options) {}

  SensorProfile run() {
    profile_.idle_context_w = idle_power(meter_, clock_, options_.idle_seconds);
    stay_below_the_cap();
    watch_readings();
    watch_counter();
    compare();
    return std::move(profile_);
  }

 private:
  void say(const std::string& text) const {
    if (options_.on_progress) options_.on_progress(text);
  }

  /// At the power cap the clock moves, and power is not what it was a moment ago.
  void stay_below_the_cap() {
    bool capped = true;
    while (capped) {
      capped = false;
      load_.switch_on(cap_seconds);
      while (load_.running()) {
        const auto reasons = meter_.throttle_reasons();
        capped = capped || std::find(reasons.begin(), reasons.end(), "power_capped") != reasons.end();
        clock_.sleep_until(clock_.now() + counter_poll);
      }
      if (capped && !load_.shrink()) {
        profile_.warnings.emplace_back("even a small load is held at the power cap; what follows is less certain");
        return;
      }
    }
  }

  /// Fills window, duty, rise and delay, where the updates tell them.
  void fit(ReadingProfile& reading, const std::vector<Update>& updates, const std::vector<Burst>& bursts,
           const std::string& what, double longest) {
    const auto found = fit_window(updates, bursts, reading.period, longest);
    if (!found) {
      profile_.warnings.push_back(what + " does not follow the load that was switched on and off; it is not relied on");
      return;
    }
    reading.window = found->window;
    reading.duty = std::min(1.0, found->window / reading.period);
    if (found->rise > 0) reading.rise = found->rise;
    reading.delay = found->delay;
    reading.scatter = found->scatter;
  }

  void note(std::optional<ReadingProfile>& reading, const Watch& watch, Reading how, const std::string& what) {
    if (!watch.answers()) return;
    if (watch.updates().size() < least_updates) {
      profile_.warnings.push_back(
          fmt::format("{} changed {} times in {:g} s of a load switched on and off: it is stuck, and not used", what,
                      watch.updates().size(), options_.readings_seconds));
      return;
    }
    if (!watch.history().regular()) {
      profile_.warnings.push_back(what + " changes at no regular pace; it is not used");
      return;
    }
    const CallCost cost = cost_of(clock_, 200, [&] { (meter_.*how)(); });
    reading = ReadingProfile{watch.history().period(), cost.usual, cost.slow, {}, {}, {}, {}, {}};
    fit(*reading, watch.updates(), load_.bursts(), what, longest_window);
  }

  void watch_readings() {
    say("watching the power readings while a load is switched on and off");
    Watch average(meter_, &PowerMeter::power_watts, clock_);
    Watch instant(meter_, &PowerMeter::instant_power_watts, clock_);
    RecordWatch record(meter_, clock_);
    Switcher switcher(load_, clock_);
    const double end = clock_.now() + options_.readings_seconds;
    while (clock_.now() < end) {
      switcher.step();
      const double now = clock_.now();
      average.look();
      instant.look();
      record.look();
      clock_.sleep_until(now + reading_poll);
    }
    switcher.end();
    note(profile_.average, average, &PowerMeter::power_watts, "the average power reading");
    note(profile_.instant, instant, &PowerMeter::instant_power_watts, "the instantaneous power reading");
    note_record(record.updates());
  }

  void note_record(const std::vector<Update>& updates) {
    if (updates.size() < least_updates) return;
    std::vector<double> gaps;
    for (std::size_t i = 1; i < updates.size(); ++i) gaps.push_back(updates[i].time - updates[i - 1].time);
    const double period = median_of(gaps);
    const auto [least, most] = std::minmax_element(updates.begin(), updates.end(),
                                                   [](const Update& a, const Update& b) { return a.watts < b.watts; });
    if (!(period > 0) || least->watts == most->watts) {
      profile_.warnings.emplace_back("the driver's record of power does not change; it is not used");
      return;
    }
    const CallCost cost = cost_of(clock_, 30, [&] { meter_.recorded_power(0); });
    profile_.samples = ReadingProfile{period, cost.usual, cost.slow, {}, {}, {}, {}, {}};
    fit(*profile_.samples, updates, load_.bursts(), "the driver's record of power", longest_window);
  }

  void watch_counter() {
    if (!meter_.energy_joules()) return;
    say("watching the energy counter while a load is switched on and off");
    const auto before = static_cast<std::ptrdiff_t>(load_.bursts().size());
    CounterWatch counter(meter_, clock_);
    Switcher switcher(load_, clock_);
    const double end = clock_.now() + options_.counter_seconds;
    while (clock_.now() < end) {
      switcher.step();
      const double now = clock_.now();
      counter.look();
      clock_.sleep_until(now + counter_poll);
    }
    switcher.end();
    if (counter.ticks().size() < least_updates) {
      profile_.warnings.push_back(
          fmt::format("the energy counter moved {} times in {:g} s: it is stuck, and energy cannot be told from it",
                      counter.ticks().size(), options_.counter_seconds));
      return;
    }
    if (!counter.history().regular()) {
      profile_.warnings.emplace_back("the energy counter steps at no regular pace; windows on it are less sharp");
      return;
    }
    const CallCost cost = cost_of(clock_, 60, [&] { meter_.energy_joules(); });
    profile_.counter = ReadingProfile{counter.history().period(), cost.usual, cost.slow, {}, {}, {}, {}, {}};
    const std::vector<Burst> bursts(load_.bursts().begin() + before, load_.bursts().end());
    fit(*profile_.counter, counter.updates(), bursts, "the energy counter", 1.5 * profile_.counter->period);
    if (profile_.counter->duty && !profile_.counter->sees_everything()) {
      profile_.warnings.push_back(
          fmt::format("the energy counter itself sees only {:.0f} % of the time", 100 * *profile_.counter->duty));
    }
  }

  /// Under a load that does not change every sensor should say the same.
  void compare() {
    say("comparing counter and readings under a steady load");
    CounterWatch counter(meter_, clock_);
    Watch average(meter_, &PowerMeter::power_watts, clock_);
    Watch instant(meter_, &PowerMeter::instant_power_watts, clock_);
    load_.switch_on(options_.steady_seconds + 2 * longest_burst);
    const double settled = clock_.now() + forget_seconds;
    const double end = clock_.now() + options_.steady_seconds;
    while (clock_.now() < settled && load_.running()) clock_.sleep_until(clock_.now() + counter_poll);
    while (clock_.now() < end && load_.running()) {
      const double now = clock_.now();
      if (profile_.counter) counter.look();
      if (profile_.average) average.look();
      if (profile_.instant) instant.look();
      clock_.sleep_until(now + counter_poll);
    }
    load_.finish();
    std::vector<double> readings;
    for (const Watch* watch : {&average, &instant}) {
      std::vector<double> values;
      for (const auto& update : watch->updates()) values.push_back(update.watts);
      if (values.size() >= least_updates) readings.push_back(mean_of(values));
    }
    if (!readings.empty()) profile_.load_w = mean_of(readings);
    const auto& ticks = counter.ticks();
    if (ticks.size() < 3) return;
    const double watts = window_power(ticks, 0, counter.history()).watts;
    if (!readings.empty()) profile_.counter_over_readings = watts / *profile_.load_w;
    profile_.load_w = watts;
  }

  PowerMeter& meter_;
  SwitchedLoad& load_;
  Clock& clock_;
  const ProbeOptions& options_;
  SensorProfile profile_;
};

}  // namespace

std::optional<double> idle_power(PowerMeter& meter, Clock& clock, double seconds) {
  const double settled = clock.now() + std::min(forget_seconds, 0.5 * seconds);
  const double end = clock.now() + seconds;
  clock.sleep_until(settled);
  CounterWatch counter(meter, clock);
  std::vector<double> readings;
  while (clock.now() < end) {
    const double now = clock.now();
    counter.look();
    if (const auto watts = meter.power_watts()) readings.push_back(*watts);
    clock.sleep_until(now + counter_poll);
  }
  if (counter.ticks().size() >= 3) return window_power(counter.ticks(), 0, counter.history()).watts;
  if (readings.empty()) return std::nullopt;
  return mean_of(readings);
}

SensorProfile probe_sensors(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const ProbeOptions& options) {
  return Probe(meter, load, clock, options).run();
}

}  // namespace wattune
