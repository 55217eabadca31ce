#pragma once
// Numbers that look random and are the same on every machine.

#include <cstdint>
#include <string_view>

namespace wattune::simgpu {

/// FNV-1a, finished so that texts that differ little give numbers that differ much.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325ULL) {
  std::uint64_t hash = seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  return hash;
}

/// From 0 to below 1.
constexpr double uniform(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

}  // namespace wattune::simgpu
