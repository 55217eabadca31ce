// `tune --device replay:FILE`: a tuning run in which recorded results take the place of measuring.

#include "cli/replay_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/interrupt.hpp"
#include "cli/recorded.hpp"
#include "cli/replay_options.hpp"
#include "cli/say.hpp"
#include "cli/tune_method.hpp"
#include "cli/tune_run.hpp"
#include "problem/quantities.hpp"
#include "report/json.hpp"
#include "report/summary.hpp"
#include "tune/replay.hpp"
#include "tune/setup.hpp"
#include "tune/tuner.hpp"

namespace wattune::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "replay:";

/// The kernel's files need not be there: nothing is compiled.
Problem read_space(const TuneArguments& arguments, const Results& results, const std::string& file) {
  ReadOptions options;
  options.space_only = true;
  if (!arguments.problem_size.empty()) options.problem_size = parse_problem_size(arguments.problem_size);
  const std::string text = read_file(arguments.problem, "the problem file");
  Problem problem = parse_problem(text, arguments.problem, options);
  check_problem_size(arguments, problem, results, file);
  options.device_settings = recorded_settings(arguments, problem, results, file);
  if (!options.device_settings.empty()) problem = parse_problem(text, arguments.problem, options);
  print_warnings(problem.warnings);
  add_built_in_metrics(problem, arguments.minimize);
  add_built_in_metrics(problem, arguments.maximize);
  add_built_in_metrics(problem, arguments.subject_to);
  add_built_in_metrics(problem, problem.conditions);
  // A journal goes on only with the same results.
  Hasher hasher;
  hasher.add(problem.hash).add(results.header.problem_hash).add(results.header.device_name);
  for (const auto& restriction : problem.restrictions) hasher.add(restriction.expression);
  for (const Evaluation& evaluation : results.evaluations) {
    std::string key;
    append_key(key, evaluation.configuration);
    hasher.add(key).add(to_string(evaluation.outcome));
    for (const auto& [name, quantity] : evaluation.quantities) hasher.add(name).add(fmt::format("{}", quantity.value));
  }
  problem.hash = hasher.hex();
  return problem;
}

/// What is asked for, else the problem's, else what the results were tuned for: metrics of the problem, or recorded.
std::vector<Objective> choose_recorded_objectives(const TuneArguments& arguments, const Problem& problem,
                                                  const Results& results) {
  const auto resolved = [&](const std::string& name) {
    const bool is_metric =
        std::any_of(problem.metrics.begin(), problem.metrics.end(), [&](const Metric& m) { return m.name == name; });
    return is_metric ? name : quantity_named(results, name);
  };
  std::vector<Objective> objectives;
  for (const auto& name : arguments.minimize) objectives.push_back({resolved(name), Direction::minimize});
  for (const auto& name : arguments.maximize) objectives.push_back({resolved(name), Direction::maximize});
  if (objectives.empty()) {
    for (const auto& objective : problem.objectives)
      objectives.push_back({resolved(objective.name), objective.direction});
  }
  return objectives.empty() ? objectives_of(results, {}, {}) : objectives;
}

ConstraintSet choose_recorded_constraints(const TuneArguments& arguments, const Problem& problem,
                                          const Results& results, const std::vector<Objective>& objectives) {
  auto conditions = problem.conditions;
  conditions.insert(conditions.end(), arguments.subject_to.begin(), arguments.subject_to.end());
  auto known = quantity_names(results);
  for (const Metric& metric : problem.metrics) known.push_back(metric.name);
  return conditions.empty() ? ConstraintSet() : ConstraintSet(conditions, problem, known, objectives);
}

/// The device that the results were recorded on, as far as they say.
DeviceInfo recorded_device(const Results& results, const std::string& id) {
  DeviceInfo device;
  device.id = id;
  device.name = results.header.device_name;
  device.backend = "replay";
  device.uuid = results.header.board;
  device.simulated = results.header.simulated;
  return device;
}

}  // namespace

bool is_replay_device(const std::string& device) {
  return device.starts_with(prefix);
}

int run_tune_replayed(TuneArguments arguments) {
  check_replay_options(arguments);
  if (!arguments.method.empty() && arguments.minimize.empty() && arguments.maximize.empty())
    arguments.minimize = {"energy"};
  const Interrupt interrupt;
  const std::string file = arguments.device.substr(prefix.size());
  const Results results = read_recorded(file);
  const Problem problem = read_space(arguments, results, file);
  const auto objectives = method_objectives(arguments, choose_recorded_objectives(arguments, problem, results));
  const ConstraintSet constraints = choose_recorded_constraints(arguments, problem, results, objectives);
  const Budget budget = choose_budget(arguments, problem);
  const auto space = build_space(problem);
  const Search search = make_search(arguments, problem, space, objectives, budget, constraints, nullptr);
  ReplayEvaluator evaluator(results, problem.parameter_names(), file);
  const DeviceInfo device = recorded_device(results, arguments.device);
  Journal journal = Journal::open(choose_output(arguments, problem),
                                  make_journal_header(problem, device, "none", arguments.strategy, arguments.seed));
  for (const auto& note : journal.notes()) say("{}\n", note);
  for (const auto& warning : journal.before().warnings) say("wattune: warning: {}\n", warning);
  say("Tuning '{}' on recorded results ({}{}): {}; {} of {} points valid, {} evaluations recorded; {}, seed {}; budget "
      "{}; "
      "output {}\n",
      problem.name, file, device.name.empty() ? "" : ", " + device.name, objectives_text(objectives),
      to_string(space.size()), to_string(space.cartesian()), results.evaluations.size(), search_text(arguments),
      arguments.seed, to_string(budget), journal.file().parent_path().string());

  TuneOptions options;
  options.budget = budget;
  options.constraints = constraints;
  options.objectives = objectives;
  options.clock = &evaluator.clock();
  options.run = search.run;
  options.keep_going = true;  // nothing is built
  options.wake_fd = interrupt.fd();
  options.interrupted = [&] { return interrupt.signal() != 0; };
  const TuneResult result = tune(problem, space, *search.strategy, evaluator, journal, options);

  RunInfo run = make_run_info(arguments, problem, space, device);
  run.board = device.uuid;  // results that do not tell their board have none
  run.seconds = result.state.seconds;
  run.journal = journal.file().string();
  run.constraints = constraints;
  run.reused = result.state.reused;
  run.interrupted = result.interrupted;
  const auto found = method_found(arguments, problem, objectives, constraints, result.evaluations);
  if (found) run.remarks.push_back(found->text(problem.parameter_names()));
  if (arguments.json) {
    auto object = run_to_json(run, problem.parameter_names(), result.evaluations, objectives);
    if (found) object["method"] = found->to_json(problem.parameter_names());
    fmt::print("{}", json_text(object));
  } else {
    SummaryOptions summary_options;
    summary_options.top = arguments.top;
    fmt::print("{}", summary(run, problem.parameter_names(), result.evaluations, objectives, problem.metrics,
                             summary_options));
  }
  std::fflush(stdout);
  if (result.error) std::rethrow_exception(result.error);
  return static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::done);
}

}  // namespace wattune::cli
