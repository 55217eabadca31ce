#pragma once
// A simulated machine of a test's own. A library reads its variables once, when it is first used, so each machine needs
// a copy of the library.

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "../temporary_folder.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "driver/cuda_driver.hpp"
#include "driver/nvml.hpp"
#include "fake.hpp"

namespace wattune {

class SimulatedMachine : public testing::Test {
 protected:
  /// A library with a machine of its own, unless `state` says which.
  std::string library(const std::string& name = "simgpu") {
    const auto path = folder_ / ("lib" + name + ".so");
    if (!std::filesystem::exists(path)) std::filesystem::copy_file(WATTUNE_SIMGPU_LIBRARY, path);
    return path.string();
  }

  /// The backend on that library.
  std::unique_ptr<Backend> backend(const std::string& library) {
    CudaBackendOptions options;
    options.driver_library = library;
    options.nvrtc_library = library;
    options.compiler = CudaCompilerChoice::nvrtc;
    return make_cuda_backend(options);
  }

  template <typename Function>
  Function* extension(const std::string& library, const char* name) {
    std::string why_not;
    const auto loaded = SharedLibrary::open(library, why_not);
    EXPECT_TRUE(loaded) << why_not;
    Function* function = nullptr;
    loaded->required(function, name);
    return function;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
};

/// A kernel with a constant, shared memory and an array, in two sizes.
inline CompileRequest scale_kernel(const std::string& device, int tile = 4) {
  CompileRequest request;
  request.device = device;
  request.file = "scale.cu";
  request.defines = {{"TILE", std::to_string(tile)}, {"THREADS", "256"}};
  request.kernel_name = "scale";
  request.source =
      "__constant__ float factors[16];\n"
      "extern \"C\" __global__ __launch_bounds__(THREADS) void scale(float* y, const float* x) {\n"
      "  __shared__ float part[THREADS * TILE];\n"
      "  float own[TILE];\n"
      "}\n";
  return request;
}

}  // namespace wattune
