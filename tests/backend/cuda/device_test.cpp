#include <cstring>

#include "base/error.hpp"
#include "fake_device.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename Type>
std::vector<std::byte> bytes_of(Type value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::byte> read_all(Device& device, const Buffer& buffer) {
  std::vector<std::byte> data(buffer.bytes());
  device.read(buffer, 0, data);
  return data;
}

class CudaDeviceTest : public OnFakeCuda {
 protected:
  void SetUp() override {
    device = backend->open("cuda:0");
    binary.binary = {1, 2, 3};
    binary.entry = "_Z4gemmPfid";
  }
  void TearDown() override {
    kernel.reset();
    buffer.reset();
    device.reset();
    OnFakeCuda::TearDown();
  }
  void open_kernel() {
    auto loaded = device->load(binary);
    ASSERT_TRUE(loaded) << loaded.error().message;
    kernel = std::move(*loaded);
    buffer = device->allocate(1024);
    launch.kernel = kernel.get();
    launch.shape = {{10, 20, 30}, {64, 2, 1}};
    launch.arguments = {BufferArgument{buffer.get(), 256, 512}, ScalarArgument{bytes_of(7)},
                        ScalarArgument{bytes_of(2.5)}};
  }
  Failure failure_of_check() {
    const auto failure = device->check(launch);
    EXPECT_TRUE(failure);
    EXPECT_TRUE(fake.launches.empty());
    return failure.value_or(Failure{Outcome::ok, ""});
  }

  CompileResult binary;
  std::unique_ptr<Device> device;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Buffer> buffer;
  Launch launch;
};

TEST_F(CudaDeviceTest, moves_data_through_its_memory) {
  const auto one = device->allocate(8);
  const auto two = device->allocate(8);
  device->write(*one, 0, bytes_of(std::uint64_t{0x1122334455667788}));
  device->copy(*two, 0, *one, 4, 4);
  device->fill(*two, 4, 4, std::byte{0xee});
  EXPECT_EQ(read_all(*device, *two), bytes_of(std::uint64_t{0xeeeeeeee11223344}));
  EXPECT_THROW(device->fill(*two, 4, 5, std::byte{0}), std::out_of_range);
  EXPECT_THROW(device->write(*two, 9, bytes_of('c')), std::out_of_range);
}

TEST_F(CudaDeviceTest, out_of_memory_names_the_device_and_what_is_free) {
  EXPECT_THAT([&] { device->allocate(2'000'000'000); },
              testing::ThrowsMessage<DeviceError>(AllOf(HasSubstr("1907.3 MiB on cuda:0"),
                                                        HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr("953.7 of"))));
}

TEST_F(CudaDeviceTest, tells_what_a_kernel_uses) {
  open_kernel();
  const auto resources = kernel->resources();
  EXPECT_EQ(resources.at("registers"), 96);
  EXPECT_EQ(resources.at("local_bytes"), 16);
  EXPECT_EQ(resources.at("static_shared_bytes"), 1024);
  EXPECT_EQ(resources.at("constant_bytes"), 64);
  EXPECT_EQ(resources.at("max_work_group"), 512);
}

TEST_F(CudaDeviceTest, passes_shape_and_arguments_to_the_kernel) {
  open_kernel();
  launch.shared_bytes = 100;
  launch.arguments.push_back(LocalArgument{28});
  ASSERT_FALSE(device->run(launch));
  ASSERT_EQ(fake.launches.size(), 1U);
  const FakeLaunch& seen = fake.launches[0];
  EXPECT_EQ(seen.function, "_Z4gemmPfid");
  EXPECT_THAT(seen.grid, ElementsAre(10U, 20U, 30U));
  EXPECT_THAT(seen.block, ElementsAre(64U, 2U, 1U));
  EXPECT_EQ(seen.shared_bytes, 128U);
  ASSERT_EQ(seen.arguments.size(), 3U);
  EXPECT_EQ(std::memcmp(seen.arguments[1].data(), bytes_of(7).data(), 4), 0);
  EXPECT_EQ(std::memcmp(seen.arguments[2].data(), bytes_of(2.5).data(), 8), 0);
  std::uint64_t pointer = 0;
  std::memcpy(&pointer, seen.arguments[0].data(), 8);
  device->fill(*buffer, 256, 1, std::byte{0x5a});
  EXPECT_EQ(*reinterpret_cast<const std::uint8_t*>(pointer), 0x5a);
}

TEST_F(CudaDeviceTest, asks_for_more_than_48_kb_of_shared_memory_once) {
  open_kernel();
  launch.shared_bytes = 100'000;
  ASSERT_FALSE(device->run(launch));
  ASSERT_FALSE(device->run(launch));
  EXPECT_EQ(fake.count("cuFuncSetAttribute"), 1);
  EXPECT_EQ(fake.launches[1].shared_bytes, 100'000U);
}

TEST_F(CudaDeviceTest, finds_launches_that_do_not_fit_without_launching) {
  open_kernel();
  launch.shape.block = {1025, 1, 1};
  EXPECT_EQ(failure_of_check().outcome, Outcome::resources);
  launch.shape.block = {1, 1, 65};
  EXPECT_THAT(failure_of_check().message, HasSubstr("65 threads per block in z; at most 64"));
  launch.shape.block = {64, 32, 1};
  EXPECT_THAT(failure_of_check().message, HasSubstr("2048 threads per block; at most 1024"));
  launch.shape.block = {1024, 1, 1};
  EXPECT_THAT(failure_of_check().message, AllOf(HasSubstr("96 registers"), HasSubstr("it may have 512")));
  EXPECT_EQ(failure_of_check().outcome, Outcome::resources);
  launch.shape.block = {32, 1, 1};
  launch.shape.grid = {1, 65536, 1};
  EXPECT_THAT(failure_of_check().message, HasSubstr("65536 blocks in y; at most 65535"));
  launch.shape.grid = {1, 0, 1};
  EXPECT_EQ(failure_of_check().outcome, Outcome::launch);
  launch.shape.grid = {1, 1, 1};
  launch.shared_bytes = 232448 - 1024 + 1;
  EXPECT_THAT(failure_of_check().message, HasSubstr("232449 bytes of shared memory per block; at most 232448"));
  launch.shared_bytes = 232448 - 1024;
  EXPECT_FALSE(device->check(launch));
}

TEST_F(CudaDeviceTest, finds_arguments_that_are_not_those_of_the_kernel) {
  open_kernel();
  launch.arguments[1] = ScalarArgument{bytes_of(7.0)};
  EXPECT_THAT(failure_of_check().message,
              HasSubstr("parameter 2 of kernel 'gemm' has 4 bytes, but the problem's argument has 8"));
  launch.arguments.pop_back();
  EXPECT_THAT(failure_of_check().message, HasSubstr("3 parameters, but the problem gives 2"));
  EXPECT_EQ(failure_of_check().outcome, Outcome::launch);
}

TEST_F(CudaDeviceTest, fails_to_load_what_is_no_binary_or_has_no_such_kernel) {
  binary.entry = "_Z5otherPf";
  auto loaded = device->load(binary);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().outcome, Outcome::compile);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("_Z5otherPf"), HasSubstr("CUDA_ERROR_NOT_FOUND")));
  binary.binary.clear();
  EXPECT_EQ(device->load(binary).error().outcome, Outcome::compile);
  binary.binary = {1};
  fake.failures["cuModuleLoadData"] = CudaResult::no_binary_for_gpu;
  EXPECT_EQ(device->load(binary).error().outcome, Outcome::compile);
  fake.failures["cuModuleLoadData"] = CudaResult::out_of_memory;
  EXPECT_EQ(device->load(binary).error().outcome, Outcome::resources);
}

TEST_F(CudaDeviceTest, writes_symbols_by_their_source_names) {
  fake.globals["_ZN2ns7weightsE"].resize(8);
  binary.symbols = {{"ns::weights", "_ZN2ns7weightsE"}};
  open_kernel();
  EXPECT_TRUE(device->constant_arguments_are_symbols());
  EXPECT_FALSE(device->write_symbol(*kernel, "ns::weights", bytes_of(std::uint64_t{42})));
  EXPECT_EQ(fake.globals["_ZN2ns7weightsE"][0], 42);
  // Data for the largest variant: the smaller symbol takes what it holds.
  std::vector<std::byte> longer(100, std::byte{9});
  EXPECT_FALSE(device->write_symbol(*kernel, "ns::weights", longer));
  EXPECT_EQ(fake.globals["_ZN2ns7weightsE"][7], 9);
  const auto missing = device->write_symbol(*kernel, "none", longer);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->outcome, Outcome::launch);
  EXPECT_THAT(missing->message, HasSubstr("'none'"));
}

TEST_F(CudaDeviceTest, poisoned_by_a_kernel_fails_everything_with_the_same_message) {
  open_kernel();
  fake.failures["cuStreamSynchronize"] = CudaResult::illegal_address;
  const auto failure = device->run(launch);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::crash);
  EXPECT_THAT(failure->message,
              AllOf(HasSubstr("running kernel 'gemm'"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (in words)")));
  fake.failures.clear();
  EXPECT_EQ(device->run(launch)->message, failure->message);
  EXPECT_EQ(device->check(launch)->message, failure->message);
  EXPECT_EQ(device->load(binary).error().message, failure->message);
  EXPECT_EQ(device->batch(launch, 2, {}).error().message, failure->message);
  EXPECT_EQ(device->write_symbol(*kernel, "x", {})->message, failure->message);
}

TEST_F(CudaDeviceTest, tells_a_lost_device_from_a_crash_and_a_refused_launch) {
  open_kernel();
  fake.failures["cuLaunchKernel"] = CudaResult::launch_out_of_resources;
  EXPECT_EQ(device->run(launch)->outcome, Outcome::resources);
  fake.failures["cuLaunchKernel"] = CudaResult::invalid_value;
  EXPECT_EQ(device->run(launch)->outcome, Outcome::launch);
  fake.failures["cuLaunchKernel"] = CudaResult::device_unavailable;
  EXPECT_EQ(device->run(launch)->outcome, Outcome::lost_device);
}

TEST_F(CudaDeviceTest, destroys_everything_in_any_order_even_when_poisoned) {
  open_kernel();
  auto batch = device->batch(launch, 3, {});
  ASSERT_TRUE(batch);
  EXPECT_FALSE((*batch)->enqueue());
  fake.sticky = CudaResult::illegal_address;
  device.reset();
  kernel.reset();
  batch->reset();
  buffer.reset();
}

TEST_F(CudaDeviceTest, replays_a_batch_as_one_graph) {
  open_kernel();
  auto batch = device->batch(launch, 4, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ((*batch)->launches(), 4U);
  EXPECT_EQ((*batch)->outstanding(), 0U);
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_EQ((*batch)->outstanding(), 2U);
  EXPECT_EQ(fake.graph_launches, 2);
  EXPECT_EQ(fake.launches.size(), 8U);
  EXPECT_NEAR((*batch)->wait().value(), 0.004, 1e-8);
  EXPECT_EQ((*batch)->outstanding(), 1U);
  EXPECT_NEAR((*batch)->poll().value().value(), 0.004, 1e-8);
  EXPECT_EQ((*batch)->outstanding(), 0U);
  EXPECT_FALSE((*batch)->poll().value());
}

TEST_F(CudaDeviceTest, replays_steps_in_order) {
  open_kernel();
  Launch second = launch;
  second.shape.grid = {7, 1, 1};
  auto batch = device->make_batch({launch, ResetCopy{buffer.get(), nullptr, 0, 4}, second}, 2);
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_EQ((*batch)->launches(), 2U);
  ASSERT_EQ(fake.launches.size(), 4U);
  EXPECT_EQ(fake.launches[0].grid[0], launch.shape.grid[0]);
  EXPECT_EQ(fake.launches[1].grid[0], 7U);
  EXPECT_EQ(fake.launches[3].grid[0], 7U);
}

TEST_F(CudaDeviceTest, tells_the_occupancy_of_a_launch) {
  open_kernel();
  launch.shape.block = {512, 1, 1};
  launch.shared_bytes = 0;
  EXPECT_EQ(device->occupancy(launch), 1.0);
  launch.shared_bytes = 100000;  // two blocks a multiprocessor
  EXPECT_EQ(device->occupancy(launch), 0.5);
  fake.failures["cuOccupancyMaxActiveBlocksPerMultiprocessor"] = CudaResult::invalid_value;
  EXPECT_FALSE(device->occupancy(launch));
}

TEST_F(CudaDeviceTest, gives_nothing_for_a_replay_that_still_runs) {
  open_kernel();
  auto batch = device->batch(launch, 4, {});
  ASSERT_TRUE(batch);
  fake.queries_until_ready = 2;
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_FALSE((*batch)->poll().value());
  EXPECT_FALSE((*batch)->poll().value());
  EXPECT_TRUE((*batch)->poll().value());
}

TEST_F(CudaDeviceTest, makes_few_events_however_many_replays) {
  open_kernel();
  auto batch = device->batch(launch, 1, {});
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE((*batch)->enqueue());
    EXPECT_FALSE((*batch)->enqueue());
    EXPECT_TRUE((*batch)->wait());
    EXPECT_TRUE((*batch)->wait());
  }
  EXPECT_EQ(fake.count("cuEventCreate"), 4);
}

TEST_F(CudaDeviceTest, resets_before_each_launch_of_a_batch) {
  open_kernel();
  const auto pristine = device->allocate(1024);
  device->fill(*pristine, 0, 1024, std::byte{3});
  device->fill(*buffer, 0, 1024, std::byte{1});
  auto batch = device->batch(launch, 2, {{buffer.get(), pristine.get(), 256, 512}, {buffer.get(), nullptr, 0, 4}});
  ASSERT_TRUE(batch);
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_TRUE((*batch)->wait());
  const auto data = read_all(*device, *buffer);
  EXPECT_EQ(data[0], std::byte{0});
  EXPECT_EQ(data[4], std::byte{1});
  EXPECT_EQ(data[255], std::byte{1});
  EXPECT_EQ(data[256], std::byte{3});
  EXPECT_EQ(data[767], std::byte{3});
  EXPECT_EQ(data[768], std::byte{1});
  EXPECT_EQ(fake.launches.size(), 2U);
}

TEST_F(CudaDeviceTest, replays_resets_alone_where_there_is_no_kernel) {
  open_kernel();
  launch.kernel = nullptr;
  launch.arguments.clear();
  auto batch = device->batch(launch, 3, {{buffer.get(), nullptr, 0, 1024}});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_TRUE((*batch)->wait());
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_EQ(read_all(*device, *buffer)[1023], std::byte{0});
}

TEST_F(CudaDeviceTest, queues_launches_one_by_one_where_they_cannot_be_captured) {
  open_kernel();
  fake.failures["cuStreamEndCapture"] = static_cast<CudaResult>(901);
  auto batch = device->batch(launch, 3, {});
  ASSERT_TRUE(batch) << batch.error().message;
  fake.failures.clear();
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_EQ(fake.graph_launches, 0);
  EXPECT_EQ(fake.launches.size(), 3U);
}

TEST_F(CudaDeviceTest, reports_a_crash_from_the_replay_in_which_it_shows) {
  open_kernel();
  auto batch = device->batch(launch, 3, {});
  ASSERT_TRUE(batch);
  EXPECT_FALSE((*batch)->enqueue());
  fake.failures["cuEventQuery"] = CudaResult::illegal_address;
  const auto polled = (*batch)->poll();
  ASSERT_FALSE(polled);
  EXPECT_EQ(polled.error().outcome, Outcome::crash);
  EXPECT_EQ((*batch)->enqueue()->outcome, Outcome::crash);
  EXPECT_EQ((*batch)->wait().error().outcome, Outcome::crash);
}

TEST_F(CudaDeviceTest, launches_old_kernels_whose_parameters_the_driver_does_not_tell) {
  open_kernel();
  launch.arguments[1] = ScalarArgument{bytes_of(std::uint16_t{7})};
  fake.failures["cuFuncGetParamInfo"] = CudaResult::not_supported;
  auto loaded = device->load(binary);
  ASSERT_TRUE(loaded);
  launch.kernel = loaded->get();
  // Four bytes are read for two given: the rest must be zeros, and inside the argument's memory.
  ASSERT_FALSE(device->run(launch));
  EXPECT_THAT(fake.launches[0].arguments[1], ElementsAre(7, 0, 0, 0));
}

}  // namespace
}  // namespace wattune
