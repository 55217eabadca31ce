#pragma once
// Where an installed CUDA toolkit is.

#include <filesystem>
#include <string>
#include <vector>

namespace wattune {

/// Roots of toolkits in the order in which they count: CUDA_HOME, CUDA_PATH, the one whose nvcc is on PATH,
/// /usr/local/cuda. Only folders that exist, none twice.
std::vector<std::filesystem::path> cuda_toolkit_roots();

/// The library folders of a toolkit: lib64, lib, targets/*/lib.
std::vector<std::filesystem::path> cuda_library_folders(const std::filesystem::path& root);

/// The folders for `#include <cuda_fp16.h>` and `#include <cuda/std/cstdint>` of the toolkit that a library or program
/// of it belongs to (its own include folder, and include/cccl where that exists), else of the first root that has one.
std::vector<std::filesystem::path> cuda_include_folders(const std::filesystem::path& member);

/// The path of nvcc: bin/nvcc of CUDA_HOME, CUDA_PATH, else PATH, else /usr/local/cuda; empty where there is none.
std::filesystem::path find_nvcc();

/// Where find_nvcc() and the search for NVRTC look, for messages: "CUDA_HOME (/opt/cuda), CUDA_PATH (not set), ...".
std::string cuda_toolkit_places();

}  // namespace wattune
