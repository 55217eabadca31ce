#pragma once
// NumPy's .npy files, as sources of arguments.

#include <string>
#include <string_view>
#include <vector>

#include "problem/element_type.hpp"

namespace wattune {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;
};

/// Reads the header, format versions 1 to 3. @throws UsageError with what is wrong, without the file's name.
NpyHeader parse_npy_header(std::string_view content);

/// The data of a file that holds `size` elements of a type, exactly, in C order.
/// @throws UsageError with what is wrong, without the file's name.
std::string_view npy_data(std::string_view content, const ElementType& type, std::uint64_t size);

}  // namespace wattune
