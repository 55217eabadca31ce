#pragma once
// What the tests on a GPU share.

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"

namespace wattune {

/// The folder with `problems`: WATTUNE_DEVICE_DATA, else this folder of the source tree.
inline std::filesystem::path device_data() {
  const char* folder = std::getenv("WATTUNE_DEVICE_DATA");
  return folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(WATTUNE_SOURCE_DIR) / "tests/device";
}

/// The device that is tested: WATTUNE_TEST_DEVICE, else the first.
inline std::string tested_device() {
  const char* device = std::getenv("WATTUNE_TEST_DEVICE");
  return device != nullptr ? device : "cuda:0";
}

/// A test on a GPU; skipped where there is none.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      backend = make_cuda_backend();
      device = backend->open(tested_device());
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "needs an NVIDIA GPU: " << error.what();
    }
  }

  CompileResult compile(const std::string& source, const std::string& kernel, std::vector<std::string> options = {}) {
    CompileRequest request;
    request.device = device->info().id;
    request.source = source;
    request.kernel_name = kernel;
    request.options = std::move(options);
    auto result = backend->compiler(tested_device())->compile(request);
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
  }

  std::unique_ptr<Kernel> load(const CompileResult& binary) {
    auto kernel = device->load(binary);
    if (!kernel) throw std::runtime_error(kernel.error().message);
    return std::move(*kernel);
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Device> device;
};

template <typename Type>
ScalarArgument scalar(Type value) {
  ScalarArgument argument{std::vector<std::byte>(sizeof value)};
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

inline BufferArgument whole(Buffer& buffer) {
  return {&buffer, 0, buffer.bytes()};
}

/// Chains of fused multiply-adds: as much arithmetic as asked for, and no memory traffic to speak of.
inline constexpr const char* fma_source = R"(
extern "C" __global__ void chain(float* out, int rounds) {
  float a = threadIdx.x * 1e-3f, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.999f + 0.001f;
    b = b * 0.999f + 0.002f;
    c = c * 0.999f + 0.003f;
    d = d * 0.999f + 0.004f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
)";

}  // namespace wattune
