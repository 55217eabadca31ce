// How outputs are judged: wattune.Verification and T1's ReferenceArguments.

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "expr/nearest_name.hpp"
#include "problem/reader.hpp"
#include "problem/source_scanner.hpp"

namespace wattune {

namespace {

double read_tolerance(const JsonNode& node) {
  const double value = node.number();
  if (!(value >= 0)) node.fail(fmt::format("is {}; give a number that is not negative", value));
  return value;
}

const Argument& output_argument(const Reading& reading, const JsonNode& where, std::string_view name) {
  std::vector<std::string> outputs;
  for (const Argument& argument : reading.problem.arguments) {
    if (argument.output && argument.name == name) return argument;
    if (argument.output) outputs.push_back(argument.name);
  }
  where.fail(fmt::format("there is no output argument '{}'{}; give one of: {}", name, did_you_mean(name, outputs),
                         outputs.empty() ? "(there are none; set Output)" : joined(outputs)));
}

void read_data(Reading& reading, const JsonNode& where, std::string_view name, const JsonNode& node,
               const std::optional<JsonNode>& additions) {
  const Argument& argument = output_argument(reading, where, name);
  // Seeds beyond those of arguments, so that random references differ from the inputs.
  const std::size_t position = 1000 + reading.problem.verification.data.size();
  Fill fill = read_fill(reading, node, additions, argument.type, position);
  check_fill(reading, node, fill, argument.type, argument.size, argument.name);
  reading.problem.verification.data.emplace(argument.name, std::move(fill));
}

std::array<Expression, 3> read_triple(const JsonNode& parent, std::string_view name, const Problem& problem) {
  const JsonNode node = parent.at(name);
  const std::vector<JsonNode> items = node.items();
  if (items.empty() || items.size() > 3) node.fail("must be a list of one to three numbers or expressions");
  std::vector<std::string> names;
  if (!problem.problem_size.empty()) names.emplace_back("ProblemSize");
  const Expression one = Expression::parse("1");
  std::array<Expression, 3> result{one, one, one};
  for (std::size_t i = 0; i < items.size(); ++i) {
    result[i] = read_expression(items[i]);
    check_names(items[i], result[i], names);
  }
  return result;
}

void read_reference_kernel(Reading& reading, const JsonNode& node) {
  refuse_unknown_keys(node, {"KernelName", "KernelFile", "CompilerOptions", "GridSize", "LocalSize"});
  KernelSource source = reading.problem.kernel;
  const auto file = node.find("KernelFile");
  const auto options = node.find("CompilerOptions");
  if (options) {
    source.options = options->strings();
  } else {
    for (const auto& path : source.include_paths) source.options.push_back("-I" + path.string());
  }
  if (file) source.file = (reading.folder / file->string()).lexically_normal();
  if (file && !reading.options.space_only) source.text = read_named_file(*file, source.file, "reference kernel's file");
  if (!reading.options.space_only) {
    std::vector<std::string> warnings;
    scan_kernel(source, reading.folder, warnings);
    for (const std::string& warning : warnings) reading.warn(node, warning);
  }
  reading.data_hashes.push_back("reference kernel " + Hasher().add(source.text).hex());
  for (const auto& [path, content] : source.includes) reading.data_hashes.push_back(content);
  for (const std::string& option : source.options) reading.data_hashes.push_back(option);
  // It may include other files than the tuned kernel, so its options name its own folders.
  for (const auto& path : source.include_paths) source.options.push_back("-I" + path.string());
  reading.problem.verification.reference = Verification::Reference::kernel;
  reading.problem.verification.kernel = Verification::Kernel{node.at("KernelName").string(),
                                                             std::move(source.text),
                                                             std::move(source.file),
                                                             std::move(source.options),
                                                             read_triple(node, "GridSize", reading.problem),
                                                             read_triple(node, "LocalSize", reading.problem)};
}

void read_reference(Reading& reading, const JsonNode& node) {
  Verification& verification = reading.problem.verification;
  refuse_unknown_keys(node, {"Host", "Kernel", "Data"});
  const auto members = node.members();
  if (members.size() != 1) node.fail("must hold exactly one of Host, Kernel and Data");
  const auto& [kind, content] = members.front();
  if (kind == "Host") {
    verification.reference = Verification::Reference::host;
    verification.host_function = content.string();
    if (content.string().empty()) content.fail("is empty; give the name of a host reference");
  } else if (kind == "Kernel") {
    read_reference_kernel(reading, content);
  } else {
    verification.reference = Verification::Reference::data;
    for (const auto& [name, data] : content.members()) {
      refuse_unknown_keys(data, {"FillType", "FillValue", "DataSource", "RandomSeed", "Range", "Offset"});
      read_data(reading, data, name, data, data);
    }
  }
}

/// T1's method and threshold, one of each for all outputs.
void read_validation(Reading& reading, const JsonNode& node) {
  Verification& verification = reading.problem.verification;
  const auto method = node.find("ValidationMethod");
  const auto threshold = node.find("ValidationThreshold");
  if (!method) {
    if (threshold) threshold->fail("ValidationMethod is missing; add it");
    return;
  }
  const std::string& name =
      method->one_of({"AbsoluteDifference", "SideBySideComparison", "SideBySideRelativeComparison"});
  if (name == "AbsoluteDifference") {
    reading.warn(*method, "the difference of each element is compared with the threshold, not their sum");
  }
  if (!threshold) return;
  const double value = read_tolerance(*threshold);
  const bool relative = name == "SideBySideRelativeComparison";
  const double absolute_tolerance = relative ? 0 : value;
  const double relative_tolerance = relative ? value : 0;
  if (verification.absolute_tolerance && (*verification.absolute_tolerance != absolute_tolerance ||
                                          *verification.relative_tolerance != relative_tolerance)) {
    threshold->fail("another output has another threshold, which is not supported; give one for all");
  }
  verification.absolute_tolerance = absolute_tolerance;
  verification.relative_tolerance = relative_tolerance;
}

void read_reference_arguments(Reading& reading, const JsonNode& list) {
  for (const JsonNode& node : list.items()) {
    warn_unknown_keys(reading, node,
                      {"Name", "TargetName", "FillType", "FillValue", "DataSource", "RandomSeed", "ValidationMethod",
                       "ValidationThreshold"});
    const JsonNode target = node.at("TargetName");
    if (reading.problem.verification.data.count(target.string()) != 0) {
      target.fail(fmt::format("there are two references for '{}'; remove one", target.string()));
    }
    read_data(reading, target, target.string(), node, std::nullopt);
    read_validation(reading, node);
    reading.problem.verification.reference = Verification::Reference::data;
  }
}

}  // namespace

void read_verification(Reading& reading, const JsonNode& specification) {
  Verification& verification = reading.problem.verification;
  const auto node = reading.addition("Verification");
  const auto reference = node ? node->find("Reference") : std::nullopt;
  if (const auto list = specification.find("ReferenceArguments")) {
    if (reference) {
      reading.warn(*list, "ignored, for wattune.Verification gives the reference");
    } else {
      read_reference_arguments(reading, *list);
    }
  }
  if (!node) return;
  refuse_unknown_keys(*node, {"Reference", "AbsoluteTolerance", "RelativeTolerance"});
  if (reference) read_reference(reading, *reference);
  if (const auto value = node->find("AbsoluteTolerance")) verification.absolute_tolerance = read_tolerance(*value);
  if (const auto value = node->find("RelativeTolerance")) verification.relative_tolerance = read_tolerance(*value);
}

}  // namespace wattune
