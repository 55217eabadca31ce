#include "problem/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wattune {

std::uint16_t half_from_double(double value) {
  // From double directly: going through float would round twice.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << 15);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The distance of neighbouring halves: 2^-24 for subnormals, 11 significant bits above.
  const int unit = std::max(exponent - 11, -24);
  // At most 2048, so the scaled number is exact and nearbyint rounds to even as the mode of every program here is.
  const auto mantissa = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // With unit = -24 the exponent field is what the mantissa's own bit 10 makes it; a carry moves on to the next one.
  const auto field = static_cast<std::uint32_t>(unit + 24) << 10;
  return static_cast<std::uint16_t>(sign | (field + mantissa));
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
