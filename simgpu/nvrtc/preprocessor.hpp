#pragma once
// A small C preprocessor: comments, includes, conditions, and macros without parameters. Enough to see which lines of a
// kernel's source count and how large its arrays are; macros with parameters are left as they stand.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wattune::simgpu {

struct Token {
  enum class Kind { identifier, number, text, punctuation };
  Kind kind;
  std::string text;
};

/// Splits a line or a text without comments.
std::vector<Token> tokens_of(std::string_view text);

class Preprocessor {
 public:
  /// @param headers given in memory, by name. @param folders to look for includes in.
  Preprocessor(std::map<std::string, std::string> headers, std::vector<std::string> folders)
      : headers_(std::move(headers)), folders_(std::move(folders)) {}

  void define(const std::string& name, const std::string& value) { macros_[name] = tokens_of(value); }
  /// @param file how messages call it. Adds to tokens() and errors().
  void run(std::string_view text, const std::string& file);

  /// What is left: the lines that count, macros replaced.
  [[nodiscard]] const std::vector<Token>& tokens() const noexcept { return tokens_; }
  /// "FILE(LINE): error: ...", as NVRTC says it.
  [[nodiscard]] const std::vector<std::string>& errors() const noexcept { return errors_; }
  /// Whether macros with parameters or the ## operator may make names that are not to be seen.
  [[nodiscard]] bool makes_names() const noexcept { return makes_names_; }

 private:
  struct Condition {
    bool outer;   ///< whether lines around it count
    bool active;  ///< whether lines of the present branch do
    bool taken;   ///< whether a branch was
  };
  struct Place {
    std::string file;
    std::uint64_t line;
  };

  void directive(std::string_view text, Place& place);
  void condition(const std::string& name, std::span<const Token> rest, const Place& place);
  void include(std::string_view text, const Place& place);
  void define_macro(std::string_view text);
  [[nodiscard]] bool active() const { return conditions_.empty() || conditions_.back().active; }
  [[nodiscard]] bool holds(std::span<const Token> condition) const;
  void expand(std::span<const Token> tokens, std::vector<Token>& result, std::vector<std::string>& open) const;
  void error(const Place& place, const std::string& what);

  std::map<std::string, std::string> headers_;
  std::vector<std::string> folders_;
  std::map<std::string, std::vector<Token>> macros_;
  std::set<std::string> function_macros_;
  std::set<std::string> once_;
  std::vector<Condition> conditions_;
  std::vector<Token> tokens_;
  std::vector<std::string> errors_;
  bool makes_names_ = false;
  int depth_ = 0;  ///< of includes
  int runs_ = 0;   ///< texts read
};

/// An integer expression of numbers and known names. Nothing where it is none, or a name is not known.
std::optional<std::int64_t> evaluate(std::span<const Token> tokens, const std::map<std::string, std::int64_t>& names,
                                     bool unknown_is_zero = false);

}  // namespace wattune::simgpu
