#include "evaluate/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "evaluate/argument_set.hpp"
#include "evaluate/energy.hpp"
#include "evaluate/expected_work.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/observe.hpp"
#include "evaluate/statistics.hpp"
#include "evaluate/steps.hpp"
#include "evaluate/timing.hpp"
#include "evaluate/verifier.hpp"
#include "problem/evaluate_in.hpp"
#include "problem/quantities.hpp"

namespace wattune {

namespace {

/// Long enough that two queued replays outlast any pause of this thread, short enough to stop soon.
constexpr double energy_batch_seconds = 0.03;
/// Below this share of the time the energy of resets is within the noise of the measurement.
constexpr double negligible_share = 0.005;

bool is_poison(Outcome outcome) {
  return outcome == Outcome::crash || outcome == Outcome::lost_device;
}

/// Announces phases and adds up the seconds spent in each. Waiting in the announcement is nobody's time.
class Phases {
 public:
  Phases(const MeasureOptions& options, std::map<std::string, double>& seconds)
      : options_(options), seconds_(seconds) {}
  void begin(const std::string& phase) {
    end();
    if (options_.on_phase) options_.on_phase(phase);
    current_ = phase;
    start_ = monotonic_seconds();
  }
  void end() {
    if (!current_.empty()) seconds_[current_] += monotonic_seconds() - start_;
    current_.clear();
  }

 private:
  const MeasureOptions& options_;
  std::map<std::string, double>& seconds_;
  std::string current_;
  double start_ = 0;
};

Quantity quantity(double value, const std::string& unit, double standard_error, std::size_t n) {
  return {value, unit, standard_error, static_cast<std::int64_t>(n), {}};
}

/// a - b, where both were measured independently.
Quantity difference(Quantity a, const Quantity& b) {
  a.value -= b.value;
  a.stderr_value = std::hypot(a.stderr_value, b.stderr_value);
  return a;
}

}  // namespace

struct Session::Impl {
  Impl(const Problem& problem_in, Device& device_in, PowerMeter* meter_in, MeasureOptions options_in)
      : problem(problem_in),
        device(device_in),
        meter(meter_in),
        options(std::move(options_in)),
        launch_function(launch_function_of(problem_in)),
        observers(problem_in, device_in.info()),
        arguments(problem_in, device_in),
        verifier(problem_in, device_in, arguments),
        loaded(device_in, arguments) {
    if (options.clock == nullptr) options.clock = device.clock();
  }

  tl::expected<Kernel*, Failure> load(const CompileResult& binary);
  tl::expected<Steps, Failure> steps_of(Kernel& kernel, const std::vector<Value>& configuration);
  Launch reference_launch(Kernel& kernel) const;
  std::optional<Failure> take_reference(const CompileResult& binary, const std::vector<Value>& configuration);

  std::optional<Failure> evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                  Evaluation& evaluation, Phases& phases);
  void note_resources(const Kernel& kernel, const Launch& launch, Evaluation& evaluation);
  std::optional<Failure> verify(const Steps& steps, Evaluation& evaluation);
  std::optional<Failure> time(const Steps& steps, Evaluation& evaluation, Phases& phases);
  std::optional<Failure> observe(const Steps& steps, Evaluation& evaluation, Phases& phases);
  tl::expected<Quantity, Failure> time_of_resets();
  std::optional<Failure> measure(const Steps& steps, Evaluation& evaluation);
  tl::expected<std::map<std::string, Quantity>, Failure> energy_of(const Steps& steps, double seconds);
  std::optional<Failure> flag_changing_work(const Steps& steps, bool drifting, Evaluation& evaluation);

  /// Batches of the resets and these.
  [[nodiscard]] BatchMaker maker(const Steps& steps) {
    return [this, &steps](unsigned launches) {
      const auto resets = arguments.resets();
      Steps all(resets.begin(), resets.end());
      all.insert(all.end(), steps.begin(), steps.end());
      return device.make_batch(all, launches);
    };
  }

  const Problem& problem;
  Device& device;
  PowerMeter* meter;
  MeasureOptions options;
  std::optional<double> abandon_above;  ///< of the evaluation under way
  LaunchFunction launch_function;  ///< null where launches are plain
  Observers observers;
  TickHistory counter_ticks;            ///< of the meter
  ArgumentSet arguments;
  Verifier verifier;
  LoadedBinary loaded;

  /// What the loaded kernels have been verified to do: device settings do not change what they compute.
  struct Verified {
    Steps steps;
    Verifier::Verdict verdict;
  };
  std::vector<Verified> verified;
};

// ---- loading

tl::expected<Kernel*, Failure> Session::Impl::load(const CompileResult& binary) {
  bool changed = false;
  auto kernel = loaded.load(binary, changed);
  if (changed) verified.clear();
  return kernel;
}

tl::expected<Steps, Failure> Session::Impl::steps_of(Kernel& kernel, const std::vector<Value>& configuration) {
  const Launch plain = plain_launch(problem, arguments, kernel, configuration);
  if (!launch_function) return Steps{plain};
  return record_steps(problem, arguments, loaded, launch_function, plain, configuration);
}

Launch Session::Impl::reference_launch(Kernel& kernel) const {
  const Verification::Kernel& reference = *problem.verification.kernel;
  const std::map<std::string, Value> scope = {{"ProblemSize", problem_size_value(problem)}};
  Launch launch;
  launch.kernel = &kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    launch.shape.grid[i] =
        as_count(reference.grid[i], reference.grid[i].evaluate(scope), "the reference kernel's grid", false);
    launch.shape.block[i] =
        as_count(reference.block[i], reference.block[i].evaluate(scope), "the reference kernel's block", false);
  }
  launch.shared_bytes = problem.shared_memory;
  launch.arguments = arguments.kernel_arguments(problem.defaults);
  return launch;
}

std::optional<Failure> Session::Impl::take_reference(const CompileResult& binary,
                                                     const std::vector<Value>& configuration) {
  auto kernel = load(binary);
  if (!kernel) return kernel.error();
  verified.clear();
  if (configuration.empty() && problem.verification.kernel) {
    return verifier.take_reference({reference_launch(**kernel)}, true);
  }
  const auto steps = steps_of(**kernel, configuration);
  if (!steps) return steps.error();
  return verifier.take_reference(*steps, false);
}

// ---- evaluation

std::optional<Failure> Session::Impl::evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                               Evaluation& evaluation, Phases& phases) {
  evaluation.resources = binary.resources;
  const ExpectedWork work = expected_work(problem, configuration);
  device.expect_work(work.flop, work.bytes);
  phases.begin("load");
  auto kernel = load(binary);
  if (!kernel) return kernel.error();
  for (const auto& [name, value] : (*kernel)->resources()) evaluation.resources[name] = value;
  if (launch_function) phases.begin("launch_function");
  const auto steps = steps_of(**kernel, configuration);
  if (!steps) return steps.error();
  if (auto failed = check_steps(device, *steps)) return failed;
  note_resources(**kernel, first_launch(*steps), evaluation);

  phases.begin("verify");
  if (auto failed = verify(*steps, evaluation)) return failed;
  if (options.verify_only) return std::nullopt;
  return time(*steps, evaluation, phases);
}

/// What costs nothing to know, among the quantities: metrics and objectives may use it.
void Session::Impl::note_resources(const Kernel& kernel, const Launch& launch, Evaluation& evaluation) {
  const auto exact = [&](const std::string& name, double value) {
    evaluation.quantities[name] = quantity(value, std::string(find_measured_quantity(name)->unit), 0, 1);
  };
  const auto& resources = evaluation.resources;
  if (const auto found = resources.find("registers"); found != resources.end()) {
    exact("registers", static_cast<double>(found->second));
  }
  // A launch function may begin with another kernel, of which the binary's figures are not.
  if (launch.kernel != &kernel) return;
  if (const auto found = resources.find("static_shared_bytes"); found != resources.end()) {
    std::size_t bytes = static_cast<std::size_t>(found->second) + launch.shared_bytes;
    for (const KernelArgument& argument : launch.arguments) {
      if (const auto* local = std::get_if<LocalArgument>(&argument)) bytes += local->bytes;
    }
    exact("shared_memory", static_cast<double>(bytes));
  }
  if (const auto occupancy = device.occupancy(launch)) exact("occupancy", *occupancy);
}

std::optional<Failure> Session::Impl::verify(const Steps& steps, Evaluation& evaluation) {
  auto known = std::find_if(verified.begin(), verified.end(),
                            [&](const Verified& earlier) { return same_steps(earlier.steps, steps); });
  if (known == verified.end()) {
    auto verdict = verifier.verify(steps);
    if (!verdict) return verdict.error();
    known = verified.insert(verified.end(), {steps, *verdict});
  }
  evaluation.verification = known->verdict.verification;
  if (known->verdict.max_error) {
    evaluation.quantities["max_error"] =
        quantity(*known->verdict.max_error, "", std::numeric_limits<double>::quiet_NaN(), 1);
  }
  return std::nullopt;
}

std::optional<Failure> Session::Impl::time(const Steps& steps, Evaluation& evaluation, Phases& phases) {
  phases.begin("warm_up");
  arguments.restore();
  auto warm = warm_up(maker(steps), options);
  if (!warm) return warm.error();
  if (abandon_above && warm->seconds > *abandon_above) {
    Quantity& seconds = evaluation.quantities["time"];
    seconds = quantity(warm->seconds, "s", std::numeric_limits<double>::quiet_NaN(), 1);
    seconds.flags.emplace_back("abandoned_early");
    return std::nullopt;
  }

  phases.begin("time");
  arguments.restore();
  auto samples = time_batch(*warm, options);
  if (!samples) return samples.error();
  const Summary summary = summarize(samples->seconds);
  const std::size_t n = samples->seconds.size();
  Quantity seconds = quantity(summary.median, "s", summary.standard_error, n);
  Quantity least = quantity(summary.minimum, "s", std::numeric_limits<double>::quiet_NaN(), n);
  if (samples->noisy) seconds.flags.emplace_back("noisy");
  if (!arguments.resets().empty()) {
    const auto reset = time_of_resets();
    if (!reset) return reset.error();
    evaluation.quantities["reset_time"] = *reset;
    seconds = difference(seconds, *reset);
    least = difference(least, *reset);
    if (!(seconds.value > 0)) {
      return Failure{Outcome::measurement,
                     fmt::format("the kernel cannot be timed: resetting its arguments takes {:.3g} s and everything "
                                 "together {:.3g} s; use a larger problem, or Reset \"none\"",
                                 reset->value, summary.median)};
    }
  }
  evaluation.quantities["time"] = seconds;
  evaluation.quantities["time_min"] = least;
  if (n > 1) {
    evaluation.quantities["time_spread"] =
        quantity(summary.deviation, "s", std::numeric_limits<double>::quiet_NaN(), n);
  }
  warm->batch.reset();
  if (meter != nullptr) {
    phases.begin("energy");
    if (auto failed = measure(steps, evaluation)) return failed;
  }
  if (auto failed = observe(steps, evaluation, phases)) return failed;
  return flag_changing_work(steps, drifts(samples->seconds), evaluation);
}

tl::expected<Quantity, Failure> Session::Impl::time_of_resets() {
  const Steps nothing;
  auto warm = warm_up(maker(nothing), options);
  if (!warm) return tl::unexpected(warm.error());
  const auto samples = time_batch(*warm, options);
  if (!samples) return tl::unexpected(samples.error());
  const Summary summary = summarize(samples->seconds);
  return quantity(summary.median, "s", summary.standard_error, samples->seconds.size());
}

std::optional<Failure> Session::Impl::observe(const Steps& steps, Evaluation& evaluation, Phases& phases) {
  if (observers.empty()) return std::nullopt;
  phases.begin("observe");
  arguments.restore();
  return observers.observe(maker(steps), options, named(problem, evaluation.configuration), evaluation);
}

// ---- energy

tl::expected<std::map<std::string, Quantity>, Failure> Session::Impl::energy_of(const Steps& steps, double seconds) {
  auto batch = maker(steps)(launches_for(energy_batch_seconds, seconds));
  if (!batch) return tl::unexpected(batch.error());
  EnergyOptions energy_options;
  energy_options.ticks = options.energy_ticks;
  return measure_energy(**batch, *meter, counter_ticks, energy_options, options.clock == nullptr ? real_clock() : *options.clock);
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
  for (auto& [name, value] : *measured) evaluation.quantities[name] = std::move(value);
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

// ---- the public face

Session::Session(const Problem& problem, Device& device, PowerMeter* meter, MeasureOptions options)
    : impl_(std::make_unique<Impl>(problem, device, meter, std::move(options))) {}

Session::~Session() = default;

Session::Needs Session::needs() const noexcept {
  return impl_->verifier.needs();
}

std::optional<Failure> Session::set_reference(const CompileResult& binary, const std::vector<Value>& configuration) {
  try {
    return impl_->take_reference(binary, configuration);
  } catch (const DeviceError& error) {
    return Failure{Outcome::crash, error.what()};
  } catch (const ExpressionError& error) {
    return Failure{Outcome::launch, error.what()};
  }
}

Session::Result Session::evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                  std::optional<double> abandon_above) {
  Result result;
  impl_->abandon_above = abandon_above;
  Evaluation& evaluation = result.evaluation;
  evaluation.configuration = configuration;
  Phases phases(impl_->options, evaluation.phases);
  std::optional<Failure> failed;
  try {
    failed = impl_->evaluate(binary, configuration, evaluation, phases);
  } catch (const DeviceError& error) {
    // Memory that cannot be read or written any more: an earlier launch has broken the context.
    failed = Failure{Outcome::crash, error.what()};
  } catch (const ExpressionError& error) {
    failed = Failure{Outcome::launch, error.what()};
  }
  phases.end();
  if (impl_->options.on_phase) impl_->options.on_phase("done");
  if (failed) {
    evaluation.outcome = failed->outcome;
    evaluation.message = failed->message;
    result.poisoned = is_poison(failed->outcome);
  }
  return result;
}

}  // namespace wattune
