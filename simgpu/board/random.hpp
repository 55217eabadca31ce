#pragma once
// Numbers that look random and follow from a seed and a place in a sequence, so that they need no state.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace wattune::simgpu {

/// Mixes bits well (splitmix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// From 0 (excluded) to 1.
inline double uniform(std::uint64_t seed, std::uint64_t index) {
  return (static_cast<double>(mix(seed ^ mix(index)) >> 11) + 0.5) * 0x1p-53;
}

/// Mean 0, standard deviation 1.
inline double normal(std::uint64_t seed, std::uint64_t index) {
  const double radius = std::sqrt(-2 * std::log(uniform(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

}  // namespace wattune::simgpu
