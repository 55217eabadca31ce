// The simulated GPUs through the same tables as real ones.

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "fake_device.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "power/nvml/nvml_meters.hpp"
#include "settings/board.hpp"
#include "simulated_machine.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> ids(Backend& backend) {
  std::vector<std::string> result;
  for (const auto& device : backend.devices()) result.push_back(device.id);
  return result;
}

TEST_F(SimulatedMachine, lists_six_boards_fastest_first) {
  const auto cuda = backend(library());
  EXPECT_THAT(ids(*cuda), UnorderedElementsAre("sim:a100-pcie-40gb", "sim:rtx-a4000", "sim:rtx-a6000", "sim:titan-rtx",
                                               "sim:v100-pcie", "sim:h200"));
  EXPECT_EQ(cuda->devices().front().id, "sim:h200");
  for (const auto& device : cuda->devices()) {
    EXPECT_TRUE(device.simulated);
    EXPECT_THAT(device.uuid, HasSubstr("GPU-513d513d-"));
    EXPECT_THAT(device.driver, HasSubstr("simulated"));
    EXPECT_GT(device.compute_units, 0U);
    EXPECT_GT(device.global_memory, 1ULL << 30);
  }
}

TEST_F(SimulatedMachine, numbers_boards_otherwise_than_nvml_and_both_mean_the_same_board_by_uuid_and_pci_id) {
  const auto cuda = backend(library());
  const auto nvml = load_nvml(library());
  NvmlDevice first = nullptr;
  auto* by_index = extension<NvmlResult(unsigned, NvmlDevice*)>(library(), "nvmlDeviceGetHandleByIndex_v2");
  ASSERT_EQ(by_index(0, &first), NvmlResult::success);
  char uuid[nvml_uuid_bytes] = "";
  ASSERT_EQ(nvml->device_uuid(first, uuid, sizeof uuid), NvmlResult::success);
  EXPECT_NE(cuda->devices().front().uuid, uuid);
  for (const auto& device : cuda->devices()) {
    NvmlDevice by_uuid = nullptr;
    NvmlDevice by_pci = nullptr;
    EXPECT_EQ(nvml->device_by_uuid(device.uuid.c_str(), &by_uuid), NvmlResult::success);
    EXPECT_EQ(nvml->device_by_pci(device.pci.c_str(), &by_pci), NvmlResult::success);
    EXPECT_EQ(by_uuid, by_pci);
  }
}

TEST_F(SimulatedMachine, compiles_loads_and_launches_and_moves_data_for_real) {
  const auto cuda = backend(library());
  const auto device = cuda->open("sim:a100-pcie-40gb");
  const auto compiled = cuda->compiler("sim:a100-pcie-40gb")->compile(scale_kernel("sim:a100-pcie-40gb"));
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->entry, "scale");
  EXPECT_EQ(compiled->symbols.count("factors"), 1U);
  EXPECT_THAT(compiled->compiler, HasSubstr("simulated"));
  auto kernel = device->load(*compiled);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ((*kernel)->resources().at("static_shared_bytes"), 256 * 4 * 4);
  EXPECT_LE((*kernel)->resources().at("max_work_group"), 1024);

  const std::vector<std::byte> factors(64, std::byte{7});
  EXPECT_FALSE(device->write_symbol(**kernel, "factors", factors));
  const auto buffer = device->allocate(1000);
  const auto other = device->allocate(1000);
  device->fill(*buffer, 0, 1000, std::byte{3});
  device->copy(*other, 100, *buffer, 0, 500);
  std::vector<std::byte> content(500);
  device->read(*other, 100, content);
  EXPECT_EQ(content, std::vector<std::byte>(500, std::byte{3}));

  Launch launch;
  launch.kernel = kernel->get();
  launch.shape.grid = {1000, 1, 1};
  launch.shape.block = {256, 1, 1};
  launch.arguments = {BufferArgument{other.get(), 0, 1000}, BufferArgument{buffer.get(), 0, 1000}};
  EXPECT_FALSE(device->run(launch));
  launch.shape.block = {1024, 1, 1};  // more than its launch bounds
  const auto refused = device->run(launch);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome, Outcome::resources);
}

TEST_F(SimulatedMachine, a_graph_takes_as_long_as_its_launches_together) {
  const auto cuda = backend(library());
  const auto device = cuda->open("sim:h200");
  const auto compiled = cuda->compiler("sim:h200")->compile(scale_kernel("sim:h200"));
  ASSERT_TRUE(compiled);
  auto kernel = device->load(*compiled);
  ASSERT_TRUE(kernel);
  device->expect_work(1e10, 1e8);
  const auto buffer = device->allocate(1 << 20);
  Launch launch;
  launch.kernel = kernel->get();
  launch.shape.grid = {10000, 1, 1};
  launch.shape.block = {256, 1, 1};
  launch.arguments = {BufferArgument{buffer.get(), 0, 1 << 20}, BufferArgument{buffer.get(), 0, 1 << 20}};
  const auto seconds = [&](unsigned launches, const std::vector<ResetCopy>& resets) {
    auto batch = device->batch(launch, launches, resets);
    EXPECT_TRUE(batch);
    EXPECT_FALSE((*batch)->enqueue());
    EXPECT_FALSE((*batch)->enqueue());
    EXPECT_TRUE((*batch)->wait());
    return *(*batch)->wait();
  };
  const double one = seconds(10, {}) / 10;
  EXPECT_NEAR(seconds(1000, {}) / 1000, one, 0.05 * one);
  const double with_reset = seconds(100, {{buffer.get(), nullptr, 0, 1 << 20}}) / 100;
  EXPECT_GT(with_reset, one);
}

TEST_F(SimulatedMachine, the_meter_reads_the_energy_that_kernels_use) {
  const auto cuda = backend(library());
  const auto device = cuda->open("sim:h200");
  std::string why_not;
  const auto meter = open_nvml_meter(device->info().uuid, device->info().pci, &why_not, library());
  ASSERT_TRUE(meter) << why_not;
  Clock& clock = *device->clock();
  clock.sleep_until(clock.now() + 5);
  const double before = meter->energy_joules().value();
  const double began = clock.now();
  clock.sleep_until(began + 10);
  const double watts = (meter->energy_joules().value() - before) / (clock.now() - began);
  EXPECT_NEAR(watts, 120, 8);  // idle, with a context
  EXPECT_NEAR(meter->power_watts().value(), 120, 8);
  EXPECT_GT(meter->sm_clock_hz().value(), 1e8);
  EXPECT_GT(meter->temperature_celsius().value(), 15);
  EXPECT_THAT(meter->throttle_reasons(), IsEmpty());
  EXPECT_THAT(nvml_meters(device->info().uuid, "", &why_not, library()), testing::SizeIs(4)) << why_not;
}

TEST_F(SimulatedMachine, reading_a_meter_takes_device_time_so_that_who_polls_gets_on) {
  const auto nvml = load_nvml(library());
  const auto device = backend(library())->open("sim:h200");
  NvmlDevice board = nullptr;
  ASSERT_EQ(nvml->device_by_uuid(device->info().uuid.c_str(), &board), NvmlResult::success);
  const double before = device->clock()->now();
  unsigned long long millijoules = 0;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(nvml->total_energy(board, &millijoules), NvmlResult::success);
  EXPECT_NEAR(device->clock()->now() - before, 0.029, 0.02);
}

TEST_F(SimulatedMachine, each_field_has_its_own_result) {
  const auto nvml = load_nvml(library());
  NvmlDevice board = nullptr;
  const auto device = backend(library())->devices().front();
  ASSERT_EQ(nvml->device_by_uuid(device.uuid.c_str(), &board), NvmlResult::success);
  NvmlFieldValue values[3] = {};
  values[0].field = nvml_field_power_instant;
  values[1].field = 999;
  values[2].field = 74;  // time at the power cap
  ASSERT_EQ(nvml->field_values(board, 3, values), NvmlResult::success);
  EXPECT_EQ(values[0].result, NvmlResult::success);
  EXPECT_EQ(values[0].type, NvmlValueType::unsigned_int);
  EXPECT_GT(values[0].value.unsigned_int, 10000U);
  EXPECT_EQ(values[1].result, NvmlResult::not_supported);
  EXPECT_EQ(values[2].result, NvmlResult::success);
  EXPECT_EQ(values[2].type, NvmlValueType::unsigned_long_long);
}

TEST_F(SimulatedMachine, settings_need_root_and_are_seen_in_the_board) {
  auto* const truth = extension<double(unsigned, const char*)>(library(), "wattune_sim_truth");
  const auto device = backend(library())->devices().front();
  const auto board = open_nvml_board(device.uuid, "", library());
  EXPECT_TRUE(board->capabilities().simulated);
  EXPECT_TRUE(board->capabilities().may_set_sm_clock);
  EXPECT_FALSE(board->set(Setting::sm_clock, 1.2e9));
  constexpr unsigned h200 = 5;
  EXPECT_NEAR(truth(h200, "sm_lock_high"), 1.2e9, 1);
  EXPECT_FALSE(board->restore(Setting::sm_clock, {}));
  EXPECT_EQ(truth(h200, "sm_lock_high"), 0);

  const ScopedEnvironment user("WATTUNE_SIM_USER", "user");
  const auto ordinary = open_nvml_board(device.uuid, "", library("ordinary"));
  EXPECT_FALSE(ordinary->capabilities().may_set_sm_clock);
}

TEST_F(SimulatedMachine, two_libraries_in_one_process_are_two_machines) {
  const ScopedEnvironment one("WATTUNE_SIM_GPUS", "h200");
  const auto first = backend(library("first"));
  EXPECT_THAT(ids(*first), ElementsAre("sim:h200"));
  const ScopedEnvironment two("WATTUNE_SIM_GPUS", "rtx-a4000,rtx-a4000");
  const auto second = backend(library("second"));
  EXPECT_THAT(ids(*second), ElementsAre("sim:rtx-a4000", "sim:rtx-a4000:1"));
  const auto one_device = first->open("sim:h200");
  const auto other_device = second->open("sim:rtx-a4000:1");
  one_device->clock()->sleep_until(100);
  EXPECT_LT(other_device->clock()->now(), 50);
}

TEST_F(SimulatedMachine, lies_beside_a_real_driver_in_one_process) {
  auto& fake = fake_state<FakeCuda>(fake_library("fake_cuda"));
  fake = {};
  fake.devices = {h200(1)};
  const auto real = backend(fake_library("fake_cuda").string());
  const auto simulated = backend(library());
  EXPECT_THAT(ids(*real), ElementsAre("cuda:0"));
  EXPECT_FALSE(real->devices()[0].simulated);
  EXPECT_EQ(simulated->devices().size(), 6U);
}

TEST_F(SimulatedMachine, two_libraries_on_one_state_file_are_one_machine) {
  const auto state = folder_ / "state";
  const ScopedEnvironment variable("WATTUNE_SIM_STATE", state.c_str());
  const auto first = backend(library("first"))->open("sim:h200");
  const auto second = backend(library("second"))->open("sim:h200");
  first->clock()->sleep_until(100);
  EXPECT_GE(second->clock()->now(), 100);
}

TEST_F(SimulatedMachine, faulty_variables_are_told_when_the_library_is_taken_up) {
  const ScopedEnvironment variable("WATTUNE_SIM_GPUS", "h200,h201");
  try {
    backend(library())->devices();
    FAIL() << "it was taken up";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'h201'"));
  }
}

}  // namespace
}  // namespace wattune
