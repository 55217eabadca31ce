#include "report/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "store/formats/csv_text.hpp"
#include "store/formats/results.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

std::vector<Objective> choose_objectives(const FrontArguments& arguments, const Results& results) {
  auto objectives = objectives_of(results, arguments.minimize, arguments.maximize);
  if (objectives.size() < 2) {
    throw UsageError(fmt::format(
        "a Pareto front is of two quantities or more, and there is only {}; say which with --minimize NAME and "
        "--maximize NAME",
        objectives.front().name));
  }
  for (std::size_t i = 1; i < objectives.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (objectives[i].name == objectives[j].name)
        throw UsageError(fmt::format("{} is given twice as an objective", objectives[i].name));
    }
  }
  return objectives;
}

/// "energy and time".
std::string names_text(const std::vector<Objective>& objectives) {
  std::string text;
  for (const auto& objective : objectives) text += (text.empty() ? "" : " and ") + objective.name;
  return text;
}

void print_json(const Results& results, const Front& front) {
  const auto& names = results.header.parameter_names;
  json object = front_to_json(front, results.evaluations);
  object["device_name"] = results.header.device_name;
  object["problem"] = results.header.problem_name;
  for (std::size_t i = 0; i < front.members.size(); ++i) {
    const Evaluation& evaluation = results.evaluations[front.members[i].index];
    json& member = object["members"][i];
    json whole = to_json(evaluation, names);
    member["configuration"] = std::move(whole["configuration"]);
    member["quantities"] = std::move(whole["quantities"]);
    if (const auto& rival = front.members[i].rival)
      member["rival"] = to_json(results.evaluations[*rival], names)["configuration"];
    member.erase("index");  // of no use without all evaluations
  }
  object["knee"] = front.knee ? json(*front.knee) : json();
  fmt::print("{}", json_text(object));
}

/// A line for each: on_front ("sure", "not sure", "no"), knee, objectives with their errors in SI units, parameters.
void print_csv(const Results& results, const Front& front, const std::vector<std::size_t>& rows) {
  std::map<std::size_t, std::size_t> places;
  for (std::size_t place = 0; place < front.members.size(); ++place) places[front.members[place].index] = place;
  std::string line = "on_front,knee";
  for (const auto& objective : front.objectives)
    line += "," + csv_text(objective.name) + "," + csv_text(objective.name + "_stderr");
  for (const auto& name : results.header.parameter_names) line += "," + csv_text(name);
  fmt::print("{}\n", line);
  for (const std::size_t row : rows) {
    const auto place = places.find(row);
    const bool on_front = place != places.end();
    line = !on_front ? "no" : front.members[place->second].sure ? "sure" : "not sure";
    line += on_front && front.knee == place->second ? ",1" : ",0";
    const Evaluation& evaluation = results.evaluations[row];
    for (const auto& objective : front.objectives) {
      const Quantity& quantity = evaluation.quantities.at(objective.name);
      line += fmt::format(",{},{}", quantity.value,
                          std::isfinite(quantity.stderr_value) ? fmt::format("{}", quantity.stderr_value) : "");
    }
    for (const Value& value : evaluation.configuration) line += "," + csv_text(value.str());
    fmt::print("{}\n", line);
  }
}

void print_table(const Results& results, const Front& front, std::size_t most) {
  std::vector<std::string> quantities;
  for (const auto& objective : front.objectives) quantities.push_back(objective.name);
  const RecordedColumns recorded(results, std::move(quantities), results.evaluations[front.members.front().index]);
  std::vector<Table::Column> columns = {{"#", Table::Align::right}, "on the front"};
  recorded.add_to(columns);
  Table table(std::move(columns));
  for (const std::size_t place : front_places(front, most)) {
    std::vector<std::string> cells = {fmt::format("{}", place + 1), front_mark(front, place)};
    recorded.add_to(cells, results.evaluations[front.members[place].index], true);
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.text());
}

}  // namespace

int run_front(const FrontArguments& arguments) {
  const Results results = read_recorded(arguments.input);
  const auto objectives = choose_objectives(arguments, results);
  const auto rivals = competing(results.evaluations);
  const Front front = analyse_front(results.evaluations, rivals, objectives);
  if (front.members.empty()) {
    throw UsageError(fmt::format("{}: {}", arguments.input, why_none_has(results, names_text(objectives))));
  }
  tell_of_bounds(results, objectives);
  if (!front.errors_known)
    say("wattune: note: standard errors are not recorded everywhere; those that are missing count as 0\n");
  if (arguments.json) {
    print_json(results, front);
  } else if (arguments.csv) {
    std::vector<std::size_t> rows;
    for (const auto& member : front.members) rows.push_back(member.index);
    if (arguments.all) rows = complete(results.evaluations, rivals, objectives);
    print_csv(results, front, rows);
  } else {
    fmt::print("{}\n", front_title(front));
    if (front.members.size() > arguments.top) fmt::print("({} of them, spread evenly)\n", arguments.top);
    print_table(results, front, arguments.top);
    fmt::print("{}", front_remarks(front, results.evaluations));
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
