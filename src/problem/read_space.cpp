// ConfigurationSpace and Budget.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "problem/reader.hpp"

namespace wattune {

namespace {

Value value_of(const JsonNode& node) {
  if (node.is_boolean()) return node.boolean();
  if (node.is_integer()) return node.integer();
  if (node.is_number()) return node.number();
  return node.string();
}

/// The same text for values that are equal: 1, 1.0 and True.
std::string identity(const Value& value) {
  if (!value.is_number()) return "'" + value.str();
  const double number = value.as_double();
  if (value.is_float() && std::floor(number) == number && std::fabs(number) < 9e18) {
    return fmt::to_string(static_cast<std::int64_t>(number));
  }
  return value.is_float() ? value.str() : fmt::to_string(value.as_int());
}

std::optional<Value> as_integer(const Value& value) {
  if (value.is_bool() || value.is_int()) return value.as_int();
  if (!value.is_float()) return std::nullopt;
  const double number = value.as_double();
  if (std::floor(number) != number || std::fabs(number) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<Value> as_boolean(const Value& value) {
  if (value.is_bool()) return value;
  const auto integer = as_integer(value);
  if (!integer || integer->as_int() < 0 || integer->as_int() > 1) return std::nullopt;
  return integer->as_int() == 1;
}

/// A value as the parameter's Type has it; nothing where it cannot be.
std::optional<Value> coerced(const Value& value, std::string_view type) {
  if (value.is_list()) return std::nullopt;
  if (type.empty()) return value;
  if (type == "string") return value.is_string() ? value : Value(value.str());
  if (!value.is_number()) return std::nullopt;
  if (type == "float") return value.as_double();
  if (type == "bool") return as_boolean(value);
  auto integer = as_integer(value);
  if (integer && type == "uint" && integer->as_int() < 0) return std::nullopt;
  return integer;
}

Value coerce(const JsonNode& node, const Value& value, std::string_view type) {
  if (const auto result = coerced(value, type)) return *result;
  if (type.empty()) node.fail(fmt::format("{} is a list; give numbers, booleans or strings", value.str()));
  node.fail(fmt::format("{} is no {}; change the value or Type", value.str(), type));
}

/// What Values gives: a list, or an expression that is one.
Value::List values_of(const JsonNode& node) {
  if (node.is_list()) {
    Value::List list;
    for (const JsonNode& item : node.items()) list.push_back(value_of(item));
    return list;
  }
  if (!node.is_string()) node.fail("must be a list or a string that is an expression, such as \"[1, 2, 4]\"");
  const Expression expression = read_expression(node);
  try {
    const Value value = expression.evaluate();
    if (value.is_list()) return value.as_list();
    node.fail(fmt::format("'{}' is no list; write \"[{}]\"", expression.text(), expression.text()));
  } catch (const ExpressionError& error) {
    node.fail(error.what());
  }
}

void check_device_setting(const Reading& reading, const JsonNode& node, const Parameter& parameter) {
  if (!parameter.name.starts_with("nvml_") || reading.options.space_only) return;
  if (parameter.name != "nvml_gr_clock" && parameter.name != "nvml_mem_clock" && parameter.name != "nvml_pwr_limit") {
    node.at("Name").fail(
        fmt::format("there is no device setting '{}'; give nvml_gr_clock, nvml_mem_clock or "
                    "nvml_pwr_limit, or another name for a parameter of the kernel",
                    parameter.name));
  }
  for (const Value& value : parameter.values) {
    if (!value.is_number() || value.is_bool() || !(value.as_double() > 0)) {
      node.at("Values").fail(fmt::format("{} is no {}; give positive numbers", value.str(),
                                         parameter.name == "nvml_pwr_limit" ? "power in W" : "clock in MHz"));
    }
  }
}

Value default_of(Reading& reading, const JsonNode& node, const Parameter& parameter, std::string_view type) {
  const auto given = node.find("Default");
  if (!given) return parameter.values.front();
  JsonNode element = *given;
  if (given->is_list()) {
    const std::vector<JsonNode> items = given->items();
    if (items.size() != 1) given->fail("is a list; give one of Values");
    element = items.front();
  }
  const Value value = coerce(element, value_of(element), type);
  for (const Value& candidate : parameter.values) {
    if (candidate == value) return candidate;
  }
  if (parameter.values.size() != 1) given->fail(fmt::format("{} is not among Values; give one of them", value.str()));
  reading.warn(*given, fmt::format("{} is not among Values; ignored, for there is only {}", value.str(),
                                   parameter.values.front().str()));
  return parameter.values.front();
}

void read_parameter(Reading& reading, const JsonNode& node, std::unordered_set<std::string>& names) {
  warn_unknown_keys(reading, node, {"Name", "Type", "Values", "Default"});
  Parameter parameter;
  const JsonNode name = node.at("Name");
  parameter.name = name.string();
  if (!is_identifier(parameter.name)) {
    name.fail(fmt::format("'{}' is no identifier; use letters, digits and _", parameter.name));
  }
  if (parameter.name == "ProblemSize") name.fail("is the name of the problem's size; use another name");
  if (!names.insert(parameter.name).second) {
    name.fail(fmt::format("there are two parameters '{}'; rename or remove one", parameter.name));
  }
  std::string type;
  if (const auto given = node.find("Type")) type = given->one_of({"int", "uint", "float", "bool", "string"});
  const JsonNode values = node.at("Values");
  std::unordered_set<std::string> seen;
  for (const Value& given : values_of(values)) {
    Value value = coerce(values, given, type);
    if (!seen.insert(identity(value)).second) {
      values.fail(fmt::format("{} is given twice; give each value once", value.str()));
    }
    parameter.values.push_back(std::move(value));
  }
  if (parameter.values.empty()) values.fail("is empty; give one value or more");
  check_device_setting(reading, node, parameter);
  reading.problem.defaults.push_back(default_of(reading, node, parameter, type));
  reading.problem.parameters.push_back(std::move(parameter));
}

void read_condition(Reading& reading, const JsonNode& node) {
  warn_unknown_keys(reading, node, {"Expression", "Parameters"});
  const JsonNode text = node.at("Expression");
  const Expression expression = read_expression(text);
  check_names(text, expression, reading.problem.parameter_names());
  if (const auto listed = node.find("Parameters")) {
    const std::vector<std::string> names = reading.problem.parameter_names();
    for (const JsonNode& item : listed->items()) {
      if (std::find(names.begin(), names.end(), item.string()) == names.end()) {
        reading.warn(item, fmt::format("there is no parameter '{}'; ignored", item.string()));
      }
    }
  }
  reading.problem.restrictions.push_back({expression.text(), text.place()});
}

/// "600:1400:5" as it is; [600, 900] and 600 as "600,900" and "600".
std::string setting_text(const JsonNode& node) {
  if (node.is_string()) return node.string();
  std::vector<JsonNode> items;
  if (node.is_list()) {
    items = node.items();
  } else {
    items.push_back(node);
  }
  std::string text;
  for (const JsonNode& item : items) text += fmt::format("{}{:.10g}", text.empty() ? "" : ",", item.number());
  if (text.empty()) node.fail("is empty; give values, a range such as \"600:1400:5\", or \"all\"");
  return text;
}

void read_device_settings(Reading& reading) {
  const auto settings = reading.addition("DeviceSettings");
  if (!settings) return;
  refuse_unknown_keys(*settings, {"nvml_gr_clock", "nvml_mem_clock", "nvml_pwr_limit"});
  if (settings->members().empty()) settings->fail("is empty; name a setting, or leave it out");
  const auto names = reading.problem.parameter_names();
  for (const auto& [name, node] : settings->members()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      node.fail(fmt::format("'{}' is a tunable parameter, too; remove one of the two", name));
    }
    reading.problem.device_settings[std::string(name)] = setting_text(node);
  }
}

/// The values that device settings have on the device that was chosen.
void apply_device_settings(Reading& reading) {
  Problem& problem = reading.problem;
  for (const Parameter& setting : reading.options.device_settings) {
    const auto found = std::find_if(problem.parameters.begin(), problem.parameters.end(),
                                    [&](const Parameter& parameter) { return parameter.name == setting.name; });
    if (found == problem.parameters.end()) {
      problem.parameters.push_back(setting);
      problem.defaults.push_back(setting.values.back());
    } else {
      found->values = setting.values;
      problem.defaults[static_cast<std::size_t>(found - problem.parameters.begin())] = setting.values.back();
    }
  }
}

}  // namespace

void read_space(Reading& reading, const JsonNode& root) {
  const JsonNode space = root.at("ConfigurationSpace");
  warn_unknown_keys(reading, space, {"TuningParameters", "Conditions"});
  std::unordered_set<std::string> names;
  for (const JsonNode& node : space.at("TuningParameters").items()) read_parameter(reading, node, names);
  read_device_settings(reading);
  apply_device_settings(reading);
  if (const auto conditions = space.find("Conditions")) {
    for (const JsonNode& node : conditions->items()) read_condition(reading, node);
  }
}

void read_budget(Reading& reading, const JsonNode& root) {
  const auto list = root.find("Budget");
  if (!list) return;
  Budget& budget = reading.problem.budget;
  for (const JsonNode& node : list->items()) {
    warn_unknown_keys(reading, node, {"Type", "BudgetValue"});
    const JsonNode type = node.at("Type");
    const std::string& name = type.one_of({"TuningDuration", "ConfigurationCount", "ConfigurationFraction"});
    const JsonNode value = node.at("BudgetValue");
    const double number = value.number();
    if (!(number > 0)) value.fail(fmt::format("is {}; give a positive number", number));
    if (name == "TuningDuration"       ? budget.seconds.has_value()
        : name == "ConfigurationCount" ? budget.evaluations.has_value()
                                       : budget.fraction.has_value()) {
      type.fail(fmt::format("there are two budgets of type {}; remove one", name));
    }
    if (name == "TuningDuration") {
      budget.seconds = number;
    } else if (name == "ConfigurationCount") {
      if (std::floor(number) != number || number > 9e15) value.fail("must be an integer; a count of configurations");
      budget.evaluations = static_cast<std::uint64_t>(number);
    } else {
      if (number > 1) value.fail(fmt::format("is {}; give a fraction of the space, above 0 and at most 1", number));
      budget.fraction = number;
    }
  }
}

}  // namespace wattune
