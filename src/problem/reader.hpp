#pragma once
// What the parts of the problem file's reader share. Each part reads one section into the problem.

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/json_document.hpp"
#include "problem/problem.hpp"

namespace wattune {

/// The state of one reading.
struct Reading {
  const ReadOptions& options;
  Problem& problem;
  std::filesystem::path folder;          ///< absolute folder of the problem file
  std::optional<JsonNode> additions;     ///< the `wattune` object, where there is one
  bool kernel_scanned = false;           ///< the kernel's text was read
  std::vector<std::string> data_hashes;  ///< content of data files and of the reference kernel, for the problem's hash

  void warn(const JsonNode& where, std::string_view message) { warn_at(where.place(), message); }
  void warn_at(std::string_view place, std::string_view message);
  /// A member of the `wattune` object.
  [[nodiscard]] std::optional<JsonNode> addition(std::string_view name) const;
};

// --- helpers ---------------------------------------------------------------------------------------------------------

/// A string that is an expression, or a number. @throws UsageError with place and column.
Expression read_expression(const JsonNode& node);
/// Checks that an expression uses no other names than these. @throws UsageError with place, column and nearest name.
void check_names(const JsonNode& node, const Expression& expression, const std::vector<std::string>& names);
/// The names of parameters, and ProblemSize where it is given.
std::vector<std::string> names_in_scope(const Problem& problem);
/// check_names() with these and one more.
void check_names_in_scope(const Reading& reading, const JsonNode& node, const Expression& expression,
                          const std::string& further = {});
/// In T1's own sections other tools' keys are ignored; in ours, which no other tool writes, they are errors.
void warn_unknown_keys(Reading& reading, const JsonNode& node, std::initializer_list<std::string_view> known);
void refuse_unknown_keys(const JsonNode& node, std::initializer_list<std::string_view> known);
/// A parameter's position. @throws UsageError with the nearest name.
std::size_t parameter_index(const Problem& problem, const JsonNode& where, std::string_view name);
/// Reads a file named in the problem file. @throws UsageError at the node.
std::string read_named_file(const JsonNode& node, const std::filesystem::path& path, std::string_view what);
bool is_identifier(std::string_view text);

// --- sections --------------------------------------------------------------------------------------------------------

void read_space(Reading& reading, const JsonNode& root);
void read_budget(Reading& reading, const JsonNode& root);
/// KernelSpecification without arguments: the source for the wanted language, defines, kinds, launch.
void read_kernel(Reading& reading, const JsonNode& specification);
void read_launch(Reading& reading, const JsonNode& specification);
/// wattune.Kinds over what the source says; after read_kernel.
void read_kinds(Reading& reading);
void read_arguments(Reading& reading, const JsonNode& specification);
void read_verification(Reading& reading, const JsonNode& specification);
void read_metrics(Reading& reading);
void read_objectives(Reading& reading);
void read_conditions(Reading& reading);

/// Where an argument's or a reference's data come from: FillType and what belongs to it.
/// @param additions Range and Offset, where they stand elsewhere than in `node`.
/// @param position  of the argument, for the default seed.
Fill read_fill(Reading& reading, const JsonNode& node, const std::optional<JsonNode>& additions,
               const ElementType& type, std::size_t position);
/// Tries what can be tried before the data are made, so that a fault is told with its line; notes files' content.
void check_fill(Reading& reading, const JsonNode& node, const Fill& fill, const ElementType& type, std::uint64_t size,
                std::string_view argument_name);

std::string problem_hash(const Problem& problem, const std::vector<std::string>& data_hashes);

}  // namespace wattune
