#include "cli/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/say.hpp"
#include "result/order.hpp"
#include "result/trials.hpp"
#include "store/formats/edit.hpp"

namespace wattune::cli {

Results read_recorded(const std::string& file, Trials trials) {
  Results results = read_results(file);
  for (const auto& note : results.notes) say("wattune: warning: {}: {}\n", file, note);
  if (trials == Trials::each) return results;
  if (const std::string dropped = drop_impossible(results); !dropped.empty())
    say("wattune: warning: {}: {}\n", file, dropped);
  replace_final_trials(results.evaluations);
  return results;
}

Results read_recorded_space(const std::string& file) {
  Results results = read_recorded(file);
  if (const std::string dropped = drop_outside(results); !dropped.empty())
    say("wattune: warning: {}: {}\n", file, dropped);
  return results;
}

std::vector<Objective> recorded_objectives(const Results& results, const std::vector<std::string>& minimize,
                                           const std::vector<std::string>& maximize) {
  auto objectives = objectives_of(results, minimize, maximize);
  if (minimize.empty() && maximize.empty() && results.objectives.empty()) {
    say("wattune: note: {} does not tell what it was tuned for: {} is taken; --minimize or --maximize names another\n",
        results.file, objectives.front().name);
  }
  return objectives;
}

void tell_of_bounds(const Results& results, std::span<const Objective> objectives) {
  const auto rivals = competing(results.evaluations);
  const auto count = std::ranges::count_if(rivals, [&](std::size_t i) {
    const Evaluation& evaluation = results.evaluations[i];
    return objective_value(evaluation, {"energy_bound", Direction::minimize}) &&
           std::ranges::any_of(objectives, [&](const Objective& o) { return !objective_value(evaluation, o); });
  });
  if (count == 0) return;
  say("wattune: note: {}: {} not measured for energy: {} could not win (energy_bound); tune with --no-skip measures "
      "all\n",
      results.file, count == 1 ? "1 configuration was" : fmt::format("{} configurations were", count),
      count == 1 ? "it" : "they");
}

RecordedColumns::RecordedColumns(const Results& results, std::vector<std::string> quantities, const Evaluation& first)
    : header_(results.header), quantities_(std::move(quantities)) {
  for (const auto& name : quantities_) {
    const Quantity& quantity = first.quantities.at(name);
    scales_.push_back(scale_for(quantity.value, quantity.unit));
  }
  for (std::size_t i = 0; i < header_.parameter_names.size(); ++i) {
    if (header_.parameter_values[i].size() > 1) parameters_.push_back(i);
  }
}

void RecordedColumns::add_to(std::vector<Table::Column>& columns) const {
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const auto& name = quantities_[i];
    const auto& unit = scales_[i].unit;
    columns.emplace_back(unit.empty() || unit == name ? name : fmt::format("{} [{}]", name, unit), Table::Align::right);
  }
  for (const std::size_t i : parameters_)
    columns.emplace_back(printable(header_.parameter_names[i]), Table::Align::right);
}

void RecordedColumns::add_to(std::vector<std::string>& cells, const Evaluation& evaluation, bool with_errors) const {
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Quantity& quantity = evaluation.quantities.at(quantities_[i]);
    const double error = with_errors ? quantity.stderr_value : std::numeric_limits<double>::quiet_NaN();
    cells.push_back(format_number(quantity.value, scales_[i], error));
  }
  for (const std::size_t i : parameters_) cells.push_back(printable(evaluation.configuration[i].str()));
}

}  // namespace wattune::cli
