#pragma once
// Making the content that a Fill describes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

/// The bytes of `size` elements. @throws UsageError with what is wrong, without the argument's name.
std::vector<std::byte> filled(const Problem& problem, const Fill& fill, const ElementType& type, std::uint64_t size);

}  // namespace wattune
