// The reading part of the NVML layer: the same expectations of a real board and of a simulated one, and both in one
// process. Nothing is set.

#include <vector>

#include "backend/cuda/simulation.hpp"
#include "driver/nvml.hpp"
#include "on_gpu.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "power/nvml/nvml_meters.hpp"

namespace wattune {
namespace {

using testing::Contains;

/// Beside this program in a bundle, else that of the build.
std::string simulated_library() {
  try {
    return simulation_library();
  } catch (const DeviceError&) {
    return WATTUNE_SIMGPU_LIBRARY;
  }
}

std::unique_ptr<Backend> simulated_backend() {
  CudaBackendOptions options;
  options.driver_library = options.nvrtc_library = simulated_library();
  options.compiler = CudaCompilerChoice::nvrtc;
  return make_cuda_backend(options);
}

/// @param library of NVML; empty: the real one.
void expect_sensible_readings(const DeviceInfo& info, const std::string& library) {
  std::string why_not;
  const auto meter = open_nvml_meter(info.uuid, info.pci, &why_not, library);
  ASSERT_TRUE(meter) << why_not;
  const double before = meter->energy_joules().value_or(0);
  EXPECT_GT(before, 0);
  EXPECT_GE(meter->energy_joules().value_or(0), before);
  EXPECT_GT(meter->power_watts().value_or(0), 5);
  EXPECT_LT(meter->power_watts().value_or(1e9), 1500);
  EXPECT_GT(meter->sm_clock_hz().value_or(0), 1e8);
  EXPECT_LT(meter->sm_clock_hz().value_or(1e12), 5e9);
  EXPECT_GT(meter->memory_clock_hz().value_or(0), 1e8);
  EXPECT_GT(meter->temperature_celsius().value_or(0), 5);
  EXPECT_LT(meter->temperature_celsius().value_or(1e3), 110);

  std::vector<std::string> names;
  for (const auto& description : nvml_meters(info.uuid, info.pci, &why_not, library)) names.push_back(description.name);
  EXPECT_THAT(names, Contains("nvml-counter")) << why_not;

  const auto nvml = load_nvml(library);
  NvmlDevice by_uuid = nullptr;
  NvmlDevice by_pci = nullptr;
  EXPECT_EQ(nvml->device_by_uuid(info.uuid.c_str(), &by_uuid), NvmlResult::success);
  EXPECT_EQ(nvml->device_by_pci(info.pci.c_str(), &by_pci), NvmlResult::success);
  EXPECT_EQ(by_uuid, by_pci);
  char uuid[nvml_uuid_bytes] = "";
  EXPECT_EQ(nvml->device_uuid(by_uuid, uuid, sizeof uuid), NvmlResult::success);
  EXPECT_EQ(uuid, info.uuid);
  EXPECT_EQ(nvml->device_by_uuid("GPU-00000000-0000-0000-0000-000000000000", &by_uuid), NvmlResult::not_found);
}

void expect_memory_that_holds_data(Device& device) {
  const std::vector<std::byte> data(4096, std::byte{0x5a});
  std::vector<std::byte> back(data.size());
  const auto buffer = device.allocate(data.size());
  device.write(*buffer, 0, data);
  device.read(*buffer, 0, back);
  EXPECT_EQ(back, data);
}

TEST(NvmlLayer, reads_a_simulated_board) {
  for (const auto& info : simulated_backend()->devices()) expect_sensible_readings(info, simulated_library());
}

TEST_F(OnGpu, has_an_nvml_layer_that_reads_as_that_of_a_simulated_board) {
  expect_sensible_readings(device->info(), "");
}

TEST_F(OnGpu, lies_beside_a_simulated_one_in_one_process) {
  const auto backend_beside = simulated_backend();
  const auto beside = backend_beside->open("sim:h200");
  EXPECT_TRUE(beside->info().simulated);
  EXPECT_FALSE(device->info().simulated);
  EXPECT_NE(beside->info().uuid, device->info().uuid);
  expect_memory_that_holds_data(*beside);
  expect_memory_that_holds_data(*device);
  expect_sensible_readings(beside->info(), simulated_library());
  expect_sensible_readings(device->info(), "");
  expect_memory_that_holds_data(*beside);
}

}  // namespace
}  // namespace wattune
