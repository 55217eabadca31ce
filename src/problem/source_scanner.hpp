#pragma once
// What a kernel's source text uses: identifiers, token pasting, and the files it includes.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

/// The tokens of one file that matter here. Comments and the content of string and character literals are skipped.
struct SourceTokens {
  std::set<std::string, std::less<>> identifiers;
  bool pastes = false;                         ///< holds a ## operator
  std::vector<std::string> includes;           ///< as written between the quotes or angle brackets
  std::vector<std::string> computed_includes;  ///< #include of a macro: which file, only the preprocessor knows
};

/// Any text is accepted; what is not well-formed C is skipped a character at a time.
SourceTokens scan_source(std::string_view text);

/// Fills include_paths, includes, identifiers and pastes of a source whose text, file and options are set: follows
/// #include "x" and <x> through the including file's own folder and the include paths. A file found nowhere, or in a
/// folder of the toolkit or the system, is the compiler's own. The -I options are taken out of `options`; relative ones
/// start at `problem_folder` or at the kernel's folder. What cannot be followed is told in `warnings`.
void scan_kernel(KernelSource& source, const std::filesystem::path& problem_folder, std::vector<std::string>& warnings);

}  // namespace wattune
