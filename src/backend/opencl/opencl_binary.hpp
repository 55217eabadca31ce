#pragma once
// The form in which a compiled program travels: the driver's binary, and the options that loading it needs again.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wattune::opencl {

/// NVIDIA's binaries are PTX, whose registers are allotted when they are loaded: without its options
/// (-cl-nv-maxrregcount) the loaded kernel would be another.
struct ProgramBinary {
  std::string options;  ///< for clBuildProgram on the loaded program
  std::vector<std::uint8_t> program;
};

std::vector<std::uint8_t> pack(const ProgramBinary& binary);
/// Nothing for bytes that pack() did not make.
std::optional<ProgramBinary> unpack(std::span<const std::uint8_t> bytes);

}  // namespace wattune::opencl
