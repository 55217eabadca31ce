#include "problem/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "expr/nearest_name.hpp"

namespace wattune {

using nlohmann::json;

namespace {

constexpr int max_depth = 100;

/// Walks a text that is known to be JSON next to its parsed tree and notes where each value stands.
class PositionPass {
 public:
  using Position = JsonDocument::Position;

  PositionPass(std::string_view text, const std::string& file, std::unordered_map<const json*, Position>& positions)
      : text_(text), file_(file), positions_(positions) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  void root(const json& node) {
    skip_space();
    value(&node, "", {line_, at_}, 0);
  }

 private:
  /// `node` is null within a member that a later one of the same name hides.
  void value(const json* node, const std::string& key, Position position, int depth) {
    if (depth > max_depth)
      fail(position, key, fmt::format("nested deeper than {} levels; write a flatter file", max_depth));
    if (node != nullptr) positions_[node] = position;
    if (text_[at_] == '{') {
      object(node != nullptr && node->is_object() ? node : nullptr, key, depth);
    } else if (text_[at_] == '[') {
      list(node != nullptr && node->is_array() ? node : nullptr, key, depth);
    } else if (text_[at_] == '"') {
      string_token();
    } else {
      while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    }
  }

  void object(const json* node, const std::string& key, int depth) {
    std::set<std::string, std::less<>> seen;
    ++at_;  // {
    skip_space();
    while (text_[at_] != '}') {
      if (text_[at_] == ',') ++at_;
      skip_space();
      const Position position{line_, at_};
      const std::string_view token = string_token();
      std::string name = token.find('\\') == std::string_view::npos ? std::string(token.substr(1, token.size() - 2))
                                                                    : json::parse(token).get<std::string>();
      std::string member = key.empty() ? name : key + "." + name;
      if (!seen.insert(name).second) fail(position, member, "given twice; remove one");
      skip_space();
      ++at_;  // :
      skip_space();
      value(member_of(node, name), member, position, depth + 1);
      skip_space();
    }
    ++at_;
  }

  /// Null where it is not there, for the text read may be that of a hidden member with other content.
  static const json* member_of(const json* node, const std::string& name) {
    if (node == nullptr) return nullptr;
    const auto found = node->find(name);
    return found == node->end() ? nullptr : &*found;
  }

  void list(const json* node, const std::string& key, int depth) {
    ++at_;  // [
    skip_space();
    for (std::size_t i = 0; text_[at_] != ']'; ++i) {
      if (text_[at_] == ',') ++at_;
      skip_space();
      const bool known = node != nullptr && i < node->size();
      value(known ? &(*node)[i] : nullptr, fmt::format("{}[{}]", key, i), {line_, at_}, depth + 1);
      skip_space();
    }
    ++at_;
  }

  std::string_view string_token() {
    const std::size_t begin = at_++;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void skip_space() {
    for (; at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  [[noreturn]] void fail(Position position, const std::string& key, std::string_view message) const {
    throw UsageError(one_line(fmt::format("{}:{}: {}: {}", file_, position.line, key, message)));
  }

  std::string_view text_;
  const std::string& file_;
  std::unordered_map<const json*, Position>& positions_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// What nlohmann says after its own position, in one line.
std::string reason_of(const json::exception& error) {
  std::string reason = error.what();
  for (const std::string_view mark : {"column ", "] "}) {
    if (const auto at = reason.find(mark); at != std::string::npos) {
      const auto after = mark == "] " ? at + 2 : reason.find(": ", at) + 2;
      reason.erase(0, after);
      break;
    }
  }
  return one_line(std::move(reason));
}

[[noreturn]] void syntax_error(std::string_view text, const std::string& file, const json::exception& error,
                               std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto last = before.rfind('\n');
  const auto column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  throw UsageError(fmt::format("{}:{}: column {}: not valid JSON: {}; correct the file there or just before", file,
                               line, column, reason_of(error)));
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text, std::string file)
    : file_(std::move(file)), root_(std::make_unique<json>()) {
  try {
    *root_ = json::parse(text);
  } catch (const json::parse_error& error) {
    syntax_error(text, file_, error, error.byte);
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("{}:1: cannot read the JSON: {}; correct the file", file_, reason_of(error)));
  }
  PositionPass(text, file_, positions_).root(*root_);
}

JsonDocument::~JsonDocument() = default;

JsonNode JsonDocument::root() const {
  return {*this, *root_, ""};
}

JsonDocument::Position JsonDocument::position(const json& value) const {
  const auto found = positions_.find(&value);
  return found == positions_.end() ? Position{} : found->second;
}

std::string JsonNode::place() const {
  return fmt::format("{}:{}: {}", document_->file(), document_->position(*value_).line,
                     key_.empty() ? "the file" : key_);
}

void JsonNode::fail(std::string_view message) const {
  throw UsageError(one_line(fmt::format("{}: {}", place(), message)));
}

void JsonNode::wrong_type(std::string_view needed) const {
  const char* given = value_->is_null()      ? "null"
                      : value_->is_boolean() ? "a boolean"
                      : value_->is_number()  ? "a number"
                      : value_->is_string()  ? "a string"
                      : value_->is_array()   ? "a list"
                                             : "an object";
  fail(fmt::format("is {}; give {}", given, needed));
}

bool JsonNode::is_string() const {
  return value_->is_string();
}
bool JsonNode::is_object() const {
  return value_->is_object();
}
bool JsonNode::is_list() const {
  return value_->is_array();
}
bool JsonNode::is_number() const {
  return value_->is_number();
}
bool JsonNode::is_integer() const {
  return value_->is_number_integer();
}
bool JsonNode::is_boolean() const {
  return value_->is_boolean();
}

std::optional<JsonNode> JsonNode::find(std::string_view name) const {
  if (!value_->is_object()) wrong_type("an object");
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonNode(*document_, *found, key_.empty() ? std::string(name) : fmt::format("{}.{}", key_, name));
}

JsonNode JsonNode::at(std::string_view name) const {
  auto member = find(name);
  if (!member) {
    throw UsageError(one_line(fmt::format("{}:{}: {}{}{}: is missing; add it", document_->file(),
                                          document_->position(*value_).line, key_, key_.empty() ? "" : ".", name)));
  }
  return *member;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  if (!value_->is_object()) wrong_type("an object");
  std::vector<std::pair<std::string, JsonNode>> result;
  for (const auto& [name, member] : value_->items()) {
    result.emplace_back(name, JsonNode(*document_, member, key_.empty() ? name : key_ + "." + name));
  }
  std::sort(result.begin(), result.end(), [this](const auto& a, const auto& b) {
    return document_->position(*a.second.value_).offset < document_->position(*b.second.value_).offset;
  });
  return result;
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) wrong_type("a list");
  std::vector<JsonNode> result;
  result.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back(*document_, (*value_)[i], fmt::format("{}[{}]", key_, i));
  }
  return result;
}

const std::string& JsonNode::string() const {
  if (!value_->is_string()) wrong_type("a string");
  return value_->get_ref<const std::string&>();
}

double JsonNode::number() const {
  if (!value_->is_number()) wrong_type("a number");
  return value_->get<double>();
}

std::int64_t JsonNode::integer() const {
  if (!value_->is_number_integer()) wrong_type("an integer");
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX) {
    fail("is too large; give an integer below 2^63");
  }
  return value_->get<std::int64_t>();
}

std::uint64_t JsonNode::natural() const {
  const std::int64_t value = integer();
  if (value < 0) fail(fmt::format("is {}; give an integer that is not negative", value));
  return static_cast<std::uint64_t>(value);
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) wrong_type("true or false");
  return value_->get<bool>();
}

std::vector<std::string> JsonNode::strings() const {
  std::vector<std::string> result;
  for (const JsonNode& item : items()) result.push_back(item.string());
  return result;
}

const std::string& JsonNode::one_of(std::initializer_list<std::string_view> allowed) const {
  const std::string& value = string();
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    const std::vector<std::string> names(allowed.begin(), allowed.end());
    fail(fmt::format("unknown value '{}'{}; give one of: {}", value, did_you_mean(value, names), joined(names)));
  }
  return value;
}

std::string JsonNode::text() const {
  return value_->dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace wattune
