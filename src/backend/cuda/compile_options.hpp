#pragma once
// A problem's compiler options, written for nvcc, for each of the two compilers.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace wattune {

/// The target of a compilation: 90 and "a" for sm_90a.
struct CudaArchitecture {
  int number = 0;
  std::string suffix;

  [[nodiscard]] std::string sm() const { return "sm_" + std::to_string(number) + suffix; }
  [[nodiscard]] std::string compute() const { return "compute_" + std::to_string(number) + suffix; }
};

/// "sm_90", "sm_90a". @throws UsageError for anything else.
CudaArchitecture cuda_architecture(std::string_view text);

struct CompilerArguments {
  std::vector<std::string> arguments;  ///< one each, without the architecture
  CudaArchitecture architecture;       ///< the device's own, or what the options ask for where the device can run it
  std::vector<std::string> notes;      ///< what was left out or replaced although it changes the meaning
};

/// For NVRTC: options of the host compiler and of the program's making are dropped, others are brought into NVRTC's
/// spelling; what is not known is passed on.
CompilerArguments nvrtc_arguments(const std::vector<std::string>& options, const CudaArchitecture& device);
/// For `nvcc -cubin`: only what contradicts that is dropped.
CompilerArguments nvcc_arguments(const std::vector<std::string>& options, const CudaArchitecture& device);

}  // namespace wattune
