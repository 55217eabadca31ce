#include "driver/nvml.hpp"
#include "on_gpu.hpp"
#include "power/nvml/nvml_meter.hpp"

namespace wattune {
namespace {

using testing::MatchesRegex;

TEST_F(OnGpu, lists_each_device_in_full) {
  for (const auto& info : backend->devices()) {
    EXPECT_THAT(info.uuid, MatchesRegex("(GPU|MIG)-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"));
    EXPECT_EQ(info.uuid.size(), 40U);
    EXPECT_THAT(info.pci, MatchesRegex("[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\\.0"));
    EXPECT_THAT(info.architecture, MatchesRegex("sm_[0-9]+"));
    EXPECT_THAT(info.driver, MatchesRegex(".*CUDA [0-9]+\\.[0-9]+"));
    EXPECT_FALSE(info.name.empty());
    EXPECT_GT(info.global_memory, 1U << 28);
    EXPECT_GE(info.local_memory, 48U << 10);
    EXPECT_GE(info.max_work_group, 512U);
    EXPECT_GT(info.compute_units, 0U);
    std::cout << info.id << ": " << info.name << ", " << info.uuid << ", pci:" << info.pci << ", " << info.architecture
              << ", driver " << info.driver << ", " << info.global_memory << " bytes, " << info.local_memory
              << " bytes shared, " << info.compute_units << " SMs\n";
  }
}

TEST_F(OnGpu, opens_a_device_by_uuid_a_beginning_of_it_and_pci_id) {
  const DeviceInfo info = device->info();
  EXPECT_EQ(backend->open(info.uuid)->info().id, info.id);
  EXPECT_EQ(backend->open("pci:" + info.pci)->info().id, info.id);
  if (backend->devices().size() == 1) {
    EXPECT_EQ(backend->open(info.uuid.substr(0, 10))->info().id, info.id);
  }
}

TEST_F(OnGpu, is_the_same_board_to_nvml_by_uuid_and_by_pci_id) {
  const DeviceInfo info = device->info();
  const auto nvml = load_nvml();
  NvmlDevice by_uuid = nullptr;
  NvmlDevice by_pci = nullptr;
  ASSERT_EQ(nvml->device_by_uuid(info.uuid.c_str(), &by_uuid), NvmlResult::success);
  ASSERT_EQ(nvml->device_by_pci(info.pci.c_str(), &by_pci), NvmlResult::success);
  char one[nvml_uuid_bytes] = {};
  char two[nvml_uuid_bytes] = {};
  ASSERT_EQ(nvml->device_uuid(by_uuid, one, nvml_uuid_bytes), NvmlResult::success);
  ASSERT_EQ(nvml->device_uuid(by_pci, two, nvml_uuid_bytes), NvmlResult::success);
  EXPECT_STREQ(one, two);
  EXPECT_EQ(info.uuid, one);
}

TEST_F(OnGpu, has_a_meter_with_sensible_readings) {
  std::string why_not;
  const auto meter = open_nvml_meter(device->info().uuid, device->info().pci, &why_not);
  if (!meter) GTEST_SKIP() << why_not;
  EXPECT_GT(meter->energy_joules().value_or(0), 0);
  ASSERT_TRUE(meter->power_watts());
  EXPECT_GT(*meter->power_watts(), 1);
  EXPECT_LT(*meter->power_watts(), 2000);
  ASSERT_TRUE(meter->sm_clock_hz());
  EXPECT_GT(*meter->sm_clock_hz(), 1e8);
  EXPECT_LT(*meter->sm_clock_hz(), 5e9);
  ASSERT_TRUE(meter->memory_clock_hz());
  EXPECT_GT(*meter->memory_clock_hz(), 1e8);
  ASSERT_TRUE(meter->temperature_celsius());
  EXPECT_GT(*meter->temperature_celsius(), 5);
  EXPECT_LT(*meter->temperature_celsius(), 120);
}

}  // namespace
}  // namespace wattune
