#pragma once
// Large JSON files, a member at a time: the members of one object, or the elements of one list, are handed out as text
// while the file is read, so that no more of it is in memory than a single member. Damage is no end: what is whole on
// either side of it is found.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/formats/byte_source.hpp"

namespace wattune {

class JsonStream {
 public:
  /// Bytes behind a text that is handed out which may be read, whatever they hold.
  static constexpr std::size_t padding = 64;

  /// @param source outlives this object.
  explicit JsonStream(ByteSource& source);

  /// The next character that is not white space, without taking it; 0 at the end.
  char peek();
  /// Takes the next character where it is this one.
  bool take(char character);

  /// The key of the next member of the object that is open, up to and with its colon, as it stands between its quotes.
  /// Nothing at the object's end (which is taken), at the end of the file, and where there is no key.
  std::optional<std::string> key();

  /// The text of a value from here on. Nothing where the file ends within it, or it is none. It stays until the next
  /// call.
  std::optional<std::string_view> value();

  /// Takes the comma after a member or an element. @return false where there is none.
  bool comma() { return take(','); }

  /// Bytes before the next one.
  [[nodiscard]] std::uint64_t offset() const { return dropped_ + at_; }

  /// Keeps everything from here on until release(), so that one can return.
  void mark() { mark_ = at_; }
  /// Goes on at the first line after the mark that begins a member whose value is an object, as a program that writes a
  /// line for each begins them. @return false where there is none before the end of the file; then it is at the end.
  bool resume_after_mark();
  void release() { mark_.reset(); }

  /// True once the file has ended.
  bool at_end() { return peek() == 0; }

 private:
  bool fill();
  bool skip_string();
  bool skip_nested();
  [[nodiscard]] bool begins_member(std::size_t at) const;

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;  ///< bytes that were in the buffer and are no more
  std::optional<std::size_t> mark_;
  std::optional<std::size_t> value_;  ///< where the value being read begins
  bool ended_ = false;
};

}  // namespace wattune
