#include "space/lanes.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

using Int = std::int64_t;

template <typename T>
const T* values_of(const Operand& lanes) {
  return static_cast<const T*>(lanes.values);
}

/// result[i] = operation(a[i], b[i]), where a or b may be one value for all lanes. Three plain loops, which the
/// compiler turns into vector code where the operation allows.
template <typename In, typename Out, typename Operation>
void each(const Operand* operands, std::size_t count, const Lanes& result, Operation operation) {
  const In* a = values_of<In>(operands[0]);
  const In* b = values_of<In>(operands[1]);
  Out* out = static_cast<Out*>(result.values);
  if (operands[0].single) {
    const In value = *a;
    for (std::size_t i = 0; i < count; ++i) out[i] = operation(value, b[i]);
  } else if (operands[1].single) {
    const In value = *b;
    for (std::size_t i = 0; i < count; ++i) out[i] = operation(a[i], value);
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = operation(a[i], b[i]);
  }
}

template <typename In, typename Out, typename Operation>
void each_one(const Operand* operands, std::size_t count, const Lanes& result, Operation operation) {
  const In* a = values_of<In>(operands[0]);
  Out* out = static_cast<Out*>(result.values);
  for (std::size_t i = 0; i < count; ++i) out[i] = operation(a[i]);
}

// ---- where the ranges of the operands exclude every fault ----

/// Division of numbers of 32 bits without sign, which Graph::make marks, takes a fraction of the time.
template <bool is_modulo>
void divide_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  if (node.payload == small_operands) {
    each<Int, Int>(operands, count, result, [](Int a, Int b) {
      const auto x = static_cast<std::uint32_t>(a);
      const auto y = static_cast<std::uint32_t>(b);
      return Int{is_modulo ? x % y : x / y};
    });
  } else {
    each<Int, Int>(operands, count, result, [](Int a, Int b) {
      Int value = 0;
      is_modulo ? arithmetic::modulo(a, b, value) : arithmetic::floor_divide(a, b, value);
      return value;
    });
  }
}

template <typename T>
void compare(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  switch (node.op) {
    case Op::equal:
      each<T, Int>(operands, count, result, [](T a, T b) { return Int{a == b}; });
      break;
    case Op::not_equal:
      each<T, Int>(operands, count, result, [](T a, T b) { return Int{a != b}; });
      break;
    case Op::less:
      each<T, Int>(operands, count, result, [](T a, T b) { return Int{a < b}; });
      break;
    default:
      each<T, Int>(operands, count, result, [](T a, T b) { return Int{a <= b}; });
      break;
  }
}

// Of equal operands the first is the result, as Python's min and max have it.
template <typename T>
void extreme(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  if (node.op == Op::minimum) {
    each<T, T>(operands, count, result, [](T a, T b) { return b < a ? b : a; });
  } else {
    each<T, T>(operands, count, result, [](T a, T b) { return b > a ? b : a; });
  }
}

void integer_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  switch (node.op) {
    case Op::add:
      each<Int, Int>(operands, count, result, [](Int a, Int b) { return a + b; });
      break;
    case Op::subtract:
      each<Int, Int>(operands, count, result, [](Int a, Int b) { return a - b; });
      break;
    case Op::multiply:
      each<Int, Int>(operands, count, result, [](Int a, Int b) { return a * b; });
      break;
    case Op::floor_divide:
      divide_lanes<false>(node, operands, count, result);
      break;
    case Op::modulo:
      divide_lanes<true>(node, operands, count, result);
      break;
    case Op::divide:
      each<Int, double>(operands, count, result, [](Int a, Int b) {
        double quotient = 0;
        arithmetic::divide(a, b, quotient);
        return quotient;
      });
      break;
    case Op::power:
      each<Int, Int>(operands, count, result, [](Int a, Int b) {
        Int value = 0;
        arithmetic::power(a, b, value);
        return value;
      });
      break;
    case Op::minimum:
    case Op::maximum:
      extreme<Int>(node, operands, count, result);
      break;
    case Op::negate:
      each_one<Int, Int>(operands, count, result, [](Int a) { return -a; });
      break;
    case Op::absolute:
      each_one<Int, Int>(operands, count, result, [](Int a) { return a < 0 ? -a : a; });
      break;
    case Op::to_float:
      each_one<Int, double>(operands, count, result, [](Int a) { return static_cast<double>(a); });
      break;
    case Op::is_true:
      each_one<Int, Int>(operands, count, result, [](Int a) { return Int{a != 0}; });
      break;
    case Op::logical_not:
      each_one<Int, Int>(operands, count, result, [](Int a) { return a ^ 1; });
      break;
    case Op::both:
    case Op::guarded_and:
      each<Int, Int>(operands, count, result, [](Int a, Int b) { return a & b; });
      break;
    case Op::either:
    case Op::guarded_or:
      each<Int, Int>(operands, count, result, [](Int a, Int b) { return a | b; });
      break;
    case Op::has_fault:
      each_one<Int, Int>(operands, count, result, [](Int) { return Int{0}; });
      break;
    default:
      compare<Int>(node, operands, count, result);
      break;
  }
}

void float_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  const auto to_integer = [](Fault (*convert)(double, Int&)) {
    return [convert](double a) {
      Int value = 0;
      convert(a, value);
      return value;
    };
  };
  switch (node.op) {
    case Op::add:
      each<double, double>(operands, count, result, [](double a, double b) { return a + b; });
      break;
    case Op::subtract:
      each<double, double>(operands, count, result, [](double a, double b) { return a - b; });
      break;
    case Op::multiply:
      each<double, double>(operands, count, result, [](double a, double b) { return a * b; });
      break;
    case Op::divide:
      each<double, double>(operands, count, result, [](double a, double b) { return a / b; });
      break;
    case Op::modulo:
      each<double, double>(operands, count, result, [](double a, double b) {
        double value = 0;
        arithmetic::modulo(a, b, value);
        return value;
      });
      break;
    case Op::floor_divide:
      each<double, double>(operands, count, result, [](double a, double b) {
        double value = 0;
        arithmetic::floor_divide(a, b, value);
        return value;
      });
      break;
    case Op::minimum:
    case Op::maximum:
      extreme<double>(node, operands, count, result);
      break;
    case Op::negate:
      each_one<double, double>(operands, count, result, [](double a) { return -a; });
      break;
    case Op::absolute:
      each_one<double, double>(operands, count, result, [](double a) { return std::fabs(a); });
      break;
    case Op::truncate:
      each_one<double, Int>(operands, count, result, to_integer(arithmetic::truncate));
      break;
    case Op::floor:
      each_one<double, Int>(operands, count, result, to_integer(arithmetic::floor));
      break;
    case Op::ceil:
      each_one<double, Int>(operands, count, result, to_integer(arithmetic::ceil));
      break;
    case Op::round:
      each_one<double, Int>(operands, count, result, to_integer(arithmetic::round));
      break;
    case Op::square_root:
      each_one<double, double>(operands, count, result, [](double a) { return std::sqrt(a); });
      break;
    case Op::log2:
      each_one<double, double>(operands, count, result, [](double a) { return std::log2(a); });
      break;
    case Op::log:
      each_one<double, double>(operands, count, result, [](double a) { return std::log(a); });
      break;
    case Op::is_true:
      each_one<double, Int>(operands, count, result, [](double a) { return Int{a != 0}; });
      break;
    case Op::has_fault:
      each_one<double, Int>(operands, count, result, [](double) { return Int{0}; });
      break;
    default:
      compare<double>(node, operands, count, result);
      break;
  }
}

template <typename T>
void select_lanes(const Operand* operands, std::size_t count, const Lanes& result) {
  const Int* condition = values_of<Int>(operands[0]);
  const std::size_t strides[3] = {operands[0].single ? 0u : 1u, operands[1].single ? 0u : 1u,
                                  operands[2].single ? 0u : 1u};
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<T*>(result.values)[i] = condition[i * strides[0]] != 0 ? values_of<T>(operands[1])[i * strides[1]]
                                                                       : values_of<T>(operands[2])[i * strides[2]];
  }
}

// ---- where something may fail: one lane at a time ----

union Number {
  Int integer;
  double floating;
};

/// One operand in one lane.
struct Lane {
  Number number{};
  Fault fault = Fault::none;
};

Lane lane_of(const Operand& lanes, bool is_float, std::size_t i) {
  const std::size_t at = lanes.single ? 0 : i;
  Lane lane;
  if (is_float) {
    lane.number.floating = lanes.floats()[at];
  } else {
    lane.number.integer = lanes.integers()[at];
  }
  if (lanes.faults != nullptr) lane.fault = lanes.faults[at];
  return lane;
}

Fault checked_integer(Op op, Int a, Int b, Number& result) {
  switch (op) {
    case Op::add:
      return arithmetic::add(a, b, result.integer);
    case Op::subtract:
      return arithmetic::subtract(a, b, result.integer);
    case Op::multiply:
      return arithmetic::multiply(a, b, result.integer);
    case Op::divide:
      return arithmetic::divide(a, b, result.floating);
    case Op::floor_divide:
      return arithmetic::floor_divide(a, b, result.integer);
    case Op::modulo:
      return arithmetic::modulo(a, b, result.integer);
    case Op::power:
      return arithmetic::power(a, b, result.integer);
    case Op::minimum:
      result.integer = b < a ? b : a;
      break;
    case Op::maximum:
      result.integer = b > a ? b : a;
      break;
    case Op::equal:
      result.integer = a == b;
      break;
    case Op::not_equal:
      result.integer = a != b;
      break;
    case Op::less:
      result.integer = a < b;
      break;
    case Op::less_equal:
      result.integer = a <= b;
      break;
    case Op::negate:
      return arithmetic::negate(a, result.integer);
    case Op::absolute:
      return arithmetic::absolute(a, result.integer);
    case Op::to_float:
      result.floating = static_cast<double>(a);
      break;
    case Op::is_true:
      result.integer = a != 0;
      break;
    case Op::logical_not:
      result.integer = a ^ 1;
      break;
    case Op::both:
      result.integer = a & b;
      break;
    default:
      result.integer = a | b;
      break;  // either
  }
  return Fault::none;
}

Fault checked_float(Op op, double a, double b, Number& result) {
  switch (op) {
    case Op::add:
      result.floating = a + b;
      break;
    case Op::subtract:
      result.floating = a - b;
      break;
    case Op::multiply:
      result.floating = a * b;
      break;
    case Op::divide:
      return arithmetic::divide(a, b, result.floating);
    case Op::floor_divide:
      return arithmetic::floor_divide(a, b, result.floating);
    case Op::modulo:
      return arithmetic::modulo(a, b, result.floating);
    case Op::power:
      return arithmetic::power(a, b, result.floating);
    case Op::minimum:
      result.floating = b < a ? b : a;
      break;
    case Op::maximum:
      result.floating = b > a ? b : a;
      break;
    case Op::equal:
      result.integer = a == b;
      break;
    case Op::not_equal:
      result.integer = a != b;
      break;
    case Op::less:
      result.integer = a < b;
      break;
    case Op::less_equal:
      result.integer = a <= b;
      break;
    case Op::negate:
      result.floating = -a;
      break;
    case Op::absolute:
      result.floating = std::fabs(a);
      break;
    case Op::truncate:
      return arithmetic::truncate(a, result.integer);
    case Op::floor:
      return arithmetic::floor(a, result.integer);
    case Op::ceil:
      return arithmetic::ceil(a, result.integer);
    case Op::round:
      return arithmetic::round(a, result.integer);
    case Op::square_root:
      return arithmetic::square_root(a, result.floating);
    case Op::log2:
      return arithmetic::log2(a, result.floating);
    case Op::log:
      return arithmetic::log(a, result.floating);
    default:
      result.integer = a != 0;
      break;  // is_true
  }
  return Fault::none;
}

/// One lane of an operation that looks at all its operands.
Lane strict(const Node& node, const Lane& a, const Lane& b) {
  Lane result;
  const bool b_first = node.payload == second_first && b.fault != Fault::none;
  result.fault = a.fault != Fault::none && !b_first ? a.fault : b.fault;
  if (result.fault != Fault::none) return result;
  result.fault = node.operands_are_float ? checked_float(node.op, a.number.floating, b.number.floating, result.number)
                                         : checked_integer(node.op, a.number.integer, b.number.integer, result.number);
  return result;
}

Lane checked_lane(const Node& node, const Operand* operands, std::size_t i) {
  const Lane a = lane_of(operands[0], node.operands_are_float && node.op != Op::select, i);
  switch (node.op) {
    case Op::select:
      if (a.fault != Fault::none) return {{}, a.fault};
      return lane_of(operands[a.number.integer != 0 ? 1 : 2], node.is_float, i);
    case Op::guarded_and:
      return a.fault != Fault::none || a.number.integer == 0 ? a : lane_of(operands[1], false, i);
    case Op::guarded_or:
      return a.fault != Fault::none || a.number.integer != 0 ? a : lane_of(operands[1], false, i);
    default:
      return strict(node, a, node.children.size() > 1 ? lane_of(operands[1], node.operands_are_float, i) : Lane{});
  }
}

void checked_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  for (std::size_t i = 0; i < count; ++i) {
    Lane lane = checked_lane(node, operands, i);
    result.faults[i] = lane.fault;
    if (node.is_float) {
      result.floats()[i] = lane.fault == Fault::none ? lane.number.floating : 0.0;
    } else {
      result.integers()[i] = lane.fault == Fault::none ? lane.number.integer : node.range.low;
    }
  }
}

void find_faults(const Node& node, const Operand& operand, std::size_t count, const Lanes& result) {
  for (std::size_t i = 0; i < count; ++i) {
    result.integers()[i] = operand.faults[operand.single ? 0 : i] == static_cast<Fault>(node.payload);
  }
}

}  // namespace

void evaluate_lanes(const Node& node, const Operand* operands, std::size_t count, const Lanes& result) {
  if (node.op == Op::has_fault && operands[0].faults != nullptr) {
    find_faults(node, operands[0], count, result);
  } else if (node.may_fault) {
    checked_lanes(node, operands, count, result);
  } else if (node.op == Op::select) {
    node.is_float ? select_lanes<double>(operands, count, result) : select_lanes<Int>(operands, count, result);
  } else if (node.operands_are_float) {
    float_lanes(node, operands, count, result);
  } else {
    integer_lanes(node, operands, count, result);
  }
}

}  // namespace wattune
