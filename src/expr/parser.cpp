#include "expr/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "expr/expression.hpp"
#include "expr/lexer.hpp"
#include "expr/nearest_name.hpp"

namespace wattune {

namespace {

using ast::Kind;
using ast::Node;
using ast::Operation;

// The parser recurses once per parenthesis, sign or exponent; compilation once per level of the tree.
constexpr std::uint32_t deepest_nesting = 200;
constexpr std::uint32_t deepest_tree = 1000;
constexpr std::size_t longest_text = std::size_t{1} << 20;

constexpr std::array<std::string_view, 17> function_names = {"range", "len",  "min",  "max",   "sum",   "abs",
                                                             "all",   "any",  "int",  "float", "round", "ceil",
                                                             "floor", "sqrt", "log2", "log",   "list"};
constexpr std::array<std::string_view, 5> math_functions = {"ceil", "floor", "sqrt", "log2", "log"};

/// How many arguments each function takes.
struct Arity {
  std::size_t least, most;
};
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

Arity arity(ast::Function function) {
  switch (function) {
    case ast::Function::range:
      return {1, 3};
    case ast::Function::min:
    case ast::Function::max:
      return {1, any_number};
    case ast::Function::round:
    case ast::Function::log:
      return {1, 2};
    case ast::Function::list:
      return {0, 1};
    default:
      return {1, 1};
  }
}

struct SymbolOperation {
  std::string_view symbol;
  Operation operation;
};

template <std::size_t N>
std::optional<Operation> find_operation(const std::array<SymbolOperation, N>& table, const Token& token) {
  if (token.kind != TokenKind::symbol) return std::nullopt;
  for (const auto& [symbol, operation] : table) {
    if (token.text == symbol) return operation;
  }
  return std::nullopt;
}

constexpr std::array<SymbolOperation, 6> comparison_operations = {{{"==", Operation::equal},
                                                                   {"!=", Operation::not_equal},
                                                                   {"<", Operation::less},
                                                                   {"<=", Operation::less_equal},
                                                                   {">", Operation::greater},
                                                                   {">=", Operation::greater_equal}}};
constexpr std::array<SymbolOperation, 2> sum_operations = {{{"+", Operation::add}, {"-", Operation::subtract}}};
constexpr std::array<SymbolOperation, 4> product_operations = {
    {{"*", Operation::multiply}, {"/", Operation::divide}, {"//", Operation::floor_divide}, {"%", Operation::modulo}}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  Node run() {
    if (token().kind == TokenKind::end) fail("the expression is empty");
    Node root = expression();
    if (token().kind != TokenKind::end) fail(unexpected());
    return root;
  }

 private:
  [[nodiscard]] const Token& token() const { return tokens_[position_]; }
  [[nodiscard]] bool at(std::string_view symbol) const {
    return token().kind == TokenKind::symbol && token().text == symbol;
  }
  bool accept(std::string_view symbol) {
    if (!at(symbol)) return false;
    ++position_;
    return true;
  }
  bool accept(TokenKind kind) {
    if (token().kind != kind) return false;
    ++position_;
    return true;
  }
  void expect(std::string_view symbol, const Token& opening) {
    if (accept(symbol)) return;
    if (token().kind == TokenKind::end) {
      throw ExpressionError(text_, opening.column, fmt::format("'{}' is not closed", opening.text));
    }
    fail(fmt::format("expected '{}', found '{}'", symbol, token().text));
  }
  [[noreturn]] void fail(std::string_view reason) const { throw ExpressionError(text_, token().column, reason); }
  [[nodiscard]] std::string unexpected() const {
    if (token().kind == TokenKind::end) return "the expression ends too early";
    return fmt::format("unexpected '{}'", token().text);
  }

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > deepest_nesting) {
        parser_.fail(fmt::format("nested more than {} levels deep", deepest_nesting));
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  Node make(Kind kind, const Token& place, std::vector<Node> children) const {
    Node node;
    node.kind = kind;
    node.column = place.column;
    for (const Node& child : children) node.depth = std::max(node.depth, child.depth + 1);
    if (node.depth > deepest_tree) {
      throw ExpressionError(text_, place.column, fmt::format("more than {} operations in a row", deepest_tree));
    }
    node.children = std::move(children);
    return node;
  }

  template <typename... Nodes>
  static std::vector<Node> nodes(Nodes&&... node) {
    std::vector<Node> result;
    result.reserve(sizeof...(node));
    (result.push_back(std::forward<Nodes>(node)), ...);
    return result;
  }

  Node operation(Kind kind, Operation operation, const Token& place, std::vector<Node> children) const {
    Node node = make(kind, place, std::move(children));
    node.operation = operation;
    return node;
  }

  Node expression() {
    const Nesting nesting(*this);
    Node value = disjunction();
    const Token& place = token();
    if (!accept(TokenKind::if_)) return value;
    Node condition = disjunction();
    if (!accept(TokenKind::else_)) fail("expected 'else' of the 'if' before it");
    Node otherwise = expression();
    return make(Kind::conditional, place, nodes(std::move(condition), std::move(value), std::move(otherwise)));
  }

  Node disjunction() {
    return logical(TokenKind::or_, Kind::logical_or, [this] { return conjunction(); });
  }
  Node conjunction() {
    return logical(TokenKind::and_, Kind::logical_and, [this] { return negation(); });
  }
  template <typename Operand>
  Node logical(TokenKind keyword, Kind kind, Operand operand) {
    Node first = operand();
    if (token().kind != keyword) return first;
    const Token& place = token();
    std::vector<Node> operands = nodes(std::move(first));
    while (accept(keyword)) operands.push_back(operand());
    return make(kind, place, std::move(operands));
  }

  Node negation() {
    const Token& place = token();
    if (!accept(TokenKind::not_)) return comparison();
    const Nesting nesting(*this);
    return operation(Kind::unary, Operation::logical_not, place, nodes(negation()));
  }

  std::optional<Operation> comparison_operation() {
    if (token().kind == TokenKind::not_ && tokens_[position_ + 1].kind == TokenKind::in) {
      position_ += 2;
      return Operation::not_in;
    }
    if (accept(TokenKind::in)) return Operation::in;
    const auto found = find_operation(comparison_operations, token());
    if (found) ++position_;
    return found;
  }

  Node comparison() {
    Node first = sum();
    const Token& place = token();
    std::vector<Node> operands = nodes(std::move(first));
    std::vector<Operation> operations;
    while (const auto found = comparison_operation()) {
      operations.push_back(*found);
      operands.push_back(sum());
    }
    if (operations.empty()) return std::move(operands[0]);
    Node node = make(Kind::comparison, place, std::move(operands));
    node.comparisons = std::move(operations);
    return node;
  }

  template <std::size_t N, typename Operand>
  Node left_associative(const std::array<SymbolOperation, N>& table, Operand operand) {
    Node left = operand();
    while (const auto found = find_operation(table, token())) {
      const Token& place = tokens_[position_++];
      Node right = operand();
      left = operation(Kind::binary, *found, place, nodes(std::move(left), std::move(right)));
    }
    return left;
  }
  Node sum() {
    return left_associative(sum_operations, [this] { return product(); });
  }
  Node product() {
    return left_associative(product_operations, [this] { return sign(); });
  }

  Node sign() {
    const Token& place = token();
    const bool minus = at("-");
    if (!minus && !at("+")) return power();
    ++position_;
    const Nesting nesting(*this);
    return operation(Kind::unary, minus ? Operation::negate : Operation::plus, place, nodes(sign()));
  }

  Node power() {
    Node base = postfix();
    const Token& place = token();
    if (!accept("**")) return base;
    const Nesting nesting(*this);
    return operation(Kind::binary, Operation::power, place, nodes(std::move(base), sign()));
  }

  Node postfix() {
    Node node = atom();
    while (at("[")) {
      const Token& opening = tokens_[position_++];
      Node index = expression();
      if (at(":")) fail("slices are not part of the language");
      expect("]", opening);
      node = make(Kind::subscript, opening, nodes(std::move(node), std::move(index)));
    }
    return node;
  }

  Node atom() {
    const Token& first = token();
    if (first.kind == TokenKind::number || first.kind == TokenKind::string) {
      ++position_;
      Node node = make(Kind::literal, first, {});
      node.value = first.value;
      if (first.kind == TokenKind::string && token().kind == TokenKind::string) {
        fail("strings that follow each other are not joined; use +");
      }
      return node;
    }
    if (first.kind == TokenKind::name) return name();
    if (accept("(")) {
      Node node = expression();
      if (at(",")) node = list_rest(std::move(node), ")", first);
      if (token().kind == TokenKind::for_) fail("a comprehension needs brackets: [... for ... in ...]");
      expect(")", first);
      return node;
    }
    if (accept("[")) {
      if (accept("]")) return make(Kind::list, first, {});
      Node element = expression();
      Node node = token().kind == TokenKind::for_ ? comprehension(std::move(element), first)
                                                  : list_rest(std::move(element), "]", first);
      expect("]", first);
      return node;
    }
    fail(unexpected());
  }

  /// The rest of a list display after its first element, up to the closing bracket. Tuples are read as lists.
  Node list_rest(Node first, std::string_view closing, const Token& opening) {
    std::vector<Node> elements = nodes(std::move(first));
    while (accept(",")) {
      if (at(closing)) break;
      elements.push_back(expression());
    }
    return make(Kind::list, opening, std::move(elements));
  }

  Node comprehension(Node element, const Token& opening) {
    std::vector<Node> children = nodes(std::move(element));
    std::vector<int> clauses;
    std::vector<std::string> variables;
    while (true) {
      if (accept(TokenKind::for_)) {
        if (token().kind != TokenKind::name) fail("expected the name of a variable after 'for'");
        variables.emplace_back(tokens_[position_++].text);
        clauses.push_back(0);  // numbered when names are resolved
        if (!accept(TokenKind::in)) fail("expected 'in' after the variable of 'for'");
        children.push_back(disjunction());
      } else if (accept(TokenKind::if_)) {
        variables.emplace_back();
        clauses.push_back(ast::condition_clause);
        children.push_back(disjunction());
      } else {
        break;
      }
    }
    Node node = make(Kind::comprehension, opening, std::move(children));
    node.clauses = std::move(clauses);
    node.variables = std::move(variables);
    return node;
  }

  Node name() {
    const Token* word = &tokens_[position_++];
    const bool in_math = word->text == "math" && at(".");
    if (in_math) {
      ++position_;
      if (token().kind != TokenKind::name) fail("expected the name of a function after 'math.'");
      word = &tokens_[position_++];
      if (std::ranges::find(math_functions, word->text) == math_functions.end() || !at("(")) {
        throw ExpressionError(
            text_, word->column,
            fmt::format("math.{} is not known; there are ceil, floor, sqrt, log2 and log", word->text));
      }
    }
    if (at("(")) return call(*word);
    if (at(".")) fail("attributes and methods are not part of the language");
    Node node = make(Kind::name, *word, {});
    node.name = word->text;
    return node;
  }

  Node call(const Token& word) {
    const auto found = std::ranges::find(function_names, word.text);
    if (found == function_names.end()) {
      const std::vector<std::string> known(function_names.begin(), function_names.end());
      throw ExpressionError(text_, word.column,
                            fmt::format("there is no function '{}'{}", word.text, did_you_mean(word.text, known)),
                            Fault::name);
    }
    const auto function = static_cast<ast::Function>(found - function_names.begin());
    const Token& opening = tokens_[position_++];
    std::vector<Node> arguments;
    while (!at(")")) {
      if (!arguments.empty() && !accept(",")) break;
      if (at(")")) break;
      arguments.push_back(expression());
      if (arguments.size() == 1 && token().kind == TokenKind::for_) {
        arguments[0] = comprehension(std::move(arguments[0]), opening);
        break;
      }
    }
    expect(")", opening);
    const auto [least, most] = arity(function);
    if (arguments.size() < least || arguments.size() > most) {
      throw ExpressionError(text_, word.column, arity_message(word.text, least, most, arguments.size()), Fault::type);
    }
    Node node = make(Kind::call, word, std::move(arguments));
    node.function = function;
    return node;
  }

  static std::string arity_message(std::string_view name, std::size_t least, std::size_t most, std::size_t given) {
    const std::string wanted = most == any_number ? fmt::format("at least {}", least)
                               : least == most    ? fmt::format("{}", least)
                                                  : fmt::format("{} to {}", least, most);
    return fmt::format("{}() takes {} argument{}, {} given", name, wanted, wanted == "1" ? "" : "s", given);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::uint32_t nesting_ = 0;
};

/// Tells comprehension variables from free names, and marks constant subtrees.
class Resolver {
 public:
  /// What a subtree refers to outside itself.
  struct Uses {
    bool free = false;                                ///< a free name
    int outermost = std::numeric_limits<int>::max();  ///< the smallest number of a comprehension variable

    void add(const Uses& other) {
      free = free || other.free;
      outermost = std::min(outermost, other.outermost);
    }
  };

  Uses resolve(Node& node) {
    Uses uses;
    const int first_own = locals;
    if (node.kind == Kind::name) {
      uses = resolve_name(node);
    } else if (node.kind == Kind::comprehension) {
      uses = resolve_comprehension(node);
    } else {
      for (Node& child : node.children) uses.add(resolve(child));
    }
    node.constant = !uses.free && uses.outermost >= first_own;
    return uses;
  }

  /// The free names in order of first appearance.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::pair<std::uint32_t, std::string>> by_column;
    for (const auto& [name, column] : first_columns_) by_column.emplace_back(column, name);
    std::ranges::sort(by_column);
    std::vector<std::string> result;
    for (auto& [column, name] : by_column) result.push_back(std::move(name));
    return result;
  }

  int locals = 0;

 private:
  Uses resolve_name(Node& node) {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it) {
      if (it->first != node.name) continue;
      node.local = it->second;
      return {false, node.local};
    }
    const auto [entry, is_new] = first_columns_.try_emplace(node.name, node.column);
    if (!is_new) entry->second = std::min(entry->second, node.column);
    return {true, std::numeric_limits<int>::max()};
  }

  Uses resolve_comprehension(Node& node) {
    Uses uses;
    const std::size_t outer = scope_.size();
    for (std::size_t clause = 0; clause < node.clauses.size(); ++clause) {
      uses.add(resolve(node.children[clause + 1]));  // the list of a `for` does not see its own variable
      if (node.clauses[clause] == ast::condition_clause) continue;
      node.clauses[clause] = locals++;
      scope_.emplace_back(node.variables[clause], node.clauses[clause]);
    }
    uses.add(resolve(node.children[0]));
    scope_.resize(outer);
    return uses;
  }

  std::vector<std::pair<std::string, int>> scope_;
  std::map<std::string, std::uint32_t> first_columns_;
};

}  // namespace

namespace ast {
std::string_view to_string(Operation operation) {
  constexpr std::array<std::string_view, 18> texts = {"+",   "-",  "*",  "/", "//", "%", "**", "+",  "-",
                                                      "not", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return texts[static_cast<std::size_t>(operation)];
}
}  // namespace ast

ParsedExpression parse_expression(std::string_view text) {
  if (text.size() > longest_text) {
    throw ExpressionError(text, 1, fmt::format("the expression is longer than {} characters", longest_text));
  }
  ParsedExpression result;
  result.root = Parser(text).run();
  Resolver resolver;
  resolver.resolve(result.root);
  result.names = resolver.names();
  result.locals = resolver.locals;
  return result;
}

}  // namespace wattune
