#pragma once
// Python's arithmetic on 64-bit integers and doubles. The one place that defines it: the compiled programs of expr/ and
// the column evaluation of space/ both call these, so that the two can never disagree.
//
// Every function that can fail returns a Fault and leaves the result in its last argument.

#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace wattune {

/// Why an expression could not be read or evaluated.
enum class Fault : std::uint8_t {
  none,
  division_by_zero,
  overflow,  ///< of a 64-bit integer, or of a float where Python raises OverflowError
  domain,    ///< square root or logarithm of a number that has none, a complex power, an index out of range
  type,      ///< operands of the wrong type
  work,      ///< the limits on work and sizes
  syntax,
  name
};

namespace arithmetic {

using Int = std::int64_t;
inline constexpr Int int_min = std::numeric_limits<Int>::min();
/// Integers up to here are exact as doubles.
inline constexpr Int exact_double = Int{1} << 53;

inline Fault add(Int a, Int b, Int& result) {
  return __builtin_add_overflow(a, b, &result) ? Fault::overflow : Fault::none;
}
inline Fault subtract(Int a, Int b, Int& result) {
  return __builtin_sub_overflow(a, b, &result) ? Fault::overflow : Fault::none;
}
inline Fault multiply(Int a, Int b, Int& result) {
  return __builtin_mul_overflow(a, b, &result) ? Fault::overflow : Fault::none;
}
inline Fault floor_divide(Int a, Int b, Int& result) {
  if (b == 0) return Fault::division_by_zero;
  if (a == int_min && b == -1) return Fault::overflow;
  result = a / b;
  if (a % b != 0 && (a < 0) != (b < 0)) --result;
  return Fault::none;
}
inline Fault modulo(Int a, Int b, Int& result) {
  if (b == 0) return Fault::division_by_zero;
  if (b == -1) {
    result = 0;
    return Fault::none;
  }
  result = a % b;
  if (result != 0 && (result < 0) != (b < 0)) result += b;
  return Fault::none;
}
inline Fault negate(Int a, Int& result) {
  return subtract(0, a, result);
}
inline Fault absolute(Int a, Int& result) {
  if (a < 0) return negate(a, result);
  result = a;
  return Fault::none;
}

/// base ** exponent for exponent >= 0.
Fault power(Int base, Int exponent, Int& result);
Fault power(double base, double exponent, double& result);

/// a / b correctly rounded, as Python does also beyond 2^53. b is not zero.
double divide_large(Int a, Int b);
inline Fault divide(Int a, Int b, double& result) {
  if (b == 0) return Fault::division_by_zero;
  const auto exact = [](Int x) { return -exact_double <= x && x <= exact_double; };
  result = exact(a) && exact(b) ? static_cast<double>(a) / static_cast<double>(b) : divide_large(a, b);
  return Fault::none;
}
inline Fault divide(double a, double b, double& result) {
  if (b == 0) return Fault::division_by_zero;
  result = a / b;
  return Fault::none;
}
inline Fault modulo(double a, double b, double& result) {
  if (b == 0) return Fault::division_by_zero;
  result = std::fmod(a, b);
  if (result != 0) {
    if ((b < 0) != (result < 0)) result += b;
  } else {
    result = std::copysign(0.0, b);
  }
  return Fault::none;
}
inline Fault floor_divide(double a, double b, double& result) {
  if (b == 0) return Fault::division_by_zero;
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient != 0) {
    result = std::floor(quotient);
    if (quotient - result > 0.5) result += 1;
  } else {
    result = std::copysign(0.0, a / b);
  }
  return Fault::none;
}

/// A float that is integral, as an integer.
inline Fault to_int(double integral, Int& result) {
  if (!(integral >= -0x1p63 && integral < 0x1p63)) return Fault::overflow;  // also NaN
  result = static_cast<Int>(integral);
  return Fault::none;
}
inline Fault truncate(double a, Int& result) {
  return to_int(std::trunc(a), result);
}
inline Fault floor(double a, Int& result) {
  return to_int(std::floor(a), result);
}
inline Fault ceil(double a, Int& result) {
  return to_int(std::ceil(a), result);
}
/// To nearest, halves to even.
inline Fault round(double a, Int& result) {
  const double down = std::floor(a);
  const double rest = a - down;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) != 0);
  return to_int(up ? down + 1 : down, result);
}

inline Fault square_root(double a, double& result) {
  if (a < 0) return Fault::domain;
  result = std::sqrt(a);
  return Fault::none;
}
inline Fault log2(double a, double& result) {
  if (a <= 0) return Fault::domain;
  result = std::log2(a);
  return Fault::none;
}
inline Fault log(double a, double& result) {
  if (a <= 0) return Fault::domain;
  result = std::log(a);
  return Fault::none;
}

/// Exact comparison of an integer with a float, as Python does it: never through a rounded conversion.
inline std::partial_ordering compare(Int a, double b) {
  if (-exact_double <= a && a <= exact_double) return static_cast<double>(a) <=> b;
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= 0x1p63) return std::partial_ordering::less;
  if (b < -0x1p63) return std::partial_ordering::greater;
  const Int whole = static_cast<Int>(b);
  if (a != whole) return a <=> whole;
  return 0.0 <=> b - static_cast<double>(whole);
}

}  // namespace arithmetic
}  // namespace wattune
