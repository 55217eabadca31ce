#pragma once
// NVIDIA GPUs through the CUDA driver; kernels compiled by NVRTC or nvcc.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.hpp"

namespace wattune {

/// What compiles CUDA kernels.
enum class CudaCompilerChoice {
  automatic,  ///< NVRTC, and nvcc for sources that NVRTC cannot compile
  nvrtc,
  nvcc,
};
/// "auto", "nvrtc", "nvcc"; nothing for any other text.
std::optional<CudaCompilerChoice> cuda_compiler_choice(std::string_view text);

struct CudaBackendOptions {
  std::string driver_library;  ///< path of the driver; empty: WATTUNE_CUDA_DRIVER, else the installed one
  std::string nvrtc_library;   ///< path of NVRTC; empty: WATTUNE_NVRTC, else the newest that fits
  /// Absent: WATTUNE_CUDA_COMPILER (auto, nvrtc or nvcc), else automatic.
  std::optional<CudaCompilerChoice> compiler;
};

/// Devices are numbered in the driver's order, which CUDA_VISIBLE_DEVICES changes: cuda:0, cuda:1, ... open() and
/// compiler() also take GPU-<uuid> (or a beginning of it that only one device has) and pci:<bus id>. Simulated ones
/// have names: sim:h200. The driver is loaded by the first call that needs it.
std::unique_ptr<Backend> make_cuda_backend(CudaBackendOptions options = {});

/// The same with the library of simulated GPUs (simulation.hpp) in place of driver and compiler. With
/// WATTUNE_SIM_NVRTC=real the installed NVRTC compiles. @throws DeviceError, UsageError where they cannot be used.
std::unique_ptr<Backend> make_simulated_backend();

/// A compiler for a device that is described but need not be in this machine: of `device`, id, architecture and driver
/// ("... CUDA 13.0", which limits the version of NVRTC) are used.
/// @throws UsageError for an architecture that is none, or a bad WATTUNE_CUDA_COMPILER.
std::unique_ptr<Compiler> make_cuda_compiler(const DeviceInfo& device, const CudaBackendOptions& options = {});

}  // namespace wattune
