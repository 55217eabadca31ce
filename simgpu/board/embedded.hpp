#pragma once
// The files of simgpu/descriptions, as the build put them into the library.

#include <span>
#include <string_view>

namespace wattune::simgpu {

struct EmbeddedFile {
  std::string_view name;  ///< "a100-pcie-40gb.json"
  std::string_view text;
};

/// In the order of their names in simgpu/board/CMakeLists.txt.
std::span<const EmbeddedFile> embedded_descriptions();

}  // namespace wattune::simgpu
