#include "result/evaluation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"

namespace wattune {

namespace {

using nlohmann::json;

json number_or_null(double number) {
  return std::isfinite(number) ? json(number) : json(nullptr);
}

[[noreturn]] void fail(std::string_view key, std::string_view expected, const json& found) {
  // A list or an object may be large, and nested deeper than printing it can follow.
  std::string text = found.is_structured() ? std::string("a list or an object")
                                           : found.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  throw UsageError(fmt::format("key '{}' of an evaluation must be {}, not {}", key, expected, text));
}

const json& require(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw UsageError(fmt::format("key '{}' is missing in an evaluation", key));
  return *found;
}

std::string text_of(const json& value, const char* key) {
  if (!value.is_string()) fail(key, "a string", value);
  return value.get<std::string>();
}

std::string optional_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : text_of(*found, key);
}

std::int64_t integer_of(const json& value, std::string_view key) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!fits) fail(key, "an integer of at most 64 bits", value);
  return value.get<std::int64_t>();
}

std::int64_t optional_integer(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? 0 : integer_of(*found, key);
}

double number_of(const json& value, std::string_view key) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) fail(key, "a number or null", value);
  return value.get<double>();
}

/// Lists in lists, as deep as no parameter has them: a damaged file shall not use up the stack.
constexpr int max_depth = 100;

Value value_of(const json& value, int depth) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return integer_of(value, "a parameter's value");
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || depth == max_depth) fail("configuration", "numbers, booleans, strings and lists", value);
  Value::List list;
  for (const auto& item : value) list.push_back(value_of(item, depth + 1));
  return list;
}

/// The object under a key; null where it is absent.
const json* optional_object(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  if (!found->is_object()) fail(key, "an object", *found);
  return &*found;
}

}  // namespace

void append_key(std::string& key, const std::vector<Value>& configuration) {
  for (const auto& value : configuration) {
    if (value.is_string()) {
      key.append(std::to_string(value.as_string().size())).append(1, '\'').append(value.as_string());
    } else if (value.is_int() || value.is_bool()) {
      key.append(std::to_string(value.as_int()));
    } else if (value.is_float() && std::trunc(value.as_double()) == value.as_double() &&
               std::fabs(value.as_double()) < 9e15) {
      key.append(std::to_string(static_cast<std::int64_t>(value.as_double())));
    } else {
      key.append(value.str());
    }
    key.append(1, ';');
  }
}

json to_json(const Quantity& quantity) {
  json object = {{"value", number_or_null(quantity.value)},
                 {"unit", quantity.unit},
                 {"stderr", number_or_null(quantity.stderr_value)},
                 {"n", quantity.n},
                 {"flags", quantity.flags}};
  if (!quantity.samples.empty()) {
    json& samples = object["samples"] = json::array();
    for (const double sample : quantity.samples) samples.push_back(number_or_null(sample));
  }
  return object;
}

Quantity quantity_from_json(const json& object) {
  if (!object.is_object()) fail("quantities", "an object of quantities", object);
  Quantity quantity;
  quantity.value = number_of(require(object, "value"), "value");
  quantity.unit = optional_text(object, "unit");
  const auto error = object.find("stderr");
  if (error != object.end()) quantity.stderr_value = number_of(*error, "stderr");
  quantity.n = optional_integer(object, "n");
  const auto flags = object.find("flags");
  if (flags != object.end()) {
    if (!flags->is_array()) fail("flags", "a list of strings", *flags);
    for (const auto& flag : *flags) quantity.flags.push_back(text_of(flag, "flags"));
  }
  const auto samples = object.find("samples");
  if (samples != object.end()) {
    if (!samples->is_array()) fail("samples", "a list of numbers", *samples);
    for (const auto& sample : *samples) quantity.samples.push_back(number_of(sample, "samples"));
  }
  return quantity;
}

json to_json(const Value& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_float()) return value.as_double();
  if (value.is_string()) return value.as_string();
  json list = json::array();
  for (const auto& item : value.as_list()) list.push_back(to_json(item));
  return list;
}

Value value_from_json(const json& value) {
  return value_of(value, 0);
}

json to_json(const Evaluation& evaluation, const std::vector<std::string>& parameter_names) {
  json configuration = json::object();
  const std::size_t count = std::min(parameter_names.size(), evaluation.configuration.size());
  for (std::size_t i = 0; i < count; ++i) configuration[parameter_names[i]] = to_json(evaluation.configuration[i]);
  json quantities = json::object();
  for (const auto& [name, quantity] : evaluation.quantities) quantities[name] = to_json(quantity);
  json phases = json::object();
  for (const auto& [name, seconds] : evaluation.phases) phases[name] = number_or_null(seconds);
  json object = {{"configuration", std::move(configuration)},
                 {"outcome", to_string(evaluation.outcome)},
                 {"message", evaluation.message},
                 {"tier", evaluation.tier},
                 {"trial", evaluation.trial},
                 {"verification", evaluation.verification},
                 {"quantities", std::move(quantities)},
                 {"phases", std::move(phases)},
                 {"resources", evaluation.resources},
                 {"board", evaluation.board},
                 {"timestamp", evaluation.timestamp},
                 {"proposal", evaluation.proposal},
                 {"told", evaluation.told},
                 {"asked", evaluation.asked},
                 {"run", evaluation.run}};
  if (evaluation.declined != 0) object["declined"] = evaluation.declined;
  if (!evaluation.energy_estimator.empty()) object["energy_estimator"] = evaluation.energy_estimator;
  return object;
}

Evaluation evaluation_from_json(const json& object, const std::vector<std::string>& parameter_names) {
  if (!object.is_object()) throw UsageError("an evaluation must be a JSON object");
  Evaluation evaluation;
  const json& configuration = require(object, "configuration");
  if (!configuration.is_object()) fail("configuration", "an object", configuration);
  if (configuration.size() != parameter_names.size()) {
    throw UsageError(fmt::format("a configuration of {} values was found where there are {} parameters",
                                 configuration.size(), parameter_names.size()));
  }
  for (const auto& name : parameter_names) {
    const auto found = configuration.find(name);
    if (found == configuration.end()) {
      throw UsageError(fmt::format("parameter '{}' is missing in a configuration", name));
    }
    evaluation.configuration.push_back(value_from_json(*found));
  }
  const std::string outcome = text_of(require(object, "outcome"), "outcome");
  const auto known = outcome_from(outcome);
  if (!known) throw UsageError(fmt::format("unknown outcome '{}' in an evaluation", outcome));
  evaluation.outcome = *known;
  evaluation.message = optional_text(object, "message");
  if (object.contains("tier")) evaluation.tier = optional_text(object, "tier");
  evaluation.trial = optional_integer(object, "trial");
  evaluation.verification = optional_text(object, "verification");
  evaluation.energy_estimator = optional_text(object, "energy_estimator");
  evaluation.board = optional_text(object, "board");
  evaluation.timestamp = optional_text(object, "timestamp");
  evaluation.proposal = optional_integer(object, "proposal");
  evaluation.told = optional_integer(object, "told");
  evaluation.asked = optional_integer(object, "asked");
  evaluation.declined = optional_integer(object, "declined");
  evaluation.run = optional_text(object, "run");
  if (const json* quantities = optional_object(object, "quantities")) {
    for (const auto& [name, quantity] : quantities->items()) evaluation.quantities[name] = quantity_from_json(quantity);
  }
  if (const json* phases = optional_object(object, "phases")) {
    for (const auto& [name, seconds] : phases->items()) evaluation.phases[name] = number_of(seconds, "phases");
  }
  if (const json* resources = optional_object(object, "resources")) {
    for (const auto& [name, amount] : resources->items()) evaluation.resources[name] = integer_of(amount, "resources");
  }
  return evaluation;
}

}  // namespace wattune
