#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"
#include "fake_device.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CudaDevices : public OnFakeCuda {
 protected:
  std::string error_of_open(const std::string& id) {
    try {
      backend->open(id);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(CudaDevices, are_described_in_full) {
  const auto devices = backend->devices();
  ASSERT_EQ(devices.size(), 2U);
  const DeviceInfo& info = devices[1];
  EXPECT_EQ(info.id, "cuda:1");
  EXPECT_EQ(info.name, "NVIDIA H200");
  EXPECT_EQ(info.backend, "cuda");
  EXPECT_EQ(info.kind, "gpu");
  EXPECT_EQ(info.uuid, "GPU-22222222-2222-2222-2222-222222222222");
  EXPECT_EQ(info.pci, "0000:2a:00.0");
  EXPECT_EQ(info.platform, "CUDA");
  EXPECT_THAT(info.driver, HasSubstr("CUDA 13.0"));
  EXPECT_EQ(info.architecture, "sm_90");
  EXPECT_EQ(info.global_memory, 150'000'000'000U);
  EXPECT_EQ(info.local_memory, 232448U);
  EXPECT_EQ(info.max_work_group, 1024U);
  EXPECT_EQ(info.max_block[2], 64U);
  EXPECT_EQ(info.max_grid[0], 2147483647U);
  EXPECT_EQ(info.compute_units, 132U);
  EXPECT_EQ(info.board(), info.uuid);
  EXPECT_FALSE(info.simulated);
}

TEST_F(CudaDevices, are_listed_without_making_a_context) {
  backend->devices();
  backend->compiler("cuda:0");
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(CudaDevices, are_opened_by_number_uuid_or_pci_id) {
  for (const char* id : {"cuda:1", "GPU-22222222-2222-2222-2222-222222222222", "GPU-22", "gpu-2", "pci:0000:2a:00.0",
                         "pci:0000:2A:00.0", "pci:2a:00.0"}) {
    EXPECT_EQ(backend->open(id)->info().id, "cuda:1") << id;
  }
}

TEST_F(CudaDevices, that_are_not_there_or_not_meant_alone_are_refused_with_a_list) {
  for (const char* id : {"cuda:2", "cuda:", "GPU-3", "pci:0000:99:00.0", "pci:", "H200", ""}) {
    EXPECT_THAT(error_of_open(id), AllOf(HasSubstr("no CUDA device"), HasSubstr("cuda:0 (NVIDIA H200, GPU-11111111"),
                                         HasSubstr("pci:0000:2a:00.0")))
        << id;
  }
  fake.devices[1].instance_uuid.bytes[0] = 0x11;
  EXPECT_THAT(error_of_open("GPU-11"), HasSubstr("more than one CUDA device 'GPU-11'"));
}

TEST_F(CudaDevices, that_are_instances_of_a_divided_board_have_the_uuid_of_the_instance) {
  fake.devices[0].name = "NVIDIA H200 MIG 1g.18gb";
  fake.devices[0].instance_uuid = uuid_of(0xab);
  EXPECT_EQ(backend->devices()[0].uuid, "MIG-abababab-abab-abab-abab-abababababab");
}

TEST_F(CudaDevices, none_visible_says_what_to_check) {
  fake.init_result = CudaResult::no_device;
  const ScopedEnvironment visible("CUDA_VISIBLE_DEVICES", "7");
  EXPECT_THAT(error_of_open("cuda:0"), AllOf(HasSubstr("no CUDA device"), HasSubstr("CUDA_ERROR_NO_DEVICE"),
                                             HasSubstr("CUDA_VISIBLE_DEVICES (7)"), HasSubstr("nvidia-smi")));
  fake.init_result = CudaResult::success;
  fake.devices.clear();
  EXPECT_THAT(error_of_open("cuda:0"), HasSubstr("lists none"));
  fake.init_result = CudaResult::stub_library;
  EXPECT_THAT([&] { make_cuda_backend(options)->devices(); },
              testing::ThrowsMessage<DeviceError>(HasSubstr("toolkit's stub")));
}

TEST_F(CudaDevices, held_by_another_process_say_so) {
  fake.failures["cuDevicePrimaryCtxRetain"] = CudaResult::device_unavailable;
  EXPECT_THAT(error_of_open("cuda:0"), AllOf(HasSubstr("cuda:0 (NVIDIA H200)"), HasSubstr("exclusively")));
}

TEST_F(CudaDevices, missing_driver_is_told_when_it_is_needed) {
  options.driver_library = "/nowhere/libcuda.so.1";
  const auto missing = make_cuda_backend(options);
  EXPECT_EQ(missing->language(), "CUDA");
  EXPECT_THAT([&] { missing->devices(); }, testing::ThrowsMessage<DeviceError>(HasSubstr("/nowhere/libcuda.so.1")));
}

class OldCudaDriver : public OnFakeCuda {
 protected:
  OldCudaDriver() : OnFakeCuda("fake_cuda_old") {}
};

TEST_F(OldCudaDriver, lists_and_opens_devices) {
  EXPECT_EQ(backend->devices()[0].uuid, "GPU-11111111-1111-1111-1111-111111111111");
  EXPECT_EQ(backend->open("cuda:0")->info().id, "cuda:0");
}

TEST_F(OldCudaDriver, replays_batches_launch_by_launch) {
  const auto device = backend->open("cuda:0");
  const auto buffer = device->allocate(64);
  CompileResult binary;
  binary.binary = {1};
  binary.entry = "_Z4gemmPfid";
  const auto kernel = device->load(binary);
  ASSERT_TRUE(kernel) << kernel.error().message;
  Launch launch;
  launch.kernel = kernel->get();
  launch.shape = {{4, 1, 1}, {128, 1, 1}};
  launch.arguments = {BufferArgument{buffer.get(), 0, 64}, ScalarArgument{std::vector<std::byte>(4)},
                      ScalarArgument{std::vector<std::byte>(8)}};
  const auto batch = device->batch(launch, 5, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_EQ(fake.launches.size(), 5U);
  EXPECT_NEAR((*batch)->wait().value(), 0.005, 1e-9);
}

TEST(CudaCompilerChoice, is_read_from_text) {
  EXPECT_EQ(cuda_compiler_choice("auto"), CudaCompilerChoice::automatic);
  EXPECT_EQ(cuda_compiler_choice("nvrtc"), CudaCompilerChoice::nvrtc);
  EXPECT_EQ(cuda_compiler_choice("nvcc"), CudaCompilerChoice::nvcc);
  EXPECT_EQ(cuda_compiler_choice("gcc"), std::nullopt);
}

TEST(CudaCompilerChoice, of_the_environment_is_checked) {
  const ScopedEnvironment variable("WATTUNE_CUDA_COMPILER", "gcc");
  DeviceInfo info;
  info.architecture = "sm_90";
  EXPECT_THAT([&] { make_cuda_compiler(info); }, testing::ThrowsMessage<UsageError>(AllOf(
                                                     HasSubstr("WATTUNE_CUDA_COMPILER is 'gcc'"), HasSubstr("nvrtc"))));
}

}  // namespace
}  // namespace wattune
