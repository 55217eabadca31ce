#pragma once
// IEEE 754 half precision on the host.

#include <cstdint>

namespace wattune {

/// Rounds to nearest, ties to even; beyond the largest finite half becomes infinity, a NaN stays a NaN.
std::uint16_t half_from_double(double value);
double double_from_half(std::uint16_t bits);

}  // namespace wattune
