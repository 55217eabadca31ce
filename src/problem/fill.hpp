#pragma once
// Making the content that a Fill describes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

/// No argument, nor all of them together, may be larger: no device holds 1 TiB, so more is a slip in Size.
inline constexpr std::uint64_t max_argument_bytes = std::uint64_t{1} << 40;

/// The bytes of `size` elements. @throws UsageError with what is wrong, without the argument's name.
std::vector<std::byte> filled(const Problem& problem, const Fill& fill, const ElementType& type, std::uint64_t size);

}  // namespace wattune
