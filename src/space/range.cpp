#include <algorithm>
#include <cmath>

#include "space/graph.hpp"

namespace wattune {

namespace {

using Wide = __int128;
using Int = std::int64_t;
constexpr Int int_min = std::numeric_limits<Int>::min();
constexpr Int int_max = std::numeric_limits<Int>::max();

Range of_wide(Wide low, Wide high, bool& overflows) {
  overflows = low < int_min || high > int_max;
  return Range::of(static_cast<Int>(std::clamp<Wide>(low, int_min, int_max)),
                   static_cast<Int>(std::clamp<Wide>(high, int_min, int_max)));
}

ResultRange checked(Wide low, Wide high) {
  bool overflows = false;
  const Range range = of_wide(low, high, overflows);
  return {range, overflows};
}

ResultRange from_corners(std::initializer_list<Wide> corners) {
  return checked(std::min(corners), std::max(corners));
}

bool contains_zero(const Range& range) {
  return range.low <= 0 && range.high >= 0;
}
bool contains_zero_float(const Range& range) {
  return range.not_a_number || (range.float_low <= 0 && range.float_high >= 0);
}
bool finite(const Range& range) {
  return !range.not_a_number && std::isfinite(range.float_low) && std::isfinite(range.float_high);
}

/// Rounding is monotonic, so the ends of the operands give the ends of the result, if no end is infinite or NaN.
Range from_float_corners(std::initializer_list<double> corners) {
  if (std::ranges::any_of(corners, [](double c) { return !std::isfinite(c); })) return Range::any_float();
  return Range::of_floats(std::min(corners), std::max(corners));
}

ResultRange integer_division(Op op, const Range& a, const Range& b) {
  if (op == Op::modulo) {
    Int low = 0;
    Int high = 0;
    if (b.high > 0) {
      high = b.high - 1;
      if (a.low >= 0 && b.low > 0) high = std::min(high, a.high);
    }
    if (b.low < 0) low = b.low == int_min ? int_min : b.low + 1;
    return {Range::of(low, high), contains_zero(b)};
  }
  // Floor division: within the extremes for divisors of smallest magnitude, which are -1 and 1 where zero is inside.
  ResultRange result{Range::of(a.low == int_min ? int_min : -std::max(std::abs(a.low), a.high),
                               std::max(a.low == int_min ? int_max : std::abs(a.low), std::max<Int>(a.high, 0))),
                     contains_zero(b) || (a.low == int_min && b.low <= -1 && b.high >= -1)};
  if (!contains_zero(b)) {
    const auto floor_of = [](Wide x, Wide y) {
      Wide q = x / y;
      if (x % y != 0 && (x < 0) != (y < 0)) --q;
      return q;
    };
    const ResultRange tight = from_corners(
        {floor_of(a.low, b.low), floor_of(a.low, b.high), floor_of(a.high, b.low), floor_of(a.high, b.high)});
    result.range = tight.range;
  }
  return result;
}

ResultRange integer_power(const Range& a, const Range& b) {
  // The exponent is never negative here. |base|^exponent bounds the magnitude.
  const Wide magnitude =
      std::max<Wide>(a.low < 0 ? -Wide{a.low} : Wide{a.low}, a.high < 0 ? -Wide{a.high} : Wide{a.high});
  Wide bound = 1;
  if (magnitude > 1) {
    for (Int i = 0; i < b.high && bound <= int_max; ++i) bound *= magnitude;
  }
  const bool overflows = bound > int_max;
  const Int high = overflows ? int_max : static_cast<Int>(bound);
  if (a.low >= 0) return {Range::of(0, high), overflows};
  return {Range::of(overflows ? int_min : -high, high), overflows};
}

ResultRange integer_binary(Op op, const Range& a, const Range& b) {
  switch (op) {
    case Op::add:
      return checked(Wide{a.low} + b.low, Wide{a.high} + b.high);
    case Op::subtract:
      return checked(Wide{a.low} - b.high, Wide{a.high} - b.low);
    case Op::multiply:
      return from_corners({Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high});
    case Op::floor_divide:
    case Op::modulo:
      return integer_division(op, a, b);
    case Op::divide: {
      if (contains_zero(b)) return {Range::any_float(), true};
      const auto at = [](Int x, Int y) {
        double quotient = 0;
        arithmetic::divide(x, y, quotient);
        return quotient;
      };
      return {from_float_corners({at(a.low, b.low), at(a.low, b.high), at(a.high, b.low), at(a.high, b.high)}), false};
    }
    case Op::power:
      return integer_power(a, b);
    case Op::minimum:
      return {Range::of(std::min(a.low, b.low), std::min(a.high, b.high))};
    case Op::maximum:
      return {Range::of(std::max(a.low, b.low), std::max(a.high, b.high))};
    case Op::equal:
    case Op::not_equal: {
      const bool never = a.high < b.low || b.high < a.low;
      const bool always = a.low == a.high && b.low == b.high && a.low == b.low;
      if (!never && !always) return {Range::truth()};
      const Int value = (op == Op::equal) == always ? 1 : 0;
      return {Range::of(value, value)};
    }
    case Op::less:
      return {Range::of(a.high < b.low ? 1 : 0, a.low < b.high ? 1 : 0)};
    default:
      return {Range::of(a.high <= b.low ? 1 : 0, a.low <= b.high ? 1 : 0)};  // less_equal
  }
}

ResultRange float_binary(Op op, const Range& a, const Range& b) {
  const bool known = finite(a) && finite(b);
  switch (op) {
    case Op::add:
      return {known ? from_float_corners({a.float_low + b.float_low, a.float_high + b.float_high})
                    : Range::any_float()};
    case Op::subtract:
      return {known ? from_float_corners({a.float_low - b.float_high, a.float_high - b.float_low})
                    : Range::any_float()};
    case Op::multiply:
      if (!known) return {Range::any_float()};
      return {from_float_corners({a.float_low * b.float_low, a.float_low * b.float_high, a.float_high * b.float_low,
                                  a.float_high * b.float_high})};
    case Op::divide:
      if (!known || contains_zero_float(b)) return {Range::any_float(), contains_zero_float(b)};
      return {from_float_corners({a.float_low / b.float_low, a.float_low / b.float_high, a.float_high / b.float_low,
                                  a.float_high / b.float_high})};
    case Op::modulo:
      if (!known || contains_zero_float(b)) return {Range::any_float(), contains_zero_float(b)};
      // Rounding may bring a result to the divisor itself.
      return {Range::of_floats(std::min(b.float_low, 0.0), std::max(b.float_high, 0.0))};
    case Op::floor_divide:
      return {Range::any_float(), contains_zero_float(b)};
    case Op::power:
      return {Range::any_float(), true};
    case Op::minimum:
    case Op::maximum: {
      if (!known) return {Range::any_float()};
      const auto pick = [op](double x, double y) { return op == Op::minimum ? std::min(x, y) : std::max(x, y); };
      return {Range::of_floats(pick(a.float_low, b.float_low), pick(a.float_high, b.float_high))};
    }
    case Op::equal:
    case Op::not_equal: {
      if (!known || (a.float_low <= b.float_high && b.float_low <= a.float_high)) return {Range::truth()};
      const Int value = op == Op::equal ? 0 : 1;
      return {Range::of(value, value)};
    }
    case Op::less:
      if (!known) return {Range::truth()};
      return {Range::of(a.float_high < b.float_low ? 1 : 0, a.float_low < b.float_high ? 1 : 0)};
    default:  // less_equal
      if (!known) return {Range::truth()};
      return {Range::of(a.float_high <= b.float_low ? 1 : 0, a.float_low <= b.float_high ? 1 : 0)};
  }
}

/// Of truncate, floor, ceil and round.
ResultRange to_integer(const Range& a) {
  constexpr double limit = 0x1p62;
  if (!finite(a) || a.float_low < -limit || a.float_high > limit) return {Range{}, true};
  return {Range::of(static_cast<Int>(std::floor(a.float_low)), static_cast<Int>(std::ceil(a.float_high)))};
}

ResultRange unary_range(Op op, bool is_float, const Range& a) {
  switch (op) {
    case Op::negate:
      if (is_float) return {finite(a) ? Range::of_floats(-a.float_high, -a.float_low) : Range::any_float()};
      return checked(-Wide{a.high}, -Wide{a.low});
    case Op::absolute: {
      if (is_float) {
        if (!finite(a)) return {Range::any_float()};
        const double high = std::max(std::fabs(a.float_low), std::fabs(a.float_high));
        return {Range::of_floats(0, high)};
      }
      const Wide high = std::max(a.low < 0 ? -Wide{a.low} : Wide{a.low}, a.high < 0 ? -Wide{a.high} : Wide{a.high});
      return checked(0, high);
    }
    case Op::to_float:
      return {Range::of_floats(static_cast<double>(a.low), static_cast<double>(a.high))};
    case Op::truncate:
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return to_integer(a);
    case Op::square_root:
      if (!finite(a) || a.float_low < 0) return {Range::any_float(), true};
      return {Range::of_floats(std::sqrt(a.float_low), std::sqrt(a.float_high))};
    // The library's logarithms are not promised to be monotonic, so no range is derived from the ends.
    case Op::log2:
    case Op::log:
      return {Range::any_float(), !(finite(a) && a.float_low > 0)};
    case Op::is_true:
      if (is_float) return {Range::truth()};
      if (!contains_zero(a)) return {Range::of(1, 1)};
      return {a.low == 0 && a.high == 0 ? Range::of(0, 0) : Range::truth()};
    default:  // logical_not, of a truth value
      return {Range::of(1 - a.high, 1 - a.low)};
  }
}

}  // namespace

Range Range::of(Int low, Int high) {
  Range range;
  range.low = low;
  range.high = high;
  return range;
}

Range Range::of_floats(double low, double high) {
  Range range;
  range.float_low = low;
  range.float_high = high;
  return range;
}

Range Range::any_float() {
  Range range;
  range.not_a_number = true;
  return range;
}

ResultRange range_of(Op op, bool operands_are_float, std::span<const Range> operands) {
  switch (op) {
    case Op::both:
    case Op::guarded_and:
    case Op::all: {
      Range range = Range::of(1, 1);
      for (const Range& operand : operands) {
        range.low = std::min(range.low, operand.low);
        range.high = std::min(range.high, operand.high);
      }
      return {range};
    }
    case Op::either:
    case Op::guarded_or:
    case Op::any: {
      Range range = Range::of(0, 0);
      for (const Range& operand : operands) {
        range.low = std::max(range.low, operand.low);
        range.high = std::max(range.high, operand.high);
      }
      return {range};
    }
    case Op::select: {
      Range range = operands[1];
      range.low = std::min(range.low, operands[2].low);
      range.high = std::max(range.high, operands[2].high);
      range.float_low = std::min(range.float_low, operands[2].float_low);
      range.float_high = std::max(range.float_high, operands[2].float_high);
      range.not_a_number = range.not_a_number || operands[2].not_a_number;
      return {range};
    }
    case Op::sum:
    case Op::product: {
      Range range = operands[0];
      for (const Range& operand : operands.subspan(1)) {
        range = integer_binary(op == Op::sum ? Op::add : Op::multiply, range, operand).range;
      }
      return {range};
    }
    case Op::has_fault:
      return {Range::truth()};
    default:
      if (operands.size() == 1) return unary_range(op, operands_are_float, operands[0]);
      return operands_are_float ? float_binary(op, operands[0], operands[1])
                                : integer_binary(op, operands[0], operands[1]);
  }
}

}  // namespace wattune
