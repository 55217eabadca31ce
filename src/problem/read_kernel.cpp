// The kernel's source for the wanted language, its defines, and the kinds of the parameters.

#include <fmt/format.h>

#include <algorithm>

#include "problem/reader.hpp"
#include "problem/source_scanner.hpp"

namespace wattune {

namespace {

bool is_supported(std::string_view language) {
  return language == "CUDA" || language == "OpenCL";
}

/// The object that describes the source to use: KernelSpecification or an item of wattune.Sources.
JsonNode choose_source(Reading& reading, const JsonNode& specification) {
  auto& languages = reading.problem.languages;
  std::vector<JsonNode> sources{specification};
  if (const auto more = reading.addition("Sources")) {
    for (const JsonNode& node : more->items()) {
      refuse_unknown_keys(node, {"Language", "KernelFile", "KernelName", "CompilerOptions"});
      static_cast<void>(node.at("Language").one_of({"CUDA", "OpenCL"}));
      sources.push_back(node);
    }
  }
  for (const JsonNode& source : sources) {
    const JsonNode language = source.at("Language");
    if (std::find(languages.begin(), languages.end(), language.string()) != languages.end()) {
      language.fail(fmt::format("there are two sources in {}; remove one", language.string()));
    }
    languages.push_back(language.string());
  }
  const std::string& wanted = reading.options.language;
  if (wanted.empty()) return specification;
  const auto found = std::find(languages.begin(), languages.end(), wanted);
  if (found == languages.end()) {
    specification.at("Language")
        .fail(
            fmt::format("there is no source in {}, only in: {}; add one under wattune.Sources or choose another device",
                        wanted, joined(languages)));
  }
  return sources[static_cast<std::size_t>(found - languages.begin())];
}

void warn_foreign_keys(Reading& reading, const JsonNode& specification) {
  warn_unknown_keys(reading, specification,
                    {"Device", "Language", "CompilerOptions", "Profiling", "KernelName", "KernelFile", "GlobalSizeType",
                     "SharedMemory", "SimulationInput", "GlobalSize", "LocalSize", "ProblemSize", "GridDivX",
                     "GridDivY", "GridDivZ", "Arguments", "ReferenceArguments", "Steps"});
  if (const auto steps = specification.find("Steps")) steps->fail("not supported yet in this version; remove it");
  const auto ignored = [&](std::string_view name, std::string_view instead) {
    if (const auto node = specification.find(name)) reading.warn(*node, fmt::format("ignored; {}", instead));
  };
  ignored("Device", "the device is chosen on the command line");
  ignored("Profiling", "what is measured does not depend on it");
  ignored("SimulationInput", "recorded results are replayed by --device replay:FILE");
}

void read_source_text(Reading& reading, const JsonNode& file) {
  KernelSource& kernel = reading.problem.kernel;
  std::vector<std::string> warnings;
  try {
    kernel.text = read_named_file(file, kernel.file, "kernel file");
    scan_kernel(kernel, reading.folder, warnings);
    reading.kernel_scanned = true;
  } catch (const UsageError& error) {
    if (!reading.options.space_only) throw;
    kernel.text.clear();
    reading.warn(file, "cannot be read; every parameter is taken for one of the code");
  }
  for (const std::string& warning : warnings) reading.warn(file, warning);
}

void read_defines(Reading& reading) {
  const auto defines = reading.addition("Defines");
  if (!defines) return;
  auto& result = reading.problem.explicit_defines.emplace();
  for (const auto& [name, node] : defines->members()) {
    if (!is_identifier(name)) node.fail(fmt::format("'{}' is no identifier; use letters, digits and _", name));
    Expression expression = read_expression(node);
    check_names_in_scope(reading, node, expression);
    for (const std::string& used : expression.names()) {
      if (used.starts_with("nvml_")) {
        node.fail(fmt::format("uses {}, a setting of the device, which is never compiled in; remove it", used));
      }
    }
    result.emplace_back(name, std::move(expression));
  }
}

/// The names by which a parameter can get into the binary; nothing where that is not known.
std::optional<std::vector<std::string>> compiled_names(const Reading& reading) {
  const Problem& problem = reading.problem;
  if (!reading.kernel_scanned || problem.kernel.pastes) return std::nullopt;
  std::vector<std::string> names = problem.kernel.identifiers;
  const SourceTokens in_name = scan_source(problem.kernel.kernel_name);
  names.insert(names.end(), in_name.identifiers.begin(), in_name.identifiers.end());
  if (problem.explicit_defines) {
    for (const auto& [name, expression] : *problem.explicit_defines) {
      names.insert(names.end(), expression.names().begin(), expression.names().end());
    }
  }
  return names;
}

}  // namespace

void read_kernel(Reading& reading, const JsonNode& specification) {
  warn_foreign_keys(reading, specification);
  KernelSource& kernel = reading.problem.kernel;
  const JsonNode source = choose_source(reading, specification);
  kernel.language = source.at("Language").string();
  if (!is_supported(kernel.language)) {
    const std::string message = fmt::format("{} is not supported", kernel.language);
    if (!reading.options.space_only) source.at("Language").fail(message + "; give CUDA or OpenCL");
    reading.warn(source.at("Language"), message + "; only the space is read");
  }
  const auto own_name = source.find("KernelName");
  kernel.kernel_name = own_name ? own_name->string() : specification.at("KernelName").string();
  if (kernel.kernel_name.empty()) specification.at("KernelName").fail("is empty; give the kernel's name");
  if (const auto options = source.find("CompilerOptions")) kernel.options = options->strings();
  const JsonNode file = source.at("KernelFile");
  kernel.file = (reading.folder / file.string()).lexically_normal();
  read_source_text(reading, file);
  read_defines(reading);
}

void read_kinds(Reading& reading) {
  Problem& problem = reading.problem;
  const auto compiled = compiled_names(reading);
  for (const Parameter& parameter : problem.parameters) {
    const auto& name = parameter.name;
    const bool in_code = !compiled || std::find(compiled->begin(), compiled->end(), name) != compiled->end();
    problem.kinds.push_back(name.starts_with("nvml_") ? ParameterKind::device_setting
                            : in_code                 ? ParameterKind::code
                                                      : ParameterKind::launch);
  }
  const auto kinds = reading.addition("Kinds");
  if (!kinds) return;
  for (const auto& [name, node] : kinds->members()) {
    const std::size_t index = parameter_index(problem, node, name);
    if (problem.kinds[index] == ParameterKind::device_setting) {
      node.fail("is a setting of the device and never compiled in; remove it");
    }
    const bool code = node.one_of({"code", "launch"}) == "code";
    problem.kinds[index] = code ? ParameterKind::code : ParameterKind::launch;
    auto& identifiers = problem.kernel.identifiers;
    const auto place = std::lower_bound(identifiers.begin(), identifiers.end(), name);
    // So that it is defined, although the scanner did not see where it is used.
    if (code && (place == identifiers.end() || *place != name)) identifiers.insert(place, name);
  }
}

}  // namespace wattune
