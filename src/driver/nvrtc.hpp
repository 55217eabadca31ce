#pragma once
// NVRTC, NVIDIA's run-time compiler, loaded at run time; and the choice among those installed.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "driver/library.hpp"

namespace wattune {

/// nvrtcResult, as far as it is told apart here.
enum class NvrtcResult : int {
  success = 0,
  out_of_memory = 1,
  invalid_option = 5,
  compilation = 6,
  name_expression_not_valid = 10,
  internal_error = 11,
};

using NvrtcProgram = struct NvrtcProgramOpaque*;

/// The function table. All are there from CUDA 11.2 on, the oldest that is accepted.
struct Nvrtc {
  SharedLibrary library;
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  ///< supported: 90 for sm_90
  bool simulated = false;          ///< of the simulated GPUs: it makes nothing that runs

  const char* (*get_error_string)(NvrtcResult) = nullptr;        // nvrtcGetErrorString
  NvrtcResult (*get_version)(int* major, int* minor) = nullptr;  // nvrtcVersion
  NvrtcResult (*create_program)(NvrtcProgram*, const char* source, const char* name, int headers,
                                const char* const* header_sources,
                                const char* const* header_names) = nullptr;  // nvrtcCreateProgram
  NvrtcResult (*destroy_program)(NvrtcProgram*) = nullptr;                   // nvrtcDestroyProgram
  NvrtcResult (*compile_program)(NvrtcProgram, int options,
                                 const char* const* option_texts) = nullptr;  // nvrtcCompileProgram
  NvrtcResult (*get_program_log_size)(NvrtcProgram, std::size_t*) = nullptr;  // nvrtcGetProgramLogSize
  NvrtcResult (*get_program_log)(NvrtcProgram, char*) = nullptr;              // nvrtcGetProgramLog
  NvrtcResult (*get_cubin_size)(NvrtcProgram, std::size_t*) = nullptr;        // nvrtcGetCUBINSize
  NvrtcResult (*get_cubin)(NvrtcProgram, char*) = nullptr;                    // nvrtcGetCUBIN
  NvrtcResult (*add_name_expression)(NvrtcProgram, const char*) = nullptr;    // nvrtcAddNameExpression
  NvrtcResult (*get_lowered_name)(NvrtcProgram, const char* expression,
                                  const char** lowered) = nullptr;  // nvrtcGetLoweredName
  NvrtcResult (*get_architecture_count)(int*) = nullptr;            // nvrtcGetNumSupportedArchs
  NvrtcResult (*get_architectures)(int*) = nullptr;                 // nvrtcGetSupportedArchs

  /// "nvrtc 13.0", "simulated nvrtc 13.0".
  [[nodiscard]] std::string version() const;
  [[nodiscard]] bool supports(int architecture) const;
};

/// Loads one library. @throws DeviceError where it cannot be used, saying why.
std::shared_ptr<const Nvrtc> load_nvrtc(const std::string& path);

/// Finds the NVRTC to compile with: `path`, else WATTUNE_NVRTC, else the newest of those in the toolkits'
/// (toolkit.hpp) and the loader's folders that knows the architecture and whose major version is not above the
/// driver's, for such a driver does not load its binaries.
/// @param architecture 90 for sm_90. @param cuda_version of the driver, 13000 for 13.0; 0: any.
/// @throws DeviceError that names each place and why what was found there does not do.
std::shared_ptr<const Nvrtc> find_nvrtc(const std::string& path, int architecture, int cuda_version);

}  // namespace wattune
