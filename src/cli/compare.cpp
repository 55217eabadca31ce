#include "cli/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/method_comparison.hpp"
#include "base/duration.hpp"
#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/replay_device.hpp"
#include "cli/say.hpp"
#include "cli/tune_method.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "result/order.hpp"
#include "settings/device_settings.hpp"

namespace wattune::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The comparison of one file, or of runs that were made for it.
struct Comparison {
  std::string file;  ///< empty: runs that were made now
  std::string device;
  std::vector<ComparedMethod> methods;
  std::optional<Capping> capping;
  std::size_t settings = 0;  ///< combinations of device settings that there are
  std::vector<std::string> parameter_names;
  bool enumerated = false;
  Coverage coverage;  ///< of what is enumerated
};

std::optional<double> value_of(const Evaluation& evaluation, const std::string& name) {
  return objective_value(evaluation, {name, Direction::minimize});
}

json number_json(const std::optional<double>& value) { return value && std::isfinite(*value) ? json(*value) : json(nullptr); }

/// What is beyond the whole numbers of JSON readers is told to their precision.
json count_json(Count count) {
  constexpr Count greatest_exact = Count{1} << 53U;
  return count <= greatest_exact ? json(static_cast<std::uint64_t>(count)) : json(static_cast<double>(count));
}

json configuration_json(const Evaluation& evaluation, const std::vector<std::string>& names) {
  json configuration = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) configuration[names[i]] = wattune::to_json(evaluation.configuration[i]);
  return configuration;
}

json answer_json(const std::optional<Evaluation>& answer, const std::vector<std::string>& names) {
  if (!answer) return {{"configuration", nullptr}, {"energy_j", nullptr}, {"time_s", nullptr}, {"power_w", nullptr}};
  return {{"configuration", configuration_json(*answer, names)},
          {"energy_j", number_json(value_of(*answer, "energy"))},
          {"time_s", number_json(value_of(*answer, "time"))},
          {"power_w", number_json(value_of(*answer, "power"))}};
}

json to_json(const ComparedMethod& method, const Objective& efficiency) {
  json object = answer_json(method.answer, method.parameter_names);
  object["name"] = method.name;
  object["evaluations"] = method.evaluations;
  object["settings"] = method.settings;
  object["tuning_seconds"] = number_json(method.seconds);
  object["gap"] = number_json(method.gap);
  object["objective_value"] = method.answer ? number_json(value_of(*method.answer, efficiency.name)) : json(nullptr);
  if (!method.missing.empty()) object["missing"] = method.missing;
  if (!method.remark.empty()) object["remark"] = method.remark;
  return object;
}

json to_json(const CappingSide& side, const std::vector<std::string>& names) {
  json object = answer_json(side.best, names);
  object["settings"] = side.settings;
  object["time_spread"] = number_json(side.time_spread);
  return object;
}

json to_json(const Comparison& comparison, const Objective& efficiency) {
  json methods = json::array();
  for (const auto& method : comparison.methods) methods.push_back(to_json(method, efficiency));
  json object = {{"file", comparison.file},
                 {"device_name", comparison.device},
                 {"enumerated", comparison.enumerated},
                 {"recorded", comparison.enumerated ? json(comparison.coverage.recorded) : json(nullptr)},
                 {"valid", comparison.enumerated && comparison.coverage.valid ? count_json(*comparison.coverage.valid) : json(nullptr)},
                 {"settings", comparison.settings},
                 {"methods", std::move(methods)}};
  if (comparison.capping) {
    object["power_capping"] = {{"by_clock", to_json(comparison.capping->by_clock, comparison.parameter_names)},
                               {"by_limit", to_json(comparison.capping->by_limit, comparison.parameter_names)}};
  }
  return object;
}

json to_json(const CommonClock& common, const std::vector<std::string>& files) {
  json kernels = json::array();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& kernel = common.kernels[i];
    kernels.push_back({{"file", files[i]}, {"own_clock_mhz", kernel.own_clock}, {"own_energy_j", kernel.own_energy}, {"energy_j", kernel.energy}});
  }
  return {{"clock_mhz", common.clock},
          {"energy_j", common.energy()},
          {"own_energy_j", common.own_energy()},
          {"penalty", common.energy() / common.own_energy() - 1},
          {"kernels", std::move(kernels)}};
}

std::string quantity_text(const std::optional<Evaluation>& answer, const std::string& name) {
  if (!answer) return "-";
  const auto found = answer->quantities.find(name);
  return found == answer->quantities.end() ? "-" : format_quantity(found->second);
}

/// What differs between the answers; the settings are among it in any case.
std::vector<std::size_t> telling_parameters(const Comparison& comparison) {
  std::vector<std::size_t> telling;
  for (std::size_t i = 0; i < comparison.parameter_names.size(); ++i) {
    const Value* first = nullptr;
    bool differs = setting_of(comparison.parameter_names[i]).has_value();
    for (const auto& method : comparison.methods) {
      if (!method.answer || method.parameter_names != comparison.parameter_names) continue;
      const Value& value = method.answer->configuration[i];
      if (first == nullptr) first = &value;
      differs = differs || !(value == *first);
    }
    if (differs) telling.push_back(i);
  }
  return telling;
}

std::string configuration_text(const Comparison& comparison, const ComparedMethod& method) {
  if (!method.answer) return {};
  if (method.parameter_names != comparison.parameter_names) return format_configuration(method.answer->configuration, method.parameter_names);
  std::vector<Value> values;
  std::vector<std::string> names;
  for (const std::size_t i : telling_parameters(comparison)) {
    values.push_back(method.answer->configuration[i]);
    names.push_back(method.parameter_names[i]);
  }
  return format_configuration(values, names);
}

std::string notes_of(const ComparedMethod& method) {
  return !method.missing.empty() ? method.missing : method.remark;
}

void print_methods(const Comparison& comparison, const Objective& efficiency) {
  const bool other = efficiency.name != "energy";
  std::vector<Table::Column> columns = {"method", {"energy", Table::Align::right}, {"time", Table::Align::right}, {"power", Table::Align::right}};
  if (other) columns.emplace_back(efficiency.name, Table::Align::right);
  columns.insert(columns.end(), {{"gap %", Table::Align::right}, {"evaluations", Table::Align::right}, {"clocks", Table::Align::right},
                                 {"tuning time", Table::Align::right}, "configuration"});
  Table table(std::move(columns));
  for (const auto& method : comparison.methods) {
    std::vector<std::string> cells = {method.name};
    for (const char* name : {"energy", "time", "power"}) cells.push_back(quantity_text(method.answer, name));
    if (other) cells.push_back(quantity_text(method.answer, efficiency.name));
    cells.push_back(std::isfinite(method.gap) ? fmt::format("{:.2f}", 100 * method.gap) : "-");
    cells.push_back(method.answer ? fmt::format("{}", method.evaluations) : "-");
    cells.push_back(method.answer ? fmt::format("{}", method.settings) : "-");
    cells.push_back(std::isfinite(method.seconds) ? format_duration(method.seconds) : "-");
    const std::string note = notes_of(method);
    const std::string configuration = printable(configuration_text(comparison, method));
    cells.push_back(note.empty() ? configuration : configuration.empty() ? "(" + note + ")" : configuration + " (" + note + ")");
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.text());
}

void print_capping(const Comparison& comparison) {
  if (!comparison.capping) return;
  Table table({"held down by", {"energy", Table::Align::right}, {"time", Table::Align::right}, {"power", Table::Align::right},
               {"settings", Table::Align::right}, {"spread of time %", Table::Align::right}, "configuration"});
  const auto row = [&](const char* name, const CappingSide& side) {
    table.add_row({name, quantity_text(side.best, "energy"), quantity_text(side.best, "time"), quantity_text(side.best, "power"),
                   fmt::format("{}", side.settings), std::isfinite(side.time_spread) ? fmt::format("{:.2f}", 100 * side.time_spread) : "-",
                   side.best ? printable(format_configuration(side.best->configuration, comparison.parameter_names)) : ""});
  };
  row("clock", comparison.capping->by_clock);
  row("power limit", comparison.capping->by_limit);
  fmt::print("\nClocks at the greatest power limit against power limits at the greatest clock:\n{}", table.text());
}

void print_common(const CommonClock& common, const std::vector<std::string>& files) {
  Table table({"results", {"own clock", Table::Align::right}, {"energy there", Table::Align::right},
               {fmt::format("at {:g} MHz", common.clock), Table::Align::right}, {"more %", Table::Align::right}});
  const auto row = [&](const std::string& name, const std::string& clock, double own, double energy) {
    table.add_row({name, clock, format_value(own, "J"), format_value(energy, "J"), fmt::format("{:.2f}", 100 * (energy / own - 1))});
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& kernel = common.kernels[i];
    row(printable(files[i]), fmt::format("{:g} MHz", kernel.own_clock), kernel.own_energy, kernel.energy);
  }
  row("all", "", common.own_energy(), common.energy());
  fmt::print("\nOne clock for all, {:g} MHz, against each at its own; one launch of each:\n{}", common.clock, table.text());
}

std::string title_of(const Comparison& comparison, const Objective& efficiency) {
  const std::string what = to_string(efficiency);
  const std::string device = comparison.device.empty() ? "" : " on " + comparison.device;
  if (comparison.file.empty()) return fmt::format("Methods{}, {}", device, what);
  if (!comparison.enumerated) return fmt::format("Runs of methods{}, {}", device, what);
  return fmt::format("{}{}, {}: methods by enumeration of what is recorded", comparison.file, device, what);
}

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
  Results results = read_recorded(file);
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
  say("wattune: warning: {}: {} of {} are recorded: what each method finds is of these alone\n", comparison.file, recorded, whole);
}

Comparison compare_file(const CompareArguments& arguments, const std::string& file, const Results& results,
                        const ComparisonOptions& options) {
  Comparison comparison{file, results.header.device_name, recorded_runs(results, options), compare_capping(results, options.efficiency),
                        combinations_of(results), results.header.parameter_names, false, {}};
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

void print_all(const CompareArguments& arguments, const std::vector<Comparison>& comparisons, const std::optional<CommonClock>& common,
               const Objective& efficiency) {
  if (arguments.json) {
    json object = {{"objective", efficiency.name}, {"direction", to_string(efficiency.direction)}};
    object.update(to_json(comparisons.front(), efficiency));
    if (comparisons.size() > 1) {
      object["files"] = json::array();
      for (const auto& comparison : comparisons) object["files"].push_back(to_json(comparison, efficiency));
    }
    if (common) object["common_clock"] = to_json(*common, arguments.inputs);
    fmt::print("{}", json_text(object));
    return;
  }
  for (const auto& comparison : comparisons) {
    fmt::print("{}{}\n", &comparison == &comparisons.front() ? "" : "\n", printable(title_of(comparison, efficiency)));
    print_methods(comparison, efficiency);
    print_capping(comparison);
  }
  if (common) print_common(*common, arguments.inputs);
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
void leave_out_empty(std::vector<Comparison>& comparisons, const CompareArguments& arguments, const std::vector<Results>& all,
                     const ComparisonOptions& options) {
  std::erase_if(comparisons, [](const Comparison& comparison) { return comparison.methods.empty(); });
  if (!comparisons.empty()) return;
  std::set<std::string> held;
  for (const auto& results : all) {
    for (const auto& run : recorded_runs(results, options)) held.insert(run.name);
  }
  throw UsageError(fmt::format("compare: there is no run of {} in {}; there are runs of {}", fmt::join(arguments.methods, ", "),
                               fmt::join(arguments.inputs, ", "), fmt::join(held, ", ")));
}

int compare_results(const CompareArguments& arguments) {
  std::vector<Results> all;
  for (const auto& file : arguments.inputs) all.push_back(read_completed(file));
  ComparisonOptions options{efficiency_of(arguments, all), arguments.tune.base_clock};
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < all.size(); ++i) comparisons.push_back(compare_file(arguments, arguments.inputs[i], all[i], options));
  merge_runs(comparisons, all, options.efficiency);
  leave_out_empty(comparisons, arguments, all, options);
  std::optional<CommonClock> common;
  if (arguments.common_clock) common = common_clock(all, arguments.inputs);
  print_all(arguments, comparisons, common, options.efficiency);
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
void take_partial(MethodRun& run, const std::string& method, const ComparisonOptions& options, const std::string& ended_by) {
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
    run.compared = compare_run(method.name, run.outcome.parameter_names, run.outcome.kinds, run.outcome.evaluations, options);
  }
  return run;
}

/// Each method in a folder of its own, so that none profits from what another has measured.
int compare_by_running(const CompareArguments& arguments) {
  const fs::path problem = arguments.inputs.front();
  const fs::path folder = arguments.tune.output.empty() ? problem.parent_path() / (problem.stem().string() + "-wattune-compare")
                                                        : fs::path(arguments.tune.output);
  const Interrupt interrupt;  // from the first run to the last, with what lies between
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
    TuneArguments tune = arguments.tune;
    tune.problem = problem.string();
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
    if (outcome.parameter_names.size() >= comparison.parameter_names.size()) comparison.parameter_names = outcome.parameter_names;
    comparison.settings = std::max(comparison.settings, outcome.settings);
    comparison.methods.push_back(run.compared);
    if (run.is_last) break;
  }
  if (!has_any_run && first_error) std::rethrow_exception(first_error);
  set_gaps(comparison.methods, options.efficiency);
  print_all(arguments, {comparison}, std::nullopt, options.efficiency);
  std::fflush(stdout);
  if (stopped_by) std::rethrow_exception(stopped_by);
  return code;
}

/// Recorded results are what they are.
void refuse_what_runs_take(const TuneArguments& tune) {
  constexpr std::array applicable = {std::string_view("--method"),     std::string_view("--minimize"),     std::string_view("--maximize"),
                                     std::string_view("--base-clock"), std::string_view("--common-clock"), std::string_view("--json")};
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
    throw UsageError("compare: recorded results are compared without --device; wattune replay --method runs methods on them");
  }
  if (arguments.inputs.size() != 1) throw UsageError("compare --device: name one problem file");
  if (arguments.common_clock) throw UsageError("compare: --common-clock needs recorded results of several kernels");
  return compare_by_running(arguments);
}

}  // namespace wattune::cli
