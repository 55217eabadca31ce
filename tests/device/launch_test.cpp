#include <gtest/gtest.h>

#include <cmath>

#include "on_gpu.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

class FmaChain : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    kernel = load(compile(fma_source, "chain"));
    blocks = 2 * device->info().compute_units;
    out = device->allocate(sizeof(float) * blocks * 1024);
  }
  Launch launch(int rounds) {
    Launch result;
    result.kernel = kernel.get();
    result.shape = {{blocks, 1, 1}, {1024, 1, 1}};
    result.arguments = {whole(*out), scalar(rounds)};
    return result;
  }
  /// Device seconds of the fastest of some replays.
  double seconds(int rounds, unsigned launches) {
    auto batch = device->batch(launch(rounds), launches, {});
    if (!batch) throw std::runtime_error(batch.error().message);
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
      if (auto failure = (*batch)->enqueue()) throw std::runtime_error(failure->message);
      best = std::min(best, (*batch)->wait().value());
    }
    return best;
  }
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Buffer> out;
  std::uint64_t blocks = 1;
};

TEST_F(FmaChain, time_grows_with_the_work) {
  seconds(20000, 1);
  const double ratio = seconds(40000, 1) / seconds(20000, 1);
  EXPECT_NEAR(ratio, 2, 0.1);
}

TEST_F(FmaChain, time_of_a_batch_is_that_of_its_launches) {
  seconds(20000, 1);
  const double one = seconds(20000, 1);
  const double ten = seconds(20000, 10);
  std::cout << "one launch " << one * 1e6 << " us, ten in a graph " << ten * 1e6 << " us\n";
  EXPECT_NEAR(ten / one, 10, 0.5);
}

TEST_F(FmaChain, computes_what_the_host_computes) {
  ASSERT_FALSE(device->run(launch(100)));
  std::vector<float> result(1024);
  device->read(*out, 0, std::as_writable_bytes(std::span(result)));
  float sum = 0;
  for (int chain = 0; chain < 4; ++chain) {
    float value = 5 * 1e-3F + static_cast<float>(chain);
    for (int i = 0; i < 100; ++i) value = std::fmaf(value, 0.999F, 0.001F * static_cast<float>(chain + 1));
    sum += value;
  }
  EXPECT_NEAR(result[5], sum, 1e-4);
}

TEST_F(FmaChain, replays_are_outstanding_until_they_are_taken) {
  auto batch = device->batch(launch(200000), 20, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_FALSE((*batch)->enqueue());
  EXPECT_EQ((*batch)->outstanding(), 2U);
  EXPECT_FALSE((*batch)->poll().value());  // just queued, and long
  EXPECT_GT((*batch)->wait().value(), 0);
  EXPECT_EQ((*batch)->outstanding(), 1U);
  while (!(*batch)->poll().value()) {
  }
  EXPECT_EQ((*batch)->outstanding(), 0U);
}

TEST_F(FmaChain, resets_happen_before_each_launch) {
  const auto counting = load(compile("extern \"C\" __global__ void count(int* n) { atomicAdd(n, 1); }", "count"));
  const auto n = device->allocate(sizeof(int));
  Launch count;
  count.kernel = counting.get();
  count.shape = {{1, 1, 1}, {32, 1, 1}};
  count.arguments = {whole(*n)};
  auto value = [&] {
    int result = 0;
    device->read(*n, 0, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  };
  device->fill(*n, 0, sizeof(int), std::byte{0});
  auto kept = device->batch(count, 10, {});
  ASSERT_TRUE(kept);
  ASSERT_FALSE((*kept)->enqueue());
  ASSERT_TRUE((*kept)->wait());
  EXPECT_EQ(value(), 320);
  auto reset = device->batch(count, 10, {{n.get(), nullptr, 0, sizeof(int)}});
  ASSERT_TRUE(reset);
  ASSERT_FALSE((*reset)->enqueue());
  ASSERT_TRUE((*reset)->wait());
  EXPECT_EQ(value(), 32);
}

TEST_F(FmaChain, too_large_launches_are_found_without_launching) {
  Launch big = launch(1);
  big.shape.block = {1024, 2, 1};
  EXPECT_EQ(device->check(big)->outcome, Outcome::resources);
  big = launch(1);
  big.shared_bytes = device->info().local_memory + 1;
  EXPECT_EQ(device->check(big)->outcome, Outcome::resources);
  big.shared_bytes = device->info().local_memory;
  EXPECT_FALSE(device->check(big));
  EXPECT_FALSE(device->run(big)) << "all the shared memory that the device says it has";
  Launch wrong = launch(1);
  wrong.arguments = {whole(*out), scalar(1.0)};
  EXPECT_EQ(device->check(wrong)->outcome, Outcome::launch);
}

TEST_F(FmaChain, register_limits_are_known) {
  const auto heavy =
      load(compile("extern \"C\" __global__ void __launch_bounds__(128) k(float* p) { p[threadIdx.x] = 1; }", "k"));
  EXPECT_EQ(heavy->resources().at("max_work_group"), 128);
  Launch big = launch(1);
  big.kernel = heavy.get();
  big.arguments = {whole(*out)};
  big.shape.block = {256, 1, 1};
  EXPECT_EQ(device->check(big)->outcome, Outcome::resources);
}

/// Runs a kernel that breaks its context, in a process of its own, and exits with 0 where all is told as it should be.
[[noreturn]] void break_context(const char* source, const char* error_name) {
  try {
    const auto backend = make_cuda_backend();
    const auto device = backend->open(tested_device());
    CompileRequest request;
    request.source = source;
    request.kernel_name = "k";
    const auto binary = backend->compiler(tested_device())->compile(request);
    const auto kernel = device->load(binary.value());
    Launch launch;
    launch.kernel = kernel.value().get();
    launch.arguments = {scalar(0x10ULL)};
    const auto failure = device->run(launch);
    const bool told =
        failure && failure->outcome == Outcome::crash && failure->message.find(error_name) != std::string::npos;
    if (!told) std::fprintf(stderr, "told: %s\n", failure ? failure->message.c_str() : "nothing");
    const auto later = device->run(launch);
    std::_Exit(told && later && later->outcome == Outcome::crash ? 0 : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(2);
  }
}

class BrokenContext : public OnGpu {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    OnGpu::SetUp();
  }
};

TEST_F(BrokenContext, by_an_illegal_address_is_a_crash) {
  EXPECT_EXIT(break_context("extern \"C\" __global__ void k(int* p) { *p = 1; }", "CUDA_ERROR_ILLEGAL_ADDRESS"),
              testing::ExitedWithCode(0), "");
}

TEST_F(BrokenContext, by_a_misaligned_address_is_a_crash) {
  EXPECT_EXIT(break_context("extern \"C\" __global__ void k(char* p) { __shared__ long long s[4]; p = (char*)s + 1; "
                            "*(volatile long long*)p = 1; }",
                            "CUDA_ERROR_MISALIGNED_ADDRESS"),
              testing::ExitedWithCode(0), "");
}

TEST_F(BrokenContext, by_a_trap_is_a_crash) {
  EXPECT_EXIT(break_context("extern \"C\" __global__ void k(int* p) { __trap(); }", "CUDA_ERROR_"),
              testing::ExitedWithCode(0), "");
}

TEST_F(OnGpu, out_of_memory_is_an_error_and_not_the_end) {
  EXPECT_THROW(device->allocate(std::size_t{1} << 50), DeviceError);
  EXPECT_EQ(device->allocate(1 << 20)->bytes(), 1U << 20);
}

TEST_F(OnGpu, binaries_for_another_device_are_refused) {
  DeviceInfo other = device->info();
  other.architecture = other.architecture == "sm_80" ? "sm_90" : "sm_80";
  CompileRequest request;
  request.source = "extern \"C\" __global__ void k(int* p) { *p = 1; }";
  request.kernel_name = "k";
  const auto binary = make_cuda_compiler(other)->compile(request);
  if (!binary) GTEST_SKIP() << binary.error().message;
  const auto kernel = device->load(*binary);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().outcome, Outcome::compile);
}

}  // namespace
}  // namespace wattune
