#include "backend/opencl/opencl_device.hpp"

#include <gmock/gmock.h>

#include "backend/opencl/opencl_devices.hpp"
#include "opencl_fixture.hpp"

// Read by the leak sanitizer: PoCL and LLVM keep what they allocate until the process ends.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang\n";
}  // NOLINT

namespace wattune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* add_source = R"(
kernel void add(global const float* a, global const float* b, global float* c, int n) {
  size_t i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
})";

TEST_F(OpenCl, DevicesAreNumberedFromZeroAndDescribed) {
  const auto devices = backend->devices();
  ASSERT_FALSE(devices.empty());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].id, "opencl:" + std::to_string(i));
    EXPECT_EQ(devices[i].backend, "opencl");
    EXPECT_FALSE(devices[i].name.empty());
    EXPECT_FALSE(devices[i].platform.empty());
    EXPECT_FALSE(devices[i].driver.empty());
    EXPECT_GT(devices[i].global_memory, 0u);
    EXPECT_GT(devices[i].max_work_group, 0u);
    EXPECT_GT(devices[i].max_block[0], 0u);
    EXPECT_FALSE(devices[i].board().empty());
  }
}

TEST_F(OpenCl, AnUnknownDeviceIsAnsweredWithThoseThereAre) {
  try {
    backend->open("opencl:99");
    FAIL() << "opened a device that does not exist";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no OpenCL device opencl:99; there are: opencl:0 ("));
  }
}

TEST(OpenClLoader, AMissingLoaderSaysWhatToInstall) {
  try {
    make_opencl_backend("libNoSuchOpenCL.so.1")->devices();
    FAIL() << "found devices without a loader";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), ExitCode::device);
    EXPECT_THAT(error.what(), HasSubstr("libNoSuchOpenCL.so.1 cannot be opened"));
    EXPECT_THAT(error.what(), HasSubstr("install ocl-icd-libopencl1"));
    EXPECT_THAT(error.what(), HasSubstr("pocl-opencl-icd"));
  }
}

TEST(OpenClLoaderDeathTest, ALoaderWithoutPlatformSaysWhatToInstall) {
  // The loader reads its variables once per process, hence another process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("OCL_ICD_VENDORS", "/nonexistent/", 1);
        ::setenv("OPENCL_VENDOR_PATH", "/nonexistent/", 1);
        try {
          make_opencl_backend()->devices();
        } catch (const DeviceError& error) {
          std::fputs(error.what(), stderr);
          std::_Exit(3);
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(3), "pocl-opencl-icd");
}

TEST(OpenClIdentity, AnNvidiaUuidReadsAsNvmlWritesIt) {
  const unsigned char bytes[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                   0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
  EXPECT_EQ(opencl::nvidia_uuid(bytes), "GPU-01234567-89ab-cdef-fedc-ba9876543210");
}

TEST_F(OpenCl, AKernelWritesItsBuffers) {
  const auto add = kernel(add_source, "add");
  const auto a = buffer<float>({1, 2, 3, 4});
  const auto b = buffer<float>({10, 20, 30, 40});
  const auto c = buffer<float>({0, 0, 0, 0});
  const auto failed = device->run(launch(*add, 2, 2, {whole(*a), whole(*b), whole(*c), scalar<cl_int>(3)}));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_THAT(content<float>(*c), ElementsAre(11, 22, 33, 0));
}

TEST_F(OpenCl, AnArgumentMayBeginInsideABuffer) {
  const auto negate =
      kernel("kernel void negate(global int* x) { x[get_global_id(0)] = -x[get_global_id(0)]; }", "negate");
  const std::size_t offset = device->buffer_alignment() / sizeof(int);
  const auto x = buffer<int>(std::vector<int>(2 * offset, 7));
  const BufferArgument inner{x.get(), offset * sizeof(int), offset * sizeof(int)};
  const auto failed = device->run(launch(*negate, 1, 4, {inner}));
  ASSERT_FALSE(failed) << failed->message;
  const auto result = content<int>(*x);
  EXPECT_EQ(std::vector<int>(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(offset)),
            std::vector<int>(offset, 7));
  EXPECT_EQ(result[offset], -7);
  EXPECT_EQ(result[offset + 3], -7);
  EXPECT_EQ(result[offset + 4], 7);
}

TEST_F(OpenCl, ScalarsOfEachSizeArrive) {
  const auto store = kernel(R"(
kernel void store(global long* x, char a, ushort b, int c, ulong d, float e, double f, float4 g) {
  x[0] = a; x[1] = b; x[2] = c; x[3] = (long)d; x[4] = (long)e; x[5] = (long)f; x[6] = (long)g.w;
})",
                            "store");
  const auto x = buffer<std::int64_t>(std::vector<std::int64_t>(7));
  const auto failed =
      device->run(launch(*store, 1, 1,
                         {whole(*x), scalar<std::int8_t>(-1), scalar<std::uint16_t>(60000),
                          scalar<std::int32_t>(-70000), scalar<std::uint64_t>(1ULL << 40), scalar<float>(5.5F),
                          scalar<double>(1e10), scalar<std::array<float, 4>>({1, 2, 3, 4})}));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_THAT(content<std::int64_t>(*x), ElementsAre(-1, 60000, -70000, 1LL << 40, 5, 10000000000LL, 4));
}

TEST_F(OpenCl, LocalMemoryIsGivenByTheLaunch) {
  const auto reverse = kernel(R"(
kernel void reverse(global int* x, local int* t) {
  int i = get_local_id(0);
  t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[get_local_size(0) - 1 - i];
})",
                              "reverse");
  const auto x = buffer<int>({1, 2, 3, 4});
  const auto failed = device->run(launch(*reverse, 1, 4, {whole(*x), LocalArgument{4 * sizeof(int)}}));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_THAT(content<int>(*x), ElementsAre(4, 3, 2, 1));
}

TEST_F(OpenCl, BuffersAreFilledAndCopied) {
  const auto x = buffer<std::uint8_t>(std::vector<std::uint8_t>(8, 1));
  const auto y = buffer<std::uint8_t>({1, 2, 3, 4, 5, 6, 7, 8});
  device->fill(*x, 2, 3, std::byte{9});
  device->copy(*x, 6, *y, 0, 2);
  EXPECT_THAT(content<std::uint8_t>(*x), ElementsAre(1, 1, 9, 9, 9, 1, 1, 2));
}

TEST_F(OpenCl, MemoryThatIsNotThereIsADeviceError) {
  try {
    device->allocate(std::size_t{1} << 60);
    FAIL() << "allocated an exbibyte";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot allocate 1152921504606846976 bytes on opencl:0"));
    EXPECT_THAT(error.what(), HasSubstr("use a smaller problem size"));
  }
}

TEST_F(OpenCl, LaunchesThatDoNotFitAreRefusedBeforeTheyRun) {
  const auto touch = kernel("kernel void touch(global int* x, local int* t) { t[0] = 1; x[0] = t[0]; }", "touch");
  const auto x = buffer<int>({0});
  const auto& info = device->info();
  const auto expect = [&](const Launch& launch, Outcome outcome, const std::string& text) {
    for (const auto& failed : {device->check(launch), device->run(launch)}) {
      ASSERT_TRUE(failed);
      EXPECT_EQ(failed->outcome, outcome) << failed->message;
      EXPECT_THAT(failed->message, HasSubstr(text));
    }
  };
  expect(launch(*touch, 1, info.max_block[0] + 1, {whole(*x), LocalArgument{4}}), Outcome::resources, "in dimension 0");
  Launch wide = launch(*touch, 1, info.max_work_group, {whole(*x), LocalArgument{4}});
  wide.shape.block[1] = 2;
  expect(wide, Outcome::resources, "the device allows " + std::to_string(info.max_work_group));
  expect(launch(*touch, 1, 1, {whole(*x), LocalArgument{info.local_memory + 1}}), Outcome::resources,
         "bytes of local memory");
  expect(launch(*touch, 0, 1, {whole(*x), LocalArgument{4}}), Outcome::launch, "zero");
  expect(launch(*touch, ~0ULL / 2, 4, {whole(*x), LocalArgument{4}}), Outcome::resources, "too many");
  EXPECT_FALSE(device->check(launch(*touch, 1, 1, {whole(*x), LocalArgument{4}})));
}

TEST_F(OpenCl, AWorkGroupOtherThanTheSourceRequiresIsRefused) {
  const auto fixed =
      kernel("kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(global int* x) { x[0] = 1; }", "fixed");
  const auto x = buffer<int>({0});
  const auto failed = device->check(launch(*fixed, 1, 4, {whole(*x)}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->outcome, Outcome::launch);
  EXPECT_THAT(failed->message, HasSubstr("requires 8x1x1"));
  EXPECT_FALSE(device->run(launch(*fixed, 1, 8, {whole(*x)})));
}

TEST_F(OpenCl, AWrongNumberOfArgumentsIsALaunchFailure) {
  const auto add = kernel(add_source, "add");
  const auto a = buffer<float>({1});
  const auto failed = device->run(launch(*add, 1, 1, {whole(*a)}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->outcome, Outcome::launch);
  EXPECT_EQ(failed->message, "kernel add takes 4 arguments and the problem gives 1");
}

TEST_F(OpenCl, AScalarOfTheWrongSizeIsALaunchFailure) {
  const auto store = kernel("kernel void store(global int* x, int v) { x[0] = v; }", "store");
  const auto x = buffer<int>({0});
  const auto failed = device->run(launch(*store, 1, 1, {whole(*x), scalar<double>(1)}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->outcome, Outcome::launch);
  EXPECT_THAT(failed->message, HasSubstr("pass a scalar of 8 bytes as argument 1 of kernel store"));
}

TEST_F(OpenCl, SymbolsAreRefused) {
  const auto store = kernel("kernel void store(global int* x) { x[0] = 1; }", "store");
  const auto failed = device->write_symbol(*store, "filter", {});
  ASSERT_TRUE(failed);
  EXPECT_THAT(failed->message, HasSubstr("argument filter of kernel store is a symbol"));
  EXPECT_FALSE(device->constant_arguments_are_symbols());
}

TEST_F(OpenCl, ABatchRunsItsLaunchesAndTimesThem) {
  const auto count = kernel("kernel void count(global int* x) { x[0] += 1; }", "count");
  const auto x = buffer<int>({0});
  auto batch = device->batch(launch(*count, 1, 1, {whole(*x)}), 5, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ((*batch)->launches(), 5u);
  ASSERT_FALSE((*batch)->enqueue());
  ASSERT_FALSE((*batch)->enqueue());
  EXPECT_EQ((*batch)->outstanding(), 2u);
  const auto first = (*batch)->wait();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(*first, 0);
  std::optional<double> second;
  while (!second) {
    const auto polled = (*batch)->poll();
    ASSERT_TRUE(polled) << polled.error().message;
    second = *polled;
  }
  EXPECT_GT(*second, 0);
  EXPECT_EQ((*batch)->outstanding(), 0u);
  EXPECT_THAT(content<int>(*x), ElementsAre(10));
}

TEST_F(OpenCl, ABatchTakesItsOwnArgumentsAfterOtherLaunchesOfItsKernel) {
  const auto count = kernel("kernel void count(global int* x) { x[0] += 1; }", "count");
  const auto x = buffer<int>({0});
  const auto y = buffer<int>({0});
  auto batch = device->batch(launch(*count, 1, 1, {whole(*x)}), 1, {});
  ASSERT_TRUE(batch);
  ASSERT_FALSE(device->run(launch(*count, 1, 1, {whole(*y)})));
  ASSERT_FALSE((*batch)->enqueue());
  ASSERT_TRUE((*batch)->wait());
  EXPECT_THAT(content<int>(*x), ElementsAre(1));
  EXPECT_THAT(content<int>(*y), ElementsAre(1));
}

TEST_F(OpenCl, ABatchRunsItsStepsInOrderWithTheirOwnArguments) {
  const auto count = kernel("kernel void count(global int* x) { x[0] = 2 * x[0] + 1; }", "count");
  const auto x = buffer<int>({5});
  const auto y = buffer<int>({5});
  const auto to_x = launch(*count, 1, 1, {whole(*x)});
  const auto to_y = launch(*count, 1, 1, {whole(*y)});
  auto batch = device->make_batch({to_x, to_y, ResetCopy{y.get(), x.get(), 0, 4}, to_y}, 2);
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_FALSE((*batch)->enqueue());
  ASSERT_TRUE((*batch)->wait());
  EXPECT_THAT(content<int>(*x), ElementsAre(23));
  EXPECT_THAT(content<int>(*y), ElementsAre(47));
}

TEST_F(OpenCl, ABatchResetsBuffersBeforeEachLaunch) {
  const auto count = kernel("kernel void count(global int* x, global int* y) { x[1] += 1; y[0] += 1; }", "count");
  const auto x = buffer<int>({1, 2, 3});
  const auto y = buffer<int>({50});
  const auto pristine = buffer<int>({10, 20, 30});
  const std::vector<ResetCopy> resets = {{x.get(), pristine.get(), 4, 4}, {y.get(), nullptr, 0, 4}};
  auto batch = device->batch(launch(*count, 1, 1, {whole(*x), whole(*y)}), 3, resets);
  ASSERT_TRUE(batch);
  ASSERT_FALSE((*batch)->enqueue());
  ASSERT_TRUE((*batch)->wait());
  EXPECT_THAT(content<int>(*x), ElementsAre(1, 21, 3));
  EXPECT_THAT(content<int>(*y), ElementsAre(1));
}

TEST_F(OpenCl, ResetsAloneAreTimedByABatchWithoutKernel) {
  const auto x = buffer<int>({1, 2, 3});
  auto batch = device->batch(Launch{}, 4, {{x.get(), nullptr, 0, 12}});
  ASSERT_TRUE(batch);
  ASSERT_FALSE((*batch)->enqueue());
  const auto seconds = (*batch)->wait();
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_GT(*seconds, 0);
  EXPECT_THAT(content<int>(*x), Each(0));
}

TEST_F(OpenCl, ABatchOfALaunchThatDoesNotFitIsRefused) {
  const auto touch = kernel("kernel void touch(global int* x) { x[0] = 1; }", "touch");
  const auto x = buffer<int>({0});
  const auto batch = device->batch(launch(*touch, 1, device->info().max_work_group + 1, {whole(*x)}), 5, {});
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().outcome, Outcome::resources);
}

TEST_F(OpenCl, KernelResourcesAreReported) {
  const auto reverse = kernel(
      "kernel void k(global int* x) { local int t[64]; t[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); x[0] = "
      "t[0]; }",
      "k");
  const auto resources = reverse->resources();
  EXPECT_GT(resources.at("max_work_group"), 0);
  EXPECT_EQ(resources.at("static_shared_bytes"), 256);
}

TEST(OpenClErrors, AnErrorMeansAnotherOutcomeOnceTheKernelRuns) {
  using opencl::outcome_of;
  using opencl::Stage;
  EXPECT_EQ(outcome_of(CL_OUT_OF_RESOURCES, Stage::enqueue), Outcome::resources);
  EXPECT_EQ(outcome_of(CL_OUT_OF_RESOURCES, Stage::execution), Outcome::crash);
  EXPECT_EQ(outcome_of(CL_INVALID_WORK_GROUP_SIZE, Stage::enqueue), Outcome::resources);
  EXPECT_EQ(outcome_of(CL_INVALID_COMMAND_QUEUE, Stage::enqueue), Outcome::crash);
  EXPECT_EQ(outcome_of(CL_INVALID_KERNEL_ARGS, Stage::enqueue), Outcome::launch);
  EXPECT_EQ(outcome_of(-9999, Stage::enqueue), Outcome::crash);
  EXPECT_EQ(outcome_of(CL_DEVICE_NOT_AVAILABLE, Stage::execution), Outcome::lost_device);
}

}  // namespace
}  // namespace wattune
