#include "backend/opencl/opencl_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/hash.hpp"
#include "problem/source_scanner.hpp"

namespace wattune::opencl {

namespace {

/// Options that only CUDA or C++ compilers know, by how they begin.
constexpr std::array<std::string_view, 27> foreign_prefixes = {"-std=c++",
                                                               "-std=gnu++",
                                                               "--std=",
                                                               "-arch",
                                                               "--gpu-",
                                                               "-gencode",
                                                               "--generate-code",
                                                               "-code",
                                                               "--use_fast_math",
                                                               "-use_fast_math",
                                                               "-X",
                                                               "--ptxas-options",
                                                               "--maxrregcount",
                                                               "-maxrregcount",
                                                               "-lineinfo",
                                                               "--generate-line-info",
                                                               "--fmad",
                                                               "-fmad",
                                                               "-O1",
                                                               "-O2",
                                                               "-O3",
                                                               "-m64",
                                                               "-rdc",
                                                               "--expt-",
                                                               "-default-device",
                                                               "--device-",
                                                               "-ccbin"};

/// Those of them whose value may follow as the next option.
constexpr std::array<std::string_view, 9> with_separate_value = {"-arch",           "-gencode",      "--generate-code",
                                                                 "-code",           "-Xptxas",       "-Xcompiler",
                                                                 "--ptxas-options", "-maxrregcount", "-ccbin"};

bool is_foreign(std::string_view option) {
  return std::any_of(foreign_prefixes.begin(), foreign_prefixes.end(),
                     [&](std::string_view prefix) { return option.starts_with(prefix); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Splits an entry that holds several options ("-cl-mad-enable -w") where white space is followed by a dash. Paths and
/// defines are kept whole.
std::vector<std::string> split(const std::vector<std::string>& entries) {
  std::vector<std::string> options;
  for (const std::string& entry : entries) {
    std::string_view rest = trimmed(entry);
    while (!rest.empty()) {
      std::size_t end = rest.size();
      if (!rest.starts_with("-I") && !rest.starts_with("-D")) {
        for (std::size_t i = 1; i < rest.size(); ++i) {
          if (rest[i] == '-' && (rest[i - 1] == ' ' || rest[i - 1] == '\t')) {
            end = i;
            break;
          }
        }
      }
      options.emplace_back(trimmed(rest.substr(0, end)));
      rest = trimmed(rest.substr(end));
    }
  }
  return options;
}

/// The value of an option such as -I or -D: what follows the letter, else the next option.
std::optional<std::string> value_of(const std::vector<std::string>& options, std::size_t& i) {
  const std::string_view own = trimmed(std::string_view(options[i]).substr(2));
  if (!own.empty()) return std::string(own);
  if (i + 1 < options.size()) return options[++i];
  return std::nullopt;
}

std::pair<std::string, std::string> define_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, "1"};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_path(std::vector<std::filesystem::path>& paths, const std::filesystem::path& path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
}

std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// A hash of all files that a source includes, directly or not; empty where there are none.
std::string hash_of_includes(const CompileRequest& request, const std::vector<std::filesystem::path>& folders) {
  KernelSource source;
  source.text = request.source;
  source.file = folders.front() / std::filesystem::path(request.file).filename();
  for (const std::filesystem::path& folder : folders) source.options.push_back("-I" + folder.string());
  std::vector<std::string> warnings;
  scan_kernel(source, folders.front(), warnings);
  if (source.includes.empty()) return {};
  Hasher hasher;
  for (const auto& [path, content] : source.includes) hasher.add(path.string()).add(content);
  return hasher.hex();
}

}  // namespace

BuildOptions build_options(const CompileRequest& request) {
  BuildOptions result;
  const std::filesystem::path folder =
      std::filesystem::absolute(request.file.empty() ? "." : request.file).parent_path().lexically_normal();
  add_path(result.include_paths, folder);
  for (const std::string& path : request.include_paths) {
    add_path(result.include_paths, (folder / path).lexically_normal());
  }
  const std::vector<std::string> options = split(request.options);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (option.starts_with("-I")) {
      if (const auto path = value_of(options, i)) add_path(result.include_paths, (folder / *path).lexically_normal());
    } else if (option.starts_with("-D")) {
      if (const auto text = value_of(options, i)) result.defines.push_back(define_of(*text));
    } else if (is_foreign(option)) {
      std::string dropped = option;
      const bool value_follows =
          std::find(with_separate_value.begin(), with_separate_value.end(), option) != with_separate_value.end();
      if (value_follows && i + 1 < options.size() && !options[i + 1].starts_with("-")) dropped += " " + options[++i];
      result.notes.push_back(fmt::format("note: option {} is not for OpenCL compilers and was left out", dropped));
    } else {
      // "-x value" as one entry: OpenCL compilers separate options at white space.
      std::string_view rest = option;
      while (!rest.empty()) {
        const std::size_t space = rest.find_first_of(" \t");
        result.options.emplace_back(rest.substr(0, space));
        rest = space == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(space));
      }
    }
  }
  return result;
}

std::string full_source(const CompileRequest& request, const BuildOptions& options) {
  std::string source;
  const auto define = [&](const std::string& name, std::string value) {
    std::replace(value.begin(), value.end(), '\n', ' ');
    source += fmt::format("#define {} {}\n", name, value);
  };
  for (const auto& [name, value] : options.defines) define(name, value);
  for (const auto& [name, value] : request.defines) define(name, value);
  const std::string hash = hash_of_includes(request, options.include_paths);
  if (!hash.empty()) source += fmt::format("// included files: {}\n", hash);
  source += "#line 1";
  if (!request.file.empty()) source += " " + string_literal(request.file);
  return source + "\n" + request.source;
}

}  // namespace wattune::opencl
