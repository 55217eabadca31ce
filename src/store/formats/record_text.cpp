#include "store/formats/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "base/error.hpp"
#include "store/formats/json_stream.hpp"
#include "store/journal_header.hpp"

namespace wattune {

namespace {

using nlohmann::json;
namespace dom = simdjson::dom;

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.substr(0, p.size()) == p; });
}

/// What follows from a quantity's single measurements: their number and the standard error of their mean.
void derive(const std::vector<double>& samples, double& standard_error, std::int64_t& n) {
  n = static_cast<std::int64_t>(samples.size());
  standard_error = std::numeric_limits<double>::quiet_NaN();
  if (samples.size() < 2) return;
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  standard_error = std::sqrt(squares / (count - 1) / count);
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// What a quantity is beyond value, unit by its name, and samples of the time.
json quantity_extras(const std::string& name, const Quantity& quantity, const Places& places, bool value_is_lost) {
  json object = json::object();
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  std::int64_t n = 0;
  if (!quantity.samples.empty()) derive(quantity.samples, standard_error, n);
  if (!same(quantity.stderr_value, standard_error) && std::isfinite(quantity.stderr_value)) {
    object["stderr"] = quantity.stderr_value;
  }
  if (quantity.n != n) object["n"] = quantity.n;
  if (!quantity.flags.empty()) object["flags"] = quantity.flags;
  if (!places.units && quantity.unit != file_unit(name).si) object["unit"] = quantity.unit;
  if (name != "time" && !quantity.samples.empty() && std::isfinite(quantity.value))
    object["samples"] = quantity.samples;
  const double per_si = file_unit(name).per_si;
  const bool is_exact = to_si(to_file(quantity.value, per_si), per_si) == quantity.value;
  if ((value_is_lost || !is_exact) && std::isfinite(quantity.value)) object["value"] = quantity.value;
  return object;
}

/// Whether a format's own times keep these phases.
bool phases_are_kept(const std::map<std::string, double>& phases) {
  return std::all_of(phases.begin(), phases.end(), [](const auto& phase) {
    const bool has_name = std::any_of(std::begin(phase_names), std::end(phase_names),
                                      [&](const PhaseName& name) { return name.phase == phase.first; });
    return has_name && to_si(to_file(phase.second, 1e3), 1e3) == phase.second;
  });
}

std::string text_or_empty(const dom::element& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

void take_integer(const dom::element& element, std::int64_t& target) {
  std::int64_t number = 0;
  if (element.get(number) == simdjson::SUCCESS) target = number;
}

void apply_quantity(Quantity& quantity, const dom::object& object) {
  for (const auto field : object) {
    double number = 0;
    dom::array list;
    if (field.key == "stderr" && field.value.get(number) == simdjson::SUCCESS) quantity.stderr_value = number;
    if (field.key == "value" && field.value.get(number) == simdjson::SUCCESS) quantity.value = number;
    if (field.key == "n") take_integer(field.value, quantity.n);
    if (field.key == "unit") quantity.unit = text_or_empty(field.value);
    if (field.key == "flags" && field.value.get(list) == simdjson::SUCCESS) {
      for (const auto flag : list) quantity.flags.push_back(text_or_empty(flag));
    }
    if (field.key == "samples" && field.value.get(list) == simdjson::SUCCESS) {
      for (const auto sample : list) {
        if (sample.get(number) == simdjson::SUCCESS) quantity.samples.push_back(number);
      }
    }
  }
}

void apply_text(Evaluation& evaluation, std::string_view key, const dom::element& value) {
  if (key == "message") evaluation.message = text_or_empty(value);
  if (key == "tier") evaluation.tier = text_or_empty(value);
  if (key == "verification") evaluation.verification = text_or_empty(value);
  if (key == "board") evaluation.board = text_or_empty(value);
  if (key == "run") evaluation.run = text_or_empty(value);
  if (key == "outcome") evaluation.outcome = outcome_from(text_or_empty(value)).value_or(evaluation.outcome);
}

}  // namespace

FileUnit file_unit(std::string_view name) {
  if (name == "time" || name == "time_min" || name == "time_spread" || name == "reset_time") return {1e3, "s", "ms"};
  if (name == "core_freq" || name == "mem_freq" || name == "pwr_core_freq" || name == "pwr_mem_freq" ||
      name == "sm_clock" || name == "memory_clock" || name == "nvml_gr_clock" || name == "nvml_mem_clock") {
    return {1e-6, "Hz", "MHz"};
  }
  if (name == "energy" || name == "power" || starts_with_any(name, {"nvml_", "ps_", "pmt_", "tegra_", "hip_"})) {
    if (name.ends_with("energy")) return {1, "J", "J"};
    if (name.ends_with("power")) return {1, "W", "W"};
  }
  if (name == "temperature") return {1, "degC", "degC"};
  return {};
}

std::optional<UnitScale> unit_scale(std::string_view unit) {
  struct Named {
    std::string_view name;
    UnitScale scale;
  };
  static constexpr std::array<Named, 27> units = {{
      {"s", {1, "s"}},
      {"seconds", {1, "s"}},
      {"second", {1, "s"}},
      {"ms", {1e-3, "s"}},
      {"milliseconds", {1e-3, "s"}},
      {"miliseconds", {1e-3, "s"}},
      {"millisecond", {1e-3, "s"}},
      {"us", {1e-6, "s"}},
      {"microseconds", {1e-6, "s"}},
      {"ns", {1e-9, "s"}},
      {"nanoseconds", {1e-9, "s"}},
      {"J", {1, "J"}},
      {"joule", {1, "J"}},
      {"joules", {1, "J"}},
      {"mJ", {1e-3, "J"}},
      {"kJ", {1e3, "J"}},
      {"W", {1, "W"}},
      {"watt", {1, "W"}},
      {"watts", {1, "W"}},
      {"mW", {1e-3, "W"}},
      {"kW", {1e3, "W"}},
      {"Hz", {1, "Hz"}},
      {"kHz", {1e3, "Hz"}},
      {"MHz", {1e6, "Hz"}},
      {"GHz", {1e9, "Hz"}},
      {"degC", {1, "degC"}},
      {"C", {1, "degC"}},
  }};
  const auto found = std::find_if(units.begin(), units.end(), [&](const Named& named) { return named.name == unit; });
  if (found == units.end()) return std::nullopt;
  return found->scale;
}

double to_si(double number, double per_si) {
  // One division or multiplication by a whole power of ten, which loses least.
  return per_si >= 1 ? number / per_si : number * (1 / per_si);
}

double to_file(double number, double per_si) {
  if (per_si == 1) return number;
  const double near = per_si >= 1 ? number * per_si : number / (1 / per_si);
  const double around[] = {near, std::nextafter(near, 0.0), std::nextafter(near, near * 2)};
  double result = near;
  std::size_t shortest = 0;
  // Of those that are read back as this number, the one that a person would have written.
  for (const double candidate : around) {
    if (to_si(candidate, per_si) != number) continue;
    const std::size_t length = number_text(candidate).size();
    if (shortest != 0 && length >= shortest) continue;
    shortest = length;
    result = candidate;
  }
  return result;
}

std::optional<Outcome> outcome_of_error(std::string_view name) {
  if (name == "InvalidConfig") return Outcome::constraints;
  if (name == "CompilationFailedConfig") return Outcome::compile;
  if (name == "RuntimeFailedConfig") return Outcome::launch;
  return std::nullopt;
}

std::string_view error_of_outcome(Outcome outcome) {
  if (outcome == Outcome::constraints || outcome == Outcome::resources) return "InvalidConfig";
  return outcome == Outcome::compile ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

json extras_of(const Evaluation& evaluation, const Places& places) {
  json extras = json::object();
  if (evaluation.outcome != places.outcome_back) extras["outcome"] = to_string(evaluation.outcome);
  if (!places.message && !evaluation.message.empty()) extras["message"] = evaluation.message;
  if (evaluation.tier != "screen") extras["tier"] = evaluation.tier;
  if (evaluation.trial != 0) extras["trial"] = evaluation.trial;
  if (!evaluation.verification.empty()) extras["verification"] = evaluation.verification;
  if (!evaluation.board.empty()) extras["board"] = evaluation.board;
  if (evaluation.proposal != 0) extras["proposal"] = evaluation.proposal;
  if (evaluation.told != 0) extras["told"] = evaluation.told;
  if (evaluation.asked != 0) extras["asked"] = evaluation.asked;
  if (evaluation.declined != 0) extras["declined"] = evaluation.declined;
  if (!evaluation.run.empty()) extras["run"] = evaluation.run;
  if (!evaluation.resources.empty()) extras["resources"] = evaluation.resources;
  if (!phases_are_kept(evaluation.phases)) extras["phases"] = evaluation.phases;
  for (const auto& [name, quantity] : evaluation.quantities) {
    json rest = quantity_extras(name, quantity, places, !evaluation.ok());
    if (!rest.empty()) extras["quantities"][name] = std::move(rest);
  }
  return extras;
}

void apply_extras(Evaluation& evaluation, const dom::element& extras) {
  dom::object object;
  if (extras.get(object) != simdjson::SUCCESS) return;
  for (const auto field : object) {
    dom::object members;
    const bool is_object = field.value.get(members) == simdjson::SUCCESS;
    if (field.key == "trial") take_integer(field.value, evaluation.trial);
    if (field.key == "proposal") take_integer(field.value, evaluation.proposal);
    if (field.key == "told") take_integer(field.value, evaluation.told);
    if (field.key == "asked") take_integer(field.value, evaluation.asked);
    if (field.key == "declined") take_integer(field.value, evaluation.declined);
    apply_text(evaluation, field.key, field.value);
    if (!is_object) continue;
    if (field.key == "phases") evaluation.phases.clear();
    for (const auto member : members) {
      double seconds = 0;
      std::int64_t amount = 0;
      dom::object quantity;
      const std::string name(member.key);
      if (field.key == "phases" && member.value.get(seconds) == simdjson::SUCCESS) evaluation.phases[name] = seconds;
      if (field.key == "resources" && member.value.get(amount) == simdjson::SUCCESS)
        evaluation.resources[name] = amount;
      if (field.key == "quantities" && member.value.get(quantity) == simdjson::SUCCESS) {
        apply_quantity(evaluation.quantities[name], quantity);
      }
    }
  }
}

json header_to_json(const JournalHeader& header) {
  return json::parse(header_line(header));
}

bool apply_header(JournalHeader& header, std::string_view text) {
  try {
    JournalHeader read = parse_header(text, "");
    // What the file itself says goes before.
    if (!header.parameter_names.empty() && header.parameter_names != read.parameter_names) return false;
    header = std::move(read);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

void add_quantity(Evaluation& evaluation, std::string_view name, double number_in_file) {
  if (!std::isfinite(number_in_file)) return;
  const FileUnit unit = file_unit(name);
  Quantity& quantity = evaluation.quantities[std::string(name)];
  quantity.value = to_si(number_in_file, unit.per_si);
  quantity.unit = unit.si;
}

void set_samples(Quantity& quantity, std::vector<double> samples) {
  quantity.samples = std::move(samples);
  derive(quantity.samples, quantity.stderr_value, quantity.n);
}

std::optional<dom::element> LenientParser::parse(std::string_view text) {
  dom::element root;
  if (parser_.parse(text.data(), text.size(), false).get(root) == simdjson::SUCCESS) return root;
  // Python writes these, and they are no JSON.
  repaired_.assign(text);
  bool changed = false;
  bool in_string = false;
  for (std::size_t i = 0; i < repaired_.size(); ++i) {
    if (in_string) {
      if (repaired_[i] == '\\')
        ++i;
      else if (repaired_[i] == '"')
        in_string = false;
      continue;
    }
    if (repaired_[i] == '"') in_string = true;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity", "nan"}) {
      if (repaired_.compare(i, word.size(), word) != 0) continue;
      repaired_.replace(i, word.size(), "null");
      i += 3;
      changed = true;
      break;
    }
  }
  if (!changed) return std::nullopt;
  repaired_.reserve(repaired_.size() + JsonStream::padding);
  if (parser_.parse(repaired_.data(), repaired_.size(), false).get(root) != simdjson::SUCCESS) return std::nullopt;
  return root;
}

std::optional<Value> value_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::BOOL:
      return Value(bool(element));
    case dom::element_type::INT64:
      return Value(std::int64_t(element));
    case dom::element_type::UINT64:
      return Value(double(std::uint64_t(element)));
    case dom::element_type::DOUBLE:
      return Value(double(element));
    case dom::element_type::STRING:
      return Value(std::string(std::string_view(element)));
    case dom::element_type::ARRAY: {
      Value::List list;
      for (const dom::element item : dom::array(element)) {
        auto value = value_of(item);
        if (!value) return std::nullopt;
        list.push_back(std::move(*value));
      }
      return Value(std::move(list));
    }
    default:
      return std::nullopt;
  }
}

void complete_header(Results& results) {
  JournalHeader& header = results.header;
  header.parameter_values.resize(header.parameter_names.size());
  header.parameter_kinds.resize(header.parameter_names.size());
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    const std::string& name = header.parameter_names[i];
    if (name == "nvml_gr_clock" || name == "nvml_mem_clock" || name == "nvml_pwr_limit") {
      header.parameter_kinds[i] = to_string(ParameterKind::device_setting);
    }
    auto& values = header.parameter_values[i];
    if (!values.empty()) continue;
    std::map<std::string, Value> seen;  // by what equal values share
    for (const auto& evaluation : results.evaluations) {
      std::string key;
      append_key(key, {evaluation.configuration[i]});
      seen.try_emplace(std::move(key), evaluation.configuration[i]);
    }
    for (auto& [key, value] : seen) values.push_back(std::move(value));
    std::stable_sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
      if (a.is_number() != b.is_number()) return a.is_number();
      return a.is_number() ? a.as_double() < b.as_double() : a.str() < b.str();
    });
  }
}

void number_trials(Results& results) {
  std::unordered_map<std::string, std::int64_t> next;
  next.reserve(results.evaluations.size());
  for (auto& evaluation : results.evaluations) {
    std::string key = evaluation.tier + ' ';
    append_key(key, evaluation.configuration);
    std::int64_t& trial = next[key];
    // No file has so many; a damaged number shall not overflow.
    constexpr std::int64_t most_trials = 1'000'000'000;
    evaluation.trial = std::clamp(evaluation.trial, trial, std::max(trial, most_trials));
    trial = evaluation.trial + 1;
  }
}

std::string number_text(double number) {
  std::string text = fmt::format("{}", number);
  // A float stays one: "1485.0", as Python has it.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace wattune
