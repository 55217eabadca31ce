#pragma once
// Random numbers that are the same on every machine: the standard library's distributions are not.

#include <cstdint>

#include "space/search_space.hpp"

namespace wattune {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// Uniform in 0 .. bound - 1, without bias.
  Count below(Count bound) {
    constexpr Count narrow = ~std::uint64_t{0};
    if (bound <= narrow) return below_narrow(static_cast<std::uint64_t>(bound));
    // The largest multiple of the bound leaves no remainder that would favour small numbers.
    const Count limit = ~Count{0} - (~Count{0} % bound + 1) % bound;
    while (true) {
      const Count high = bits();
      const Count drawn = high << 64 | bits();
      if (drawn <= limit) return drawn % bound;
    }
  }

 private:
  std::uint64_t below_narrow(std::uint64_t bound) {
    // Lemire: Fast random integer generation in an interval, 2019.
    Count product = Count{bits()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = Count{bits()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  std::uint64_t state_;
};

}  // namespace wattune
