#pragma once
// Numbers keys in the order in which they first appear.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wattune {

class IdMap {
 public:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }

  /// The number of the key; a new one gets the number size().
  std::uint32_t number(std::uint64_t key) {
    if (keys_.size() * 2 >= slots_.size()) grow();
    for (std::size_t at = place(key);; at = (at + 1) & (slots_.size() - 1)) {
      const std::uint32_t number = slots_[at];
      if (number == none) {
        slots_[at] = size();
        keys_.push_back(key);
        return slots_[at];
      }
      if (keys_[number] == key) return number;
    }
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15U;  // the golden ratio: spreads neighbouring keys
    return static_cast<std::size_t>(key >> shift_);
  }

  void grow() {
    // Small tables grow slowly, to touch little memory; large ones fast, to be rebuilt seldom.
    const unsigned bits = slots_.empty() ? 6 : 64 - shift_ + (slots_.size() < 65536 ? 1 : 2);
    shift_ = 64 - bits;
    slots_.assign(std::size_t{1} << bits, none);
    for (std::uint32_t number = 0; number < size(); ++number) {
      std::size_t at = place(keys_[number]);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = number;
    }
  }

  std::vector<std::uint32_t> slots_;  ///< numbers, at places given by the keys
  std::vector<std::uint64_t> keys_;   ///< by number
  unsigned shift_ = 58;
};

}  // namespace wattune
