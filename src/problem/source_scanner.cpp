#include "problem/source_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/file.hpp"
#include "base/hash.hpp"

namespace wattune {

namespace fs = std::filesystem;

namespace {

bool begins_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool continues_identifier(char c) {
  return begins_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Lines that end in a backslash go on in the next one, everywhere.
std::string spliced(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1).starts_with('\n')) {
      i += 1;
    } else if (text[i] == '\\' && text.substr(i + 1).starts_with("\r\n")) {
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  SourceTokens scan() {
    while (at_ < text_.size()) token();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void token() {
    const char c = text_[at_];
    if (c == '\n') {
      line_begins_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (next_is("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (next_is("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (c == '#' && line_begins_ && !next_is("##")) {
      line_begins_ = false;
      directive();
    } else {
      line_begins_ = false;
      ordinary(c);
    }
  }

  void ordinary(char c) {
    if (c == '"' || c == '\'') {
      literal(c);
    } else if (begins_identifier(c)) {
      const std::string_view name = identifier();
      if (name.ends_with('R') && next_is("\"") && raw_string()) return;
      tokens_.identifiers.emplace(name);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number();
    } else if (next_is("##") || next_is("%:%:")) {
      tokens_.pastes = true;
      at_ += c == '#' ? 2 : 4;
    } else {
      ++at_;
    }
  }

  std::string_view identifier() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_identifier(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// With suffixes and digit separators: the quote in 1'000 opens no literal, the f in 1.0f is no identifier.
  void number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool separator = c == '\'' && at_ + 1 < text_.size() && continues_identifier(text_[at_ + 1]);
      if (!continues_identifier(c) && c != '.' && !separator) return;
      ++at_;
    }
  }

  /// A string or character literal ends at its quote, or with its line where that is missing.
  void literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
  }

  /// R"delimiter( ... )delimiter"; false (and nothing read) where it is no raw string after all.
  bool raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return false;
    std::string end = ")";
    end += text_.substr(at_ + 1, open - at_ - 1);
    end += '"';
    const std::size_t close = text_.find(end, open);
    at_ = close == std::string_view::npos ? text_.size() : close + end.size();
    return true;
  }

  void directive() {
    ++at_;  // #
    skip_blanks();
    const std::string_view name = at_ < text_.size() && begins_identifier(text_[at_]) ? identifier() : "";
    if (name != "include") {
      // A macro named include could be used in no directive, so other directives' names count as any identifier.
      if (!name.empty()) tokens_.identifiers.emplace(name);
      return;
    }
    skip_blanks();
    const char open = at_ < text_.size() ? text_[at_] : '\n';
    const std::string_view line = text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_);
    if (open == '"' || open == '<') {
      const std::size_t close = line.find(open == '"' ? '"' : '>', 1);
      if (close == std::string_view::npos) return;
      tokens_.includes.emplace_back(line.substr(1, close - 1));
      at_ += close + 1;
    } else if (begins_identifier(open)) {
      tokens_.computed_includes.emplace_back(identifier());
      tokens_.identifiers.insert(tokens_.computed_includes.back());
    }
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '\t') {
        ++at_;
      } else if (next_is("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
  SourceTokens tokens_;
};

/// Folders whose headers come with the compiler: their content stands for the toolkit's version, not for the kernel.
bool is_toolkit(const fs::path& folder) {
  std::error_code error;
  for (const char* header : {"cuda.h", "cuda_runtime.h", "nvrtc.h", "CL/cl.h"}) {
    if (fs::exists(folder / header, error)) return true;
  }
  return folder.string().starts_with("/usr/include");
}

/// The value of the option at position i, which is one of these names with its value in the same string (after = or
/// blanks, or at once) or in the next one; `i` then moves on to that.
std::optional<std::string> option_value(const std::vector<std::string>& options, std::size_t& i,
                                        std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!options[i].starts_with(name)) continue;
    std::string value = options[i].substr(name.size());
    // A long name must end where its value begins: -include is not the beginning of -include-pch.
    if (name.size() > 2 && !value.empty() && value.front() != '=' && value.front() != ' ') continue;
    value.erase(0, std::min(value.find_first_not_of("= "), value.size()));
    if (!value.empty()) return value;
    if (i + 1 < options.size()) return options[++i];
  }
  return std::nullopt;
}

/// Takes the -I options out and gives their folders.
std::vector<fs::path> take_include_options(std::vector<std::string>& options, const fs::path& problem_folder,
                                           const fs::path& kernel_folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> paths;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto given = option_value(options, i, {"-I", "--include-path"});
    if (!given) {
      rest.push_back(options[i]);
      continue;
    }
    const std::string& path = *given;
    bool found = false;
    for (const fs::path& folder : {problem_folder, kernel_folder}) {
      const fs::path candidate = (folder / path).lexically_normal();
      std::error_code error;
      if (!fs::is_directory(candidate, error)) continue;
      found = true;
      if (std::find(paths.begin(), paths.end(), candidate) == paths.end()) paths.push_back(candidate);
    }
    if (!found) warnings.push_back(fmt::format("CompilerOptions: include path '{}' is no folder; ignored", path));
  }
  options = std::move(rest);
  return paths;
}

std::optional<fs::path> find_include(const std::string& name, const fs::path& own_folder,
                                     const std::vector<fs::path>& include_paths) {
  const auto in = [&name](const fs::path& folder) -> std::optional<fs::path> {
    std::error_code error;
    fs::path candidate = (folder / name).lexically_normal();
    if (fs::is_regular_file(candidate, error)) return candidate;
    return std::nullopt;
  };
  if (auto found = in(own_folder)) return found;
  for (const fs::path& folder : include_paths) {
    if (auto found = in(folder)) return found;
  }
  return std::nullopt;
}

}  // namespace

SourceTokens scan_source(std::string_view text) {
  const std::string lines = spliced(text);
  return Scanner(lines).scan();
}

void scan_kernel(KernelSource& source, const fs::path& problem_folder, std::vector<std::string>& warnings) {
  const fs::path kernel_folder = source.file.parent_path();
  source.include_paths = {kernel_folder};
  for (fs::path& path : take_include_options(source.options, problem_folder, kernel_folder, warnings)) {
    if (path != kernel_folder) source.include_paths.push_back(std::move(path));
  }
  std::vector<fs::path> followed;
  std::copy_if(std::next(source.include_paths.begin()), source.include_paths.end(), std::back_inserter(followed),
               [](const fs::path& path) { return !is_toolkit(path); });

  std::set<std::string, std::less<>> identifiers;
  // By the real path, for a link may give one file endless names.
  const auto real_path = [](const fs::path& path) {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    return error ? path : real;
  };
  std::set<fs::path> seen{real_path(source.file)};
  source.includes.clear();
  source.pastes = false;
  const auto scan = [&](const fs::path& file, const std::string& text, std::vector<fs::path>& found) {
    SourceTokens tokens = scan_source(text);
    identifiers.merge(tokens.identifiers);
    source.pastes = source.pastes || tokens.pastes;
    for (const std::string& macro : tokens.computed_includes) {
      warnings.push_back(fmt::format("{}: cannot follow '#include {}'; changes of that file go unnoticed",
                                     file.filename().string(), macro));
    }
    for (const std::string& name : tokens.includes) {
      if (const auto path = find_include(name, file.parent_path(), followed);
          path && seen.insert(real_path(*path)).second) {
        found.push_back(*path);
      }
    }
  };
  std::vector<fs::path> found;
  scan(source.file, source.text, found);
  for (std::size_t i = 0; i < source.options.size(); ++i) {
    const auto name = option_value(source.options, i, {"-include", "--pre-include"});
    const auto path = name ? find_include(*name, kernel_folder, followed) : std::nullopt;
    if (path && seen.insert(real_path(*path)).second) found.push_back(*path);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const fs::path file = found[i];
    const std::string text = read_file(file, "included file");
    source.includes.emplace_back(file, Hasher().add(text).hex());
    scan(file, text, found);
  }
  for (const std::string& option : source.options) {
    identifiers.merge(scan_source(std::string_view(option).substr(option.starts_with("-D") ? 2 : 0)).identifiers);
  }
  source.identifiers.assign(identifiers.begin(), identifiers.end());
}

}  // namespace wattune
