#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "cli/commands.hpp"
#include "cli/replay_device.hpp"
#include "cli/say.hpp"
#include "cli/sensors.hpp"
#include "cli/tune_method.hpp"
#include "cli/tune_run.hpp"
#include "cli/tune_settings.hpp"
#include "evaluate/extensions.hpp"
#include "report/json.hpp"
#include "report/progress.hpp"
#include "report/summary.hpp"
#include "report/table.hpp"
#include "result/metrics.hpp"
#include "tune/backends.hpp"
#include "tune/finalists.hpp"
#include "tune/live_evaluator.hpp"
#include "tune/scratch.hpp"
#include "tune/setup.hpp"
#include "tune/simulated.hpp"
#include "tune/tuner.hpp"

namespace wattune::cli {

namespace {

namespace fs = std::filesystem;

/// Seldom enough to cost less than a hundredth of the time, also where it means another clock.
constexpr double reference_every_seconds = 60;
constexpr double reference_every_seconds_with_settings = 300;

/// What the device and the host that waits for it need together.
void add_host_energy(Problem& problem, double watts) {
  const bool taken = std::any_of(problem.metrics.begin(), problem.metrics.end(),
                                 [](const Metric& metric) { return metric.name == "energy_with_host"; });
  if (taken) throw UsageError("--host-power: the problem has a metric energy_with_host of its own; rename it");
  problem.metrics.push_back(
      {"energy_with_host", Expression::parse(fmt::format("energy + {} * time", watts)), "J", Direction::minimize});
}

bool wants_energy(const TuneArguments& arguments, const std::vector<Objective>& objectives,
                  const ConstraintSet& constraints, const Problem& problem) {
  const bool asked = needs_meter(objectives, problem) || needs_meter(constraints, problem) || arguments.host_watts;
  const bool for_method = !arguments.method.empty() && arguments.meter != "none";  // also a race has its energy told
  const bool needed = (asked || for_method) && !arguments.verify_only;
  if (needed && arguments.meter == "none") {
    throw UsageError(
        "--meter none: an objective or condition needs energy or power; name a meter, or another objective");
  }
  return needed || (arguments.meter == "nvml" && !arguments.verify_only);
}

/// Whether time alone tells that a configuration which is several times slower is not the best.
bool time_decides(const Objective& objective, const Problem& problem) {
  if (objective.name == "time" || objective.name == "energy") return true;
  return std::any_of(problem.metrics.begin(), problem.metrics.end(), [&](const Metric& metric) {
    const auto& names = metric.expression.names();
    return metric.name == objective.name && std::find(names.begin(), names.end(), "time") != names.end() &&
           std::none_of(names.begin(), names.end(), [&](const std::string& name) {
             const auto parameters = problem.parameter_names();
             return name != "time" && std::find(parameters.begin(), parameters.end(), name) == parameters.end();
           });
  });
}

/// Strategies that learn need no exact time of what is far from the best. The others collect data.
std::optional<double> choose_abandon_factor(const TuneArguments& arguments, const std::vector<Objective>& objectives,
                                            const Problem& problem) {
  constexpr double default_factor = 10;
  if (arguments.abandon_above) {
    return *arguments.abandon_above > 0 ? arguments.abandon_above : std::nullopt;
  }
  const bool collects = arguments.strategy == "random" || arguments.strategy == "brute_force";
  const bool safe = std::all_of(objectives.begin(), objectives.end(),
                                [&](const Objective& objective) { return time_decides(objective, problem); });
  return !collects && safe ? std::optional(default_factor) : std::nullopt;
}

/// Nothing was measured yet. Programs read a result all the same.
int interrupted_early(const TuneArguments& arguments, const Chosen& chosen) {
  say("wattune: interrupted before the first evaluation\n");
  if (arguments.json) {
    RunInfo run;
    run.problem = chosen.problem.name;
    run.device_id = chosen.device;
    run.strategy = arguments.strategy;
    run.seed = arguments.seed;
    run.interrupted = true;
    fmt::print("{}", json_text(run_to_json(run, chosen.problem.parameter_names(), {}, {})));
    std::fflush(stdout);
  }
  return static_cast<int>(ExitCode::interrupted);
}

void print_first_line(const Problem& problem, const SearchSpace& space, const DeviceInfo& device,
                      const std::vector<Objective>& objectives, const Budget& budget, const std::string& meter,
                      const fs::path& folder, const TuneArguments& arguments) {
  const std::string what = arguments.verify_only ? "verify only" : objectives_text(objectives);
  say("Tuning '{}' on {} ({}): {}; {} of {} points valid; {}, seed {}; budget {}; meter {}; output {}\n", problem.name,
      device.id, device.name + (device.simulated ? ", simulated" : ""), what, to_string(space.size()),
      to_string(space.cartesian()), search_text(arguments), arguments.seed, to_string(budget), meter, folder.string());
}

void print_profile(const Profile& profile, double seconds) {
  Table table({{"time went to"}, {"s", Table::Align::right}, {"ms an evaluation", Table::Align::right}});
  auto row = [&](const std::string& name, double value) {
    const double each = profile.evaluations > 0 ? 1e3 * value / static_cast<double>(profile.evaluations) : 0;
    table.add_row({name, fmt::format("{:.2f}", value), fmt::format("{:.2f}", each)});
  };
  for (const auto& [phase, value] : profile.phases) row(phase, value);
  row("idle device", profile.idle_seconds);
  row("everything else", seconds - profile.busy_seconds() - profile.idle_seconds);
  row("all", seconds);
  row("(compilers, meanwhile)", profile.compile_seconds);
  say("{}{} evaluations; {} variants compiled, {} found in the cache\n", table.text(), profile.evaluations,
      profile.compiled, profile.cached);
  if (profile.evaluations > Profile::start) {
    say("The device was idle {:.1f} % of the time after the first {} evaluations.\n", 100 * profile.idle_share(),
        Profile::start);
  }
}

void tell_of_unused_options(const TuneArguments& arguments, const LiveOptions& live) {
  if (live.energy || live.verify_only) return;
  for (const char* option : {"--energy-estimator", "--energy-ticks", "--finalists", "--no-skip"}) {
    if (!arguments.is_given(option)) continue;
    say("wattune: note: {} has no effect: no energy is measured, for nothing that is tuned for needs it (--meter nvml "
        "measures it all the same)\n",
        option);
  }
}

/// What --method clocks has found, in the form of the other methods.
MethodFound own_clock_found(const std::vector<KernelClock>& own_clocks) {
  MethodFound found;
  found.name = "clocks";
  for (const auto& clock : own_clocks) {
    found.evaluations += clock.timings + clock.measurements;
    found.answer = clock.best;
  }
  return found;
}

/// Prints results as asked, then what ended the run early, if anything did. @return the exit code.
int print_results(const TuneArguments& arguments, const Problem& problem, RunInfo run, const TuneResult& result,
                  const std::vector<Objective>& objectives, const std::vector<KernelClock>& own_clocks) {
  const auto names = problem.parameter_names();
  for (const auto& clock : own_clocks) run.remarks.push_back(to_text(clock, names));
  const auto found = arguments.own_clock_only
                         ? own_clock_found(own_clocks)
                         : method_found(arguments, problem, objectives, run.constraints, result.evaluations);
  if (found && !arguments.own_clock_only) run.remarks.push_back(found->text(names));
  if (arguments.json) {
    auto object = run_to_json(run, names, result.evaluations, objectives);
    if (found) object["method"] = found->to_json(names);
    for (const auto& clock : own_clocks) object["own_clocks"].push_back(to_json(clock, names));
    fmt::print("{}", json_text(object));
  } else if (!arguments.quiet) {
    SummaryOptions options;
    options.top = arguments.top;
    winsize size{};
    if (::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) options.max_width = size.ws_col;
    fmt::print("{}", summary(run, names, result.evaluations, objectives, problem.metrics, options));
  }
  std::fflush(stdout);
  if (result.error) std::rethrow_exception(result.error);
  return static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::done);
}

}  // namespace

/// The best few by what takes a meter, exactly.
void measure_again(const TuneArguments& arguments, const Problem& problem, const SearchSpace& space,
                   const std::vector<Objective>& objectives, Evaluator& evaluator, Journal& journal, TuneResult& result,
                   const TuneOptions& run) {
  FinalistOptions options;
  options.count = arguments.finalists;
  options.constraints = run.constraints;
  options.wake_fd = run.wake_fd;
  options.interrupted = run.interrupted;
  options.on_note = run.on_note;
  if (arguments.method.empty()) {
    measure_finalists(problem, space, metered(objectives, problem), evaluator, journal, result, options);
    return;
  }
  if (options.count == 0 || result.interrupted || result.error) return;
  // Of a method in two steps only the variant of its first step can be the answer.
  TuneResult candidates;
  candidates.evaluations = method_candidates(arguments, problem, objectives, run.constraints, result.evaluations);
  const auto known = static_cast<std::ptrdiff_t>(candidates.evaluations.size());
  measure_finalists(problem, space, objectives, evaluator, journal, candidates, options);
  result.interrupted = candidates.interrupted;
  result.error = candidates.error;
  std::move(candidates.evaluations.begin() + known, candidates.evaluations.end(),
            std::back_inserter(result.evaluations));
}

StrategySetup strategy_setup(const TuneArguments& arguments, const Problem& problem,
                             const std::vector<Objective>& objectives) {
  StrategySetup setup{objectives, problem.kinds, {}};
  for (const auto& option : arguments.strategy_options) add_strategy_option(setup.options, option);
  return setup;
}

namespace {

void tell_outcome(const Problem& problem, const DeviceInfo& device, const std::vector<Objective>& objectives,
                  const TuneResult& result, TuneOutcome& outcome) {
  outcome.device_name = device.name;
  outcome.parameter_names = problem.parameter_names();
  outcome.kinds = problem.kinds;
  for (const auto& parameter : problem.parameters) {
    if (setting_of(parameter.name)) outcome.settings *= parameter.values.size();
  }
  outcome.objectives = objectives;
  outcome.evaluations = result.evaluations;
  outcome.interrupted = result.interrupted;
}

bool may_skip(const TuneArguments& arguments, const std::vector<Objective>& objectives,
              const ConstraintSet& constraints) {
  return arguments.method.empty() && may_skip_hopeless(objectives, constraints, arguments.strategy);
}

/// How the device is to measure what is asked for.
LiveOptions live_options(const TuneArguments& arguments, const Chosen& chosen, const std::vector<Objective>& objectives,
                         const ConstraintSet& constraints, const ScratchFolder& scratch, const fs::path& folder,
                         Clock* clock) {
  LiveOptions live;
  live.device = chosen.device;
  live.energy = wants_energy(arguments, objectives, constraints, chosen.problem);
  live.energy_ticks = arguments.energy_ticks;
  live.energy_estimator = arguments.energy_estimator;
  live.verify_only = arguments.verify_only;
  live.voltage_command = voltage_command(arguments, chosen);
  live.phase_timeout_seconds = arguments.timeout;
  live.compile_timeout_seconds = arguments.compile_timeout;
  live.compile_processes = arguments.compile_processes;
  if (!arguments.no_cache) live.cache_folder = BinaryCache::default_folder().string();
  live.abandon_factor = choose_abandon_factor(arguments, objectives, chosen.problem);
  live.limit_by_fastest = arguments.abandon_above ? *arguments.abandon_above > 0 : arguments.strategy != "brute_force";
  // A method may need the energy at clocks where it is not the least.
  live.skip_hopeless = may_skip(arguments, objectives, constraints) && !arguments.no_skip && !arguments.host_watts;
  live.log_file = (folder / "wattune.log").string();
  live.environment = scratch.environment();
  live.environment.push_back("WATTUNE_CUDA_COMPILER=" + arguments.compiler);
  live.clock = clock;
  if (clock) live.cache_folder.clear();  // what is not really compiled is not worth keeping, and faults are not to stay
  return live;
}

/// What the run is to keep to, and who hears of it.
TuneOptions tune_options(const TuneArguments& arguments, const std::vector<Objective>& objectives,
                         const ConstraintSet& constraints, const Budget& budget, const LiveOptions& live,
                         const Interrupt& interrupt, Progress& progress) {
  TuneOptions options;
  options.budget = budget;
  options.constraints = constraints;
  options.objectives = objectives;
  options.clock = live.clock;
  options.keep_going = arguments.keep_going;
  if (live.energy) {
    options.reference_every_seconds = live.settings ? reference_every_seconds_with_settings : reference_every_seconds;
  }
  if (arguments.verify_only) options.tier = "verify";
  options.wake_fd = interrupt.fd();
  options.interrupted = [&interrupt] { return interrupt.signal() != 0; };
  options.on_evaluation = [&progress](const Evaluation& evaluation, const TuneState& state) {
    progress.plan(state.planned);
    progress.add(evaluation, state.last_reused);
  };
  options.on_wait = [&progress](const TuneState& state) {
    progress.plan(state.planned);
    progress.tick();
  };
  options.on_note = live.on_note;
  return options;
}

}  // namespace

int run_tune(TuneArguments arguments, TuneOutcome* outcome, const Interrupt* shared_interrupt) {
  resolve_clocks_method(arguments);
  if (is_replay_device(arguments.device)) return run_tune_replayed(std::move(arguments));
  std::optional<Interrupt> own_interrupt;
  const Interrupt& interrupt = shared_interrupt != nullptr ? *shared_interrupt : own_interrupt.emplace();
  const double began = monotonic_seconds();
  choose_budget(arguments, Problem{});  // a faulty --budget is told before anything is looked for
  Chosen chosen = choose(arguments);
  Problem& problem = chosen.problem;
  print_warnings(problem.warnings);
  check_extensions(problem);
  if (arguments.is_given("--compiler") && problem.kernel.language != "CUDA") {
    throw UsageError(fmt::format("--compiler is of CUDA kernels, and {} takes {}, which its platform compiles",
                                 chosen.device, problem.kernel.language));
  }
  const ScratchFolder scratch;
  const auto clock = prepare_simulation(chosen.device, scratch.path());
  if (!choose_method_settings(arguments, chosen, {scratch, interrupt, clock.get()}))
    return interrupted_early(arguments, chosen);
  const auto objectives = method_objectives(arguments, objectives_of(arguments, chosen));
  const auto constraints = choose_constraints(problem, arguments.subject_to, objectives);
  if (arguments.host_watts) add_host_energy(problem, *arguments.host_watts);
  const Budget budget = choose_budget(arguments, problem);
  const auto whole = build_space(problem);
  const auto space = search_space(arguments, problem, chosen.clocks);
  if (const auto warning = use_valid_default(problem, whole)) say("wattune: warning: {}\n", *warning);
  const Search search = make_search(arguments, problem, space, objectives, budget, constraints, &chosen);
  const fs::path folder = choose_output(arguments, problem);
  auto progress_options = ProgressOptions::for_stderr();
  progress_options.objective = objectives.front();
  progress_options.seconds = budget.seconds;
  Progress progress(std::move(progress_options));

  LiveOptions live = live_options(arguments, chosen, objectives, constraints, scratch, folder, clock.get());
  live.on_note = [&](const std::string& text) { progress.message(text); };
  tell_of_unused_options(arguments, live);
  if (!take_settings(arguments, chosen, budget, interrupt.fd(), live)) return interrupted_early(arguments, chosen);
  LiveEvaluator evaluator(problem, chosen.text, live);
  const auto device = evaluator.start(interrupt.fd());
  if (!device) return interrupted_early(arguments, chosen);
  if (live.energy) warn_of_unused_profile(*device);
  Journal journal = Journal::open(
      folder, make_journal_header(problem, *device, evaluator.meter(), arguments.strategy, arguments.seed));
  print_first_line(problem, space, *device, objectives, budget, evaluator.meter(), folder, arguments);
  for (const auto& note : journal.notes()) say("{}\n", note);
  for (const auto& warning : journal.before().warnings) say("wattune: warning: {}\n", warning);

  TuneOptions options = tune_options(arguments, objectives, constraints, budget, live, interrupt, progress);
  options.run = search.run + clocks_key(chosen.clocks) +
                (may_skip(arguments, objectives, constraints) && !live.skip_hopeless ? ":all" : "");
  options.given_up_suffices = live.skip_hopeless;
  DeathLog deaths(journal.file(), problem.parameter_names());
  evaluator.remember_deaths(deaths);
  const double tuning_began = monotonic_seconds();
  TuneResult result;
  if (!arguments.own_clock_only) result = tune(problem, space, *search.strategy, evaluator, journal, options);
  std::vector<KernelClock> own_clocks;
  if (live.energy && chosen.clocks && arguments.method.empty()) {
    own_clocks =
        find_own_clocks(arguments, problem, whole, objectives, *chosen.clocks, evaluator, journal, result, options);
  }
  if (live.energy && !arguments.own_clock_only)
    measure_again(arguments, problem, whole, objectives, evaluator, journal, result, options);
  give_back_settings(chosen, result);
  progress.finish();

  if (outcome != nullptr) tell_outcome(problem, *device, objectives, result, *outcome);
  if (arguments.profile) print_profile(evaluator.profile(), monotonic_seconds() - tuning_began);
  RunInfo run = make_run_info(arguments, problem, whole, *device);
  run.seconds = monotonic_seconds() - began;
  run.journal = journal.file().string();
  run.reused = result.state.reused;
  run.interrupted = result.interrupted;
  run.constraints = constraints;
  run.host_watts = arguments.host_watts;
  if (result.drift) run.remarks.push_back(to_string(*result.drift));
  return print_results(arguments, problem, run, result, objectives, own_clocks);
}

}  // namespace wattune::cli
