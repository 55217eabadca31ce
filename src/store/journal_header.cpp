#include "store/journal_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace wattune {

namespace {

using nlohmann::json;

/// Marks a journal and gives the version of its format.
constexpr const char* format_key = "wattune_journal";
constexpr int known_format = 1;

json parameters_to_json(const JournalHeader& header) {
  json parameters = json::array();
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    json values = json::array();
    if (i < header.parameter_values.size()) {
      for (const auto& value : header.parameter_values[i]) values.push_back(to_json(value));
    }
    json parameter = {{"name", header.parameter_names[i]}, {"values", std::move(values)}};
    if (i < header.parameter_kinds.size()) parameter["kind"] = header.parameter_kinds[i];
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::string text(const json& object, const char* key) {
  return object.value(key, std::string());
}

/// An integer of its own type, never a number that was rounded or wrapped to be one.
template <typename Integer>
Integer integer(const json& value, const char* key) {
  if (!value.is_number_integer() || value != json(value.get<Integer>())) {
    throw UsageError(fmt::format("key '{}' is no integer that is possible there", key));
  }
  return value.get<Integer>();
}

JournalHeader from_json(const json& object) {
  JournalHeader header;
  header.format = integer<int>(object.at(format_key), format_key);
  const json& problem = object.at("problem");
  header.problem_hash = problem.at("hash").get<std::string>();
  header.problem_name = text(problem, "name");
  header.problem_file = text(problem, "file");
  for (const auto& size : problem.value("size", json::array())) {
    header.problem_size.push_back(integer<std::int64_t>(size, "size"));
  }
  for (const auto& parameter : object.at("parameters")) {
    const auto& name = header.parameter_names.emplace_back(parameter.at("name").get<std::string>());
    if (std::count(header.parameter_names.begin(), header.parameter_names.end(), name) > 1) {
      throw UsageError(fmt::format("parameter '{}' stands twice", name));
    }
    header.parameter_kinds.push_back(text(parameter, "kind"));
    auto& values = header.parameter_values.emplace_back();
    for (const auto& value : parameter.at("values")) values.push_back(value_from_json(value));
  }
  header.restrictions = object.value("restrictions", std::vector<std::string>());
  const json& device = object.at("device");
  header.device_name = device.at("name").get<std::string>();
  header.device_id = text(device, "id");
  header.board = text(device, "board");
  header.backend = device.at("backend").get<std::string>();
  header.driver = text(device, "driver");
  header.compiler = text(device, "compiler");
  header.simulated = device.value("simulated", false);
  header.meter = text(object, "meter");
  header.host = text(object, "host");
  header.seed = integer<std::uint64_t>(object.value("seed", json(std::uint64_t{0})), "seed");
  header.strategy = text(object, "strategy");
  header.version = text(object, "version");
  header.created = text(object, "created");
  return header;
}

std::optional<std::string> parameter_conflict(const JournalHeader& theirs, const JournalHeader& ours) {
  if (theirs.parameter_names != ours.parameter_names) {
    auto list = [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); };
    return fmt::format("its parameters are {}, not {}", list(theirs.parameter_names), list(ours.parameter_names));
  }
  for (std::size_t i = 0; i < std::min(theirs.parameter_values.size(), ours.parameter_values.size()); ++i) {
    if (theirs.parameter_values[i] == ours.parameter_values[i]) continue;
    return fmt::format("its parameter {} takes {}, not {}", theirs.parameter_names[i],
                       Value(theirs.parameter_values[i]).str(), Value(ours.parameter_values[i]).str());
  }
  return std::nullopt;
}

}  // namespace

std::string header_line(const JournalHeader& header) {
  // The keys in the order in which a reader wants them; nested objects are small.
  nlohmann::ordered_json object;
  object[format_key] = header.format;
  object["problem"] = json{{"hash", header.problem_hash},
                           {"name", header.problem_name},
                           {"file", header.problem_file},
                           {"size", header.problem_size}};
  object["device"] = json{{"name", header.device_name},   {"id", header.device_id},  {"board", header.board},
                          {"backend", header.backend},    {"driver", header.driver}, {"compiler", header.compiler},
                          {"simulated", header.simulated}};
  object["meter"] = header.meter;
  object["host"] = header.host;
  object["seed"] = header.seed;
  object["strategy"] = header.strategy;
  object["version"] = header.version;
  object["created"] = header.created;
  object["parameters"] = parameters_to_json(header);
  object["restrictions"] = header.restrictions;
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

JournalHeader parse_header(std::string_view line, const std::filesystem::path& file) {
  const json object = json::parse(line.begin(), line.end(), nullptr, false);
  if (!object.is_object() || !object.contains(format_key)) {
    throw UsageError(
        fmt::format("cannot read the journal '{}': line 1 is no journal header; name a journal of wattune, "
                    "or move this file away to begin a new one",
                    file.string()));
  }
  const json& format = object[format_key];
  if (format.is_number_integer() && format != known_format) {
    throw UsageError(
        fmt::format("cannot read the journal '{}': it has format {} and this version of wattune reads "
                    "format {}; use the version that wrote it",
                    file.string(), format.dump(), known_format));
  }
  try {
    return from_json(object);
  } catch (const json::exception& error) {
    throw UsageError(
        fmt::format("cannot read the journal '{}': its header in line 1 is damaged ({}); restore the line "
                    "from a copy, or move the file away to begin a new one",
                    file.string(), error.what()));
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("cannot read the journal '{}': its header in line 1 is damaged ({}); restore the line "
                    "from a copy, or move the file away to begin a new one",
                    file.string(), error.what()));
  }
}

std::optional<std::string> JournalHeader::conflict_with(const JournalHeader& other) const {
  if (problem_hash != other.problem_hash) {
    return fmt::format(
        "it is of another version of the problem (hash {}, not {}): the kernel, its data, parameters or "
        "options have changed",
        problem_hash, other.problem_hash);
  }
  if (backend != other.backend) return fmt::format("it is of backend {}, not {}", backend, other.backend);
  if (device_name != other.device_name) {
    return fmt::format("it is of device '{}', not '{}'", device_name, other.device_name);
  }
  if (simulated != other.simulated) {
    return simulated ? "it is of a simulated device, not a real one" : "it is of a real device, not a simulated one";
  }
  return parameter_conflict(*this, other);
}

}  // namespace wattune
