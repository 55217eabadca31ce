#include "store/formats/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"
#include "base/file.hpp"
#include "result/order.hpp"

namespace wattune {

namespace {

using nlohmann::json;

constexpr const char* format_key = "wattune_tuned";
constexpr int known_format = 1;

struct Architecture {
  std::string_view part;  ///< of the model's name
  std::string_view name;
};
// The first that occurs counts: "RTX 4000 Ada" is no "RTX 4000" (Turing), "RTX A4000" has the A.
constexpr std::array<Architecture, 45> architectures = {{
    {"B200", "Blackwell"},   {"B100", "Blackwell"},    {"GB10", "Blackwell"},
    {"RTX 50", "Blackwell"}, {"RTX PRO", "Blackwell"}, {"Blackwell", "Blackwell"},
    {"H100", "Hopper"},      {"H200", "Hopper"},       {"H800", "Hopper"},
    {"H20", "Hopper"},       {"GH200", "Hopper"},      {" Ada", "Ada"},
    {"RTX 40", "Ada"},       {"L40", "Ada"},           {"L4", "Ada"},
    {"L20", "Ada"},          {"A100", "Ampere"},       {"A800", "Ampere"},
    {"A30", "Ampere"},       {"A40", "Ampere"},        {"A10", "Ampere"},
    {"A16", "Ampere"},       {"RTX 30", "Ampere"},     {"RTX A", "Ampere"},
    {"Orin", "Ampere"},      {"V100", "Volta"},        {"TITAN V", "Volta"},
    {"Xavier", "Volta"},     {"T4", "Turing"},         {"RTX 20", "Turing"},
    {"TITAN RTX", "Turing"}, {"GTX 16", "Turing"},     {"Quadro RTX", "Turing"},
    {"P100", "Pascal"},      {"GTX 10", "Pascal"},     {"P40", "Pascal"},
    {"MI300", "CDNA3"},      {"MI325", "CDNA3"},       {"MI250", "CDNA2"},
    {"MI210", "CDNA2"},      {"MI100", "CDNA"},        {"RX 79", "RDNA3"},
    {"RX 78", "RDNA3"},      {"W7800", "RDNA3"},       {"W6600", "RDNA2"},
}};

/// A name that C++ takes.
std::string identifier(std::string_view name) {
  static constexpr std::string_view keywords[] = {
      "int",    "float",    "double", "bool", "char",     "short",  "long",     "class", "struct",   "default",
      "switch", "case",     "for",    "do",   "if",       "else",   "while",    "new",   "delete",   "this",
      "auto",   "register", "union",  "enum", "const",    "static", "inline",   "and",   "or",       "not",
      "xor",    "try",      "goto",   "void", "unsigned", "signed", "template", "using", "namespace"};
  std::string result;
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) result = '_';
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    result += plain ? c : '_';
  }
  if (std::find(std::begin(keywords), std::end(keywords), result) != std::end(keywords)) result += '_';
  return result;
}

/// In quotes. Whatever a device or a problem is called, it ends no line and no string.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f || c == '?')
      result += fmt::format("\\{:03o}", byte);
    else
      result += c;
  }
  return result + '"';
}

std::string comment(std::string_view text) {
  std::string result;
  for (const char c : text) result += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? ' ' : c;
  return result;
}

std::string_view type_of(std::span<const Tuned* const> entries, std::size_t parameter) {
  bool boolean = true;
  bool integer = true;
  bool number = true;
  for (const Tuned* entry : entries) {
    const Value& value = entry->configuration[parameter];
    if (value.is_list()) {
      throw UsageError(
          fmt::format("parameter '{}' of '{}' takes lists, which a header of constants cannot hold; export JSON",
                      entry->parameter_names[parameter], entry->problem));
    }
    boolean = boolean && value.is_bool();
    integer = integer && (value.is_int() || value.is_bool());
    number = number && value.is_number();
  }
  return boolean ? "bool" : integer ? "std::int64_t" : number ? "double" : "std::string_view";
}

std::string constant(const Value& value, std::string_view type) {
  if (type == "bool") return value.as_bool() ? "true" : "false";
  if (type == "std::string_view") return literal(value.str());
  if (type == "double") return fmt::format("{}", value.as_double());
  const std::int64_t number = value.as_int();
  return number == INT64_MIN ? "INT64_MIN" : fmt::format("{}", number);
}

constexpr std::string_view header_top =
    R"(// The best configurations found by wattune, by device and problem size. Written by `wattune export --header`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
)";

/// The lookup of a namespace of the header. It follows find_tuned().
constexpr std::string_view header_lookup = R"(
/// How an entry matched, the best first.
enum class Match { exact, nearest_size, architecture, architecture_nearest_size, other, none };

struct Found {
  const Entry* entry;  ///< null where there is none
  Match match;
};

/// The entry that serves best. Give the device's architecture ("Ampere") to have another model of it preferred.
constexpr Found find(std::string_view device, const Size& size, std::string_view architecture = {}) {
  Found best{nullptr, Match::none};
  double best_ratio = 0;
  for (const Entry& entry : entries) {
    bool same_size = true;
    double ratio = 1;  // of the sizes, the larger to the smaller in each dimension
    for (std::size_t i = 0; i < size.size(); ++i) {
      const auto ours = static_cast<double>(size[i]);
      const auto theirs = static_cast<double>(entry.size[i]);
      same_size = same_size && size[i] == entry.size[i];
      if (ours > 0 && theirs > 0) ratio *= ours > theirs ? ours / theirs : theirs / ours;
    }
    const bool same_architecture = !architecture.empty() && entry.architecture == architecture;
    const Match match = entry.device == device ? (same_size ? Match::exact : Match::nearest_size)
                        : same_architecture    ? (same_size ? Match::architecture : Match::architecture_nearest_size)
                                               : Match::other;
    if (match < best.match || (match == best.match && ratio < best_ratio)) {
      best = {&entry, match};
      best_ratio = ratio;
    }
  }
  return best;
}
)";

std::string header_namespace(std::span<const Tuned* const> entries) {
  const Tuned& first = *entries.front();
  std::string text = fmt::format("\n/// {}\nnamespace wattune_tuned::{} {{\n\nstruct Configuration {{\n",
                                 comment(first.problem), identifier(first.problem));
  std::vector<std::string_view> types;
  for (std::size_t i = 0; i < first.parameter_names.size(); ++i) {
    types.push_back(type_of(entries, i));
    text += fmt::format("  {} {};\n", types.back(), identifier(first.parameter_names[i]));
  }
  const std::size_t dimensions = std::max<std::size_t>(1, first.problem_size.size());
  text += fmt::format("}};\n\nusing Size = std::array<std::int64_t, {}>;\n\n", dimensions);
  text +=
      "struct Entry {\n  std::string_view device;        ///< model\n  std::string_view architecture;  ///< empty: not "
      "known\n"
      "  Size size;                      ///< of the problem; zeros: not known\n  Configuration configuration;\n};\n\n";
  text += "inline constexpr Entry entries[] = {\n";
  for (const Tuned* entry : entries) {
    std::string sizes;
    std::string values;
    for (std::size_t i = 0; i < dimensions; ++i) {
      sizes += fmt::format("{}{}", i == 0 ? "" : ", ", i < entry->problem_size.size() ? entry->problem_size[i] : 0);
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      values += fmt::format("{}{}", i == 0 ? "" : ", ", constant(entry->configuration[i], types[i]));
    }
    const auto value = entry->quantities.find(entry->objective.name);
    const bool has_value = value != entry->quantities.end();
    text += fmt::format("    // {} {}{}\n    {{{}, {}, {{{{{}}}}}, {{{}}}}},\n",
                        entry->objective.direction == Direction::minimize ? "least" : "most",
                        comment(entry->objective.name),
                        has_value ? fmt::format(": {} {}", value->second.value, comment(value->second.unit)) : "",
                        literal(entry->device), literal(architecture_of(entry->device)), sizes, values);
  }
  text += "};\n";
  text += header_lookup;
  text += fmt::format("\n}}  // namespace wattune_tuned::{}\n", identifier(first.problem));
  return text;
}

double distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > 0 && b[i] > 0) sum += std::fabs(std::log(static_cast<double>(a[i]) / static_cast<double>(b[i])));
  }
  return sum;
}

Tuned tuned_from_json(const json& object) {
  Tuned tuned;
  tuned.problem = object.at("problem").get<std::string>();
  tuned.device = object.at("device").get<std::string>();
  tuned.problem_size = object.at("problem_size").get<std::vector<std::int64_t>>();
  tuned.objective.name = object.at("objective").get<std::string>();
  const auto direction = object.at("direction").get<std::string>();
  if (direction != "minimize" && direction != "maximize")
    throw UsageError("key 'direction' must be minimize or maximize");
  tuned.objective.direction = direction == "minimize" ? Direction::minimize : Direction::maximize;
  for (const auto& parameter : object.at("parameters")) {
    tuned.parameter_names.push_back(parameter.get<std::string>());
    tuned.configuration.push_back(value_from_json(object.at("configuration").at(tuned.parameter_names.back())));
  }
  for (const auto& [name, quantity] : object.at("quantities").items())
    tuned.quantities[name] = quantity_from_json(quantity);
  return tuned;
}

}  // namespace

std::optional<Tuned> best_of(const Results& results, const Objective& objective) {
  const auto index = best(results.evaluations, competing(results.evaluations), objective);
  if (!index) return std::nullopt;
  const Evaluation& evaluation = results.evaluations[*index];
  const JournalHeader& header = results.header;
  Tuned tuned{header.problem_name,    header.device_name,       header.problem_size,  objective,
              header.parameter_names, evaluation.configuration, evaluation.quantities};
  for (auto& [name, quantity] : tuned.quantities) quantity.samples.clear();
  return tuned;
}

json to_json(std::span<const Tuned> tuned) {
  json entries = json::array();
  for (const Tuned& entry : tuned) {
    json configuration = json::object();
    for (std::size_t i = 0; i < entry.parameter_names.size(); ++i)
      configuration[entry.parameter_names[i]] = to_json(entry.configuration[i]);
    json quantities = json::object();
    for (const auto& [name, quantity] : entry.quantities) quantities[name] = to_json(quantity);
    entries.push_back({{"problem", entry.problem},
                       {"device", entry.device},
                       {"architecture", architecture_of(entry.device)},
                       {"problem_size", entry.problem_size},
                       {"objective", entry.objective.name},
                       {"direction", to_string(entry.objective.direction)},
                       {"parameters", entry.parameter_names},
                       {"configuration", std::move(configuration)},
                       {"quantities", std::move(quantities)}});
  }
  return {{format_key, known_format}, {"entries", std::move(entries)}};
}

std::vector<Tuned> read_tuned(const std::filesystem::path& file) {
  const json root = json::parse(read_file(file, "the tuned configurations"), nullptr, false);
  const auto fail = [&](const std::string& what) {
    return UsageError(fmt::format(
        "cannot read the tuned configurations '{}': {}; write them anew with 'wattune export'", file.string(), what));
  };
  if (!root.is_object() || !root.contains(format_key)) throw fail(fmt::format("there is no key '{}'", format_key));
  if (root[format_key] != known_format) throw fail(fmt::format("format {} is not known", root[format_key].dump()));
  std::vector<Tuned> tuned;
  try {
    for (const auto& entry : root.at("entries")) tuned.push_back(tuned_from_json(entry));
  } catch (const json::exception& error) {
    throw fail(fmt::format("entry {}: {}", tuned.size(), error.what()));
  } catch (const UsageError& error) {
    throw fail(fmt::format("entry {}: {}", tuned.size(), error.what()));
  }
  return tuned;
}

std::string tuned_header(std::span<const Tuned> tuned) {
  std::vector<std::vector<const Tuned*>> groups;
  for (const Tuned& entry : tuned) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return identifier(g.front()->problem) == identifier(entry.problem);
    });
    if (group == groups.end()) {
      groups.push_back({&entry});
      continue;
    }
    const Tuned& first = *group->front();
    if (first.parameter_names != entry.parameter_names || first.problem_size.size() != entry.problem_size.size()) {
      throw UsageError(
          fmt::format("results of '{}' have different parameters or dimensions of the problem; export them one by one",
                      entry.problem));
    }
    group->push_back(&entry);
  }
  std::string text(header_top);
  for (const auto& group : groups) text += header_namespace(group);
  return text;
}

std::string_view architecture_of(std::string_view device) {
  for (const Architecture& architecture : architectures) {
    const std::size_t at = device.find(architecture.part);
    // "A100" is not part of "RTXA1000": what stands before a part is no letter and no digit.
    if (at == std::string_view::npos) continue;
    const char before = at == 0 ? ' ' : device[at - 1];
    const bool apart =
        architecture.part.front() == ' ' ||
        !((before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z') || (before >= '0' && before <= '9'));
    if (apart) return architecture.name;
  }
  return {};
}

std::string_view to_string(DeviceMatch match) {
  return match == DeviceMatch::model          ? "same model"
         : match == DeviceMatch::architecture ? "same architecture"
                                              : "another device";
}

std::string_view to_string(SizeMatch match) {
  return match == SizeMatch::exact ? "same size" : match == SizeMatch::nearest ? "nearest size" : "size not known";
}

std::optional<TunedMatch> find_tuned(std::span<const Tuned> tuned, std::string_view device,
                                     std::span<const std::int64_t> problem_size) {
  const std::string_view architecture = architecture_of(device);
  std::optional<TunedMatch> best;
  const auto rank = [](const TunedMatch& match) { return std::tuple(match.device, match.size, match.size_distance); };
  for (const Tuned& entry : tuned) {
    TunedMatch match{&entry};
    if (entry.device == device)
      match.device = DeviceMatch::model;
    else if (!architecture.empty() && architecture_of(entry.device) == architecture)
      match.device = DeviceMatch::architecture;
    if (!problem_size.empty() && problem_size.size() == entry.problem_size.size()) {
      match.size_distance = distance(problem_size, entry.problem_size);
      match.size = std::ranges::equal(problem_size, entry.problem_size) ? SizeMatch::exact : SizeMatch::nearest;
    }
    if (!best || rank(match) < rank(*best)) best = match;
  }
  return best;
}

}  // namespace wattune
