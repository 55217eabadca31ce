// The choice between the two compilers, with an NVRTC and an nvcc of the test's own, which need no toolkit.

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"
#include "driver/toolkit.hpp"
#include "elf_builder.hpp"
#include "fake.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* refusal = "kernel.cu(1): catastrophic error: cannot open source file \"cstdio\"\n";

class Automatic : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / ("wattune-automatic-" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "bin");
    const auto binary = ElfBuilder().kernel("_Z4gemmPf").constant("weights").build();
    std::ofstream(root_ / "nvcc.cubin", std::ios::binary)
        .write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    install_nvcc("echo 'kernel.cu(3): warning #177-D: unused'");
    nvrtc_ = {};
    nvrtc_.cubin = binary;
    nvrtc_.lowered["gemm"] = "_Z4gemmPf";
    options_.nvrtc_library = fake_library("fake_nvrtc").string();
    device_.architecture = "sm_90";
    device_.driver = "CUDA 13.0";
    request_.source = "__global__ void gemm(float*) {}";
    request_.file = "/kernels/gemm.cu";
    request_.kernel_name = "gemm";
    home_.emplace("CUDA_HOME", root_.c_str());
  }
  void TearDown() override {
    EXPECT_EQ(nvrtc_.live_programs, 0);
    std::filesystem::remove_all(root_);
  }

  /// An nvcc that notes its arguments and source, does `work` (shell), and gives the binary.
  void install_nvcc(const std::string& work) {
    std::ofstream(root_ / "bin/nvcc") << "#!/bin/sh\n"
                                         "if [ \"$1\" = --version ]; then echo 'release 12.9, V12.9.1'; exit; fi\n"
                                      << "echo \"$@\" >>" << root_ << "/calls\n"
                                      << work << "\n"
                                      << "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && cp " << root_
                                      << "/nvcc.cubin \"$2\"; shift; done\n"
                                      << "cp \"$1\" " << root_ << "/source\n";
    std::filesystem::permissions(root_ / "bin/nvcc", std::filesystem::perms::owner_all);
  }
  int nvcc_calls() const {
    std::ifstream file(root_ / "calls");
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  std::string nvcc_source() const {
    std::ifstream file(root_ / "source");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::unique_ptr<Compiler> compiler() { return make_cuda_compiler(device_, options_); }

  std::filesystem::path root_;
  FakeNvrtc& nvrtc_ = fake_state<FakeNvrtc>(fake_library("fake_nvrtc"));
  CudaBackendOptions options_;
  DeviceInfo device_;
  CompileRequest request_;
  std::optional<ScopedEnvironment> home_;
};

TEST_F(Automatic, takes_nvrtc_where_it_can) {
  const auto result = compiler()->compile(request_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->compiler, "nvrtc 13.0");
  EXPECT_EQ(result->entry, "_Z4gemmPf");
  EXPECT_EQ(result->symbols.at("weights"), "weights");
  EXPECT_EQ(nvcc_calls(), 0);
  EXPECT_THAT(nvrtc_.options[0], AllOf(Contains("--gpu-architecture=sm_90"), Contains("-I/kernels")));
}

TEST_F(Automatic, defines_stand_before_the_source_without_moving_its_lines) {
  request_.defines = {{"A", "1"}, {"TEXT", "\"x y\""}};
  ASSERT_TRUE(compiler()->compile(request_));
  EXPECT_EQ(nvrtc_.sources[0],
            "#define A 1\n#define TEXT \"x y\"\n#line 1 \"/kernels/gemm.cu\"\n__global__ void gemm(float*) {}\n");
}

TEST_F(Automatic, takes_nvcc_for_what_nvrtc_cannot_and_remembers_it) {
  nvrtc_.fails_with = refusal;
  const auto compiler = this->compiler();
  const auto first = compiler->compile(request_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->compiler, "nvcc 12.9");
  EXPECT_THAT(first->log, AllOf(HasSubstr("compiled with nvcc, for NVRTC could not: kernel.cu(1): catastrophic error"),
                                HasSubstr("warning #177-D")));
  request_.defines = {{"A", "2"}};
  ASSERT_TRUE(compiler->compile(request_));
  EXPECT_EQ(nvrtc_.sources.size(), 1U) << "NVRTC was asked again for a source that it cannot compile";
  EXPECT_EQ(nvcc_calls(), 2);
  EXPECT_THAT(nvcc_source(), HasSubstr("#define A 2\n#line 1 \"/kernels/gemm.cu\"\n"));
  // Another source is another matter.
  nvrtc_.fails_with.clear();
  request_.source += "\n";
  EXPECT_EQ(compiler->compile(request_)->compiler, "nvrtc 13.0");
}

TEST_F(Automatic, does_not_ask_nvcc_about_what_ptxas_refuses) {
  nvrtc_.fails_with = "ptxas error   : Entry function 'gemm' uses too much shared data (0x13880 bytes, 0xc000 max)\n";
  const auto result = compiler()->compile(request_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::resources);
  EXPECT_EQ(nvcc_calls(), 0);
}

TEST_F(Automatic, gives_the_log_of_nvcc_where_both_fail) {
  nvrtc_.fails_with = refusal;
  install_nvcc("echo '/kernels/gemm.cu(7): error: identifier \"x\" is undefined'; exit 2");
  const auto result = compiler()->compile(request_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, AllOf(testing::StartsWith("/kernels/gemm.cu(7): error: identifier \"x\""),
                                            HasSubstr("NVRTC failed too: "), HasSubstr("cannot open source file")));
}

TEST_F(Automatic, gives_the_log_of_nvrtc_where_nvcc_cannot_say_what_is_wrong) {
  nvrtc_.fails_with = refusal;
  install_nvcc("echo 'sh: 1: gcc: not found'; exit 1");
  const auto result = compiler()->compile(request_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              AllOf(testing::StartsWith(refusal), HasSubstr("nvcc failed too: sh: 1: gcc: not found")));
}

TEST_F(Automatic, stops_asking_nvcc_about_faulty_variants_of_a_source_that_nvrtc_compiles) {
  const auto compiler = this->compiler();
  ASSERT_TRUE(compiler->compile(request_));
  nvrtc_.fails_with = "gemm.cu(2): error: static assertion failed\n";
  install_nvcc("echo 'gemm.cu(2): error: static assertion failed'; exit 2");
  EXPECT_FALSE(compiler->compile(request_));
  EXPECT_EQ(nvcc_calls(), 1);
  const auto second = compiler->compile(request_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, nvrtc_.fails_with);
  EXPECT_EQ(nvcc_calls(), 1);
  // One variant that only nvcc compiles does not send the others there.
  nvrtc_.fails_with.clear();
  EXPECT_EQ(compiler->compile(request_)->compiler, "nvrtc 13.0");
}

TEST_F(Automatic, takes_nvcc_where_there_is_no_nvrtc) {
  options_.nvrtc_library = "/nowhere/libnvrtc.so";
  const auto result = compiler()->compile(request_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->compiler, "nvcc 12.9");
}

TEST_F(Automatic, is_an_error_of_the_machine_where_there_is_neither) {
  options_.nvrtc_library = "/nowhere/libnvrtc.so";
  home_.emplace("CUDA_HOME", "/nowhere");
  const ScopedEnvironment path("PATH", "/nowhere");
  const ScopedEnvironment cuda_path("CUDA_PATH", nullptr);
  if (!find_nvcc().empty()) GTEST_SKIP() << "nvcc is installed at " << find_nvcc();
  EXPECT_THAT([&] { (void)compiler()->compile(request_); },
              testing::ThrowsMessage<DeviceError>(AllOf(HasSubstr("/nowhere/libnvrtc.so"), HasSubstr("CUDA_HOME"))));
}

TEST_F(Automatic, leaves_no_files_behind) {
  const ScopedEnvironment folder("TMPDIR", root_.c_str());
  options_.compiler = CudaCompilerChoice::nvcc;
  ASSERT_TRUE(compiler()->compile(request_));
  for (const auto& entry : std::filesystem::directory_iterator(root_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(testing::StartsWith("wattune-nvcc")));
  }
}

TEST_F(Automatic, one_compiler_alone_is_taken_where_it_is_asked_for) {
  const ScopedEnvironment variable("WATTUNE_CUDA_COMPILER", "nvcc");
  EXPECT_EQ(compiler()->compile(request_)->compiler, "nvcc 12.9");
  options_.compiler = CudaCompilerChoice::nvrtc;
  nvrtc_.fails_with = refusal;
  EXPECT_FALSE(compiler()->compile(request_));
  EXPECT_EQ(nvcc_calls(), 1);
}

}  // namespace
}  // namespace wattune
