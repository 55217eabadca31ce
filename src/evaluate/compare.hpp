#pragma once
// An output against its reference.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "problem/element_type.hpp"

namespace wattune {

struct Comparison {
  std::uint64_t wrong = 0;        ///< components that are not within the tolerance
  std::uint64_t first_wrong = 0;  ///< component
  std::uint64_t worst = 0;        ///< component that exceeds its tolerance most
  double max_error = 0;  ///< largest |output - reference| / max(|reference|, 1); infinite where one is not finite
};

/// Compares component by component: |output - reference| <= absolute + relative * |reference|. Equal infinities agree,
/// and so do two NaN; any other pair with one that is not finite is wrong. Elements of custom types agree where their
/// bytes do. Both spans have the same size.
Comparison compare(const ElementType& type, std::span<const std::byte> output, std::span<const std::byte> reference,
                   const Tolerance& tolerance);

/// One line on a comparison with wrong components: how many, the first, the worst with both values and the tolerance,
/// and, where the output held a byte pattern before the run, how many components still hold it.
std::string describe(const Comparison& comparison, const std::string& argument, const ElementType& type,
                     std::span<const std::byte> output, std::span<const std::byte> reference,
                     const Tolerance& tolerance, std::optional<std::byte> unwritten);

/// Whether all components are finite; true for types that are not floating-point.
bool all_finite(const ElementType& type, std::span<const std::byte> data);

}  // namespace wattune
