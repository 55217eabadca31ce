// Power from the steps of an energy counter.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluate/power_estimate.hpp"

namespace wattune {

namespace {

/// Calls of the counter are slow and load the driver: where its next step is known they begin so many calls before it.
constexpr double calls_ahead = 2.5;
/// Calls that take so many times what is usual are slow.
constexpr double slow_call = 1.5;
constexpr double golden_share = 0.618;
/// The counter is asked no more often than this.
constexpr double poll_seconds = 0.0005;
/// Share of the noise allowed that may come from a window which ends within a launch.
constexpr double alias_share = 0.5;
/// A window spans no more launches than this for the sake of their phase.
constexpr double most_launches = 3;
/// Launches longer than this many periods have parts that single ticks show.
constexpr double visible_launch = 0.1;
/// From so many ticks in a launch on, its parts are told apart by interpolation between ticks.
constexpr double ticks_to_interpolate = 2;

class CounterEstimate final : public PowerEstimate {
 public:
  CounterEstimate(PowerMeter& meter, TickHistory& history, const EnergyOptions& options, Clock& clock)
      : meter_(meter), history_(history), options_(options), clock_(clock) {}

  [[nodiscard]] EnergyEstimator kind() const noexcept override { return EnergyEstimator::counter; }

  std::optional<Failure> prepare() override {
    // So that a meter without a counter costs no work on the device.
    return history_.regular() ? std::nullopt : look(0);
  }

  void begin(double time) override { settled_ = time + options_.settle_seconds; }

  /// Between steps whose times are known there is nothing to ask for.
  [[nodiscard]] bool due(double now) const override {
    if (!history_.regular()) return true;
    const double last = ticks_.empty() ? settled_.value_or(0) : history_.time(ticks_.back()) + 0.5 * history_.period();
    // Calls that always began as long before a step would see it always as late.
    const double shift = std::fmod(golden_share * static_cast<double>(history_.count()), 1);
    return now >= *history_.next(last) - (calls_ahead + shift) * (call_seconds_ + poll_seconds);
  }

  std::optional<Failure> look(double /*launch*/) override {
    const double before = clock_.now();
    const auto now = meter_.energy_joules();
    const double after = clock_.now();
    const double middle = 0.5 * (before + after);
    // When within a call the counter was read does not matter as long as all take alike.
    const double delay = std::max(0.0, after - before - slow_call * call_seconds_);
    call_seconds_ += 0.2 * (std::min(after - before, 0.02) - call_seconds_);
    if (!now) return failure(energy_ ? "the energy counter stopped answering" : "it has no energy counter");
    if (energy_ && *now < *energy_) {
      return failure(
          fmt::format("the energy counter went back from {} to {} J: was the driver reloaded?", *energy_, *now));
    }
    if (energy_ && *now > *energy_) {
      // The step fell between the last call and this one.
      const double earliest = asked_ - 0.5 * delay_;
      const double latest = middle + 0.5 * delay;
      const Tick tick{0.5 * (earliest + latest), 0.5 * (latest - earliest), *now};
      if (history_.add(tick) && settled_ && tick.time >= *settled_) ticks_.push_back(tick);
    }
    energy_ = now;
    asked_ = middle;
    delay_ = delay;
    return std::nullopt;
  }

  [[nodiscard]] bool tells_power() const override { return ticks_.size() > 1; }

  [[nodiscard]] bool finished(double launch) const override {
    // The first ticks of all place those that come after them.
    if (ticks_.size() <= least_ticks() || !history_.regular() || !(launch > 0)) return false;
    const std::size_t wanted = span(launch);
    if (ticks_.size() <= wanted) return false;
    if (ticks_.size() > std::max<std::size_t>(options_.most_ticks, wanted)) return true;
    const WindowPower power = window(launch);
    return power.standard_error <= options_.noise * power.watts;
  }

  [[nodiscard]] std::optional<double> end_due(double launch) const override {
    if (!history_.regular()) return std::nullopt;
    const std::size_t wanted = launch > 0 ? span(launch) : least_ticks();
    if (ticks_.size() > wanted) return history_.next(history_.time(ticks_.back()) + 0.5 * history_.period());
    const double begin = ticks_.empty() ? *history_.next(*settled_) : ticks_.front().time;
    return begin + static_cast<double>(wanted) * history_.period();
  }

  [[nodiscard]] WindowPower window(double launch) const override {
    const std::size_t wanted = history_.regular() && launch > 0 ? span(launch) : least_ticks();
    const std::size_t first = ticks_.size() > wanted ? ticks_.size() - 1 - wanted : 0;
    WindowPower power = window_power(ticks_, first, history_);
    if (!(launch > 0)) return power;
    double phase_error = alias_error(power.end - power.begin, launch);
    if (history_.regular() && launch > ticks_to_interpolate * history_.period()) {
      // What interpolation between ticks may leave.
      const double left = 0.25 * assumed_structure * history_.period() / (power.end - power.begin);
      const auto watts = left < phase_error ? of_whole_launches(first, launch) : std::nullopt;
      if (watts) {
        power.watts = *watts;
        phase_error = left;
      }
    }
    // The ups and downs within a long launch are no scatter.
    const bool parts_differ = history_.regular() && launch > visible_launch * history_.period();
    power.standard_error =
        std::hypot(parts_differ ? power.length_error : power.standard_error, power.watts * phase_error);
    return power;
  }

  void conclude(double launch) override {
    if (ticks_.size() < 3 || launch > visible_launch * history_.period()) return;
    const std::size_t wanted = span(launch);
    history_.learn_jitter(ticks_, ticks_.size() > wanted ? ticks_.size() - 1 - wanted : 0);
  }

  [[nodiscard]] double patience(double launch) const override { return 2 * most_launches * launch; }

  [[nodiscard]] std::string progress() const override {
    return fmt::format("the energy counter moved {} times, too few for a window of {} ticks", ticks_.size(),
                       least_ticks());
  }

 private:
  [[nodiscard]] std::size_t least_ticks() const { return std::max(1U, options_.ticks); }

  [[nodiscard]] Failure failure(const std::string& what) const {
    return {Outcome::measurement, fmt::format("measuring energy with {}: {}", meter_.name(), what)};
  }

  /// The fewest ticks, from those asked for on, after which a launch is about where it was at the first.
  [[nodiscard]] std::size_t span(double launch) const {
    const double period = history_.period();
    const double allowed = alias_share * options_.noise;
    const auto least = std::max(least_ticks(), static_cast<std::size_t>(std::ceil(launch / period - 0.05)));
    const auto most = least + static_cast<std::size_t>(std::ceil(most_launches * launch / period));
    std::size_t best = least;
    for (std::size_t ticks = least; ticks <= most; ++ticks) {
      const double error = alias_error(static_cast<double>(ticks) * period, launch);
      if (error < alias_error(static_cast<double>(best) * period, launch)) best = ticks;
      if (error <= allowed) return ticks;
    }
    return best;
  }

  /// Mean power over as many whole launches as fit in, by interpolation between ticks, from each tick on from which
  /// they do.
  [[nodiscard]] std::optional<double> of_whole_launches(std::size_t first, double launch) const {
    double sum = 0;
    double most = 0;
    int count = 0;
    for (std::size_t i = first; i < ticks_.size(); ++i) {
      const double begin = history_.time(ticks_[i]);
      const double launches = std::floor((history_.time(ticks_.back()) - begin) / launch + 1e-3);
      if (launches < std::max(1.0, most)) break;
      most = launches;
      const double end = begin + launches * launch;
      std::size_t next = i + 1;
      while (next + 1 < ticks_.size() && history_.time(ticks_[next]) < end) ++next;
      const double from = history_.time(ticks_[next - 1]);
      const double share = (end - from) / (history_.time(ticks_[next]) - from);
      const double joules = ticks_[next - 1].joules + share * (ticks_[next].joules - ticks_[next - 1].joules);
      sum += (joules - ticks_[i].joules) / (end - begin);
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }

  PowerMeter& meter_;
  TickHistory& history_;
  const EnergyOptions& options_;
  Clock& clock_;
  std::optional<double> settled_;  ///< from when ticks count; nothing before the load
  std::optional<double> energy_;   ///< the counter as last read
  double asked_ = 0;               ///< when that was: the middle of the call
  double delay_ = 0;               ///< by how much that call took longer than usual
  double call_seconds_ = 0.003;    ///< what a call takes
  std::vector<Tick> ticks_;        ///< since power had settled
};

}  // namespace

std::unique_ptr<PowerEstimate> make_counter_estimate(PowerMeter& meter, TickHistory& history,
                                                     const EnergyOptions& options, Clock& clock) {
  return std::make_unique<CounterEstimate>(meter, history, options, clock);
}

double phase_gap(double seconds, double launch) {
  const double launches = seconds / launch;
  return std::abs(launches - std::round(launches));
}

double alias_error(double seconds, double launch) {
  return assumed_structure * std::min(0.3, phase_gap(seconds, launch)) * launch / seconds;
}

}  // namespace wattune
