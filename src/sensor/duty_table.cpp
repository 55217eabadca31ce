#include "sensor/duty_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.hpp"
#include "sensor/counter_watch.hpp"
#include "sensor/probe.hpp"

namespace wattune {

namespace {

using nlohmann::json;

constexpr double poll_seconds = 1e-3;
/// After the switching began, and of a steady load, until sensors show nothing of what was before.
constexpr double settle_seconds = 0.25;
constexpr std::size_t least_ticks = 4;
/// How long the load is steady, and then idle, before each phase, and from when in it power counts.
constexpr double level_seconds = 0.55;
constexpr double level_settle_seconds = 0.12;

struct Row {
  double on;
  double off;
  bool in_step = false;
};
constexpr std::array rows{Row{0.050, 0.050}, Row{0.050, 0.050, true}, Row{0.025, 0.075},
                          Row{0.075, 0.025}, Row{0.033, 0.067},       Row{0.005, 0.095}};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

class Table {
 public:
  Table(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const DutyTableOptions& options)
      : meter_(meter), load_(load), clock_(clock), options_(options) {}

  DutyTable measure() {
    steady();
    for (const auto& row : rows) {
      const unsigned phases = row.on == row.off ? options_.most_phases : options_.phases;
      table_.rows.push_back(switched(row, phases));
    }
    return std::move(table_);
  }

 private:
  /// What a phase saw.
  struct Seen {
    double share;  ///< of the time that the load was on
    double counter;
    std::optional<double> instant;
  };

  /// Looks at both sensors until `end`.
  struct Watch {
    Watch(PowerMeter& meter_in, Clock& clock_in) : meter(meter_in), clock(clock_in), counter(meter_in, clock_in) {}
    void look() {
      counter.look();
      const auto watts = meter.instant_power_watts();
      if (watts && before && *watts != *before) fresh.push_back({clock.now(), *watts});
      if (watts) before = watts;
    }
    PowerMeter& meter;
    Clock& clock;
    CounterWatch counter;
    std::optional<double> before;
    std::vector<Update> fresh;
  };

  /// Power of the steady load and of the idle device, W.
  struct Levels {
    double on;
    double off;
  };

  Seen evaluate(const Watch& watch, const std::vector<Burst>& bursts) const {
    const auto& ticks = watch.counter.ticks();
    if (ticks.size() < least_ticks) {
      throw DeviceError(
          fmt::format("the table of sensors needs an energy counter that moves: it moved {} times in {:g} s",
                      ticks.size(), options_.phase_seconds));
    }
    const WindowPower window = window_power(ticks, 0, watch.counter.history());
    const double share = LoadTrace(bursts, options_.rise_seconds).mean(window.begin, window.end);
    Seen seen{share, window.watts, std::nullopt};
    std::vector<double> inside;
    for (const auto& update : watch.fresh) {
      if (update.time > window.begin && update.time <= window.end) inside.push_back(update.watts);
    }
    if (inside.size() >= least_ticks) seen.instant = mean_of(inside);
    return seen;
  }

  /// The load without a pause, then the idle device while it is still warm.
  void steady() {
    load_.switch_on(2 * options_.phase_seconds + settle_seconds);
    const double end = clock_.now() + 2 * options_.phase_seconds;
    clock_.sleep_until(clock_.now() + settle_seconds);
    Watch watch(meter_, clock_);
    while (clock_.now() < end && load_.running()) {
      watch.look();
      clock_.sleep_until(clock_.now() + poll_seconds);
    }
    load_.finish();
    const Seen seen = evaluate(watch, {{0, clock_.now()}});
    table_.on_watts = seen.counter;
    table_.off_watts = idle_power(meter_, clock_, std::max(2.0, options_.phase_seconds)).value_or(0);
    DutyRow row{0.05, 0, false, 1, table_.on_watts, seen.counter, 0.0, {}, seen.instant, {}, {}};
    if (seen.instant) row.instant_error = *seen.instant / row.expected - 1;
    table_.rows.push_back(row);
  }

  static double power_from(const Watch& watch, double begin) {
    std::vector<Tick> ticks;
    for (const auto& tick : watch.counter.ticks()) {
      if (tick.time >= begin) ticks.push_back(tick);
    }
    if (ticks.size() < 2)
      throw DeviceError(fmt::format("the energy counter moved {} times in {:g} s", ticks.size(), level_seconds));
    return window_power(ticks, 0, watch.counter.history()).watts;
  }

  /// The load without a pause, then the idle device.
  Levels levels(Watch& watch) {
    Levels result{};
    for (double* level : {&result.on, &result.off}) {
      const double begin = clock_.now();
      if (level == &result.on) load_.switch_on(level_seconds);
      while (level == &result.on ? load_.running() : clock_.now() < begin + level_seconds) {
        watch.look();
        clock_.sleep_until(clock_.now() + poll_seconds);
      }
      *level = power_from(watch, begin + level_settle_seconds);
    }
    return result;
  }

  Seen phase(const Row& row, double shift, Levels& sum) {
    const auto first = static_cast<std::ptrdiff_t>(load_.bursts().size());
    // This also learns the counter's steps, so that the switching can be placed against them.
    Watch before(meter_, clock_);
    const Levels seen_before = levels(before);
    sum.on += seen_before.on;
    sum.off += seen_before.off;
    const double cycle = row.on + row.off;
    const double began = before.counter.history().next(clock_.now() + 0.01).value_or(clock_.now()) + shift * cycle;
    const double end = began + options_.phase_seconds;
    // Through a whole cycle in half of the time.
    const double drift = row.in_step ? 0 : std::min(0.9 * row.off, 2 * cycle * cycle / options_.phase_seconds);
    Watch watch(meter_, clock_);
    double next = began;
    while (clock_.now() < end) {
      if (!load_.running() && clock_.now() >= next) {
        load_.switch_on(row.on);
        next += next < began + 0.5 * options_.phase_seconds ? cycle + drift : cycle - drift;
      }
      if (clock_.now() >= began + settle_seconds) watch.look();
      const double wake = clock_.now() + poll_seconds;
      clock_.sleep_until(next > clock_.now() ? std::min(next, wake) : wake);
    }
    load_.finish();
    return evaluate(watch, {load_.bursts().begin() + first, load_.bursts().end()});
  }

  DutyRow switched(const Row& row, unsigned phases) {
    std::vector<Seen> seen;
    Levels sum{};
    for (unsigned i = 0; i < phases; ++i) seen.push_back(phase(row, static_cast<double>(i) / phases, sum));
    std::vector<double> expected, counter, counter_ratio, instant, instant_ratio;
    for (const Seen& one : seen) {
      expected.push_back((sum.off + (sum.on - sum.off) * one.share) / phases);
      counter.push_back(one.counter);
      counter_ratio.push_back(one.counter / expected.back());
      if (!one.instant) continue;
      instant.push_back(*one.instant);
      instant_ratio.push_back(*one.instant / expected.back());
    }
    DutyRow result{row.on, row.off, row.in_step, phases, mean_of(expected), {}, {}, {}, {}, {}, {}};
    const auto fill = [](const std::vector<double>& watts, const std::vector<double>& ratio, auto& mean, auto& error,
                         auto& spread) {
      if (watts.empty()) return;
      mean = mean_of(watts);
      error = mean_of(ratio) - 1;
      if (ratio.size() > 1) spread = deviation_of(ratio);
    };
    fill(counter, counter_ratio, result.counter, result.counter_error, result.counter_spread);
    fill(instant, instant_ratio, result.instant, result.instant_error, result.instant_spread);
    return result;
  }

  PowerMeter& meter_;
  SwitchedLoad& load_;
  Clock& clock_;
  const DutyTableOptions& options_;
  DutyTable table_;
};

std::string percent(const std::optional<double>& value, bool sign) {
  if (!value) return "-";
  return sign ? fmt::format("{:+.1f} %", 100 * *value) : fmt::format("{:.2f} %", 100 * *value);
}

std::string watts(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "-";
}

}  // namespace

DutyTable measure_duty_table(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const DutyTableOptions& options) {
  if (!meter.energy_joules())
    throw DeviceError("the table of sensors needs an energy counter, which this board has not");
  return Table(meter, load, clock, options).measure();
}

json to_json(const DutyTable& table) {
  json list = json::array();
  const auto or_null = [](const std::optional<double>& value) { return value ? json(*value) : json(nullptr); };
  for (const auto& row : table.rows) {
    list.push_back({{"on_s", row.on_seconds},
                    {"off_s", row.off_seconds},
                    {"in_step", row.in_step},
                    {"phases", row.phases},
                    {"expected_w", row.expected},
                    {"counter_w", or_null(row.counter)},
                    {"counter_error", or_null(row.counter_error)},
                    {"counter_spread", or_null(row.counter_spread)},
                    {"instant_w", or_null(row.instant)},
                    {"instant_error", or_null(row.instant_error)},
                    {"instant_spread", or_null(row.instant_spread)}});
  }
  return {{"on_w", table.on_watts}, {"off_w", table.off_watts}, {"rows", std::move(list)}};
}

DutyTable duty_table_from_json(const json& object) {
  DutyTable table;
  table.on_watts = object.at("on_w");
  table.off_watts = object.at("off_w");
  for (const auto& row : object.at("rows")) {
    const auto get = [&](const char* key) {
      return row.at(key).is_null() ? std::nullopt : std::optional(row.at(key).get<double>());
    };
    table.rows.push_back({row.at("on_s"), row.at("off_s"), row.at("in_step"), row.at("phases"), row.at("expected_w"),
                          get("counter_w"), get("counter_error"), get("counter_spread"), get("instant_w"),
                          get("instant_error"), get("instant_spread")});
  }
  return table;
}

std::string to_text(const DutyTable& table) {
  std::string text =
      fmt::format("A load of {:.1f} W switched on and off, {:.1f} W idle:\n", table.on_watts, table.off_watts);
  text += fmt::format("{:>15}  {:>6}  {:>10}  {:>9}  {:>7}  {:>9}  {:>9}  {:>7}  {:>9}\n", "on/off ms", "phases",
                      "expected W", "counter W", "error", "spread", "instant W", "error", "spread");
  for (const auto& row : table.rows) {
    text += fmt::format(
        "{:>15}  {:>6}  {:>10.1f}  {:>9}  {:>7}  {:>9}  {:>9}  {:>7}  {:>9}\n",
        fmt::format("{:g}/{:g}{}", row.on_seconds * 1e3, row.off_seconds * 1e3, row.in_step ? " in step" : ""),
        row.phases, row.expected, watts(row.counter), percent(row.counter_error, true),
        percent(row.counter_spread, false), watts(row.instant), percent(row.instant_error, true),
        percent(row.instant_spread, false));
  }
  return text;
}

}  // namespace wattune
