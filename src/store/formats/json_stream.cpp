#include "store/formats/json_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace wattune {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Characters at which a walk through nested values has to look.
constexpr std::array<bool, 256> make_structural() {
  std::array<bool, 256> result{};
  for (const char c : {'"', '{', '}', '[', ']'}) result[static_cast<unsigned char>(c)] = true;
  return result;
}
constexpr std::array<bool, 256> structural = make_structural();

}  // namespace

JsonStream::JsonStream(ByteSource& source) : source_(source) {
  buffer_.resize(piece + padding);
}

/// Reads on. Bytes that nothing refers to any more make room.
bool JsonStream::fill() {
  if (ended_) return false;
  std::size_t keep = at_;
  if (mark_) keep = std::min(keep, *mark_);
  if (value_) keep = std::min(keep, *value_);
  if (keep > 0) {
    std::memmove(buffer_.data(), buffer_.data() + keep, size_ - keep);
    size_ -= keep;
    at_ -= keep;
    dropped_ += keep;
    if (mark_) *mark_ -= keep;
    if (value_) *value_ -= keep;
  }
  if (buffer_.size() - padding - size_ < piece / 2) buffer_.resize(2 * buffer_.size());
  const std::size_t n = source_.read(buffer_.data() + size_, buffer_.size() - padding - size_);
  size_ += n;
  ended_ = n == 0;
  return !ended_;
}

char JsonStream::peek() {
  for (;;) {
    while (at_ < size_ && is_space(buffer_[at_])) ++at_;
    if (at_ < size_) return buffer_[at_];
    if (!fill()) return 0;
  }
}

bool JsonStream::take(char character) {
  if (peek() != character || at_ >= size_) return false;
  ++at_;
  return true;
}

/// From behind the opening quote to behind the closing one.
bool JsonStream::skip_string() {
  for (;;) {
    while (at_ < size_) {
      const char c = buffer_[at_++];
      if (c == '"') return true;
      if (c != '\\') continue;
      if (at_ == size_ && !fill()) return false;
      ++at_;
    }
    if (!fill()) return false;
  }
}

/// From behind the opening bracket to behind the one that closes it.
bool JsonStream::skip_nested() {
  std::size_t depth = 1;
  for (;;) {
    while (at_ < size_) {
      const char c = buffer_[at_++];
      if (!structural[static_cast<unsigned char>(c)]) continue;
      if (c == '"') {
        if (!skip_string()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (--depth == 0) {
        return true;
      }
    }
    if (!fill()) return false;
  }
}

std::optional<std::string> JsonStream::key() {
  if (take('}') || peek() != '"') return std::nullopt;
  value_ = at_;
  ++at_;
  if (!skip_string()) {
    value_.reset();
    return std::nullopt;
  }
  std::string text(buffer_.data() + *value_ + 1, at_ - *value_ - 2);
  value_.reset();
  if (!take(':')) return std::nullopt;
  return text;
}

std::optional<std::string_view> JsonStream::value() {
  const char first = peek();
  if (first == 0 || first == '}' || first == ']' || first == ',' || first == ':') return std::nullopt;
  value_ = at_;
  bool whole = false;
  if (first == '{' || first == '[') {
    ++at_;
    whole = skip_nested();
  } else if (first == '"') {
    ++at_;
    whole = skip_string();
  } else {
    const auto ends = [](char c) { return is_space(c) || c == ',' || c == '}' || c == ']'; };
    // A number at the very end may have lost its last digits.
    do {
      while (at_ < size_ && !ends(buffer_[at_])) ++at_;
      whole = at_ < size_;
    } while (!whole && fill());
  }
  const std::size_t start = *value_;
  value_.reset();
  if (!whole) return std::nullopt;
  return std::string_view(buffer_.data() + start, at_ - start);
}

/// Whether "KEY": { stands here.
bool JsonStream::begins_member(std::size_t at) const {
  if (at >= size_ || buffer_[at] != '"') return false;
  const char* const end = buffer_.data() + size_;
  const char* const quote = std::find(buffer_.data() + at + 1, end, '"');
  if (quote == end || std::find(buffer_.data() + at, quote, '\n') != quote) return false;
  const char* next = quote + 1;
  while (next < end && *next == ' ') ++next;
  if (next == end || *next != ':') return false;
  ++next;
  while (next < end && *next == ' ') ++next;
  return next < end && *next == '{';
}

bool JsonStream::resume_after_mark() {
  at_ = *mark_;
  // The longest line so far is in the buffer already, as a rule; a key that is split by the end of a piece is not.
  constexpr std::size_t longest_key = 4096;
  for (;;) {
    const auto* const found = static_cast<const char*>(std::memchr(buffer_.data() + at_, '\n', size_ - at_));
    if (found == nullptr) {
      at_ = size_;
      mark_ = at_;
      if (!fill()) return false;
      continue;
    }
    at_ = static_cast<std::size_t>(found - buffer_.data()) + 1;
    mark_ = at_;
    while (size_ - at_ < longest_key && fill()) {
    }
    std::size_t start = at_;
    while (start < size_ && (buffer_[start] == ' ' || buffer_[start] == '\t')) ++start;
    if (begins_member(start)) {
      at_ = start;
      return true;
    }
  }
}

}  // namespace wattune
