#pragma once
// What of a problem's compiler options an OpenCL compiler is given, and the text that it compiles.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"

namespace wattune::opencl {

struct BuildOptions {
  std::vector<std::string> options;                          ///< none holds white space
  std::vector<std::pair<std::string, std::string>> defines;  ///< from -D, whose values may hold white space
  std::vector<std::filesystem::path> include_paths;          ///< absolute, in the order of the search
  std::vector<std::string> notes;                            ///< one line for each option that was dropped
};

/// Options for CUDA or C++ compilers are dropped with a note. Relative -I paths start at the source's folder, which is
/// itself searched first.
BuildOptions build_options(const CompileRequest& request);

/// The defines, a #line directive, and the source, so that line numbers in messages are those of the file. A comment
/// holds a hash of the files that the source includes: drivers keep binaries by the source's text alone, and would hand
/// out a stale one after an included file was edited.
std::string full_source(const CompileRequest& request, const BuildOptions& options);

}  // namespace wattune::opencl
