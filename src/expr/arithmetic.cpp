#include "expr/arithmetic.hpp"

namespace wattune::arithmetic {

Fault power(Int base, Int exponent, Int& result) {
  result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && multiply(result, base, result) != Fault::none) return Fault::overflow;
    exponent >>= 1;
    // The square is needed only while bits of the exponent remain: computing one more could overflow for nothing.
    if (exponent > 0 && multiply(base, base, base) != Fault::none) {
      // 0, 1 and -1 never come here; any other base overflows with the bits that remain.
      return Fault::overflow;
    }
  }
  return Fault::none;
}

Fault power(double base, double exponent, double& result) {
  if (base == 0 && exponent < 0) return Fault::division_by_zero;
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    return Fault::domain;  // a complex number in Python
  }
  result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) return Fault::overflow;
  return Fault::none;
}

double divide_large(Int a, Int b) {
  using Wide = unsigned __int128;
  const bool negative = (a < 0) != (b < 0);
  const auto magnitude = [](Int x) {
    return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  };
  const std::uint64_t numerator = magnitude(a);
  const std::uint64_t denominator = magnitude(b);
  if (numerator == 0) return negative ? -0.0 : 0.0;

  // The numerator moves to the top of 128 bits: the quotient then has at least 64 bits, of which the lowest says
  // whether anything was cut off ("sticky"). Rounding such a number once to 53 bits is correct.
  const int shift = 64 + std::countl_zero(numerator);
  const Wide shifted = Wide{numerator} << shift;
  Wide quotient = shifted / denominator;
  bool sticky = shifted % denominator != 0;
  int exponent = -shift;
  while (quotient >> 62 != 0) {
    sticky = sticky || (quotient & 1) != 0;
    quotient >>= 1;
    ++exponent;
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(quotient) | static_cast<std::uint64_t>(sticky);
  const double value = std::ldexp(static_cast<double>(bits), exponent);
  return negative ? -value : value;
}

}  // namespace wattune::arithmetic
