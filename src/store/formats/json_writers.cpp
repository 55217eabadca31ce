// Writes Kernel Tuner caches, T4 results and journals.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "result/order.hpp"
#include "store/formats/formats.hpp"
#include "store/journal_header.hpp"
#include "store/journal_line.hpp"

namespace wattune {

namespace {

/// Members stay in the order in which they are written. Only for small objects: inserting takes linear time.
using json = nlohmann::ordered_json;

std::string text_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

json values_json(const std::vector<Value>& values) {
  json list = json::array();
  for (const Value& value : values) list.push_back(json(to_json(value)));
  return list;
}

json samples_json(const std::vector<double>& samples, double per_si) {
  json list = json::array();
  for (const double sample : samples) {
    list.push_back(std::isfinite(sample) ? json(to_file(sample, per_si)) : json(nullptr));
  }
  return list;
}

/// Seconds that a format's time stands for. What a journal splits into more phases is one there: all that is not
/// compiling, verifying and searching.
std::optional<double> seconds_of(const Evaluation& evaluation, std::string_view phase) {
  const auto found = evaluation.phases.find(std::string(phase));
  if (found != evaluation.phases.end()) {
    if (!std::isfinite(found->second)) return std::nullopt;
    return found->second;
  }
  if (phase != "benchmark") return std::nullopt;
  double sum = 0;
  bool any = false;
  for (const auto& phase : evaluation.phases) {
    const bool named = std::any_of(std::begin(phase_names), std::end(phase_names),
                                   [&](const auto& p) { return p.phase == phase.first; });
    if (named || !std::isfinite(phase.second)) continue;
    sum += phase.second;
    any = true;
  }
  return any ? std::optional<double>(sum) : std::nullopt;
}

/// What the evaluation was tuned for; the time where that is not known.
std::vector<std::string> objective_names(const Results& results) {
  return results.objectives.empty() ? std::vector<std::string>{"time"} : results.objectives;
}

std::string cache_key(const Evaluation& evaluation) {
  std::string key;
  for (const Value& value : evaluation.configuration) key += (key.empty() ? "" : ",") + value.str();
  return key;
}

json cache_entry(const Evaluation& evaluation, const Results& results) {
  json entry = json::object();
  const auto& names = results.header.parameter_names;
  for (std::size_t i = 0; i < names.size(); ++i) entry[names[i]] = json(to_json(evaluation.configuration[i]));
  for (const auto& [name, quantity] : evaluation.quantities) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;  // the key is the parameter's
    const double per_si = file_unit(name).per_si;
    const bool is_lost = !evaluation.ok();  // extras keep what a failure's entry cannot
    if (std::isfinite(quantity.value) && !is_lost) entry[name] = to_file(quantity.value, per_si);
    if (quantity.samples.empty()) continue;
    if (name == "time")
      entry["times"] = samples_json(quantity.samples, per_si);
    else if (!std::isfinite(quantity.value))
      entry[name] = samples_json(quantity.samples, per_si);
  }
  if (!evaluation.ok()) {
    const auto error = error_of_outcome(evaluation.outcome);
    for (const auto& objective : objective_names(results)) entry[objective] = error;
    entry["__error__"] = error;
  }
  for (const PhaseName& phase : phase_names) {
    if (const auto seconds = seconds_of(evaluation, phase.phase))
      entry[std::string(phase.kernel_tuner)] = to_file(*seconds, 1e3);
  }
  if (!evaluation.timestamp.empty()) entry["timestamp"] = evaluation.timestamp;
  Places places;
  places.outcome_back = evaluation.ok() ? Outcome::ok : *outcome_of_error(error_of_outcome(evaluation.outcome));
  const auto extras = extras_of(evaluation, places);
  if (!extras.empty()) entry[extras_key] = json(extras);
  return entry;
}

/// The entries' order: each configuration once, by the evaluation that counts.
std::vector<std::size_t> one_each(const Results& results, std::vector<std::string>& notes) {
  std::vector<std::size_t> indices = competing(results.evaluations);
  if (indices.size() < results.evaluations.size()) {
    notes.push_back(
        fmt::format("a Kernel Tuner cache holds one result for each configuration: {} further measurements "
                    "were left out",
                    results.evaluations.size() - indices.size()));
  }
  return indices;
}

std::string_view invalidity_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "correct";
    case Outcome::constraints:
    case Outcome::resources:
      return "constraints";
    case Outcome::compile:
      return "compile";
    case Outcome::timeout:
      return "timeout";
    case Outcome::correctness:
      return "correctness";
    default:
      return "runtime";
  }
}

Outcome outcome_back(Outcome outcome) {
  switch (outcome) {
    case Outcome::resources:
      return Outcome::constraints;
    case Outcome::crash:
    case Outcome::measurement:
    case Outcome::lost_device:
      return Outcome::launch;
    default:
      return outcome;
  }
}

json t4_measurements(const Evaluation& evaluation) {
  json list = json::array();
  for (const auto& [name, quantity] : evaluation.quantities) {
    const FileUnit unit = file_unit(name);
    const bool is_known = !unit.si.empty() && quantity.unit == unit.si;
    json measurement = json::object();
    measurement["name"] = name;
    if (std::isfinite(quantity.value)) {
      measurement["value"] = is_known ? to_file(quantity.value, unit.per_si) : quantity.value;
    } else if (!quantity.samples.empty() && name != "time") {
      measurement["value"] = samples_json(quantity.samples, is_known ? unit.per_si : 1);
    } else {
      continue;
    }
    measurement["unit"] = is_known ? std::string(unit.file) : quantity.unit;
    list.push_back(std::move(measurement));
  }
  return list;
}

json t4_result(const Evaluation& evaluation, const Results& results) {
  json result = json::object();
  if (!evaluation.timestamp.empty()) result["timestamp"] = evaluation.timestamp;
  json& configuration = result["configuration"] = json::object();
  const auto& names = results.header.parameter_names;
  for (std::size_t i = 0; i < names.size(); ++i) configuration[names[i]] = json(to_json(evaluation.configuration[i]));
  json& times = result["times"] = json::object();
  for (const PhaseName& phase : phase_names) {
    if (const auto seconds = seconds_of(evaluation, phase.phase)) times[std::string(phase.t4)] = to_file(*seconds, 1e3);
  }
  const auto time = evaluation.quantities.find("time");
  const bool has_samples = time != evaluation.quantities.end() && !time->second.samples.empty();
  times["runtimes"] = has_samples ? samples_json(time->second.samples, 1e3) : json::array();
  result["invalidity"] = invalidity_of(evaluation.outcome);
  result["correctness"] = evaluation.outcome == Outcome::correctness || !evaluation.ok() ? 0 : 1;
  result["measurements"] = t4_measurements(evaluation);
  result["objectives"] = objective_names(results);
  Places places;
  places.units = true;
  places.outcome_back = outcome_back(evaluation.outcome);
  const auto extras = extras_of(evaluation, places);
  if (!extras.empty()) result[extras_key] = json(extras);
  return result;
}

bool tells_more_than_parameters(const JournalHeader& header) {
  return !header.problem_hash.empty() || !header.board.empty() || !header.restrictions.empty() ||
         !header.version.empty();
}

}  // namespace

void write_kernel_tuner(const Results& results, ByteSink& out, std::vector<std::string>& notes) {
  const JournalHeader& header = results.header;
  json sizes = header.problem_size;
  if (header.problem_size.size() == 1) sizes = header.problem_size.front();
  json values = json::object();
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    values[header.parameter_names[i]] = values_json(header.parameter_values[i]);
  }
  const auto objectives = objective_names(results);
  out.write(fmt::format("{{\n\"device_name\": {},\n\"kernel_name\": {},\n\"problem_size\": {},\n",
                        text_of(header.device_name), text_of(header.problem_name), text_of(sizes)));
  // The cache itself has to come last: Kernel Tuner goes on with a file by cutting off its last two braces.
  out.write(fmt::format("\"tune_params_keys\": {},\n\"tune_params\": {},\n\"objective\": {},\n",
                        text_of(header.parameter_names), text_of(values),
                        objectives.size() == 1 ? text_of(objectives.front()) : text_of(objectives)));
  if (tells_more_than_parameters(header)) {
    out.write(fmt::format("\"{}\": {},\n", extras_key, header_to_json(header).dump()));
  }
  out.write("\"cache\": {");
  bool first = true;
  for (const std::size_t i : one_each(results, notes)) {
    const Evaluation& evaluation = results.evaluations[i];
    out.write(fmt::format("{}\n{}: {}", first ? "" : ",", text_of(cache_key(evaluation)),
                          text_of(cache_entry(evaluation, results))));
    first = false;
  }
  out.write("}\n}\n");
}

void write_t4(const Results& results, ByteSink& out) {
  json metadata = {{"timeunit", "milliseconds"}};
  // T4 has no place for the device and the values that parameters may take.
  metadata[extras_key] = json(header_to_json(results.header));
  out.write(fmt::format("{{\n\"schema_version\": \"1.0.0\",\n\"metadata\": {},\n\"results\": [", text_of(metadata)));
  bool first = true;
  for (const Evaluation& evaluation : results.evaluations) {
    out.write(fmt::format("{}\n{}", first ? "" : ",", text_of(t4_result(evaluation, results))));
    first = false;
  }
  out.write("\n]\n}\n");
}

void write_journal(const Results& results, ByteSink& out) {
  out.write(header_line(results.header));
  for (const Evaluation& evaluation : results.evaluations) {
    out.write(evaluation_line(evaluation, results.header.parameter_names));
  }
}

}  // namespace wattune
