#pragma once
// The initial content of arguments.

#include <cstddef>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

/// The bytes of `size` elements of a type, as `fill` says; size * type.bytes long. Deterministic: the same on every
/// machine for the same problem. @throws UsageError where a file is missing, too short or of another type, a command
/// fails or a generator does not give numbers. Local memory has no content.
std::vector<std::byte> argument_data(const Problem& problem, const Argument& argument);
std::vector<std::byte> fill_data(const Problem& problem, const Fill& fill, const ElementType& type, std::uint64_t size,
                                 std::string_view argument_name);

}  // namespace wattune
