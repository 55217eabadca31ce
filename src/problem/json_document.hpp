#pragma once
// A JSON text that remembers where its values stand, read through accessors whose errors name file, line and key.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wattune {

class JsonDocument;

/// A value of a document. Cheap to copy; lives no longer than its document.
class JsonNode {
 public:
  JsonNode(const JsonDocument& document, const nlohmann::json& value, std::string key)
      : document_(&document), value_(&value), key_(std::move(key)) {}

  /// Where it stands: "KernelSpecification.Arguments[2].Size"; empty for the root.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// "FILE:LINE: KEY"
  [[nodiscard]] std::string place() const;
  /// "PLACE: MESSAGE" as a UsageError.
  [[noreturn]] void fail(std::string_view message) const;

  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_integer() const;  ///< written without point and exponent
  [[nodiscard]] bool is_boolean() const;

  /// The member of that name; nothing where it is absent or null. @throws UsageError where this is no object.
  [[nodiscard]] std::optional<JsonNode> find(std::string_view name) const;
  /// The same, required.
  [[nodiscard]] JsonNode at(std::string_view name) const;
  /// In the order of the file. @throws UsageError where this is no object, or no list.
  [[nodiscard]] std::vector<std::pair<std::string, JsonNode>> members() const;
  [[nodiscard]] std::vector<JsonNode> items() const;

  /// @throws UsageError that says which type is needed.
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t natural() const;  ///< an integer that is not negative
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::vector<std::string> strings() const;
  /// The string, which must be one of these. @throws UsageError that lists them and the nearest.
  [[nodiscard]] const std::string& one_of(std::initializer_list<std::string_view> allowed) const;

  /// The value as JSON text.
  [[nodiscard]] std::string text() const;

 private:
  [[noreturn]] void wrong_type(std::string_view needed) const;

  const JsonDocument* document_;
  const nlohmann::json* value_;
  std::string key_;
};

class JsonDocument {
 public:
  /// @param file how messages name the text.
  /// @throws UsageError with line and column where the text is not JSON, gives a key twice or nests too deeply.
  JsonDocument(std::string_view text, std::string file);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  [[nodiscard]] JsonNode root() const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Where a value stands; a member of an object stands where its name does.
  struct Position {
    int line = 1;
    std::size_t offset = 0;  ///< in bytes
  };
  [[nodiscard]] Position position(const nlohmann::json& value) const;

 private:
  std::string file_;
  std::unique_ptr<nlohmann::json> root_;
  std::unordered_map<const nlohmann::json*, Position> positions_;
};

/// The same text in one line: control characters, which names in a file may hold, become blanks.
std::string one_line(std::string text);

/// "a, b, c"
std::string joined(const std::vector<std::string>& names);

}  // namespace wattune
