#include "evaluate/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/expected_work.hpp"
#include "evaluate/session_impl.hpp"
#include "problem/evaluate_in.hpp"
#include "problem/quantities.hpp"

namespace wattune {

namespace {

bool is_poison(Outcome outcome) {
  return outcome == Outcome::crash || outcome == Outcome::lost_device;
}

}  // namespace

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
  double run_seconds = 0;
  if (known_verdict(*steps) == nullptr) {
    const auto ran = verifier.run(*steps);
    if (!ran) return ran.error();
    run_seconds = *ran;
  }
  if (auto failed = settle(*steps, evaluation, phases)) return failed;
  // The outputs are judged while power rises, where there is something to wait for.
  if (meter != nullptr && !options.verify_only && !wanted.only_time && arguments.resets().empty()) {
    return loop(*steps, run_seconds, evaluation, phases);
  }
  if (auto failed = judge(*steps, evaluation)) return failed;
  if (options.verify_only) return std::nullopt;
  return time(*steps, evaluation, phases);
}

/// Waits until the device is at the clocks of the configuration, where that sets them; reads the voltage there.
std::optional<Failure> Session::Impl::settle(const Steps& steps, const Evaluation& evaluation, Phases& phases) {
  const DeviceSettings settings = settings_of(problem.parameter_names(), evaluation.configuration);
  PowerMeter* reader = clock_reader();
  if (options.verify_only || reader == nullptr) return std::nullopt;
  const bool there = settings.empty() || (reached && settings == reached_settings);
  if (there && !voltage.wants(settings)) return std::nullopt;
  phases.begin("settle");
  if (!there) idle_watts.reset();  // it depends on the clocks
  reached.reset();
  arguments.restore();
  auto warm = warm_up(maker(steps), options);
  if (!warm) return warm.error();
  auto reading = reach_clocks(*warm->batch, *reader, settings, {}, clock());
  if (!reading) return reading.error();
  reached = *reading;
  reached_settings = settings;
  if (!voltage.wants(settings)) return std::nullopt;
  phases.begin("voltage");
  return voltage.read(*warm->batch, *reader, settings);
}

void Session::Impl::note_voltage(Evaluation& evaluation) const {
  if (options.verify_only) return;
  const auto volts = voltage.at(settings_of(problem.parameter_names(), evaluation.configuration));
  if (volts) evaluation.quantities["voltage"] = *volts;
}

/// The clock of the energy window against that of the configuration. Where no energy was measured, the clock that was
/// waited for is noted.
std::optional<Failure> Session::Impl::check_clock(Evaluation& evaluation) {
  const DeviceSettings settings = settings_of(problem.parameter_names(), evaluation.configuration);
  if (settings.empty() || options.verify_only) return std::nullopt;
  if (!evaluation.quantities.contains("sm_clock") && reached && reached->sm_clock_hz) {
    evaluation.quantities["sm_clock"] =
        quantity(*reached->sm_clock_hz, "Hz", std::numeric_limits<double>::quiet_NaN(), 1);
    return std::nullopt;
  }
  auto failed = check_window_clock(evaluation, settings);
  if (failed) reached.reset();
  return failed;
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

const Verifier::Verdict* Session::Impl::known_verdict(const Steps& steps) const {
  const auto known = std::find_if(verified.begin(), verified.end(),
                                  [&](const Verified& earlier) { return same_steps(earlier.steps, steps); });
  return known == verified.end() ? nullptr : &known->verdict;
}

std::optional<Failure> Session::Impl::take_verdict(const Steps& steps,
                                                   tl::expected<Verifier::Verdict, Failure> judged) {
  if (!judged) return judged.error();
  verified.push_back({steps, std::move(*judged)});
  return std::nullopt;
}

std::optional<Failure> Session::Impl::judge(const Steps& steps, Evaluation& evaluation) {
  const Verifier::Verdict* verdict = known_verdict(steps);
  if (verdict == nullptr) {
    if (auto failed = take_verdict(steps, verifier.judge())) return failed;
    verdict = &verified.back().verdict;
  }
  evaluation.verification = verdict->verification;
  if (verdict->max_error) {
    evaluation.quantities["max_error"] = quantity(*verdict->max_error, "", std::numeric_limits<double>::quiet_NaN(), 1);
  }
  return std::nullopt;
}

bool Session::Impl::too_slow(double seconds, Evaluation& evaluation) const {
  if (!wanted.abandon_above || seconds <= *wanted.abandon_above) return false;
  Quantity& time = evaluation.quantities["time"];
  time = quantity(seconds, "s", std::numeric_limits<double>::quiet_NaN(), 1);
  time.flags.emplace_back("abandoned_early");
  return true;
}

std::optional<Failure> Session::Impl::time(const Steps& steps, Evaluation& evaluation, Phases& phases) {
  phases.begin("warm_up");
  arguments.restore();
  auto warm = warm_up(maker(steps), options);
  if (!warm) return warm.error();
  if (too_slow(warm->seconds, evaluation)) return std::nullopt;

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
  if (wanted.only_time) return flag_changing_work(steps, drifts(samples->seconds), evaluation);
  if (meter != nullptr) {
    phases.begin("energy");
    if (auto failed = measure(steps, evaluation)) return failed;
  }
  if (auto failed = observe(steps, evaluation, phases)) return failed;
  return flag_changing_work(steps, drifts(samples->seconds), evaluation);
}

/// Of the launches of an energy loop.
void Session::Impl::note_times(const std::vector<double>& samples, Evaluation& evaluation) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const Summary summary = summarize(samples);
  evaluation.quantities["time"] = quantity(summary.median, "s", summary.standard_error, samples.size());
  evaluation.quantities["time_min"] = quantity(summary.minimum, "s", unknown, samples.size());
  if (samples.size() > 1)
    evaluation.quantities["time_spread"] = quantity(summary.deviation, "s", unknown, samples.size());
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
                                  const EvaluateOptions& wanted) {
  Result result;
  impl_->wanted = wanted;
  Evaluation& evaluation = result.evaluation;
  evaluation.configuration = configuration;
  Phases phases(impl_->options, evaluation.phases);
  std::optional<Failure> failed;
  try {
    failed = impl_->evaluate(binary, configuration, evaluation, phases);
    if (!failed) impl_->note_voltage(evaluation);
    if (!failed) failed = impl_->check_clock(evaluation);
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

tl::expected<ClockReading, Failure> Session::clocks_under_load(const CompileResult& binary,
                                                               const std::vector<Value>& configuration) {
  Impl& impl = *impl_;
  PowerMeter* reader = impl.clock_reader();
  if (reader == nullptr) return ClockReading{};
  try {
    const ExpectedWork work = expected_work(impl.problem, configuration);
    impl.device.expect_work(work.flop, work.bytes);
    auto kernel = impl.load(binary);
    if (!kernel) return tl::unexpected(kernel.error());
    const auto steps = impl.steps_of(**kernel, configuration);
    if (!steps) return tl::unexpected(steps.error());
    if (auto failed = check_steps(impl.device, *steps)) return tl::unexpected(*failed);
    impl.arguments.restore();
    auto warm = warm_up(impl.maker(*steps), impl.options);
    if (!warm) return tl::unexpected(warm.error());
    return settled_clocks(*warm->batch, *reader, impl.clock());
  } catch (const DeviceError& error) {
    return tl::unexpected(Failure{Outcome::crash, error.what()});
  } catch (const ExpressionError& error) {
    return tl::unexpected(Failure{Outcome::launch, error.what()});
  }
}

}  // namespace wattune
