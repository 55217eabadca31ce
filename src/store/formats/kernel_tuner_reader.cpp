// Reads Kernel Tuner's cache files, of all its versions.

#include <fmt/format.h>

#include <algorithm>

#include "store/formats/formats.hpp"

namespace wattune {

namespace {

namespace dom = simdjson::dom;

/// The time by which the first versions marked a failure.
constexpr double failed_time = 1e20;

std::string shown(std::string_view text) {
  return std::string(text.substr(0, 60)) + (text.size() > 60 ? "..." : "");
}

}  // namespace

UsageError KernelTunerReader::error(std::string_view key, std::string_view expected) const {
  return UsageError(fmt::format("cannot read the Kernel Tuner cache '{}': key '{}' must be {}; correct the file", file_,
                                key, expected));
}

bool KernelTunerReader::take_header(std::string_view key, std::string_view json) {
  if (key == extras_key) {
    if (!apply_header(results_.header, json)) results_.notes.emplace_back("key 'wattune' is damaged; dropped");
    return true;
  }
  static constexpr std::string_view known[] = {"device_name",      "kernel_name", "problem_size",
                                               "tune_params_keys", "tune_params", "objective"};
  if (std::find(std::begin(known), std::end(known), key) == std::end(known)) return false;
  const auto root = parser_.parse(json);
  if (!root) throw error(key, "JSON");
  std::string_view text;
  dom::array list;
  dom::object object;
  const bool is_text = root->get(text) == simdjson::SUCCESS;
  const bool is_list = root->get(list) == simdjson::SUCCESS;
  if (key == "device_name" && is_text) {
    results_.header.device_name = text;
  } else if (key == "kernel_name" && is_text) {
    results_.header.problem_name = text;
  } else if (key == "problem_size") {
    take_problem_size(*root);
  } else if (key == "objective") {
    results_.objectives.clear();
    if (is_text) results_.objectives.emplace_back(text);
    if (is_list) {
      for (const dom::element item : list) {
        if (item.get(text) == simdjson::SUCCESS) results_.objectives.emplace_back(text);
      }
    }
  } else if (key == "tune_params_keys") {
    if (!is_list) throw error(key, "a list of the parameters' names");
    std::vector<std::string> names;
    for (const dom::element item : list) {
      if (item.get(text) != simdjson::SUCCESS) throw error(key, "a list of the parameters' names");
      if (std::find(names.begin(), names.end(), text) != names.end())
        throw error(key, "a list of names without repetition");
      names.emplace_back(text);
    }
    set_names(std::move(names));
  } else if (key == "tune_params") {
    if (root->get(object) != simdjson::SUCCESS) throw error(key, "an object of the parameters' values");
    for (const auto field : object) {
      dom::array values;
      if (field.value.get(values) != simdjson::SUCCESS)
        throw error(fmt::format("tune_params.{}", field.key), "a list of values");
      auto& known_values = values_[std::string(field.key)];
      known_values.clear();
      for (const dom::element item : values) {
        auto value = value_of(item);
        if (!value) throw error(fmt::format("tune_params.{}", field.key), "a list of numbers, booleans or strings");
        if (std::find(known_values.begin(), known_values.end(), *value) == known_values.end()) {
          known_values.push_back(std::move(*value));
        }
      }
    }
  }
  return true;
}

/// What wattune wrote itself holds the parameters already. Entries that were read have those that were named before.
void KernelTunerReader::set_names(std::vector<std::string> names) {
  if (has_cache_ || results_.header.parameter_names == names) return;
  results_.header.parameter_values.clear();
  results_.header.parameter_kinds.clear();
  results_.header.restrictions.clear();
  results_.header.parameter_names = std::move(names);
}

void KernelTunerReader::take_problem_size(const dom::element& element) {
  std::vector<std::int64_t> sizes;
  std::int64_t size = 0;
  dom::array list;
  bool whole = true;
  if (element.get(size) == simdjson::SUCCESS) {
    sizes.push_back(size);
  } else if (element.get(list) == simdjson::SUCCESS) {
    for (const dom::element item : list) {
      whole = whole && item.get(size) == simdjson::SUCCESS;
      sizes.push_back(size);
    }
  } else {
    whole = false;
  }
  if (whole) {
    results_.header.problem_size = std::move(sizes);
  } else if (!element.is_null()) {
    results_.notes.emplace_back("key 'problem_size' is no list of whole numbers; dropped");
  }
}

void KernelTunerReader::read_cache(JsonStream& stream) {
  if (!stream.take('{')) throw error("cache", "an object of entries");
  if (results_.header.parameter_names.empty())
    throw error("tune_params_keys", "a list of the parameters' names, before 'cache'");
  has_cache_ = true;
  read_members(stream, true, results_.notes,
               [this](const std::string& key, std::string_view text) { return take_entry(key, text); });
}

bool KernelTunerReader::take_entry(const std::string& key, std::string_view json) {
  const auto root = parser_.parse(json);
  dom::object object;
  if (!root || root->get(object) != simdjson::SUCCESS) return false;
  const auto& names = results_.header.parameter_names;
  Evaluation evaluation;
  evaluation.configuration.resize(names.size());
  seen_.assign(names.size(), false);
  std::size_t due = 0;  // entries have the parameters first, in order
  const dom::element* extras = nullptr;
  dom::element extras_element;
  for (const auto field : object) {
    std::size_t place = due;
    if (place >= names.size() || names[place] != field.key) {
      place = static_cast<std::size_t>(std::find(names.begin(), names.end(), field.key) - names.begin());
    }
    if (place < names.size() && !seen_[place]) {
      auto value = value_of(field.value);
      if (!value) return false;
      evaluation.configuration[place] = std::move(*value);
      seen_[place] = true;
      due = place + 1;
    } else if (field.key == extras_key) {
      extras_element = field.value;
      extras = &extras_element;
    } else if (place < names.size()) {
      drops_.add("a parameter stands twice in an entry; the first counts", key);
    } else {
      take_field(evaluation, field.key, field.value);
    }
  }
  if (!complete_configuration(evaluation, key)) {
    drops_.add("entries that do not give every parameter were dropped", key);
    return true;
  }
  if (extras != nullptr) apply_extras(evaluation, *extras);
  const auto [found, is_new] = index_.try_emplace(key, results_.evaluations.size());
  if (is_new) {
    results_.evaluations.push_back(std::move(evaluation));
  } else {
    drops_.add("a configuration stands more than once; the last counts", key);
    results_.evaluations[found->second] = std::move(evaluation);
  }
  return true;
}

void KernelTunerReader::take_field(Evaluation& evaluation, std::string_view key, const dom::element& value) {
  double number = 0;
  std::string_view text;
  dom::array list;
  if (value.get(number) == simdjson::SUCCESS) {
    for (const PhaseName& phase : phase_names) {
      if (phase.kernel_tuner != key) continue;
      evaluation.phases[std::string(phase.phase)] = to_si(number, 1e3);
      return;
    }
    if (key == "time" && number >= failed_time) {
      if (evaluation.ok()) evaluation.outcome = Outcome::measurement;
      if (evaluation.message.empty()) evaluation.message = "recorded as failed (time 1e20)";
      return;
    }
    add_quantity(evaluation, key, number);
  } else if (value.get(text) == simdjson::SUCCESS) {
    take_text(evaluation, key, text);
  } else if (value.get(list) == simdjson::SUCCESS) {
    const std::string name(key == "times" ? "time" : key);
    const FileUnit unit = file_unit(name);
    std::vector<double> samples;
    samples.reserve(list.size());
    for (const dom::element item : list) {
      if (item.get(number) != simdjson::SUCCESS) {
        drops_.add(fmt::format("key '{}' is no list of numbers; dropped", shown(key)), "in an entry");
        return;
      }
      samples.push_back(to_si(number, unit.per_si));
    }
    if (samples.empty()) return;
    Quantity& quantity = evaluation.quantities[name];
    quantity.unit = unit.si;
    set_samples(quantity, std::move(samples));
  } else if (!value.is_null()) {
    drops_.add(fmt::format("key '{}' is no number; dropped", shown(key)), "in an entry");
  }
}

void KernelTunerReader::take_text(Evaluation& evaluation, std::string_view key, std::string_view text) {
  if (key == "timestamp") {
    evaluation.timestamp = text;
  } else if (const auto outcome = outcome_of_error(text)) {
    evaluation.outcome = *outcome;
  } else if (key == "__error__") {
    // A version's own name of a failure, or its message.
    if (evaluation.ok()) evaluation.outcome = Outcome::launch;
    evaluation.message = text;
  } else {
    drops_.add(fmt::format("key '{}' is no number; dropped", shown(key)), fmt::format("\"{}\"", shown(text)));
  }
}

/// Parameters that an entry does not give are in its key: the values' str(), joined by commas.
bool KernelTunerReader::complete_configuration(Evaluation& evaluation, const std::string& key) const {
  if (std::find(seen_.begin(), seen_.end(), false) == seen_.end()) return true;
  const auto& names = results_.header.parameter_names;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t end = i + 1 == names.size() ? key.size() : key.find(',', begin);
    if (end == std::string::npos || begin > key.size()) return false;
    const std::string text = key.substr(begin, end - begin);
    begin = end + 1;
    if (seen_[i]) continue;
    const auto known = values_.find(names[i]);
    if (known == values_.end()) return false;
    const auto value =
        std::find_if(known->second.begin(), known->second.end(), [&](const Value& v) { return v.str() == text; });
    if (value == known->second.end()) return false;
    evaluation.configuration[i] = *value;
  }
  return true;
}

void KernelTunerReader::finish() {
  JournalHeader& header = results_.header;
  if (header.parameter_names.empty()) throw error("tune_params_keys", "there, a list of the parameters' names");
  if (!has_cache_) results_.notes.emplace_back("the file ends before its results");
  header.parameter_values.resize(header.parameter_names.size());
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    const auto values = values_.find(header.parameter_names[i]);
    if (values != values_.end() && header.parameter_values[i].empty()) header.parameter_values[i] = values->second;
  }
  for (auto& note : drops_.notes()) results_.notes.push_back(std::move(note));
}

}  // namespace wattune
