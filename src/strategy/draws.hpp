#pragma once
// Random draws that are the same on every machine.

#include <cstddef>
#include <utility>
#include <vector>

#include "space/random.hpp"

namespace wattune {

/// Uniform in [0, 1).
inline double draw_unit(Random& random) {
  return static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

/// 0 .. n - 1.
inline std::size_t draw_below(Random& random, std::size_t n) {
  return static_cast<std::size_t>(random.below(n));
}

template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[draw_below(random, i)]);
}

}  // namespace wattune
