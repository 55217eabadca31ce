#include "cli/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>

#include "analysis/method_comparison.hpp"
#include "base/error.hpp"
#include "cli/compare_report.hpp"
#include "cli/recorded.hpp"
#include "cli/replay_device.hpp"
#include "cli/say.hpp"
#include "cli/tune_method.hpp"
#include "cli/tune_run.hpp"
#include "cli/tune_settings.hpp"
#include "result/order.hpp"

namespace wattune::cli {

namespace {

namespace fs = std::filesystem;

bool is_wanted(const CompareArguments& arguments, const std::string& method) {
  return arguments.methods.empty() || std::ranges::find(arguments.methods, method) != arguments.methods.end();
}

std::size_t combinations_of(const Results& results) {
  std::size_t product = 1;
  for (std::size_t i = 0; i < results.header.parameter_names.size(); ++i) {
    if (kinds_of(results)[i] == ParameterKind::device_setting) product *= results.header.parameter_values[i].size();
  }
  return product;
}

Results read_completed(const std::string& file) {
  Results results = read_recorded_space(file);
  complete_energy(results);
  return results;
}

/// What is asked for, else energy.
Objective efficiency_of(const CompareArguments& arguments, const std::vector<Results>& all) {
  const auto& tune = arguments.tune;
  if (tune.minimize.size() + tune.maximize.size() > 1) throw UsageError("compare: name one objective for efficiency");
  if (tune.minimize.empty() && tune.maximize.empty()) return {"energy", Direction::minimize};
  return objectives_of(all.front(), tune.minimize, tune.maximize).front();
}

void enumerate(Comparison& comparison, const Results& results, const ComparisonOptions& options) {
  try {
    comparison.methods = enumerate_methods(results, options);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", comparison.file, error.what()));
  }
  comparison.enumerated = true;
  comparison.coverage = coverage_of(results);
  const auto& [recorded, occurring, valid] = comparison.coverage;
  if (!comparison.coverage.is_partial()) return;
  const std::string whole = valid ? to_string(*valid) + " valid configurations"
                                  : fmt::format("{} combinations of the recorded variants and settings", occurring);
  say("wattune: warning: {}: {} of {} are recorded: what each method finds is of these alone\n", comparison.file,
      recorded, whole);
}

Comparison compare_file(const CompareArguments& arguments, const std::string& file, const Results& results,
                        const ComparisonOptions& options) {
  Comparison comparison{file,
                        results.header.device_name,
                        recorded_runs(results, options),
                        compare_capping(results, options.efficiency),
                        combinations_of(results),
                        results.header.parameter_names,
                        false,
                        {}};
  if (comparison.methods.empty()) {
    enumerate(comparison, results, options);
  }
  std::erase_if(comparison.methods, [&](const ComparedMethod& method) { return !is_wanted(arguments, method.name); });
  if (comparison.enumerated) {
    std::vector<double> known;
    for (const std::size_t i : competing(results.evaluations)) {
      if (const auto value = objective_value(results.evaluations[i], options.efficiency)) known.push_back(*value);
    }
    set_gaps(comparison.methods, options.efficiency, known);
  }
  return comparison;
}

/// What must agree for answers to be comparable.
std::string problem_key(const JournalHeader& header) {
  return fmt::format("{}\n{}\n{}", header.problem_name, header.problem_hash, fmt::join(header.problem_size, ","));
}

/// Journals of runs of one problem, of one size, on one device stand in one table.
void merge_runs(std::vector<Comparison>& comparisons, const std::vector<Results>& all, const Objective& efficiency) {
  std::vector<Comparison> merged;
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& each = comparisons[i];
    std::size_t same = 0;
    while (same < merged.size() && (each.enumerated || merged[same].enumerated || merged[same].device != each.device ||
                                    problems[same] != problem_key(all[i].header))) {
      ++same;
    }
    if (same == merged.size()) {
      merged.push_back(std::move(each));
      problems.push_back(problem_key(all[i].header));
      continue;
    }
    Comparison& into = merged[same];
    into.file += ", " + each.file;
    if (each.parameter_names.size() > into.parameter_names.size()) into.parameter_names = each.parameter_names;
    into.settings = std::max(into.settings, each.settings);
    std::ranges::move(each.methods, std::back_inserter(into.methods));
  }
  const auto& order = method_descriptions();
  for (auto& each : merged) {
    if (each.enumerated) continue;
    set_gaps(each.methods, efficiency);
    std::ranges::stable_sort(each.methods, {}, [&](const ComparedMethod& method) {
      return std::ranges::find(order, method.name, &MethodDescription::name) - order.begin();
    });
  }
  comparisons = std::move(merged);
}

/// Files that hold no run of the wanted methods are left out. @throws UsageError where none holds any
void leave_out_empty(std::vector<Comparison>& comparisons, const CompareArguments& arguments,
                     const std::vector<Results>& all, const ComparisonOptions& options) {
  std::erase_if(comparisons, [](const Comparison& comparison) { return comparison.methods.empty(); });
  if (!comparisons.empty()) return;
  std::set<std::string> held;
  for (const auto& results : all) {
    for (const auto& run : recorded_runs(results, options)) held.insert(run.name);
  }
  throw UsageError(fmt::format("compare: there is no run of {} in {}; there are runs of {}",
                               fmt::join(arguments.methods, ", "), fmt::join(arguments.inputs, ", "),
                               fmt::join(held, ", ")));
}

int compare_results(const CompareArguments& arguments) {
  std::vector<Results> all;
  for (const auto& file : arguments.inputs) all.push_back(read_completed(file));
  ComparisonOptions options{efficiency_of(arguments, all), arguments.tune.base_clock};
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < all.size(); ++i)
    comparisons.push_back(compare_file(arguments, arguments.inputs[i], all[i], options));
  merge_runs(comparisons, all, options.efficiency);
  leave_out_empty(comparisons, arguments, all, options);
  std::optional<CommonClock> common;
  if (arguments.common_clock) common = common_clock(all, arguments.inputs);
  print_comparisons(comparisons, common, arguments.inputs, options.efficiency, arguments.json);
  return static_cast<int>(ExitCode::done);
}

/// What came of the run of one method.
struct MethodRun {
  ComparedMethod compared;
  TuneOutcome outcome;
  int code = static_cast<int>(ExitCode::done);
  std::exception_ptr error;  ///< it could not be run, or not to its end
  bool is_last = false;      ///< no further method is to be run
};

/// What a run has found so far, with what ended it early.
void take_partial(MethodRun& run, const std::string& method, const ComparisonOptions& options,
                  const std::string& ended_by) {
  const auto& outcome = run.outcome;
  run.compared.name = method;
  if (!outcome.evaluations.empty()) {
    run.compared = compare_run(method, outcome.parameter_names, outcome.kinds, outcome.evaluations, options);
  }
  if (run.compared.answer) {
    run.compared.remark += (run.compared.remark.empty() ? "" : "; ") + ended_by;
  } else {
    run.compared.missing = ended_by;
  }
}

void take_error(MethodRun& run, const MethodDescription& method, const ComparisonOptions& options, const Error& error) {
  run.error = std::current_exception();
  run.code = static_cast<int>(error.code());
  const bool had_begun = !run.outcome.evaluations.empty();
  const bool is_of_device = error.code() == ExitCode::device;
  const bool lacks_settings = is_of_device && !had_begun && method.need == NeedOfSettings::settings;
  // What stops one run stops the others too, unless it is what this method asks for.
  run.is_last = error.code() == ExitCode::run_failed || (is_of_device && !lacks_settings);
  if (lacks_settings) say("wattune: {}: {}\n", method.name, error.what());
  take_partial(run, method.name, options, lacks_settings ? "clocks cannot be set" : error.what());
}

MethodRun run_method(const TuneArguments& arguments, const MethodDescription& method, const Interrupt& interrupt,
                     ComparisonOptions& options) {
  MethodRun run;
  try {
    run.code = run_tune(arguments, &run.outcome, &interrupt);
  } catch (const Error& error) {
    take_error(run, method, options, error);
    return run;
  }
  // Nothing is told of a run that was interrupted before its first evaluation.
  if (!method.for_time && !run.outcome.objectives.empty()) options.efficiency = run.outcome.objectives.front();
  run.is_last = run.outcome.interrupted || run.code == static_cast<int>(ExitCode::interrupted);
  if (run.is_last) {
    take_partial(run, method.name, options, "interrupted");
  } else {
    run.compared =
        compare_run(method.name, run.outcome.parameter_names, run.outcome.kinds, run.outcome.evaluations, options);
  }
  return run;
}

/// Each method in a folder of its own, so that none profits from what another has measured.
int compare_by_running(const CompareArguments& arguments) {
  const fs::path problem = arguments.inputs.front();
  const fs::path folder = arguments.tune.output.empty()
                              ? problem.parent_path() / (problem.stem().string() + "-wattune-compare")
                              : fs::path(arguments.tune.output);
  const Interrupt interrupt;  // from the first run to the last, with what lies between
  TuneArguments common = arguments.tune;
  common.problem = problem.string();
  // What is wrong for every method is told before any begins.
  choose_budget(common, Problem{});
  choose(common);
  Comparison comparison;
  ComparisonOptions options;
  int code = static_cast<int>(ExitCode::done);
  bool has_any_run = false;
  std::exception_ptr first_error;
  std::exception_ptr stopped_by;
  for (const auto& method : method_descriptions()) {
    if (!is_wanted(arguments, method.name)) continue;
    if (interrupt.signal() != 0) {
      say("wattune: interrupted before {}\n", method.name);
      code = static_cast<int>(ExitCode::interrupted);
      break;
    }
    TuneArguments tune = common;
    tune.method = method.name;
    if (!method.at_base_clock) tune.base_clock.reset();
    tune.output = (folder / method.name).string();
    tune.quiet = true;
    say("--- {}\n", method.name);
    const MethodRun run = run_method(tune, method, interrupt, options);
    const auto& outcome = run.outcome;
    const bool had_clocks_denied = run.code == static_cast<int>(ExitCode::device) && !run.is_last;
    has_any_run = has_any_run || !run.error || had_clocks_denied || !outcome.evaluations.empty();
    if (run.error && !first_error) first_error = run.error;
    if (run.is_last) stopped_by = run.error;
    code = run.is_last ? run.code : std::max(code, run.code);
    if (!outcome.device_name.empty()) comparison.device = outcome.device_name;
    if (outcome.parameter_names.size() >= comparison.parameter_names.size())
      comparison.parameter_names = outcome.parameter_names;
    comparison.settings = std::max(comparison.settings, outcome.settings);
    comparison.methods.push_back(run.compared);
    if (run.is_last) break;
  }
  if (!has_any_run && first_error) std::rethrow_exception(first_error);
  set_gaps(comparison.methods, options.efficiency);
  print_comparisons({comparison}, std::nullopt, arguments.inputs, options.efficiency, arguments.json);
  std::fflush(stdout);
  if (stopped_by) std::rethrow_exception(stopped_by);
  return code;
}

/// Recorded results are what they are.
void refuse_what_runs_take(const TuneArguments& tune) {
  constexpr std::array applicable = {std::string_view("--method"),       std::string_view("--minimize"),
                                     std::string_view("--maximize"),     std::string_view("--base-clock"),
                                     std::string_view("--common-clock"), std::string_view("--json")};
  for (const auto& option : tune.given) {
    if (std::ranges::find(applicable, option) != applicable.end()) continue;
    throw UsageError(fmt::format("compare: {} is for runs: name the --device they are to be made on", option));
  }
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  for (const auto& method : arguments.methods) method_named(method);
  if (!arguments.methods.empty()) check_base_clock(arguments.tune.base_clock, arguments.methods);
  if (arguments.tune.device.empty()) {
    refuse_what_runs_take(arguments.tune);
    return compare_results(arguments);
  }
  if (is_replay_device(arguments.tune.device)) {
    throw UsageError(
        "compare: recorded results are compared without --device; wattune replay --method runs methods on them");
  }
  if (arguments.inputs.size() != 1) throw UsageError("compare --device: name one problem file");
  if (arguments.common_clock) throw UsageError("compare: --common-clock needs recorded results of several kernels");
  return compare_by_running(arguments);
}

}  // namespace wattune::cli
