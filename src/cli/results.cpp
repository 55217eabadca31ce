#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "problem/problem.hpp"
#include "report/format.hpp"
#include "report/front.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "result/order.hpp"
#include "store/formats/edit.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

void write_and_tell(const Results& results, const std::string& output, const std::string& to) {
  const ResultFormat format = to.empty() ? format_for(output) : result_format_from(to);
  for (const auto& note : write_results(results, output, format)) say("wattune: note: {}\n", note);
}

std::map<std::string, std::size_t> count_outcomes(const Results& results) {
  std::map<std::string, std::size_t> counts;
  for (const auto& evaluation : results.evaluations) ++counts[std::string(to_string(evaluation.outcome))];
  return counts;
}

/// What is shown: the quantity that --sort names, else the objectives.
std::vector<Objective> choose_objectives(const ShowArguments& arguments, const Results& results) {
  if (!arguments.sort.empty()) return {{quantity_named(results, arguments.sort), Direction::minimize}};
  return recorded_objectives(results, arguments.minimize, arguments.maximize);
}

Objective turned(Objective objective) {
  objective.direction = objective.direction == Direction::minimize ? Direction::maximize : Direction::minimize;
  return objective;
}

json show_json(const Results& results, const Objective& order, const std::vector<std::size_t>& rows) {
  const JournalHeader& header = results.header;
  json evaluations = json::array();
  for (const std::size_t i : rows) evaluations.push_back(to_json(results.evaluations[i], header.parameter_names));
  json parameters = json::array();
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    json values = json::array();
    for (const Value& value : header.parameter_values[i]) values.push_back(to_json(value));
    parameters.push_back({{"name", header.parameter_names[i]}, {"values", std::move(values)}});
  }
  return {{"format", to_string(results.format)},
          {"problem", header.problem_name},
          {"device_name", header.device_name},
          {"problem_size", header.problem_size},
          {"parameters", std::move(parameters)},
          {"objectives", results.objectives},
          {"quantities", quantity_names(results)},
          {"counts", count_outcomes(results)},
          {"sorted_by", {{"name", order.name}, {"direction", to_string(order.direction)}}},
          {"evaluations", std::move(evaluations)},
          {"notes", results.notes}};
}

void show_overview(const std::string& file, const Results& results) {
  const JournalHeader& header = results.header;
  fmt::print("{}: {}", file, to_string(results.format));
  if (!header.problem_name.empty()) fmt::print("; kernel {}", printable(header.problem_name));
  if (!header.device_name.empty()) fmt::print(" on {}", printable(header.device_name));
  if (!header.problem_size.empty()) fmt::print("; problem size {}", fmt::join(header.problem_size, " x "));
  fmt::print("\n{} evaluations", results.evaluations.size());
  const char* separator = ": ";
  for (const auto& [outcome, count] : count_outcomes(results)) {
    fmt::print("{}{} {}", separator, count, outcome);
    separator = ", ";
  }
  fmt::print("\n");
}

void show_table(const Results& results, const Objective& order, const std::vector<std::size_t>& rows) {
  // The quantities that all rows have, the one that sorts first.
  constexpr std::size_t most_quantities = 6;
  std::vector<std::string> quantities = {order.name};
  for (const auto& name : quantity_names(results)) {
    const bool everywhere = std::all_of(rows.begin(), rows.end(), [&](std::size_t i) {
      return objective_value(results.evaluations[i], {name, Direction::minimize}).has_value();
    });
    if (name != order.name && everywhere && quantities.size() < most_quantities) quantities.push_back(name);
  }
  const RecordedColumns recorded(results, std::move(quantities), results.evaluations[rows.front()]);
  std::vector<Table::Column> columns = {{"", Table::Align::right}};
  recorded.add_to(columns);
  Table table(std::move(columns));
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    std::vector<std::string> cells = {fmt::format("{}", rank + 1)};
    recorded.add_to(cells, results.evaluations[rows[rank]], false);
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.text());
}

/// Of several objectives, the trade-off between them.
void show_front(const Results& results, const std::vector<Objective>& objectives) {
  if (objectives.size() < 2) return;
  const Front front = analyse_front(results.evaluations, competing(results.evaluations), objectives);
  if (front.members.empty()) return;
  fmt::print("\n{}; 'wattune results front' lists them\n{}", front_title(front),
             front_remarks(front, results.evaluations));
}

std::vector<Outcome> outcomes_named(const std::vector<std::string>& kinds) {
  std::vector<Outcome> outcomes;
  for (const auto& kind : kinds) {
    const auto outcome = outcome_from(kind);
    if (!outcome || *outcome == Outcome::ok) {
      throw UsageError(fmt::format(
          "--kind {}: there is no such failure; there are constraints, compile, resources, launch, timeout, "
          "crash, correctness, measurement and lost_device",
          kind));
    }
    outcomes.push_back(*outcome);
  }
  return outcomes;
}

/// The space that a problem file describes takes the place of the one in the results.
void use_space_of(Results& results, const Problem& problem, const std::string& file) {
  JournalHeader& header = results.header;
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    const auto found =
        std::find_if(problem.parameters.begin(), problem.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == header.parameter_names[i]; });
    if (found == problem.parameters.end() || problem.parameters.size() != header.parameter_names.size()) {
      throw UsageError(fmt::format("the parameters of '{}' are {}, those of the results {}", file,
                                   fmt::join(problem.parameter_names(), ", "),
                                   fmt::join(header.parameter_names, ", ")));
    }
    header.parameter_values[i] = found->values;
  }
  header.restrictions.clear();
  for (const auto& restriction : problem.restrictions) header.restrictions.push_back(restriction.expression);
}

}  // namespace

int run_merge(const MergeArguments& arguments) {
  std::vector<Results> results;
  for (const auto& input : arguments.inputs) results.push_back(read_results(input));
  const Results merged = merge_results(results, arguments.inputs);
  for (const auto& note : merged.notes) say("wattune: note: {}\n", note);
  write_and_tell(merged, arguments.output, arguments.to);
  say("{} evaluations of {} files in {}\n", merged.evaluations.size(), arguments.inputs.size(), arguments.output);
  return static_cast<int>(ExitCode::done);
}

int run_show(const ShowArguments& arguments) {
  const Results results = read_recorded(arguments.input);
  const bool has_any = !quantity_names(results).empty();
  Objective order{"time", Direction::minimize};
  std::vector<Objective> objectives;
  std::vector<std::size_t> rows;
  if (has_any) {
    objectives = choose_objectives(arguments, results);
    order = arguments.descending ? turned(objectives.front()) : objectives.front();
    rows = ranked(results.evaluations, competing(results.evaluations), order);
    rows.resize(std::min(rows.size(), arguments.top));
    tell_of_bounds(results, objectives);
  }
  if (arguments.json) {
    fmt::print("{}", json_text(show_json(results, order, rows)));
    return static_cast<int>(ExitCode::done);
  }
  show_overview(arguments.input, results);
  if (!rows.empty()) {
    show_table(results, order, rows);
    show_front(results, objectives);
  }
  if (!has_any) fmt::print("Nothing to show: {}\n", why_none_has(results, "quantity"));
  return static_cast<int>(ExitCode::done);
}

int run_check(const CheckArguments& arguments) {
  Results results = read_results(arguments.input);
  if (!arguments.problem.empty()) {
    ReadOptions options;
    options.space_only = true;
    const Problem problem = read_problem(arguments.problem, options);
    use_space_of(results, problem, arguments.problem);
  }
  const auto findings = check_results(results);
  if (arguments.json) {
    json list = json::array();
    for (const auto& finding : findings)
      list.push_back({{"kind", finding.kind}, {"count", finding.count}, {"text", finding.text}});
    fmt::print("{}", json_text({{"evaluations", results.evaluations.size()}, {"findings", std::move(list)}}));
  } else {
    show_overview(arguments.input, results);
    for (const auto& finding : findings) {
      fmt::print("{}: {}{}\n", finding.kind, finding.count > 1 ? fmt::format("{} x ", finding.count) : "",
                 finding.text);
    }
    if (findings.empty()) fmt::print("Nothing is wrong with it.\n");
  }
  return static_cast<int>(findings.empty() ? ExitCode::done : ExitCode::run_failed);
}

int run_drop_failed(const DropFailedArguments& arguments) {
  const auto outcomes = outcomes_named(arguments.kinds);
  Results results = read_recorded(arguments.input, Trials::each);
  const std::size_t dropped = drop_failed(results, outcomes);
  write_and_tell(results, arguments.output, arguments.to);
  say("{} failed evaluations dropped, {} kept in {}\n", dropped, results.evaluations.size(), arguments.output);
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
