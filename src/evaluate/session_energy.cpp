// What a meter measures of an evaluation.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>

#include "evaluate/power_estimate.hpp"
#include "evaluate/session_impl.hpp"

namespace wattune {

namespace {

/// Long enough that two queued replays outlast any pause of this thread, short enough to stop soon.
constexpr double energy_batch_seconds = 0.01;
/// A single launch that lasts so long tells well enough how many launches make a batch.
constexpr double long_launch_seconds = 0.002;
/// Of windows between steps of a counter, which has no memory: power itself has settled. Where there is time, the
/// chip's voltage and the clock's control may settle too.
constexpr double quick_settle_seconds = 0.03;
constexpr double exact_settle_seconds = 0.12;
/// The windows of the best are so long that little may come from where in a launch they end.
constexpr double exact_noise = 0.003;
/// What idle power may be below that measured: clocks may be lower later.
constexpr double idle_margin = 0.1;
/// Standard deviation, as a share, of a kernel's power between measurements that are minutes apart: it goes with the
/// temperature, of which a window knows nothing. On an H200 24 windows of 1.3 s in 8 minutes scatter by 0.31 % where
/// each by itself states 0.11 %.
constexpr double repeatability = 0.002;
/// Below this share of the time the energy of resets is within the noise of the measurement.
constexpr double negligible_share = 0.005;

}  // namespace

EnergyOptions Session::Impl::energy_options() {
  // Once: it also teaches the counter's period.
  if (!idle_watts) idle_watts = measure_idle_power(*meter, counter_ticks, clock());
  if (estimator == EnergyEstimator::automatic) {
    estimator = options.energy_estimator;
    const SensorProfile* profile = options.sensor_profile ? &*options.sensor_profile : nullptr;
    if (estimator == EnergyEstimator::automatic) estimator = choose_estimator(*meter, profile);
  }
  EnergyOptions result;
  result.estimator = estimator;
  result.profile = options.sensor_profile;
  result.ticks = options.energy_ticks;
  if (wanted.exact) {
    const double period = counter_ticks.regular() ? counter_ticks.period() : 0.1;
    result.ticks = std::max(result.ticks, static_cast<unsigned>(std::ceil(options.final_seconds / period)));
    result.settle_seconds = exact_settle_seconds;
    result.noise = exact_noise;
    result.most_ticks = result.ticks;
    return result;
  }
  if (estimator == EnergyEstimator::counter) result.settle_seconds = quick_settle_seconds;
  // A loop with resets in it uses more than the kernel.
  if (arguments.resets().empty()) result.hopeless = wanted.hopeless_energy;
  result.least_watts = (1 - idle_margin) * idle_watts.value_or(0);
  result.least_joules = wanted.least_beyond_idle;
  return result;
}

void Session::Impl::take(std::map<std::string, Quantity> measured, Evaluation& evaluation) const {
  evaluation.energy_estimator = to_string(estimator);
  for (auto& [name, value] : measured) {
    if (name == "energy" || name == "power")
      value.stderr_value = std::hypot(value.stderr_value, repeatability * value.value);
    evaluation.quantities[name] = std::move(value);
  }
}

/// Time and energy from one loop. The outputs are judged meanwhile by a thread of its own: the device is not to run
/// dry, nor the counter's steps to be missed.
std::optional<Failure> Session::Impl::loop(const Steps& steps, double run_seconds, Evaluation& evaluation,
                                           Phases& phases) {
  const EnergyOptions wanted_energy = energy_options();
  std::shared_future<tl::expected<Verifier::Verdict, Failure>> judging;
  if (known_verdict(steps) == nullptr) judging = std::async(std::launch::async, [this] { return verifier.judge(); });
  const auto is_wrong = [&] {
    return judging.valid() && judging.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !judging.get();
  };
  const auto verdict = [&]() -> std::optional<Failure> {
    if (judging.valid()) {
      if (auto wrong = take_verdict(steps, judging.get())) return wrong;
    }
    return judge(steps, evaluation);
  };
  phases.begin("warm_up");
  arguments.restore();
  double seconds = run_seconds;
  if (run_seconds < long_launch_seconds || (wanted.abandon_above && run_seconds > *wanted.abandon_above)) {
    auto warm = warm_up(maker(steps), options);
    if (!warm) return warm.error();
    seconds = warm->seconds;
    if (too_slow(seconds, evaluation)) return verdict();
  }
  phases.begin("energy");
  arguments.restore();
  auto batch = maker(steps)(launches_for(energy_batch_seconds, seconds));
  if (!batch) return batch.error();
  EnergyLoop energy(**batch, *meter, ticks_of(wanted_energy), wanted_energy, clock());
  if (auto failed = energy.start()) {
    auto stopping = energy.stop();
    return stopping ? stopping : failed;
  }
  auto measured = energy.finish(is_wrong);
  if (auto wrong = verdict()) return wrong;
  if (!energy.launch_seconds().empty()) note_times(energy.launch_seconds(), evaluation);
  if (!measured) return measured.error();
  take(std::move(*measured), evaluation);
  note_idle(evaluation);
  batch->reset();
  if (auto unobserved = observe(steps, evaluation, phases)) return unobserved;
  return flag_changing_work(steps, drifts(energy.launch_seconds()), evaluation);
}

/// What a launch used beyond the power that the device draws with this process's context and nothing to do.
void Session::Impl::note_idle(Evaluation& evaluation) {
  if (!idle_watts || !evaluation.quantities.contains("energy") || !evaluation.quantities.contains("time")) return;
  const Quantity& energy = evaluation.quantities.at("energy");
  Quantity above = energy;
  above.value -= *idle_watts * evaluation.quantities.at("time").value;
  evaluation.quantities["energy_above_idle"] = std::move(above);
  evaluation.quantities["idle_power"] = quantity(*idle_watts, "W", std::numeric_limits<double>::quiet_NaN(), 1);
}

tl::expected<std::map<std::string, Quantity>, Failure> Session::Impl::energy_of(const Steps& steps, double seconds) {
  auto batch = maker(steps)(launches_for(energy_batch_seconds, seconds));
  if (!batch) return tl::unexpected(batch.error());
  const EnergyOptions energy = energy_options();
  return measure_energy(**batch, *meter, ticks_of(energy), energy, clock());
}

std::optional<Failure> Session::Impl::measure(const Steps& steps, Evaluation& evaluation) {
  const Quantity seconds = evaluation.quantities.at("time");
  const auto reset = evaluation.quantities.find("reset_time");
  const double reset_seconds = reset == evaluation.quantities.end() ? 0 : reset->second.value;
  arguments.restore();
  auto measured = energy_of(steps, seconds.value + reset_seconds);
  if (!measured) return measured.error();
  if (reset_seconds > negligible_share * seconds.value && measured->contains("energy")) {
    const auto of_resets = energy_of(Steps{}, reset_seconds);
    if (!of_resets) return of_resets.error();
    if (!of_resets->contains("energy")) return Failure{Outcome::measurement, "the energy of resets was not measured"};
    Quantity& energy = measured->at("energy");
    energy = difference(energy, of_resets->at("energy"));
    if (measured->contains("power")) {
      // The window's power is that of kernel and resets together.
      Quantity& power = measured->at("power");
      power.value = energy.value / seconds.value;
      power.stderr_value =
          power.value * std::hypot(energy.stderr_value / energy.value, seconds.stderr_value / seconds.value);
    }
  }
  take(std::move(*measured), evaluation);
  note_idle(evaluation);
  return std::nullopt;
}

std::optional<Failure> Session::Impl::flag_changing_work(const Steps& steps, bool drifting, Evaluation& evaluation) {
  if (!arguments.accumulates()) return std::nullopt;
  bool changes = drifting;
  if (!changes && !arguments.accumulated_values_are_finite()) {
    // Only repetition is to blame if a single launch leaves finite values.
    arguments.restore();
    if (auto failed = run_steps(device, steps)) return failed;
    changes = arguments.accumulated_values_are_finite();
  }
  if (!changes) return std::nullopt;
  for (const char* name : {"time", "energy", "power"}) {
    const auto found = evaluation.quantities.find(name);
    if (found != evaluation.quantities.end()) found->second.flags.emplace_back("work_changes_on_repetition");
  }
  return std::nullopt;
}

}  // namespace wattune
