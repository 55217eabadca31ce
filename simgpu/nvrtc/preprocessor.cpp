#include "nvrtc/preprocessor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace wattune::simgpu {

namespace {

// Sources that grow without end when macros are replaced or files included are cut off here.
constexpr int deepest_include = 64;
constexpr int most_includes = 10000;
constexpr std::size_t deepest_macro = 200;
constexpr std::size_t most_tokens = 1 << 22;
constexpr std::uintmax_t largest_file = 64 << 20;

bool begins_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool continues_identifier(char c) {
  return begins_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Puts spaces in place of comments and joins continued lines, keeping the number of lines.
std::string without_comments(std::string_view text) {
  std::string result;
  std::string held_lines;  ///< ends of lines that a continuation or comment swallowed
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || (next == '\r' && i + 2 < text.size() && text[i + 2] == '\n'))) {
      i += next == '\n' ? 1 : 2;
      held_lines += '\n';
    } else if (quote != 0) {
      result += c;
      if (c == '\\' && next != '\0') result += text[++i];
      if (c == quote || c == '\n') quote = 0;
    } else if (c == '/' && next == '/') {
      while (i < text.size() && text[i] != '\n') ++i;
      --i;
    } else if (c == '/' && next == '*') {
      for (i += 2; i < text.size() && !(text[i] == '*' && i + 1 < text.size() && text[i + 1] == '/'); ++i) {
        if (text[i] == '\n') held_lines += '\n';
      }
      ++i;
      result += ' ';
    } else {
      result += c;
      if (c == '"' || c == '\'') quote = c;
      if (c == '\n') {
        result += held_lines;
        held_lines.clear();
      }
    }
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != text[begin]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  static constexpr std::string_view doubles[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "##", "::", "->"};
  std::vector<Token> result;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    auto kind = Token::Kind::punctuation;
    if (begins_identifier(c)) {
      kind = Token::Kind::identifier;
      while (end < text.size() && continues_identifier(text[end])) ++end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      kind = Token::Kind::number;
      while (end < text.size() && (continues_identifier(text[end]) || text[end] == '.' || text[end] == '\'')) ++end;
    } else if (c == '"' || c == '\'') {
      kind = Token::Kind::text;
      end = end_of_quoted(text, i);
    } else if (std::find(std::begin(doubles), std::end(doubles), text.substr(i, 2)) != std::end(doubles)) {
      end = i + 2;
    }
    result.push_back({kind, std::string(text.substr(i, end - i))});
    i = end;
  }
  return result;
}

void Preprocessor::run(std::string_view text, const std::string& file) {
  if (depth_ >= deepest_include || ++runs_ > most_includes) return;
  ++depth_;
  const std::string plain = without_comments(text);
  const std::size_t conditions_before = conditions_.size();
  Place place{file, 0};
  for (std::size_t begin = 0; begin < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', begin), plain.size());
    const std::string_view line = trimmed(std::string_view(plain).substr(begin, end - begin));
    ++place.line;
    if (line.starts_with('#')) {
      directive(trimmed(line.substr(1)), place);
    } else if (active() && !line.empty()) {
      std::vector<std::string> open;
      const auto tokens = tokens_of(line);
      expand(tokens, tokens_, open);
    }
    begin = end + 1;
  }
  if (conditions_.size() > conditions_before) error(place, "the #endif for this directive is missing");
  conditions_.resize(std::min(conditions_.size(), conditions_before));
  --depth_;
}

void Preprocessor::directive(std::string_view text, Place& place) {
  const auto tokens = tokens_of(text);
  if (tokens.empty()) return;
  const std::string& name = tokens.front().text;
  const auto rest = std::span(tokens).subspan(1);
  if (name == "if" || name == "ifdef" || name == "ifndef" || name == "elif" || name == "else" || name == "endif") {
    condition(name, rest, place);
    return;
  }
  if (!active()) return;
  const std::string_view after = trimmed(text.substr(std::min(text.size(), text.find(name) + name.size())));
  if (name == "define") {
    define_macro(after);
  } else if (name == "undef" && !rest.empty()) {
    macros_.erase(rest[0].text);
    function_macros_.erase(rest[0].text);
  } else if (name == "include") {
    include(after, place);
  } else if (name == "error") {
    error(place, fmt::format("#error directive: {}", after));
  } else if (name == "pragma" && !rest.empty() && rest[0].text == "once") {
    once_.insert(place.file);
  } else if (name == "line" && !rest.empty()) {
    place.line = std::strtoull(rest[0].text.c_str(), nullptr, 10) - 1;
    if (rest.size() > 1 && rest[1].text.size() > 2) place.file = rest[1].text.substr(1, rest[1].text.size() - 2);
  }
}

void Preprocessor::condition(const std::string& name, std::span<const Token> rest, const Place& place) {
  const auto defined = [&] {
    return !rest.empty() && (macros_.contains(rest[0].text) || function_macros_.contains(rest[0].text));
  };
  if (name.starts_with("if")) {
    const bool outer = active();
    const bool now = outer && (name == "ifdef" ? defined() : name == "ifndef" ? !defined() : holds(rest));
    conditions_.push_back({outer, now, now});
    return;
  }
  if (conditions_.empty()) {
    error(place, fmt::format("#{} without #if", name));
    return;
  }
  Condition& current = conditions_.back();
  if (name == "endif") {
    conditions_.pop_back();
  } else {
    current.active = current.outer && !current.taken && (name == "else" || holds(rest));
    current.taken = current.taken || current.active;
  }
}

bool Preprocessor::holds(std::span<const Token> condition) const {
  // defined and __has_include come before macros are replaced.
  std::vector<Token> plain;
  const auto number = [&](bool value) { plain.push_back({Token::Kind::number, value ? "1" : "0"}); };
  for (std::size_t i = 0; i < condition.size(); ++i) {
    const std::string& text = condition[i].text;
    const bool bracket = i + 1 < condition.size() && condition[i + 1].text == "(";
    if (text == "defined") {
      const std::size_t at = i + (bracket ? 2 : 1);
      const bool is = at < condition.size() &&
                      (macros_.contains(condition[at].text) || function_macros_.contains(condition[at].text));
      number(is);
      i = at + (bracket ? 1 : 0);
    } else if (text == "__has_include" || (bracket && function_macros_.contains(text))) {
      while (i < condition.size() && condition[i].text != ")") ++i;
      number(false);
    } else {
      plain.push_back(condition[i]);
    }
  }
  std::vector<Token> expanded;
  std::vector<std::string> open;
  expand(plain, expanded, open);
  return evaluate(expanded, {}, true).value_or(0) != 0;
}

void Preprocessor::include(std::string_view text, const Place& place) {
  if (text.size() < 2) return;
  const bool quoted = text[0] == '"';
  const std::size_t end = text.find(quoted ? '"' : '>', 1);
  const std::string name(text.substr(1, end == std::string_view::npos ? end : end - 1));
  std::vector<std::string> folders = folders_;
  if (quoted) folders.insert(folders.begin(), std::filesystem::path(place.file).parent_path().string());
  if (!quoted && headers_.contains(name)) return;  // stand-ins for the standard library have no kernels
  for (const auto& folder : folders) {
    const auto path = (std::filesystem::path(folder) / name).lexically_normal();
    if (once_.contains(path.string())) return;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > largest_file)
      continue;
    std::ifstream file(path);
    if (!file) continue;
    const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    run(content, path.string());
    return;
  }
  // Headers in angle brackets are the toolkit's, which a simulated GPU does without.
  if (quoted && !headers_.contains(name)) {
    error(place, fmt::format("cannot open source file \"{}\"", name));
  }
}

void Preprocessor::define_macro(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && continues_identifier(text[end])) ++end;
  const std::string name(text.substr(0, end));
  if (text.find("##") != std::string_view::npos) makes_names_ = true;
  if (end < text.size() && text[end] == '(') {
    macros_.erase(name);
    function_macros_.insert(name);
    if (text.find("__global__") != std::string_view::npos) makes_names_ = true;
  } else {
    macros_[name] = tokens_of(text.substr(end));
  }
}

void Preprocessor::expand(std::span<const Token> tokens, std::vector<Token>& result,
                          std::vector<std::string>& open) const {
  for (const Token& token : tokens) {
    if (result.size() > most_tokens) return;
    const auto macro = token.kind == Token::Kind::identifier ? macros_.find(token.text) : macros_.end();
    if (macro == macros_.end() || open.size() > deepest_macro ||
        std::find(open.begin(), open.end(), token.text) != open.end()) {
      result.push_back(token);
      continue;
    }
    open.push_back(token.text);
    expand(macro->second, result, open);
    open.pop_back();
  }
}

void Preprocessor::error(const Place& place, const std::string& what) {
  errors_.push_back(fmt::format("{}({}): error: {}", place.file, place.line, what));
}

}  // namespace wattune::simgpu
