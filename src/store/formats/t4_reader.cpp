// Reads T4 results, also of writers that take liberties with the schema.

#include <fmt/format.h>

#include <algorithm>

#include "store/formats/formats.hpp"

namespace wattune {

namespace {

namespace dom = simdjson::dom;

struct Invalidity {
  std::string_view name;
  Outcome outcome;
};
constexpr Invalidity invalidities[] = {
    {"correct", Outcome::ok},     {"timeout", Outcome::timeout},         {"compile", Outcome::compile},
    {"runtime", Outcome::launch}, {"correctness", Outcome::correctness}, {"constraints", Outcome::constraints}};

std::optional<Outcome> outcome_of_invalidity(std::string_view name) {
  for (const auto& invalidity : invalidities) {
    if (invalidity.name == name) return invalidity.outcome;
  }
  return std::nullopt;
}

/// Other spellings of the schema's times.
constexpr std::pair<std::string_view, std::string_view> spellings[] = {{"compilation", "compilation_time"},
                                                                       {"validation_time", "validation"},
                                                                       {"verification", "validation"},
                                                                       {"benchmark_time", "benchmark"},
                                                                       {"framework_time", "framework"},
                                                                       {"strategy", "search_algorithm"},
                                                                       {"search_algorithm_time", "search_algorithm"}};

}  // namespace

bool T4Reader::take_header(std::string_view key, std::string_view json) {
  if (key != "metadata") return key == "schema_version";
  const auto root = parser_.parse(json);
  dom::object object;
  if (!root || root->get(object) != simdjson::SUCCESS) {
    results_.notes.emplace_back("key 'metadata' is no object; dropped");
    return true;
  }
  for (const auto field : object) {
    std::string_view text;
    if (field.key == "timeunit" && field.value.get(text) == simdjson::SUCCESS) {
      const auto scale = unit_scale(text);
      if (scale && scale->si == "s" && !results_.evaluations.empty()) {
        results_.notes.emplace_back("metadata.timeunit stands behind the results; they were read in milliseconds");
      } else if (scale && scale->si == "s") {
        seconds_per_unit_ = scale->si_per_unit;
      } else {
        results_.notes.push_back(fmt::format("metadata.timeunit '{}' is not known; milliseconds are assumed", text));
      }
    } else if (field.key == extras_key) {
      if (!apply_header(results_.header, simdjson::minify(field.value))) {
        results_.notes.emplace_back("key 'metadata.wattune' is damaged; dropped");
      }
    }
  }
  return true;
}

void T4Reader::read_results(JsonStream& stream) {
  if (!stream.take('[')) {
    results_.notes.emplace_back("key 'results' is no list; dropped");
    return;
  }
  read_members(stream, false, results_.notes,
               [this](const std::string&, std::string_view text) { return take_result(text); });
}

bool T4Reader::take_result(std::string_view json) {
  const auto root = parser_.parse(json);
  dom::object object;
  if (!root || root->get(object) != simdjson::SUCCESS) return false;
  Evaluation evaluation;
  dom::element element;
  if (object["configuration"].get(element) != simdjson::SUCCESS || !take_configuration(evaluation, element)) {
    drops_.add("results without a whole configuration were dropped", std::string(json.substr(0, 60)));
    return true;
  }
  std::string_view text;
  double correctness = 1;
  bool has_invalidity = false;
  if (object["invalidity"].get(text) == simdjson::SUCCESS) {
    const auto outcome = outcome_of_invalidity(text);
    has_invalidity = outcome.has_value();
    if (outcome) evaluation.outcome = *outcome;
    if (!outcome) drops_.add("unknown values of 'invalidity' were passed over", std::string(text));
  }
  if (!has_invalidity && object["correctness"].get(correctness) == simdjson::SUCCESS && correctness == 0) {
    evaluation.outcome = Outcome::correctness;
  }
  if (object["timestamp"].get(text) == simdjson::SUCCESS) evaluation.timestamp = text;
  if (object["times"].get(element) == simdjson::SUCCESS) take_times(evaluation, element);
  if (object["measurements"].get(element) == simdjson::SUCCESS) take_measurements(evaluation, element);
  if (object[extras_key].get(element) == simdjson::SUCCESS) apply_extras(evaluation, element);
  dom::array objectives;
  if (results_.objectives.empty() && object["objectives"].get(objectives) == simdjson::SUCCESS) {
    for (const dom::element objective : objectives) {
      if (objective.get(text) == simdjson::SUCCESS) results_.objectives.emplace_back(text);
    }
  }
  results_.evaluations.push_back(std::move(evaluation));
  return true;
}

/// The first result tells the parameters and their order.
bool T4Reader::take_configuration(Evaluation& evaluation, const dom::element& element) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return false;
  auto& names = results_.header.parameter_names;
  if (names.empty()) {
    for (const auto field : object) {
      if (std::find(names.begin(), names.end(), field.key) == names.end()) names.emplace_back(field.key);
    }
  }
  if (names.empty()) return false;
  evaluation.configuration.resize(names.size());
  std::size_t due = 0;
  std::size_t found = 0;
  std::vector<bool> seen(names.size(), false);
  for (const auto field : object) {
    std::size_t place = due;
    if (place >= names.size() || names[place] != field.key) {
      place = static_cast<std::size_t>(std::find(names.begin(), names.end(), field.key) - names.begin());
    }
    if (place == names.size() || seen[place]) return false;
    auto value = value_of(field.value);
    if (!value) return false;
    evaluation.configuration[place] = std::move(*value);
    seen[place] = true;
    due = place + 1;
    ++found;
  }
  return found == names.size();
}

void T4Reader::take_times(Evaluation& evaluation, const dom::element& element) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return;
  for (const auto field : object) {
    std::string_view key = field.key;
    for (const auto& [other, schema] : spellings) {
      if (key == other) key = schema;
    }
    double number = 0;
    dom::array list;
    if (field.value.get(number) == simdjson::SUCCESS) {
      for (const PhaseName& phase : phase_names) {
        if (phase.t4 == key) evaluation.phases[std::string(phase.phase)] = to_si(number, 1 / seconds_per_unit_);
      }
    } else if (key == "runtimes" && field.value.get(list) == simdjson::SUCCESS) {
      std::vector<double> samples;
      samples.reserve(list.size());
      for (const dom::element item : list) {
        if (item.get(number) == simdjson::SUCCESS) samples.push_back(to_si(number, 1 / seconds_per_unit_));
      }
      if (samples.empty()) continue;
      Quantity& time = evaluation.quantities["time"];
      time.unit = "s";
      set_samples(time, std::move(samples));
    }
  }
}

/// What a measurement says of its unit; else what its name does, and the file of times.
FileUnit T4Reader::conversion_of(std::string_view name, std::string_view unit) const {
  if (const auto scale = unit_scale(unit)) return {1 / scale->si_per_unit, scale->si, unit};
  if (!unit.empty()) return {1, unit, unit};
  const FileUnit by_name = file_unit(name);
  return by_name.si == "s" ? FileUnit{1 / seconds_per_unit_, "s", unit} : by_name;
}

void T4Reader::take_measurements(Evaluation& evaluation, const dom::element& element) {
  dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return;
  for (const dom::element item : list) {
    dom::object object;
    std::string_view name;
    if (item.get(object) != simdjson::SUCCESS || object["name"].get(name) != simdjson::SUCCESS) {
      drops_.add("measurements without a name were dropped", "in a result");
      continue;
    }
    std::string_view unit;
    std::string_view text;
    if (object["unit"].get(unit) != simdjson::SUCCESS) unit = {};
    double number = 0;
    dom::array samples;
    const FileUnit conversion = conversion_of(name, unit);
    if (object["value"].get(number) == simdjson::SUCCESS) {
      Quantity& quantity = evaluation.quantities[std::string(name)];
      quantity.value = to_si(number, conversion.per_si);
      quantity.unit = conversion.si;
    } else if (object["value"].get(samples) == simdjson::SUCCESS) {
      std::vector<double> numbers;
      for (const dom::element sample : samples) {
        if (sample.get(number) == simdjson::SUCCESS) numbers.push_back(to_si(number, conversion.per_si));
      }
      if (numbers.empty()) continue;
      Quantity& quantity = evaluation.quantities[std::string(name)];
      quantity.unit = conversion.si;
      set_samples(quantity, std::move(numbers));
    } else if (object["value"].get(text) == simdjson::SUCCESS) {
      // The name of a failure where a number belongs.
      const auto outcome = outcome_of_error(text);
      if (outcome && evaluation.ok()) evaluation.outcome = *outcome;
      if (!outcome) drops_.add(fmt::format("values of '{}' that are no numbers were dropped", name), std::string(text));
    }
  }
}

void T4Reader::finish() {
  for (auto& note : drops_.notes()) results_.notes.push_back(std::move(note));
}

}  // namespace wattune
