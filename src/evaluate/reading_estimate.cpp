// Power from the updates of a power reading, or from the driver's own record of them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "evaluate/power_estimate.hpp"

namespace wattune {

namespace {

/// The record is asked for this often: each time it gives all that is new.
constexpr double record_poll = 0.01;
/// Of a sensor that nobody has probed: readings are taken to average over a second, or to see a quarter of the time.
constexpr double assumed_period = 0.1;
constexpr double assumed_window = 1.0;
constexpr double assumed_duty = 0.25;
constexpr double assumed_record_period = 0.02;
/// Readings that a quick and an exact measurement take where a sensor sees a part of each launch, if launches are long
/// enough to matter; and the least of any measurement.
constexpr std::size_t few_parts = 12;
constexpr std::size_t many_parts = 32;
constexpr std::size_t least_readings = 4;
/// Measurements of so many ticks are exact ones.
constexpr unsigned exact_ticks = 10;
/// Below this relative error the parts of a launch need not be sought out.
constexpr double negligible_alias = 0.0015;
/// Launches longer than this many periods have parts that single readings show.
constexpr double visible_launch = 0.2;
/// Parts of a launch that are this much further apart than noise are told from it.
constexpr double distinct = 2;
/// Relative error of a mean over evenly spread phases, times their number, over the deviation between phases:
/// simulated.
constexpr double parts_factor = 1.5;
constexpr double golden = 0.6180339887498949;

/// What is read, and what is known of it.
struct Source {
  std::optional<double> (PowerMeter::*reading)() = nullptr;  ///< null: the driver's record
  double period = assumed_period;
  double window = assumed_window;
  double late = 0;  ///< until an update shows what its window saw, beyond the window itself
  bool sees_part = false;
};

Source source_of(const ReadingProfile& profile, std::optional<double> (PowerMeter::*reading)()) {
  Source source;
  source.reading = reading;
  source.period = profile.period;
  source.window = profile.window.value_or(profile.period);
  source.late = profile.delay.value_or(0) + 4 * profile.rise.value_or(0);
  source.sees_part = !profile.sees_everything();
  return source;
}

/// The reading that sees more; of two that see the same the one with the shorter window.
Source choose_reading(PowerMeter& meter, const std::optional<SensorProfile>& profile) {
  const auto usable = [](const std::optional<ReadingProfile>& reading) { return reading && reading->window; };
  if (profile && (usable(profile->average) || usable(profile->instant))) {
    const bool instant = usable(profile->instant) &&
                         (!usable(profile->average) || *profile->instant->duty >= *profile->average->duty - 0.05 ||
                          *profile->average->window > 5 * profile->average->period);
    return instant ? source_of(*profile->instant, &PowerMeter::instant_power_watts)
                   : source_of(*profile->average, &PowerMeter::power_watts);
  }
  Source source;
  if (meter.power_watts()) {
    source.reading = &PowerMeter::power_watts;
    return source;
  }
  source.reading = &PowerMeter::instant_power_watts;
  source.window = assumed_duty * assumed_period;
  source.sees_part = true;
  return source;
}

Source record_source(const std::optional<SensorProfile>& profile) {
  if (profile && profile->samples) return source_of(*profile->samples, nullptr);
  Source source;
  source.period = assumed_record_period;
  source.window = assumed_record_period;
  return source;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class ReadingEstimate final : public PowerEstimate {
 public:
  ReadingEstimate(EnergyEstimator kind, PowerMeter& meter, TickHistory& history, const EnergyOptions& options,
                  Clock& clock)
      : kind_(kind),
        meter_(meter),
        history_(history),
        options_(options),
        clock_(clock),
        source_(kind == EnergyEstimator::samples ? record_source(options.profile)
                                                 : choose_reading(meter, options.profile)) {}

  [[nodiscard]] EnergyEstimator kind() const noexcept override { return kind_; }

  std::optional<Failure> prepare() override {
    if (source_.reading == nullptr) {
      const auto record = meter_.recorded_power(0);
      if (record.empty()) return failure("its driver keeps no record of power");
      last_stamp_ = record.back().stamp;
      return std::nullopt;
    }
    value_ = (meter_.*source_.reading)();
    asked_ = clock_.now();
    return value_ ? std::nullopt : std::optional(failure("it tells no power"));
  }

  void begin(double time) override {
    began_ = time;
    running_ = true;
    ++segments_;
  }
  void end() override { running_ = false; }

  [[nodiscard]] bool due(double now) const override { return source_.reading != nullptr || now >= next_look_; }

  [[nodiscard]] double poll_interval() const override { return std::clamp(0.01 * source_.period, 0.0003, 0.001); }

  std::optional<Failure> look(double /*launch*/) override {
    if (source_.reading == nullptr) {
      look_at_record();
      return std::nullopt;
    }
    const double now = clock_.now();
    const auto watts = (meter_.*source_.reading)();
    if (!watts) return failure("its power reading stopped answering");
    if (kind_ == EnergyEstimator::median && now >= began_ + options_.settle_seconds) all_.push_back(*watts);
    if (*watts != *value_) {
      const Tick tick{0.5 * (asked_ + now), 0.5 * (now - asked_), 0};
      history_.add(tick);
      add(tick.time, *watts);
    }
    value_ = watts;
    asked_ = now;
    return std::nullopt;
  }

  [[nodiscard]] bool tells_power() const override { return !updates_.empty(); }

  [[nodiscard]] bool finished(double launch) const override {
    if (!(launch > 0)) return false;
    const std::size_t count = counted(launch).size();
    if (count < wanted(launch)) return false;
    // Segments are seen to their ends, or some parts of launches would count more.
    if (seeks_parts(launch)) return segment_done(launch);
    const double most = static_cast<double>(std::max<std::size_t>(options_.most_ticks, wanted(launch)));
    if (static_cast<double>(count) * source_.period > 1.5 * most * assumed_period) return true;
    const WindowPower power = window(launch);
    return power.standard_error <= options_.noise * power.watts || count >= 2 * many_parts;
  }

  [[nodiscard]] WindowPower window(double launch) const override {
    WindowPower power;
    std::vector<Seen> seen = counted(launch);
    if (seen.empty()) seen = updates_;
    seen.erase(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(skipped(launch, seen.size())));
    const auto count = static_cast<double>(seen.size());
    for (const Seen& update : seen) power.watts += update.watts / count;
    power.begin = seen.front().time - source_.window - source_.late;
    power.end = seen.back().time;
    // Windows that overlap say the same several times.
    const double independent = std::max(1.0, count * std::min(1.0, source_.period / source_.window));
    power.intervals = std::max<std::int64_t>(1, std::llround(independent));
    const Spread spread = spread_of(std::move(seen), launch);
    double error = spread.noise / std::sqrt(independent) * (1 + 1.5 / independent);
    error = std::hypot(error, unseen_error(power, spread, count, launch));
    if (kind_ == EnergyEstimator::median) {
      power.watts = median_of(all_);
      error *= 1.2533;
    }
    power.standard_error = error;
    return power;
  }

  [[nodiscard]] bool wants_pause(double launch) const override {
    return seeks_parts(launch) && segment_done(launch) && counted(launch).size() < wanted(launch);
  }

  /// So that the next update sees the launch at a phase where it has not been seen.
  [[nodiscard]] double restart(double now, double launch) const override {
    const double earliest = now + options_.settle_seconds + source_.window + source_.late;
    const double update = history_.next(earliest).value_or(earliest);
    double turn = golden * static_cast<double>(segments_);
    turn -= std::floor(turn);
    const double shift = std::fmod(update - now - turn * launch, launch);
    return now + (shift < 0 ? shift + launch : shift);
  }

  [[nodiscard]] double patience(double launch) const override {
    return 0.5 * static_cast<double>(many_parts) + 2 * (static_cast<double>(many_parts) * period() + 4 * launch) +
           source_.window;
  }

  [[nodiscard]] std::string progress() const override {
    return fmt::format("{} changed {} times: is the sensor stuck?",
                       source_.reading == nullptr ? "the driver's record of power" : "the power reading",
                       updates_.size());
  }

 private:
  struct Seen {
    double time;
    double watts;
    double age;  ///< of the load when the window that it is the mean of began
  };
  struct Spread {
    double noise;      ///< W, standard deviation of what the sensor adds
    double structure;  ///< W, of what differs between the parts of a launch that were seen
  };

  [[nodiscard]] Failure failure(const std::string& what) const {
    return {Outcome::measurement, fmt::format("measuring energy with {}: {}", meter_.name(), what)};
  }

  [[nodiscard]] double period() const { return history_.regular() ? history_.period() : source_.period; }

  void add(double time, double watts) {
    const double age = time - source_.window - source_.late - began_;
    if (running_ && age >= options_.settle_seconds) updates_.push_back({time, watts, age});
  }

  /// The updates that count. A load that is paused now and then would always lose the beginning of its long launches:
  /// of each segment one whole launch counts, the one after the first.
  [[nodiscard]] std::vector<Seen> counted(double launch) const {
    if (!seeks_parts(launch) || launch <= options_.settle_seconds) return updates_;
    std::vector<Seen> result;
    std::copy_if(updates_.begin(), updates_.end(), std::back_inserter(result),
                 [&](const Seen& seen) { return seen.age >= launch && seen.age < 2 * launch; });
    return result;
  }

  void look_at_record() {
    next_look_ = clock_.now() + record_poll;
    const auto found = meter_.recorded_power(last_stamp_);
    if (found.empty()) return;
    last_stamp_ = found.back().stamp;
    // The clocks differ by no more than it took at best to see a new entry.
    offset_ = std::min(offset_.value_or(1e300), clock_.now() - last_stamp_);
    for (const auto& sample : found) add(sample.stamp + *offset_, sample.watts);
  }

  /// Whether the load has to be paused for all parts of a launch to be seen.
  [[nodiscard]] bool seeks_parts(double launch) const {
    return source_.sees_part && kind_ != EnergyEstimator::median && launch > 0 && part_error(launch) > negligible_alias;
  }

  /// Relative error of one reading for seeing only a part of the launches.
  [[nodiscard]] double part_error(double launch) const {
    return assumed_structure * std::min(1.0, 0.3 * launch / source_.window);
  }

  [[nodiscard]] std::size_t wanted(double launch) const {
    const double asked = std::max(1U, options_.ticks) * assumed_period;
    const auto long_enough = static_cast<std::size_t>(std::ceil(asked / period() - 0.05));
    if (seeks_parts(launch)) {
      const std::size_t parts = options_.ticks >= exact_ticks ? many_parts : few_parts;
      const double launches = launch / period();
      return std::max({parts, static_cast<std::size_t>(std::ceil(std::min(8 * launches, 20.0))),
                       static_cast<std::size_t>(std::ceil(2 * launches))});
    }
    const std::size_t least = std::max(least_readings, long_enough);
    if (source_.sees_part) return least;
    // Seen without a gap: until a launch is about where it was at the beginning.
    const auto from = std::max(least, static_cast<std::size_t>(std::ceil(launch / period())));
    std::size_t best = from;
    for (std::size_t n = from; n <= from + static_cast<std::size_t>(std::ceil(3 * launch / period())); ++n) {
      const double error = alias_error(covered(n), launch);
      if (error < alias_error(covered(best), launch)) best = n;
      if (error <= negligible_alias) return n;
    }
    return best;
  }

  /// Of a long launch all parts are looked at in turn before the phase is shifted; of short ones one is enough.
  [[nodiscard]] bool segment_done(double launch) const {
    if (updates_.empty() || updates_.back().time < began_) return false;
    if (launch <= options_.settle_seconds) return true;
    return updates_.back().age + source_.period >= 2 * launch;
  }

  /// Older readings that the window leaves out, for it to end where it is to end.
  [[nodiscard]] std::size_t skipped(double launch, std::size_t count) const {
    if (source_.sees_part || !(launch > 0)) return 0;
    const std::size_t enough = wanted(launch);
    return count > enough && count < 2 * enough ? count - enough : 0;
  }

  [[nodiscard]] double covered(std::size_t readings) const {
    return static_cast<double>(readings) * period() + std::max(0.0, source_.window - period());
  }

  /// A reading is off the line between its neighbours in phase by noise, but for the few at which the kernel's power
  /// jumps or bends.
  [[nodiscard]] Spread spread_of(std::vector<Seen> order, double launch) const {
    const std::size_t n = order.size();
    if (n < 2) return {0.05 * order.front().watts, 0};
    const bool parts_differ = launch > visible_launch * period() || seeks_parts(launch);
    if (parts_differ) {
      std::sort(order.begin(), order.end(),
                [&](const Seen& a, const Seen& b) { return std::fmod(a.age, launch) < std::fmod(b.age, launch); });
    }
    const double mean =
        std::accumulate(order.begin(), order.end(), 0.0, [](double sum, const Seen& s) { return sum + s.watts; }) /
        static_cast<double>(n);
    double squares = 0;
    for (const Seen& seen : order) squares += (seen.watts - mean) * (seen.watts - mean);
    const double all = squares / static_cast<double>(n - 1);
    if (n < least_readings || !parts_differ) return {std::sqrt(all), 0};
    std::vector<double> bends;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      bends.push_back(std::abs(order[i].watts - 0.5 * (order[i - 1].watts + order[i + 1].watts)));
    }
    const double noise = 1.4826 * median_of(bends) / std::sqrt(1.5);
    // What differs little cannot be told from noise; of many readings, at phases spread evenly, a part of it cancels.
    if (all < distinct * distinct * noise * noise) {
      return {n < many_parts ? std::sqrt(all) : noise + 0.1 * (std::sqrt(all) - noise), 0};
    }
    return {noise, std::sqrt(std::max(0.0, all - noise * noise))};
  }

  /// W: of what the windows did not see.
  [[nodiscard]] double unseen_error(const WindowPower& power, const Spread& spread, double count, double launch) const {
    if (!(launch > 0)) return 0;
    if (!source_.sees_part) return power.watts * alias_error(covered(static_cast<std::size_t>(count)), launch);
    if (seeks_parts(launch)) return parts_factor * spread.structure / count;
    return power.watts * part_error(launch) / std::sqrt(count);
  }

  const EnergyEstimator kind_;
  PowerMeter& meter_;
  TickHistory& history_;
  const EnergyOptions& options_;
  Clock& clock_;
  const Source source_;
  double began_ = 0;
  std::size_t segments_ = 0;
  bool running_ = false;
  std::optional<double> value_;
  double asked_ = 0;
  double next_look_ = 0;
  double last_stamp_ = 0;
  std::optional<double> offset_;
  std::vector<Seen> updates_;
  std::vector<double> all_;  ///< of the median: every answer
};

}  // namespace

std::unique_ptr<PowerEstimate> make_reading_estimate(EnergyEstimator kind, PowerMeter& meter, TickHistory& history,
                                                     const EnergyOptions& options, Clock& clock) {
  return std::make_unique<ReadingEstimate>(kind, meter, history, options, clock);
}

std::unique_ptr<PowerEstimate> make_power_estimate(PowerMeter& meter, TickHistory& history,
                                                   const EnergyOptions& options, Clock& clock) {
  EnergyEstimator kind = options.estimator;
  if (kind == EnergyEstimator::automatic) {
    kind = choose_estimator(meter, options.profile ? &*options.profile : nullptr);
  }
  if (kind == EnergyEstimator::counter) return make_counter_estimate(meter, history, options, clock);
  return make_reading_estimate(kind, meter, history, options, clock);
}

EnergyEstimator choose_estimator(PowerMeter& meter, const SensorProfile* profile) {
  if (meter.energy_joules()) return EnergyEstimator::counter;
  const bool has_reading = meter.power_watts() || meter.instant_power_watts();
  return choose_estimator(profile, false, has_reading, !meter.recorded_power(0).empty());
}

}  // namespace wattune
