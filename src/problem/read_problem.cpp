// The root of a problem file, and what the readers of its sections share.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/file.hpp"
#include "expr/nearest_name.hpp"
#include "problem/reader.hpp"

namespace wattune {

namespace fs = std::filesystem;

void Reading::warn_at(std::string_view place, std::string_view message) {
  problem.warnings.push_back(one_line(fmt::format("{}: {}", place, message)));
}

std::optional<JsonNode> Reading::addition(std::string_view name) const {
  return additions ? additions->find(name) : std::nullopt;
}

Expression read_expression(const JsonNode& node) {
  try {
    return Expression::parse(node.is_number() ? node.text() : node.string());
  } catch (const ExpressionError& error) {
    node.fail(error.what());
  }
}

void check_names(const JsonNode& node, const Expression& expression, const std::vector<std::string>& names) {
  try {
    static_cast<void>(expression.compile(names));
  } catch (const ExpressionError& error) {
    node.fail(error.what());
  }
}

std::vector<std::string> names_in_scope(const Problem& problem) {
  std::vector<std::string> names = problem.parameter_names();
  if (!problem.problem_size.empty()) names.emplace_back("ProblemSize");
  return names;
}

void check_names_in_scope(const Reading& reading, const JsonNode& node, const Expression& expression,
                          const std::string& further) {
  const auto& used = expression.names();
  if (reading.problem.problem_size.empty() && std::find(used.begin(), used.end(), "ProblemSize") != used.end()) {
    node.fail("uses ProblemSize, which is not given; add it to KernelSpecification");
  }
  std::vector<std::string> names = names_in_scope(reading.problem);
  if (!further.empty()) names.push_back(further);
  check_names(node, expression, names);
}

void warn_unknown_keys(Reading& reading, const JsonNode& node, std::initializer_list<std::string_view> known) {
  for (const auto& [name, member] : node.members()) {
    if (std::find(known.begin(), known.end(), name) != known.end() || !node.find(name)) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    reading.warn(member, fmt::format("unknown key, ignored{}", did_you_mean(name, names)));
  }
}

void refuse_unknown_keys(const JsonNode& node, std::initializer_list<std::string_view> known) {
  for (const auto& [name, member] : node.members()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    member.fail(fmt::format("unknown key{}; known here: {}", did_you_mean(name, names), joined(names)));
  }
}

std::size_t parameter_index(const Problem& problem, const JsonNode& where, std::string_view name) {
  const std::vector<std::string> names = problem.parameter_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  where.fail(
      fmt::format("there is no parameter '{}'{}; give one of: {}", name, did_you_mean(name, names), joined(names)));
}

std::string read_named_file(const JsonNode& node, const fs::path& path, std::string_view what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // A pipe or a device could block or never end.
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    node.fail(fmt::format("{} '{}' is no regular file; name one", what, path.string()));
  }
  try {
    return read_file(path, what);
  } catch (const UsageError& failure) {
    node.fail(failure.what());
  }
}

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

namespace {

void read_general(Reading& reading, const JsonNode& root) {
  const auto general = root.find("General");
  if (!general) return;
  warn_unknown_keys(reading, *general,
                    {"BenchmarkName", "FormatVersion", "LoggingLevel", "TimeUnit", "OutputFile", "OutputFormat"});
  if (const auto name = general->find("BenchmarkName")) reading.problem.name = name->string();
  if (const auto version = general->find("FormatVersion"); version && version->integer() != 1) {
    reading.warn(*version, fmt::format("format version {} is unknown; read as version 1", version->integer()));
  }
  if (const auto level = general->find("LoggingLevel")) {
    static_cast<void>(level->one_of({"Off", "Error", "Warning", "Info", "Debug"}));
    reading.warn(*level, "ignored; logging is set on the command line");
  }
  if (const auto unit = general->find("TimeUnit")) {
    static_cast<void>(unit->one_of({"Nanoseconds", "Microseconds", "Milliseconds", "Seconds"}));
    reading.warn(*unit, "ignored; each output format has its own unit of time");
  }
  if (const auto file = general->find("OutputFile")) {
    static_cast<void>(file->string());
    reading.warn(*file, "ignored; the output folder is set on the command line");
  }
  if (const auto format = general->find("OutputFormat"); format && format->one_of({"JSON", "XML"}) == "XML") {
    format->fail("XML is not supported; give JSON");
  }
}

void read_search(Reading& reading, const JsonNode& root) {
  const auto search = root.find("Search");
  if (!search) return;
  warn_unknown_keys(reading, *search, {"Name", "Attributes"});
  static_cast<void>(search->at("Name").string());
  reading.warn(*search, "ignored; the search strategy is chosen on the command line");
}

void read_additions(Reading& reading, const JsonNode& root) {
  reading.additions = root.find("wattune");
  if (!reading.additions) return;
  refuse_unknown_keys(*reading.additions,
                      {"Metrics", "Objectives", "SubjectTo", "Workload", "Observers", "DeviceSettings", "Verification",
                       "Defines", "Kinds", "Arguments", "Sources", "Steps", "LaunchFunction"});
  for (const std::string_view name : {"Steps"}) {
    if (const auto node = reading.addition(name)) node->fail("not supported yet in this version; remove it");
  }
}

/// Whether the program knows them is for those to say who measure.
void read_extensions(Reading& reading) {
  if (const auto name = reading.addition("LaunchFunction")) {
    reading.problem.launch_function = name->string();
    if (reading.problem.launch_function.empty()) name->fail("is empty; name a launch function, or remove the key");
  }
  const auto observers = reading.addition("Observers");
  if (!observers) return;
  auto& names = reading.problem.observers;
  for (const JsonNode& node : observers->items()) {
    const std::string name = node.string();
    if (name.empty()) node.fail("is empty; name an observer");
    if (std::find(names.begin(), names.end(), name) != names.end()) node.fail("is named twice; remove one");
    names.push_back(name);
  }
}

void override_problem_size(Reading& reading, const JsonNode& root) {
  const auto& wanted = reading.options.problem_size;
  if (!wanted) return;
  auto& size = reading.problem.problem_size;
  if (!size.empty() && size.size() != wanted->size()) {
    throw UsageError(fmt::format("{}: the problem size given has {} numbers, the file's ProblemSize {}; give {}",
                                 root.place(), wanted->size(), size.size(), size.size()));
  }
  for (const std::int64_t n : *wanted) {
    if (n < 1)
      throw UsageError(fmt::format("{}: the problem size given holds {}; give positive integers", root.place(), n));
  }
  size = *wanted;
}

void read_problem_size(Reading& reading, const JsonNode& specification) {
  const auto node = specification.find("ProblemSize");
  if (!node) return;
  const std::vector<JsonNode> items = node->is_list() ? node->items() : std::vector<JsonNode>{*node};
  if (items.empty()) node->fail("is empty; give one number or more");
  for (const JsonNode& item : items) {
    const std::int64_t n = item.integer();
    if (n < 1) item.fail(fmt::format("is {}; give a positive integer", n));
    reading.problem.problem_size.push_back(n);
  }
}

void read_root(Reading& reading, const JsonNode& root) {
  warn_unknown_keys(reading, root,
                    {"General", "ConfigurationSpace", "KernelSpecification", "Search", "Budget", "wattune", "$schema"});
  read_general(reading, root);
  read_search(reading, root);
  read_additions(reading, root);
  read_space(reading, root);
  read_budget(reading, root);
  const auto specification =
      reading.options.space_only ? root.find("KernelSpecification") : root.at("KernelSpecification");
  if (specification) read_problem_size(reading, *specification);
  override_problem_size(reading, root);
  if (specification) read_kernel(reading, *specification);
  read_kinds(reading);
  if (specification) {
    read_launch(reading, *specification);
    read_arguments(reading, *specification);
    read_verification(reading, *specification);
  }
  read_extensions(reading);
  read_metrics(reading);
  read_objectives(reading);
  read_conditions(reading);
}

}  // namespace

Problem parse_problem(std::string_view json, const fs::path& file, const ReadOptions& options) {
  const JsonDocument document(json, file.string());
  Problem problem;
  problem.file = fs::absolute(file).lexically_normal();
  Reading reading{options, problem, problem.file.parent_path(), std::nullopt, false, {}};
  read_root(reading, document.root());
  if (problem.name.empty()) problem.name = problem.kernel.kernel_name;
  if (problem.name.empty()) problem.name = file.stem().string();
  problem.hash = problem_hash(problem, reading.data_hashes);
  return problem;
}

Problem read_problem(const fs::path& file, const ReadOptions& options) {
  return parse_problem(read_file(file, "problem file"), file, options);
}

}  // namespace wattune
