#include "problem/half.hpp"

#include <bit>
#include <cmath>

namespace wattune {

std::uint16_t half_from_double(double value) {
  // From double directly: going through float would round twice.
  constexpr int mantissa_bits = 52;
  constexpr std::uint64_t one_exponent = std::uint64_t{1} << mantissa_bits;
  constexpr int smallest_normal = 1023 - 14;  // the biased exponent, as a double, of half's smallest normal number
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << 15);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (std::fabs(value) >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  // Exponent field and mantissa side by side, as half has them, so that a carry moves on to the next exponent.
  std::uint64_t wide = magnitude - (smallest_normal - 1) * one_exponent;
  int shift = mantissa_bits - 10;
  if (exponent < smallest_normal) {
    shift += smallest_normal - exponent;
    if (shift >= 64) return sign;
    wide = (magnitude % one_exponent) + one_exponent;
  }
  const std::uint64_t below = wide & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
  std::uint64_t rounded = wide >> shift;
  if (below > tie || (below == tie && rounded % 2 == 1)) ++rounded;
  return static_cast<std::uint16_t>(sign | rounded);
}

double double_from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace wattune
