#pragma once
// Numbers keys in the order in which they first appear.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wattune {

class IdMap {
 public:
  [[nodiscard]] std::uint32_t size() const { return size_; }

  /// The number of the key; a new one gets the number size().
  std::uint32_t number(std::uint64_t key) {
    if (std::size_t{size_} * 2 >= slots_.size()) grow();
    for (std::size_t at = place(key);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.number == none) {
        slot = {key, size_};
        return size_++;
      }
      if (slot.key == key) return slot.number;
    }
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = none;
  };

  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15U;  // the golden ratio: spreads neighbouring keys
    return static_cast<std::size_t>(key >> shift_);
  }

  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, Slot{});
    shift_ = old.empty() ? 58 : shift_ - 1;
    for (const Slot& slot : old) {
      if (slot.number == none) continue;
      std::size_t at = place(slot.key);
      while (slots_[at].number != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t size_ = 0;
  unsigned shift_ = 58;
};

}  // namespace wattune
