#pragma once
// Kernels of the suite that are built into the program, so that it needs no files beside it to calibrate a board.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace wattune {

struct KernelFile {
  std::string_view path;  ///< "fma_chain/problem.json"
  std::string_view text;
};

/// Problem files and sources of fma_chain and stream_copy.
std::span<const KernelFile> embedded_kernel_files();

/// Writes the files of one of them to FOLDER/NAME. @return its problem file. @throws RunError where that cannot be
/// done.
std::filesystem::path write_kernel(const std::string& name, const std::filesystem::path& folder);

}  // namespace wattune
