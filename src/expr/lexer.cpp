#include "expr/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "expr/expression.hpp"

namespace wattune {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct Keyword {
  std::string_view text;
  TokenKind kind;
};
constexpr std::array keywords = {Keyword{"and", TokenKind::and_}, Keyword{"or", TokenKind::or_},
                                 Keyword{"not", TokenKind::not_}, Keyword{"in", TokenKind::in},
                                 Keyword{"if", TokenKind::if_},   Keyword{"else", TokenKind::else_},
                                 Keyword{"for", TokenKind::for_}};

// Words of Python and operators of Python and C that the language does not have, and what to write instead.
struct Refusal {
  std::string_view text;
  std::string_view reason;
};
constexpr std::array refused_words = {
    Refusal{"is", "'is' is not part of the language; use =="},
    Refusal{"lambda", "'lambda' is not part of the language"},
    Refusal{"None", "'None' is not part of the language"},
    Refusal{"import", "'import' is not part of the language"},
};
constexpr std::array refused_symbols = {
    Refusal{"&&", "'&&' is not part of the language; use 'and'"},
    Refusal{"||", "'||' is not part of the language; use 'or'"},
    Refusal{"<<", "'<<' is not part of the language; multiply by 2**n"},
    Refusal{">>", "'>>' is not part of the language; use // with 2**n"},
    Refusal{"<>", "'<>' is not part of the language; use !="},
    Refusal{":=", "':=' is not part of the language"},
    Refusal{"&", "'&' is not part of the language; use 'and'"},
    Refusal{"|", "'|' is not part of the language; use 'or'"},
    Refusal{"^", "'^' is not part of the language; a power is written **"},
    Refusal{"!", "'!' is not part of the language; use 'not'"},
    Refusal{"?", "'?' is not part of the language; write 'a if condition else b'"},
    Refusal{"=", "'=' is not part of the language; a comparison is written =="},
};
// Longer ones first.
constexpr std::array<std::string_view, 23> symbols = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<",
                                                      ">",  "(",  ")",  "[",  "]",  ",",  ".", ":", "{", "}", ";"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (true) {
      while (position_ < text_.size() && is_space(text_[position_])) ++position_;
      start_ = position_;
      if (position_ == text_.size()) break;
      const char c = text_[position_];
      if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
        number();
      } else if (c == '"' || c == '\'') {
        string();
      } else if (is_name_start(c)) {
        word();
      } else {
        symbol();
      }
    }
    push(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  [[noreturn]] void fail(std::size_t at, std::string_view reason) const {
    throw ExpressionError(text_, at + 1, reason);
  }

  void push(TokenKind kind, Value value = {}) {
    tokens_.push_back(
        {kind, static_cast<std::uint32_t>(start_ + 1), text_.substr(start_, position_ - start_), std::move(value)});
  }

  /// The digits from here on, without the underscores that may separate them.
  template <typename Predicate>
  std::string digits(Predicate is_part) {
    std::string result;
    while (position_ < text_.size() &&
           (is_part(text_[position_]) || (text_[position_] == '_' && !result.empty() && is_part(peek(1))))) {
      if (text_[position_] != '_') result += text_[position_];
      ++position_;
    }
    return result;
  }

  void number() {
    if (peek(0) == '0' && is_name_start(peek(1)) && peek(1) != 'e' && peek(1) != 'E') return prefixed_integer();
    std::string text = digits(is_digit);
    bool is_float = false;
    if (peek(0) == '.') {
      is_float = true;
      ++position_;
      text += '.' + digits(is_digit);
    }
    if (peek(0) == 'e' || peek(0) == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        is_float = true;
        text += 'e';
        if (sign != 0) text += peek(1);
        position_ += 1 + sign;
        text += digits(is_digit);
      }
    }
    check_end_of_number();
    if (is_float) return push(TokenKind::number, parse_float(text));
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of('0') != std::string::npos) {
      fail(start_, "an integer must not start with 0");
    }
    push(TokenKind::number, parse_integer(text, 10));
  }

  void prefixed_integer() {
    const char kind = static_cast<char>(peek(1) | 0x20);
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (base == 0) fail(start_ + 1, "a number must not be followed by a letter");
    position_ += 2;
    const std::string text = digits([base](char c) {
      const int digit = is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
      return digit < base;
    });
    check_end_of_number();
    if (text.empty()) fail(start_, "digits are missing in this number");
    push(TokenKind::number, parse_integer(text, base));
  }

  void check_end_of_number() const {
    if (is_name_part(peek(0)) || (peek(0) == '.' && is_digit(peek(1)))) {
      fail(position_, "a number must not be followed by a letter or digit");
    }
  }

  Value parse_integer(const std::string& text, int base) const {
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value, base).ec != std::errc()) {
      fail(start_, "the integer does not fit in 64 bits");
    }
    return value;
  }

  Value parse_float(const std::string& text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      // Python reads a number that is too small as zero, and one that is too large as infinity.
      return std::strtod(text.c_str(), nullptr);
    }
    if (error != std::errc() || end != text.data() + text.size()) fail(start_, "this is not a number");
    return value;
  }

  void string() {
    const char quote = text_[position_++];
    std::string value;
    while (true) {
      if (position_ == text_.size() || text_[position_] == '\n') fail(start_, "the string is not closed");
      char c = text_[position_++];
      if (c == quote) break;
      if (c == '\\') {
        c = position_ < text_.size() ? text_[position_++] : '\0';
        switch (c) {
          case 'n':
            c = '\n';
            break;
          case 't':
            c = '\t';
            break;
          case '\\':
          case '\'':
          case '"':
            break;
          default:
            fail(position_ - 2, "only \\\\, \\', \\\", \\n and \\t may follow a backslash in a string");
        }
      }
      value += c;
    }
    push(TokenKind::string, std::move(value));
  }

  void word() {
    while (is_name_part(peek(0))) ++position_;
    const std::string_view text = text_.substr(start_, position_ - start_);
    if (text == "True" || text == "False") return push(TokenKind::number, text == "True");
    for (const Keyword& keyword : keywords) {
      if (text == keyword.text) return push(keyword.kind);
    }
    for (const Refusal& word : refused_words) {
      if (text == word.text) fail(start_, word.reason);
    }
    push(TokenKind::name);
  }

  void symbol() {
    const std::string_view rest = text_.substr(position_);
    for (const std::string_view symbol : symbols) {
      // "<" must not hide that "<<" or "<>" is meant.
      if (!rest.starts_with(symbol) || (symbol.size() == 1 && is_refused_pair(rest))) continue;
      position_ += symbol.size();
      return push(TokenKind::symbol);
    }
    for (const Refusal& symbol : refused_symbols) {
      if (rest.starts_with(symbol.text)) fail(position_, symbol.reason);
    }
    const auto byte = static_cast<unsigned char>(rest[0]);
    fail(position_, byte >= 0x20 && byte < 0x7f ? fmt::format("'{}' is not part of the language", rest[0])
                                                : fmt::format("character 0x{:02x} is not part of the language", byte));
  }

  static bool is_refused_pair(std::string_view rest) {
    return std::ranges::any_of(refused_symbols, [&](const Refusal& symbol) {
      return symbol.text.size() == 2 && rest.starts_with(symbol.text);
    });
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t start_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view expression) {
  return Lexer(expression).run();
}

}  // namespace wattune
