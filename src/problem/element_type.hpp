#pragma once
// The types of kernel arguments' elements, as T1 names them.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wattune {

enum class ScalarType {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,
  float32,
  float64,
  custom
};

struct ElementType {
  ScalarType scalar = ScalarType::float32;
  unsigned components = 1;  ///< 1, 2, 4, 8 or 16
  std::size_t bytes = 4;    ///< of one element, all components

  [[nodiscard]] std::size_t scalar_bytes() const noexcept { return bytes / components; }
};

/// "float", "half2", "int32", ... (also "int" and "double"). Nothing for an unknown name; `custom` needs its size.
std::optional<ElementType> element_type(std::string_view name, std::size_t custom_bytes = 0);
std::string to_string(const ElementType& type);

/// |output - reference| <= absolute + relative * |reference|. Integers: both zero.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};
Tolerance default_tolerance(const ElementType& type);

}  // namespace wattune
