#include "problem/element_type.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace wattune {

namespace {

struct Named {
  std::string_view name;
  ScalarType scalar;
  std::size_t bytes;
};

// The names of T1 first: to_string() takes the first that fits, so that aliases are only read.
constexpr std::array<Named, 14> scalar_types{{
    {"bool", ScalarType::boolean, 1},
    {"int8", ScalarType::int8, 1},
    {"uint8", ScalarType::uint8, 1},
    {"int16", ScalarType::int16, 2},
    {"uint16", ScalarType::uint16, 2},
    {"int32", ScalarType::int32, 4},
    {"uint32", ScalarType::uint32, 4},
    {"int64", ScalarType::int64, 8},
    {"uint64", ScalarType::uint64, 8},
    {"half", ScalarType::half, 2},
    {"float", ScalarType::float32, 4},
    {"double", ScalarType::float64, 8},
    {"int", ScalarType::int32, 4},
    {"uint", ScalarType::uint32, 4},
}};

}  // namespace

std::optional<ElementType> element_type(std::string_view name, std::size_t custom_bytes) {
  if (name == "custom") {
    if (custom_bytes == 0) return std::nullopt;
    return ElementType{ScalarType::custom, 1, custom_bytes};
  }
  for (const auto& [known, scalar, bytes] : scalar_types) {
    if (known == name) return ElementType{scalar, 1, bytes};
  }
  // Vectors: only of floating-point components, for int8 and int16 are scalars (and float16 is a vector of 16).
  for (const std::string_view base : {"half", "float", "double"}) {
    if (!name.starts_with(base)) continue;
    const std::string_view digits = name.substr(base.size());
    unsigned components = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), components);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '0') return std::nullopt;
    if (components != 2 && components != 4 && components != 8 && components != 16) return std::nullopt;
    ElementType type = *element_type(base);
    type.components = components;
    type.bytes *= components;
    return type;
  }
  return std::nullopt;
}

std::string to_string(const ElementType& type) {
  for (const auto& [name, scalar, bytes] : scalar_types) {
    if (scalar != type.scalar) continue;
    return type.components == 1 ? std::string(name) : std::string(name) + std::to_string(type.components);
  }
  return "custom";
}

Tolerance default_tolerance(const ElementType& type) {
  // Wide enough for sums of thousands of products taken in another order, tight enough to catch a lost term.
  switch (type.scalar) {
    case ScalarType::half:
      return {1e-3, 1e-2};
    case ScalarType::float32:
      return {1e-5, 1e-4};
    case ScalarType::float64:
      return {1e-12, 1e-9};
    default:
      return {};
  }
}

}  // namespace wattune
