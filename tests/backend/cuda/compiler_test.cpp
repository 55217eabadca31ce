// The compilers that are installed on this machine; no GPU is needed. Skipped where there is no CUDA toolkit.

#include <gmock/gmock.h>

#include <fstream>

#include "../../temporary_folder.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "driver/nvrtc.hpp"
#include "driver/toolkit.hpp"
#include "fake.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::filesystem::path problems = std::filesystem::path(WATTUNE_SOURCE_DIR) / "tests/device/problems";

DeviceInfo hopper() {
  DeviceInfo info;
  info.id = "cuda:0";
  info.architecture = "sm_90";
  info.driver = "580.159.04, CUDA 13.0";
  return info;
}

bool has_nvrtc() {
  try {
    return find_nvrtc({}, 90, 13000) != nullptr;
  } catch (const DeviceError&) {
    return false;
  }
}

/// Every test here runs with both compilers, for a kernel is to behave the same whichever made it.
class InstalledCompiler : public testing::TestWithParam<CudaCompilerChoice> {
 protected:
  void SetUp() override {
    if (GetParam() == CudaCompilerChoice::nvcc && find_nvcc().empty()) GTEST_SKIP() << "no nvcc on this machine";
    if (GetParam() == CudaCompilerChoice::nvrtc && !has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
    options_.compiler = GetParam();
    compiler_ = make_cuda_compiler(hopper(), options_);
  }
  tl::expected<CompileResult, Failure> compile(const std::string& source, const std::string& kernel) {
    request_.source = source;
    request_.kernel_name = kernel;
    if (request_.file.empty()) request_.file = "/no/such/folder/kernel.cu";
    return compiler_->compile(request_);
  }

  CudaBackendOptions options_;
  std::unique_ptr<Compiler> compiler_;
  CompileRequest request_;
};

INSTANTIATE_TEST_SUITE_P(Cuda, InstalledCompiler, testing::Values(CudaCompilerChoice::nvrtc, CudaCompilerChoice::nvcc),
                         [](const auto& info) { return info.param == CudaCompilerChoice::nvrtc ? "nvrtc" : "nvcc"; });

constexpr const char* several_kernels = R"(
namespace ns {
template <int N, typename T> __global__ void scale(T* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] *= N;
}
template <int N> struct Size { static constexpr int value = N; };
__global__ void inner(float* data) { data[0] = 1; }
__constant__ float coefficients[16];
}
using Real = float;
__constant__ int offsets[4];
static __constant__ int hidden[4];
__device__ float history[8];
__global__ void plain(float* data) {
  data[threadIdx.x] = ns::coefficients[threadIdx.x % 16] + offsets[1] + hidden[2] + history[3];
}
extern "C" __global__ void c_plain(float* data) { data[0] = 2; }
)";

TEST_P(InstalledCompiler, makes_a_cubin_for_the_device) {
  const auto result = compile(several_kernels, "plain");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_GT(result->binary.size(), 64U);
  EXPECT_EQ(std::string(result->binary.begin() + 1, result->binary.begin() + 4), "ELF");
  EXPECT_THAT(result->compiler, StartsWith(GetParam() == CudaCompilerChoice::nvrtc ? "nvrtc " : "nvcc "));
  EXPECT_GT(result->seconds, 0);
  EXPECT_EQ(result->log, "");
}

TEST_P(InstalledCompiler, finds_kernels_with_and_without_extern_c) {
  EXPECT_EQ(compile(several_kernels, "plain")->entry, "_Z5plainPf");
  EXPECT_EQ(compile(several_kernels, "c_plain")->entry, "c_plain");
  EXPECT_EQ(compile(several_kernels, "ns::inner")->entry, "_ZN2ns5innerEPf");
}

TEST_P(InstalledCompiler, instantiates_templates_however_their_arguments_are_written) {
  for (const char* name : {"ns::scale<8, float>", "ns::scale<8,float>", "ns::scale< 2 * 4, Real >",
                           "ns::scale<ns::Size<8>::value, Real>"}) {
    const auto result = compile(several_kernels, name);
    ASSERT_TRUE(result) << name << ": " << result.error().message;
    EXPECT_EQ(result->entry, "_ZN2ns5scaleILi8EfEEvPT0_i") << name;
  }
}

TEST_P(InstalledCompiler, gives_constants_by_the_names_in_the_source) {
  const auto result = compile(several_kernels, "plain");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->symbols.at("ns::coefficients"), HasSubstr("coefficients"));
  EXPECT_THAT(result->symbols.at("coefficients"), HasSubstr("coefficients"));
  EXPECT_EQ(result->symbols.at("offsets"), "offsets");
  EXPECT_THAT(result->symbols.at("hidden"), HasSubstr("hidden"));
  EXPECT_EQ(result->symbols.at("history"), "history");
}

TEST_P(InstalledCompiler, passes_defines_whatever_characters_they_hold) {
  request_.defines = {
      {"COUNT", "3"}, {"TYPE", "unsigned int"}, {"TEXT", "\"a b's $HOME\""}, {"CALL", "(1 + 2)"}, {"EMPTY", ""}};
  const auto result = compile(
      "__global__ void k(TYPE* p) { EMPTY p[0] = COUNT * CALL + sizeof(TEXT); "
      "static_assert(sizeof(TEXT) == 12, TEXT); static_assert(CALL * COUNT == 9, \"\"); }",
      "k");
  EXPECT_TRUE(result) << result.error().message;
}

TEST_P(InstalledCompiler, tells_errors_at_the_lines_of_the_users_file) {
  request_.defines = {{"A", "1"}, {"B", "2"}};
  request_.file = "/my kernels/bad.cu";
  const auto result = compile("__global__ void k(int* p) {\n  p[0] = 1;\n  p[1] = no_such_thing;\n}\n", "k");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::compile);
  EXPECT_THAT(result.error().message, HasSubstr("/my kernels/bad.cu(3)"));
  EXPECT_THAT(result.error().message, HasSubstr("no_such_thing"));
}

TEST_P(InstalledCompiler, keeps_warnings) {
  const auto result = compile("__global__ void k(int* p) { int unused_here = 1; p[0] = 1; }", "k");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->log, HasSubstr("unused_here"));
}

TEST_P(InstalledCompiler, fails_where_the_kernel_is_not_in_the_source) {
  const auto result = compile(several_kernels, "no_such_kernel");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::compile);
  EXPECT_THAT(result.error().message, HasSubstr("no_such_kernel"));
}

TEST_P(InstalledCompiler, fails_for_resources_where_shared_memory_is_too_large) {
  const auto result = compile(
      "__global__ void k(int* p) { __shared__ int s[20000]; s[threadIdx.x] = p[0]; "
      "__syncthreads(); p[1] = s[p[2]]; }",
      "k");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::resources);
}

TEST_P(InstalledCompiler, finds_the_toolkits_headers_and_those_beside_the_source) {
  const TemporaryFolder temporary;
  const auto folder = temporary.path() / "own headers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "own.h") << "#define OWN 5\n";
  request_.file = (folder / "kernel.cu").string();
  const auto result = compile(
      "#include <cuda_fp16.h>\n#include <mma.h>\n#include <cuda/std/cstdint>\n#include \"own.h\"\n"
      "__global__ void k(half* p, cuda::std::int64_t n) { p[n] = __float2half(OWN); }",
      "k");
  EXPECT_TRUE(result) << result.error().message;
}

TEST_P(InstalledCompiler, knows_what_device_code_takes_from_the_standard_headers) {
  const auto result = compile(R"(
#include <cstdint>
#include <stdint.h>
#include <cstddef>
#include <cmath>
#include <math.h>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <climits>
#include <cfloat>
#include <cassert>
#include <ctime>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
static_assert(sizeof(std::int64_t) == 8 && sizeof(std::uint16_t) == 2 && sizeof(uintptr_t) == 8, "");
static_assert(UINT32_MAX == 0xffffffffU && INT_MAX == 2147483647 && LLONG_MAX == INT64_MAX && CHAR_BIT == 8, "");
static_assert(cuda::std::is_same<decltype(std::fma(1.0f, 1.0f, 1.0f)), float>::value, "");
static_assert(cuda::std::is_same<decltype(std::sqrt(1.0f)), float>::value, "");
static_assert(cuda::std::is_same<std::size_t, size_t>::value && cuda::std::is_same<std::nullptr_t, decltype(nullptr)>::value, "");
static_assert(cuda::std::is_same<cuda::std::int64_t, std::int64_t>::value, "");
__global__ void k(float* p, std::size_t n) {
  assert(n < SIZE_MAX);
  if (std::isnan(p[n])) printf("nan\\n");
  p[n] = std::sqrt(std::fabs(p[0])) + std::exp(p[1]) * M_PI + std::fmax(p[2], FLT_MAX) + NAN + INFINITY;
  std::memcpy(p, p + 1, sizeof(float));
})",
                              "k");
  EXPECT_TRUE(result) << result.error().message;
}

TEST_P(InstalledCompiler, takes_the_options_of_ordinary_cuda_projects) {
  request_.options = {"-O3",
                      "-std=c++17",
                      "--use_fast_math",
                      "-Xcompiler",
                      "-fopenmp",
                      "-lineinfo",
                      "-maxrregcount=32",
                      "-Xptxas -v,-warn-spills",
                      "-I",
                      "/tmp",
                      "-DFROM_OPTION=7",
                      "--expt-relaxed-constexpr",
                      "-gencode=arch=compute_90a,code=sm_90a",
                      "-Wno-deprecated-gpu-targets",
                      "-w"};
  const auto result = compile("__global__ void k(float* p) { p[0] = FROM_OPTION * __sinf(p[1]); }", "k");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->resources.at("registers"), 0);
  EXPECT_LE(result->resources.at("registers"), 32);
  EXPECT_EQ(result->resources.at("spill_bytes"), 0);
}

TEST_P(InstalledCompiler, compiles_instructions_of_the_architecture_that_the_options_ask_for) {
  request_.options = {"-arch=sm_90a"};
  const auto result =
      compile("__global__ void k(float* p) { asm volatile(\"wgmma.fence.sync.aligned;\"); p[0] = 1; }", "k");
  EXPECT_TRUE(result) << result.error().message;
}

TEST_P(InstalledCompiler, compiles_for_the_device_where_the_options_ask_for_another) {
  request_.options = {"-arch=sm_75"};
  const auto result = compile(
      "__global__ void k(float* p) { p[0] = __CUDA_ARCH__; "
      "static_assert(__CUDA_ARCH__ == 900, \"\"); }",
      "k");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->log, HasSubstr("sm_75, which this device does not run: compiled for sm_90"));
}

TEST_P(InstalledCompiler, reports_spills_where_asked_to) {
  request_.options = {"-Xptxas=-v", "-maxrregcount=24"};
  const auto result = compile(R"(
__global__ void k(float* p) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[i * 32 + threadIdx.x];
  for (int round = 0; round < 100; ++round) {
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i * 7 + 1) % 64] + 1;
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) p[i * 32 + threadIdx.x] = v[i];
})",
                              "k");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->resources.at("spill_bytes"), 0);
}

class AutomaticCompiler : public testing::Test {
 protected:
  void SetUp() override {
    if (find_nvcc().empty() || !has_nvrtc()) GTEST_SKIP() << "NVRTC and nvcc are not both on this machine";
    CudaBackendOptions options;
    options.compiler = CudaCompilerChoice::automatic;
    compiler_ = make_cuda_compiler(hopper(), options);
  }
  CompileRequest request(const std::string& problem, const std::string& file, const std::string& kernel) {
    CompileRequest request;
    request.file = (problems / problem / file).string();
    request.source = read_file(request.file, "kernel");
    request.kernel_name = kernel;
    return request;
  }
  std::unique_ptr<Compiler> compiler_;
};

TEST_F(AutomaticCompiler, takes_nvrtc_for_device_code) {
  for (const auto& r :
       {request("templated", "scale.cu", "physics::scale<float, 4>"),
        request("large_shared_memory", "reverse.cu", "reverse"), request("constant_symbol", "weigh.cu", "weigh")}) {
    const auto result = compiler_->compile(r);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->compiler, StartsWith("nvrtc"));
  }
}

TEST_F(AutomaticCompiler, takes_nvcc_for_whole_programs_and_says_so) {
  auto r = request("host_code", "axpy.cu", "axpy");
  const auto first = compiler_->compile(r);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->compiler, StartsWith("nvcc"));
  EXPECT_THAT(first->log, StartsWith("wattune: compiled with nvcc, for NVRTC could not: "));
  // The next variant takes the short way, without a word about NVRTC.
  r.defines = {{"ITEMS", "2"}};
  const auto second = compiler_->compile(r);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_THAT(second->compiler, StartsWith("nvcc"));
  EXPECT_THAT(second->log, Not(HasSubstr("NVRTC")));
}

TEST_F(AutomaticCompiler, gives_the_log_of_nvcc_where_both_fail) {
  auto r = request("host_code", "axpy.cu", "axpy");
  r.defines = {{"ITEMS", "no_such_thing"}};
  const auto result = compiler_->compile(r);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::compile);
  EXPECT_THAT(result.error().message, HasSubstr("no_such_thing"));
  EXPECT_THAT(result.error().message, HasSubstr("nvcc's log; NVRTC failed too"));
}

}  // namespace
}  // namespace wattune
