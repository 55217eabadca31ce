#include "nvrtc/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace wattune::simgpu {

namespace {

/// Of a constant variable whose size cannot be seen: all the constant memory there is.
constexpr std::uint64_t all_constant_memory = 65536;
constexpr std::uint64_t largest_array = 1ULL << 32;

class Reader {
 public:
  Reader(std::span<const Token> tokens, const std::string& kernel) : tokens_(tokens), kernel_(kernel) {}

  SourceFacts read() {
    facts_.imbalance = check_brackets();
    read_constants();
    read_structures();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      if (text == kernel_) facts_.has_name = true;
      if (text == "__global__") read_kernel(i);
      if (text == "__shared__" && !follows_extern(i)) read_shared(i + 1);
      if (text == "__constant__" || text == "__device__") read_variable(i + 1);
    }
    return std::move(facts_);
  }

 private:
  struct Declaration {
    std::string type;
    std::string name;
    std::optional<std::uint64_t> elements;  ///< nothing: its size cannot be seen
    bool is_array = false;
    std::size_t end = 0;  ///< position of what follows the name and its dimensions
  };

  [[nodiscard]] bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  [[nodiscard]] bool is_identifier(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::identifier;
  }
  [[nodiscard]] bool follows_extern(std::size_t i) const { return i > 0 && is(i - 1, "extern"); }

  /// The position after the bracket that closes the one at `i`.
  [[nodiscard]] std::size_t after_brackets(std::size_t i, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (is(i, open)) ++depth;
      if (is(i, close) && --depth == 0) return i + 1;
    }
    return i;
  }

  std::string check_brackets() const {
    std::string open;
    for (const Token& token : tokens_) {
      if (token.kind != Token::Kind::punctuation) continue;
      const char c = token.text[0];
      if (c == '(' || c == '[' || c == '{') open += c;
      if (c != ')' && c != ']' && c != '}') continue;
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != wanted) return fmt::format("there is no \"{}\" for this \"{}\"", wanted, c);
      open.pop_back();
    }
    if (open.empty()) return {};
    const char last = open.back();
    return fmt::format("expected a \"{}\"", last == '(' ? ')' : last == '[' ? ']' : '}');
  }

  /// const int N = 16; and their like.
  void read_constants() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, "const") && !is(i, "constexpr")) continue;
      std::size_t equals = i + 1;
      while (is_identifier(equals)) ++equals;
      if (!is(equals, "=") || equals < i + 3) continue;
      std::size_t end = equals + 1;
      while (end < tokens_.size() && !is(end, ";")) ++end;
      const auto value = evaluate(tokens_.subspan(equals + 1, end - equals - 1), constants_);
      if (value) constants_[tokens_[equals - 1].text] = *value;
    }
  }

  /// struct Vector { float s[4]; }; with its size in bytes.
  void read_structures() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, "struct")) continue;
      std::size_t body = i + 1;
      while (body < tokens_.size() && !is(body, "{") && !is(body, ";")) ++body;
      if (!is(body, "{")) continue;
      const std::size_t end = after_brackets(body, "{", "}");
      std::uint64_t bytes = 0;
      for (std::size_t at = body + 1; at + 1 < end;) {
        const auto member = declaration(at);
        if (!member) break;
        bytes += size_of(member->type) * member->elements.value_or(1);
        at = member->end + 1;
      }
      for (std::size_t at = i + 1; at < body; ++at) {
        if (is_identifier(at)) sizes_[tokens_[at].text] = std::max<std::uint64_t>(bytes, 1);
      }
      if (is_identifier(end)) sizes_[tokens_[end].text] = std::max<std::uint64_t>(bytes, 1);  // typedef
    }
  }

  /// TYPE NAME[N][M] from `i`; nothing where it is something else. The type is the last name before the variable's.
  [[nodiscard]] std::optional<Declaration> declaration(std::size_t i) const {
    std::size_t name = i;
    while (is_identifier(name) || is(name, "*") || is(name, "::") || is(name, "<") || is(name, ">") ||
           (is(name, "(") && is_identifier(name - 1) && tokens_[name - 1].text.starts_with("__"))) {
      name = is(name, "(") ? after_brackets(name, "(", ")") : name + 1;
    }
    if (name < i + 2 || !is_identifier(name - 1)) return std::nullopt;
    Declaration result;
    result.name = tokens_[name - 1].text;
    result.type = tokens_[name - 2].text;
    result.elements = 1;
    std::size_t at = name;
    while (is(at, "[")) {
      result.is_array = true;
      const std::size_t end = after_brackets(at, "[", "]");
      const auto size = end > at + 2 ? evaluate(tokens_.subspan(at + 1, end - at - 2), constants_) : std::nullopt;
      const bool good = size && *size > 0 && result.elements;
      result.elements = good ? std::optional(*result.elements * static_cast<std::uint64_t>(*size)) : std::nullopt;
      if (result.elements && *result.elements > largest_array) result.elements.reset();
      at = end;
    }
    result.end = at;
    return result;
  }

  [[nodiscard]] std::uint64_t size_of(const std::string& type) const {
    static const std::map<std::string, std::uint64_t> known = {
        {"char", 1},     {"short", 2},    {"half", 2},    {"__half", 2}, {"__nv_bfloat16", 2}, {"int", 4},
        {"float", 4},    {"unsigned", 4}, {"double", 8},  {"long", 8},   {"half2", 4},         {"__half2", 4},
        {"float2", 8},   {"float3", 12},  {"float4", 16}, {"int2", 8},   {"int4", 16},         {"uint4", 16},
        {"double2", 16}, {"uchar4", 4},   {"char4", 4},   {"*", 8},      {"bool", 1},          {"uint2", 8}};
    if (const auto own = sizes_.find(type); own != sizes_.end()) return own->second;
    const auto found = known.find(type);
    return found == known.end() ? 4 : found->second;
  }

  void read_shared(std::size_t i) {
    const auto found = declaration(i);
    if (found && found->elements) facts_.shared_bytes += size_of(found->type) * *found->elements;
  }

  /// A variable of the module; functions have a bracket after their names.
  void read_variable(std::size_t i) {
    const auto found = declaration(i);
    if (!found || is(found->end, "(") || found->name == kernel_) return;
    const std::uint64_t bytes = found->elements ? size_of(found->type) * *found->elements : all_constant_memory;
    facts_.variables.push_back({found->name, bytes});
  }

  void read_kernel(std::size_t i) {
    const bool extern_c = i >= 2 && is(i - 1, "\"C\"");
    unsigned bounds = 1024;
    for (++i; i < tokens_.size() && !is(i, ";") && !is(i, "{"); ++i) {
      if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
        const std::size_t end = after_brackets(i + 1, "(", ")");
        std::size_t comma = i + 2;
        while (comma < end - 1 && !is(comma, ",")) ++comma;
        const auto value = evaluate(tokens_.subspan(i + 2, comma - i - 2), constants_);
        if (value && *value > 0 && *value <= 1024) bounds = static_cast<unsigned>(*value);
        i = end - 1;
      } else if (is_identifier(i) && is(i + 1, "(")) {
        if (tokens_[i].text != kernel_) return;
        facts_.has_kernel = true;
        facts_.is_extern_c = facts_.is_extern_c || extern_c || in_extern_block();
        facts_.max_threads = bounds;
        const std::size_t body = after_brackets(i + 1, "(", ")");
        if (is(body, "{")) read_arrays(body, after_brackets(body, "{", "}"));
        return;
      }
    }
  }

  /// extern "C" { ... } somewhere.
  [[nodiscard]] bool in_extern_block() const {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (is(i, "extern") && is(i + 1, "\"C\"") && is(i + 2, "{")) return true;
    }
    return false;
  }

  /// Arrays that each thread has, which compilers keep in registers.
  void read_arrays(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is(i, "{") && !is(i, ";") && !is(i, "}")) continue;
      if (is(i + 1, "__shared__") || is(i + 1, "extern") || is(i + 1, "return")) continue;
      const auto found = declaration(i + 1);
      if (!found || !found->is_array || !found->elements) continue;
      facts_.array_words += (size_of(found->type) * *found->elements + 3) / 4;
    }
  }

  std::span<const Token> tokens_;
  const std::string& kernel_;
  SourceFacts facts_;
  std::map<std::string, std::int64_t> constants_;
  std::map<std::string, std::uint64_t> sizes_;
};

}  // namespace

SourceFacts look_at(std::span<const Token> tokens, const std::string& kernel) {
  return Reader(tokens, kernel).read();
}

}  // namespace wattune::simgpu
