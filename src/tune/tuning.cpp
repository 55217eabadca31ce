// The public interface to tuning.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/observe.hpp"
#include "evaluate/steps.hpp"
#include "result/order.hpp"
#include "strategy/strategy.hpp"
#include "tune/backends.hpp"
#include "tune/binary_cache.hpp"
#include "tune/finalists.hpp"
#include "tune/in_process_evaluator.hpp"
#include "tune/live_evaluator.hpp"
#include "tune/runtime.hpp"
#include "tune/scratch.hpp"
#include "tune/setup.hpp"
#include "tune/simulated.hpp"
#include "tune/tuner.hpp"
#include "wattune/tune.hpp"

namespace wattune {

namespace {

/// Settings that nobody makes would be told as if they had been made.
void refuse_settings(const Problem& problem) {
  if (problem.device_settings.empty() && settings_of(problem.parameter_names(), problem.defaults).empty()) return;
  throw DeviceError(problem.file.string() +
                    ": clocks and power limits are set by the command only ('wattune tune --allow-settings'); remove "
                    "wattune.DeviceSettings and the parameters nvml_... to tune through the library");
}

constexpr double default_budget_seconds = 600;

/// Devices found without starting a process.
std::vector<FoundDevices> find_devices_here(const std::vector<std::string>& backends) {
  std::vector<FoundDevices> all;
  for (const auto& backend : backends) {
    FoundDevices found{backend, {}, ""};
    try {
      found.devices = make_backend(backend)->devices();
      if (found.devices.empty()) found.problem = "no device";
    } catch (const DeviceError& error) {
      found.problem = error.what();
    }
    all.push_back(std::move(found));
  }
  return all;
}

std::vector<FoundDevices> find(const std::vector<std::string>& backends) {
  return runtime_exists() ? find_devices(backends) : find_devices_here(backends);
}

/// A problem with the text it was read from: workers read it again.
struct Opened {
  Problem problem;
  std::string text;
  std::string device;
};

Opened open(const TuningRequest& request) {
  if (request.file.empty() && request.text.empty()) {
    throw UsageError("wattune::tune: there is no problem; give `file` or `text`");
  }
  if (!(request.timeout_seconds > 0) || !(request.compile_timeout_seconds > 0)) {
    throw UsageError("wattune::tune: a timeout is not positive; give seconds");
  }
  static_cast<void>(estimator_from(request.energy_estimator));
  Opened opened;
  opened.text = request.text.empty() ? read_file(request.file, "the problem file") : request.text;
  const std::filesystem::path file = request.file.empty() ? "problem.json" : request.file;
  ReadOptions options;
  if (!request.problem_size.empty()) options.problem_size = request.problem_size;
  opened.device = request.device;
  if (!opened.device.empty()) options.language = language_of_backend(backend_of_device(opened.device));
  opened.problem = parse_problem(opened.text, file, options);
  if (!opened.device.empty()) return opened;
  const DeviceInfo device = best_device(find(backends_for(opened.problem.languages)));
  opened.device = device.id;
  options.language = language_of_backend(device.backend);
  if (options.language != opened.problem.kernel.language) opened.problem = parse_problem(opened.text, file, options);
  return opened;
}

SearchSpace space_of(const Problem& problem) {
  auto space = SearchSpace::build(problem.parameters, problem.restrictions);
  if (space.size() > 0) return space;
  throw UsageError(
      fmt::format("{}: the search space is empty: none of {} points satisfies all {} restrictions; 'wattune "
                  "space' shows what each removes",
                  problem.file.string(), to_string(space.cartesian()), problem.restrictions.size()));
}

Budget budget_of(const TuningRequest& request, const Problem& problem) {
  Budget budget = request.budget.empty() ? problem.budget : parse_budget(request.budget);
  if (!budget.evaluations && !budget.seconds && !budget.fraction) budget.seconds = default_budget_seconds;
  return budget;
}

void make_output_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw UsageError(fmt::format("cannot make the output folder '{}': {}", folder.string(), error.message()));
}

/// The evaluator, and what it found when it opened the device.
struct Measuring {
  std::unique_ptr<Evaluator> evaluator;
  DeviceInfo device;
  std::string meter;
};

Measuring isolated(const TuningRequest& request, const Opened& opened, bool energy, bool skip_hopeless,
                   const ScratchFolder& scratch) {
  LiveOptions options;
  options.device = opened.device;
  options.energy = energy;
  options.energy_estimator = request.energy_estimator;
  options.skip_hopeless = skip_hopeless;
  options.phase_timeout_seconds = request.timeout_seconds;
  options.compile_timeout_seconds = request.compile_timeout_seconds;
  options.compile_processes = request.compile_processes;
  options.cache_folder = BinaryCache::default_folder().string();
  const auto folder = request.output.empty() ? scratch.path() : request.output;
  options.log_file = (folder / "wattune.log").string();
  options.environment = scratch.environment();
  options.on_note = request.on_note;
  auto evaluator = std::make_unique<LiveEvaluator>(opened.problem, opened.text, std::move(options));
  const auto device = evaluator->start(-1);
  const std::string meter = evaluator->meter();
  return {std::move(evaluator), *device, meter};
}

Measuring in_process(const TuningRequest& request, const Opened& opened, bool energy, bool skip_hopeless) {
  InProcessOptions options;
  options.device = opened.device;
  options.energy = energy;
  options.energy_estimator = estimator_from(request.energy_estimator);
  options.skip_hopeless = skip_hopeless;
  options.cache_folder = BinaryCache::default_folder().string();
  options.on_note = request.on_note;
  auto evaluator = std::make_unique<InProcessEvaluator>(opened.problem, std::move(options));
  const DeviceInfo device = evaluator->device();
  const std::string meter = evaluator->meter();
  return {std::move(evaluator), device, meter};
}

TunedConfiguration to_public(const Problem& problem, const Evaluation& evaluation) {
  TunedConfiguration result;
  result.configuration = named(problem, evaluation.configuration);
  result.outcome = to_string(evaluation.outcome);
  result.message = evaluation.message;
  result.verification = evaluation.verification;
  result.tier = evaluation.tier;
  for (const auto& [name, quantity] : evaluation.quantities) {
    result.quantities[name] = {quantity.value, quantity.unit, quantity.stderr_value, quantity.n, quantity.flags};
  }
  return result;
}

TuningResult to_public(const Problem& problem, const TuneResult& run, const std::vector<Objective>& objectives,
                       const ConstraintSet& constraints) {
  TuningResult result;
  for (const auto& evaluation : run.evaluations) result.evaluations.push_back(to_public(problem, evaluation));
  const auto rivals = constraints.feasible(run.evaluations, competing(run.evaluations));
  for (const auto& objective : objectives) {
    result.objectives.push_back(objective.name);
    result.winners.push_back(best(run.evaluations, rivals, objective).value_or(run.evaluations.size()));
  }
  result.front = pareto_front(run.evaluations, rivals, objectives);
  result.stopped = run.interrupted;
  return result;
}

/// What ended the run early is thrown where nothing came of it, and told beside the results otherwise.
std::string error_text(const TuneResult& run) {
  if (!run.error) return "";
  if (run.evaluations.empty()) std::rethrow_exception(run.error);
  try {
    std::rethrow_exception(run.error);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::vector<DeviceDescription> devices() {
  std::vector<DeviceDescription> result;
  for (const auto& backend : find(backend_names())) {
    for (const auto& device : backend.devices) result.push_back(describe(device));
  }
  return result;
}

double TunedConfiguration::value(const std::string& quantity) const {
  const auto found = quantities.find(quantity);
  return found == quantities.end() ? std::nan("") : found->second.value;
}

const TunedConfiguration& TuningResult::best(const std::string& objective) const {
  std::size_t index = 0;
  if (!objective.empty()) {
    const auto found = std::find(objectives.begin(), objectives.end(), objective);
    if (found == objectives.end()) {
      throw UsageError(
          fmt::format("'{}' was no objective of the tuning; there are: {}", objective, fmt::join(objectives, ", ")));
    }
    index = static_cast<std::size_t>(found - objectives.begin());
  }
  if (index < winners.size() && winners[index] < evaluations.size()) return evaluations[winners[index]];
  throw RunError(fmt::format("no configuration was measured in {} ({} were tried{})",
                             objectives.empty() ? "anything" : objectives[index], evaluations.size(),
                             error.empty() ? "" : "; " + error));
}

TuningResult tune(const TuningRequest& request) {
  const double began = monotonic_seconds();
  Opened opened = open(request);
  Problem& problem = opened.problem;
  const auto note = [&](const std::string& text) {
    if (request.on_note) request.on_note(text);
  };
  for (const auto& warning : problem.warnings) note(warning);
  check_extensions(problem);
  refuse_settings(problem);
  const auto objectives = choose_objectives(problem, request.minimize, request.maximize);
  const auto constraints = choose_constraints(problem, request.subject_to, objectives);
  const Budget budget = budget_of(request, problem);
  const auto space = space_of(problem);
  if (const auto warning = use_valid_default(problem, space)) note(*warning);
  const std::string name = request.strategy.empty() ? strategy_descriptions().front().name : request.strategy;
  const auto strategy = make_strategy(name, space, request.seed, StrategySetup{objectives, problem.kinds, {}});

  const ScratchFolder scratch;
  const bool keep = !request.output.empty();
  if (keep) make_output_folder(request.output);
  const auto folder = keep ? request.output : scratch.path();
  const auto clock = prepare_simulation(opened.device, folder);
  const bool energy = request.measure_energy || needs_meter(objectives, problem) || needs_meter(constraints, problem);
  const bool may_skip = may_skip_hopeless(objectives, constraints, name);
  const bool skip = may_skip && !request.measure_hopeless;
  const Measuring measuring =
      runtime_exists() ? isolated(request, opened, energy, skip, scratch) : in_process(request, opened, energy, skip);
  // The engine writes a journal in any case; one that nobody asked for goes with the other temporary files.
  Journal journal =
      Journal::open(folder, make_journal_header(problem, measuring.device, measuring.meter, name, request.seed));
  for (const auto& text : journal.notes()) note(text);
  for (const auto& text : journal.before().warnings) note(text);

  bool stop = false;
  TuneOptions options;
  options.budget = budget;
  options.constraints = constraints;
  options.objectives = objectives;
  options.run =
      run_key(name, request.seed, objectives, {}, constraints.conditions()) + (may_skip && !skip ? ":all" : "");
  options.given_up_suffices = skip;
  options.clock = clock.get();
  options.interrupted = [&] { return stop; };
  if (request.on_evaluation) {
    options.on_evaluation = [&](const Evaluation& evaluation, const TuneState& state) {
      const TuningProgress progress{state.evaluated, state.failed, state.planned.value_or(0), state.seconds};
      stop = stop || !request.on_evaluation(to_public(problem, evaluation), progress);
    };
  }
  TuneResult run = tune(problem, space, *strategy, *measuring.evaluator, journal, options);
  FinalistOptions finalists;
  finalists.count = request.finalists;
  finalists.constraints = constraints;
  finalists.interrupted = options.interrupted;
  finalists.on_note = request.on_note;
  measure_finalists(problem, space, metered(objectives, problem), *measuring.evaluator, journal, run, finalists);
  TuningResult result = to_public(problem, run, objectives, constraints);
  result.error = error_text(run);
  result.device = describe(measuring.device);
  if (keep) result.journal = journal.file();
  result.seconds = monotonic_seconds() - began;
  return result;
}

}  // namespace wattune
