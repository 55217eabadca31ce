#include "cli/compare_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "result/order.hpp"
#include "settings/device_settings.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

std::optional<double> value_of(const Evaluation& evaluation, const std::string& name) {
  return objective_value(evaluation, {name, Direction::minimize});
}

json number_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

/// What is beyond the whole numbers of JSON readers is told to their precision.
json count_json(Count count) {
  constexpr Count greatest_exact = Count{1} << 53U;
  return count <= greatest_exact ? json(static_cast<std::uint64_t>(count)) : json(static_cast<double>(count));
}

json configuration_json(const Evaluation& evaluation, const std::vector<std::string>& names) {
  json configuration = json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    configuration[names[i]] = wattune::to_json(evaluation.configuration[i]);
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
                 {"valid", comparison.enumerated && comparison.coverage.valid ? count_json(*comparison.coverage.valid)
                                                                              : json(nullptr)},
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
    kernels.push_back({{"file", files[i]},
                       {"own_clock_mhz", kernel.own_clock},
                       {"own_energy_j", kernel.own_energy},
                       {"energy_j", kernel.energy}});
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
  if (method.parameter_names != comparison.parameter_names)
    return format_configuration(method.answer->configuration, method.parameter_names);
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
  std::vector<Table::Column> columns = {
      "method", {"energy", Table::Align::right}, {"time", Table::Align::right}, {"power", Table::Align::right}};
  if (other) columns.emplace_back(efficiency.name, Table::Align::right);
  columns.insert(columns.end(), {{"gap %", Table::Align::right},
                                 {"evaluations", Table::Align::right},
                                 {"clocks", Table::Align::right},
                                 {"tuning time", Table::Align::right},
                                 "configuration"});
  Table table(std::move(columns));
  for (const auto& method : comparison.methods) {
    std::vector<std::string> cells = {method.name};
    for (const char* name : {"energy", "time", "power"}) cells.push_back(quantity_text(method.answer, name));
    if (other) cells.push_back(quantity_text(method.answer, efficiency.name));
    cells.push_back(format_percent(method.gap));
    cells.push_back(method.answer ? fmt::format("{}", method.evaluations) : "-");
    cells.push_back(method.answer ? fmt::format("{}", method.settings) : "-");
    cells.push_back(std::isfinite(method.seconds) ? format_duration(method.seconds) : "-");
    const std::string note = notes_of(method);
    const std::string configuration = printable(configuration_text(comparison, method));
    cells.push_back(note.empty()            ? configuration
                    : configuration.empty() ? "(" + note + ")"
                                            : configuration + " (" + note + ")");
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.text());
}

void print_capping(const Comparison& comparison) {
  if (!comparison.capping) return;
  Table table({"held down by",
               {"energy", Table::Align::right},
               {"time", Table::Align::right},
               {"power", Table::Align::right},
               {"settings", Table::Align::right},
               {"spread of time %", Table::Align::right},
               "configuration"});
  const auto row = [&](const char* name, const CappingSide& side) {
    table.add_row(
        {name, quantity_text(side.best, "energy"), quantity_text(side.best, "time"), quantity_text(side.best, "power"),
         fmt::format("{}", side.settings), format_percent(side.time_spread),
         side.best ? printable(format_configuration(side.best->configuration, comparison.parameter_names)) : ""});
  };
  row("clock", comparison.capping->by_clock);
  row("power limit", comparison.capping->by_limit);
  fmt::print("\nClocks at the greatest power limit against power limits at the greatest clock:\n{}", table.text());
}

void print_common(const CommonClock& common, const std::vector<std::string>& files) {
  Table table({"results",
               {"own clock", Table::Align::right},
               {"energy there", Table::Align::right},
               {fmt::format("at {:g} MHz", common.clock), Table::Align::right},
               {"more %", Table::Align::right}});
  const auto row = [&](const std::string& name, const std::string& clock, double own, double energy) {
    table.add_row({name, clock, format_value(own, "J"), format_value(energy, "J"), format_percent(energy / own - 1)});
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& kernel = common.kernels[i];
    row(printable(files[i]), fmt::format("{:g} MHz", kernel.own_clock), kernel.own_energy, kernel.energy);
  }
  row("all", "", common.own_energy(), common.energy());
  fmt::print("\nOne clock for all, {:g} MHz, against each at its own; one launch of each:\n{}", common.clock,
             table.text());
}

std::string title_of(const Comparison& comparison, const Objective& efficiency) {
  const std::string what = to_string(efficiency);
  const std::string device = comparison.device.empty() ? "" : " on " + comparison.device;
  if (comparison.file.empty()) return fmt::format("Methods{}, {}", device, what);
  if (!comparison.enumerated) return fmt::format("Runs of methods{}, {}", device, what);
  return fmt::format("{}{}, {}: methods by enumeration of what is recorded", comparison.file, device, what);
}

}  // namespace

void print_comparisons(const std::vector<Comparison>& comparisons, const std::optional<CommonClock>& common,
                       const std::vector<std::string>& files, const Objective& efficiency, bool as_json) {
  if (as_json) {
    json object = {{"objective", efficiency.name}, {"direction", to_string(efficiency.direction)}};
    object.update(to_json(comparisons.front(), efficiency));
    if (comparisons.size() > 1) {
      object["files"] = json::array();
      for (const auto& comparison : comparisons) object["files"].push_back(to_json(comparison, efficiency));
    }
    if (common) object["common_clock"] = to_json(*common, files);
    fmt::print("{}", json_text(object));
    return;
  }
  for (const auto& comparison : comparisons) {
    fmt::print("{}{}\n", &comparison == &comparisons.front() ? "" : "\n", printable(title_of(comparison, efficiency)));
    print_methods(comparison, efficiency);
    print_capping(comparison);
  }
  if (common) print_common(*common, files);
}

}  // namespace wattune::cli
