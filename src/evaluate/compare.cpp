#include "evaluate/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "problem/half.hpp"

namespace wattune {

namespace {

struct Half {
  std::uint16_t bits;
  friend bool operator==(Half, Half) = default;
};

template <typename T>
constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

double as_double(Half value) {
  // All values once: outputs hold millions of them.
  static const auto table = [] {
    std::array<float, 65536> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(double_from_half(static_cast<std::uint16_t>(i)));
    }
    return values;
  }();
  return static_cast<double>(table[value.bits]);
}

template <typename T>
requires std::is_arithmetic_v<T>
double as_double(T value) {
  return static_cast<double>(value);
}

template <typename T>
T component(std::span<const std::byte> data, std::uint64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Calls with a value of the scalar's C++ type. `custom` has none.
template <typename Function>
void with_scalar(ScalarType scalar, const Function& function) {
  switch (scalar) {
    case ScalarType::boolean:
    case ScalarType::uint8:
      return function(std::uint8_t{});
    case ScalarType::int8:
      return function(std::int8_t{});
    case ScalarType::int16:
      return function(std::int16_t{});
    case ScalarType::uint16:
      return function(std::uint16_t{});
    case ScalarType::int32:
      return function(std::int32_t{});
    case ScalarType::uint32:
      return function(std::uint32_t{});
    case ScalarType::int64:
      return function(std::int64_t{});
    case ScalarType::uint64:
      return function(std::uint64_t{});
    case ScalarType::half:
      return function(Half{});
    case ScalarType::float32:
      return function(float{});
    case ScalarType::float64:
      return function(double{});
    case ScalarType::custom:
      return;
  }
}

/// |a - b|, exact for integers as far as a double can hold it.
template <typename T>
double distance(T a, T b) {
  if constexpr (is_floating<T>) {
    return std::abs(as_double(a) - as_double(b));
  } else {
    const auto difference = a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                  : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
    return static_cast<double>(difference);
  }
}

class Counter {
 public:
  void add_wrong(std::uint64_t index, double excess) {
    if (result.wrong == 0) result.first_wrong = index;
    if (result.wrong == 0 || excess > worst_excess_) {
      result.worst = index;
      worst_excess_ = excess;
    }
    ++result.wrong;
  }
  Comparison result;

 private:
  double worst_excess_ = 0;
};

template <typename T>
Comparison compare_as(std::span<const std::byte> output, std::span<const std::byte> reference,
                      const Tolerance& tolerance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Counter counter;
  const std::uint64_t count = output.size() / sizeof(T);
  for (std::uint64_t i = 0; i < count; ++i) {
    const T got = component<T>(output, i);
    const T expected = component<T>(reference, i);
    if (got == expected) continue;
    const double target = as_double(expected);
    const double error = distance(got, expected);
    if constexpr (is_floating<T>) {
      if (!std::isfinite(error)) {
        const double value = as_double(got);
        if (value == target || (std::isnan(value) && std::isnan(target))) continue;
        if (!std::isfinite(value) || !std::isfinite(target)) {
          counter.result.max_error = infinity;
          counter.add_wrong(i, infinity);
          continue;
        }
      }
    }
    const double limit = tolerance.absolute + tolerance.relative * std::abs(target);
    // Outputs hold millions of values: a division for each would take most of the time.
    const double scale = std::max(std::abs(target), 1.0);
    if (error > counter.result.max_error * scale) counter.result.max_error = error / scale;
    if (error > limit) counter.add_wrong(i, limit > 0 ? error / limit : error);
  }
  return counter.result;
}

Comparison compare_custom(std::size_t bytes, std::span<const std::byte> output, std::span<const std::byte> reference) {
  Counter counter;
  for (std::uint64_t i = 0; i < output.size() / bytes; ++i) {
    if (std::memcmp(output.data() + i * bytes, reference.data() + i * bytes, bytes) == 0) continue;
    counter.result.max_error = std::numeric_limits<double>::infinity();
    counter.add_wrong(i, 1);
  }
  return counter.result;
}

std::string value_text(const ElementType& type, std::span<const std::byte> data, std::uint64_t index) {
  std::string text;
  with_scalar(type.scalar, [&](auto zero) {
    using T = decltype(zero);
    const T value = component<T>(data, index);
    if constexpr (is_floating<T>) {
      // The sign of a NaN tells nothing.
      text = std::isnan(as_double(value)) ? "nan" : fmt::format("{:.9g}", as_double(value));
    } else {
      text = fmt::format("{:d}", value);
    }
  });
  if (type.scalar == ScalarType::custom) {
    text = "0x";
    const std::size_t shown = std::min<std::size_t>(type.bytes, 16);
    for (std::size_t i = 0; i < shown; ++i)
      text += fmt::format("{:02x}", std::to_integer<int>(data[index * type.bytes + i]));
    if (shown < type.bytes) text += "...";
  }
  return text;
}

std::string place_text(const ElementType& type, std::uint64_t component) {
  if (type.components == 1) return fmt::format("element {}", component);
  return fmt::format("element {} component {}", component / type.components, component % type.components);
}

std::uint64_t count_unwritten(std::size_t bytes, std::span<const std::byte> output,
                              std::span<const std::byte> reference, std::byte pattern) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + bytes <= output.size(); i += bytes) {
    const auto element = output.subspan(i, bytes);
    const bool holds = std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == pattern; });
    if (holds && std::memcmp(element.data(), reference.data() + i, bytes) != 0) ++count;
  }
  return count;
}

}  // namespace

Comparison compare(const ElementType& type, std::span<const std::byte> output, std::span<const std::byte> reference,
                   const Tolerance& tolerance) {
  if (output.empty() || std::memcmp(output.data(), reference.data(), output.size()) == 0) return {};
  if (type.scalar == ScalarType::custom) return compare_custom(type.bytes, output, reference);
  Comparison result;
  with_scalar(type.scalar, [&](auto zero) { result = compare_as<decltype(zero)>(output, reference, tolerance); });
  return result;
}

std::string describe(const Comparison& comparison, const std::string& argument, const ElementType& type,
                     std::span<const std::byte> output, std::span<const std::byte> reference,
                     const Tolerance& tolerance, std::optional<std::byte> unwritten) {
  const std::size_t bytes = type.scalar_bytes();
  std::string text =
      fmt::format("argument {}: {} of {} values are wrong; first at {}; worst at {}: got {}, expected {}", argument,
                  comparison.wrong, output.size() / bytes, place_text(type, comparison.first_wrong),
                  place_text(type, comparison.worst), value_text(type, output, comparison.worst),
                  value_text(type, reference, comparison.worst));
  if (tolerance.absolute != 0 || tolerance.relative != 0) {
    text += fmt::format(" (allowed: {:g} + {:g} * |expected|)", tolerance.absolute, tolerance.relative);
  }
  const std::uint64_t left = unwritten ? count_unwritten(bytes, output, reference, *unwritten) : 0;
  if (left > 0) text += fmt::format("; {} were not written at all", left);
  return text;
}

namespace {

/// Whether no value has an exponent of ones alone. In blocks, in which a compiler finds nothing to branch on.
template <typename Bits>
bool no_exponent_is_full(std::span<const std::byte> data, Bits exponent) {
  constexpr std::uint64_t block = 4096;
  const std::uint64_t count = data.size() / sizeof(Bits);
  for (std::uint64_t begin = 0; begin < count; begin += block) {
    unsigned full = 0;
    for (std::uint64_t i = begin; i < std::min(count, begin + block); ++i) {
      full |= (component<Bits>(data, i) & exponent) == exponent ? 1U : 0U;
    }
    if (full != 0) return false;
  }
  return true;
}

}  // namespace

bool all_finite(const ElementType& type, std::span<const std::byte> data) {
  switch (type.scalar) {
    case ScalarType::half:
      return no_exponent_is_full<std::uint16_t>(data, 0x7c00);
    case ScalarType::float32:
      return no_exponent_is_full<std::uint32_t>(data, 0x7f800000);
    case ScalarType::float64:
      return no_exponent_is_full<std::uint64_t>(data, 0x7ff0000000000000);
    default:
      return true;
  }
}

}  // namespace wattune
