#pragma once
// What the simulated compiler hands to the simulated driver: an ELF file with a symbol table, as a CUDA binary is, that
// carries what a launch needs to know instead of code. Real CUDA binaries are read too.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "board/workload.hpp"

namespace wattune::simgpu {

struct KernelImage {
  std::string name;  ///< mangled
  unsigned registers = 32;
  std::uint64_t shared_bytes = 0;  ///< static
  std::uint64_t local_bytes = 0;   ///< spills, a thread
  unsigned max_threads = 1024;     ///< per block, as __launch_bounds__ says
};

struct VariableImage {
  std::string name;
  std::uint64_t bytes = 0;
};

struct Image {
  std::vector<KernelImage> kernels;
  std::vector<VariableImage> variables;
  Variant variant;
};

std::vector<std::uint8_t> write_image(const Image& image);

/// Reads what write_image() or a CUDA compiler made. Nothing where it is neither. The length of an image is not known:
/// as the driver does, it trusts what the headers say.
std::optional<Image> read_image(const void* data);

}  // namespace wattune::simgpu
