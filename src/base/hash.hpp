#pragma once
// Content hashes (XXH3, 128 bits): compile keys, problem hashes. Not for security.

#include <cstdint>
#include <string>
#include <string_view>

namespace wattune {

/// Collects fields into one hash. Each field is length-prefixed, so ("ab","c") differs from ("a","bc").
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& add(std::string_view field);
  Hasher& add(std::uint64_t field);
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  State* state_;
};

}  // namespace wattune
