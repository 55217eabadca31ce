#pragma once
// A backend on the stand-in for the CUDA driver.

#include <gmock/gmock.h>

#include "backend/cuda/cuda_backend.hpp"
#include "fake.hpp"

namespace wattune {

inline CudaUuid uuid_of(std::uint8_t byte) {
  CudaUuid uuid{};
  for (auto& b : uuid.bytes) b = byte;
  return uuid;
}

inline FakeCudaDevice h200(std::uint8_t number) {
  using enum CudaDeviceAttribute;
  FakeCudaDevice device;
  device.uuid = device.instance_uuid = uuid_of(static_cast<std::uint8_t>(number * 0x11));
  device.pci = "0000:" + std::to_string(number) + "A:00.0";
  device.attributes = {{max_threads_per_block, 1024},
                       {max_block_dim_x, 1024},
                       {max_block_dim_y, 1024},
                       {max_block_dim_z, 64},
                       {max_grid_dim_x, 2147483647},
                       {max_grid_dim_y, 65535},
                       {max_grid_dim_z, 65535},
                       {max_shared_memory_per_block, 49152},
                       {max_registers_per_block, 65536},
                       {multiprocessor_count, 132},
                       {max_threads_per_multiprocessor, 2048},
                       {compute_capability_major, 9},
                       {compute_capability_minor, 0},
                       {max_shared_memory_per_block_optin, 232448}};
  return device;
}

inline FakeFunction gemm_function() {
  using enum CudaFunctionAttribute;
  FakeFunction function;
  function.name = "_Z4gemmPfid";
  function.attributes = {{max_threads_per_block, 512},
                         {shared_size_bytes, 1024},
                         {const_size_bytes, 64},
                         {local_size_bytes, 16},
                         {num_regs, 96},
                         {max_dynamic_shared_size_bytes, 48128}};
  function.parameters = {8, 4, 8};
  return function;
}

/// A test on two stand-in devices; afterwards nothing may be left on them.
class OnFakeCuda : public testing::Test {
 protected:
  explicit OnFakeCuda(const char* library = "fake_cuda")
      : library_(fake_library(library)), fake(fake_state<FakeCuda>(library_)) {
    fake = {};
    fake.devices = {h200(1), h200(2)};
    fake.functions["_Z4gemmPfid"] = gemm_function();
    options.driver_library = library_.string();
    backend = make_cuda_backend(options);
  }
  void TearDown() override {
    EXPECT_TRUE(fake.live.empty()) << fake.live.size() << " objects of the driver are left";
    for (const auto& [device, count] : fake.retained) EXPECT_EQ(count, 0) << "context of device " << device;
  }

  std::filesystem::path library_;
  FakeCuda& fake;
  CudaBackendOptions options;
  std::unique_ptr<Backend> backend;
};

}  // namespace wattune
