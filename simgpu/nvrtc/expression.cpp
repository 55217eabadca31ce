// Integer expressions of conditions and array sizes.

#include <cerrno>
#include <cstdlib>

#include "nvrtc/preprocessor.hpp"

namespace wattune::simgpu {

namespace {

constexpr int deepest = 64;

class Evaluator {
 public:
  Evaluator(std::span<const Token> tokens, const std::map<std::string, std::int64_t>& names, bool unknown_is_zero)
      : tokens_(tokens), names_(names), unknown_is_zero_(unknown_is_zero) {}

  std::optional<std::int64_t> all() {
    const auto value = choice();
    return at_ == tokens_.size() ? value : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;

  bool take(std::string_view text) {
    if (at_ >= tokens_.size() || tokens_[at_].text != text) return false;
    ++at_;
    return true;
  }

  Number choice() {
    if (++depth_ > deepest) return std::nullopt;
    Number value = binary(0);
    if (take("?")) {
      const Number yes = choice();
      if (!take(":")) return std::nullopt;
      const Number no = choice();
      value = !value ? std::nullopt : *value != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

  static int rank(std::string_view operation) {
    static const std::map<std::string_view, int> ranks = {
        {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
        {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
    const auto found = ranks.find(operation);
    return found == ranks.end() ? 0 : found->second;
  }

  Number binary(int least) {
    Number left = unary();
    while (at_ < tokens_.size()) {
      const std::string operation = tokens_[at_].text;
      const int own = rank(operation);
      if (own == 0 || own <= least) break;
      ++at_;
      const Number right = binary(own);
      left = left && right ? apply(operation, *left, *right) : std::nullopt;
    }
    return left;
  }

  static Number apply(std::string_view operation, std::int64_t a, std::int64_t b) {
    const auto wrap = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    if (operation == "+") return wrap(ua + ub);
    if (operation == "-") return wrap(ua - ub);
    if (operation == "*") return wrap(ua * ub);
    if (operation == "/" || operation == "%") {
      if (b == 0 || b == -1) return b == 0 ? Number() : operation == "/" ? wrap(0 - ua) : 0;
      return operation == "/" ? a / b : a % b;
    }
    if (operation == "<<") return ub < 64 ? wrap(ua << ub) : Number();
    if (operation == ">>") return ub < 64 ? a >> b : Number();
    if (operation == "<") return a < b;
    if (operation == ">") return a > b;
    if (operation == "<=") return a <= b;
    if (operation == ">=") return a >= b;
    if (operation == "==") return a == b;
    if (operation == "!=") return a != b;
    if (operation == "&&") return a != 0 && b != 0;
    if (operation == "||") return a != 0 || b != 0;
    if (operation == "&") return a & b;
    if (operation == "|") return a | b;
    return a ^ b;
  }

  Number unary() {
    if (++depth_ > deepest) return std::nullopt;
    Number value;
    if (take("-")) {
      value = unary();
      if (value) value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*value));
    } else if (take("+")) {
      value = unary();
    } else if (take("!")) {
      value = unary();
      if (value) value = *value == 0;
    } else if (take("~")) {
      value = unary();
      if (value) value = ~*value;
    } else {
      value = primary();
    }
    --depth_;
    return value;
  }

  Number primary() {
    if (take("(")) {
      const Number value = choice();
      return take(")") ? value : std::nullopt;
    }
    if (at_ >= tokens_.size()) return std::nullopt;
    const Token& token = tokens_[at_++];
    if (token.kind == Token::Kind::number) return parse(token.text);
    if (token.kind != Token::Kind::identifier) return std::nullopt;
    if (token.text == "true") return 1;
    const auto found = names_.find(token.text);
    if (found != names_.end()) return found->second;
    return unknown_is_zero_ ? Number(0) : std::nullopt;
  }

  static Number parse(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 0);
    const std::string_view rest = end;
    if (errno != 0 || rest.find_first_not_of("uUlL") != std::string_view::npos) return std::nullopt;
    return value;
  }

  std::span<const Token> tokens_;
  const std::map<std::string, std::int64_t>& names_;
  bool unknown_is_zero_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> evaluate(std::span<const Token> tokens, const std::map<std::string, std::int64_t>& names,
                                     bool unknown_is_zero) {
  return Evaluator(tokens, names, unknown_is_zero).all();
}

}  // namespace wattune::simgpu
