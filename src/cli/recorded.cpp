#include "cli/recorded.hpp"

#include <fmt/format.h>

#include <limits>

#include "cli/say.hpp"

namespace wattune::cli {

Results read_recorded(const std::string& file) {
  Results results = read_results(file);
  for (const auto& note : results.notes) say("wattune: warning: {}: {}\n", file, note);
  return results;
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
