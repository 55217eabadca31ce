#include "backend/cuda/compile_options.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CudaArchitecture hopper{90, ""};

std::vector<std::string> for_nvrtc(const std::vector<std::string>& options) {
  return nvrtc_arguments(options, hopper).arguments;
}
std::vector<std::string> for_nvcc(const std::vector<std::string>& options) {
  return nvcc_arguments(options, hopper).arguments;
}
std::string architecture(const std::vector<std::string>& options) {
  return nvrtc_arguments(options, hopper).architecture.sm();
}

TEST(CudaArchitecture, is_read_and_checked) {
  EXPECT_EQ(cuda_architecture("sm_90").sm(), "sm_90");
  EXPECT_EQ(cuda_architecture("sm_100a").compute(), "compute_100a");
  EXPECT_THROW(cuda_architecture("90"), UsageError);
  EXPECT_THROW(cuda_architecture(""), UsageError);
}

TEST(NvrtcArguments, leave_out_what_is_the_host_compilers) {
  EXPECT_THAT(for_nvrtc({"-O3",
                         "-O",
                         "3",
                         "-Xcompiler",
                         "-fopenmp",
                         "-Xcompiler=-Wall",
                         "--compiler-options",
                         "-O2",
                         "-g",
                         "-ccbin=g++",
                         "-lcublas",
                         "-L/usr/lib",
                         "-lineinfo",
                         "--expt-relaxed-constexpr",
                         "-c",
                         "-o",
                         "x.o",
                         "-t4",
                         "-m64",
                         "-Wno-deprecated-gpu-targets"}),
              ElementsAre("-lineinfo", "-t4"));
}

TEST(NvrtcArguments, bring_values_into_the_spelling_that_nvrtc_knows) {
  EXPECT_THAT(for_nvrtc({"-D",          "A=1",      "-DB",         "--define-macro=C=3",
                         "-I",          "dir",      "-Idir2",      "--include-path=dir3",
                         "-std",        "c++17",    "--std=c++20", "-maxrregcount",
                         "64",          "-Xptxas",  "-v",          "--ptxas-options=-O1,-v",
                         "-fmad=false", "-ftz",     "true",        "-isystem",
                         "sys",         "-include", "pre.h",       "--resource-usage"}),
              ElementsAre("-DA=1", "-DB", "-DC=3", "-Idir", "-Idir2", "-Idir3", "-std=c++17", "-std=c++20",
                          "-maxrregcount=64", "--ptxas-options=-v", "--ptxas-options=-O1", "--ptxas-options=-v",
                          "-fmad=false", "-ftz=true", "-Isys", "-include=pre.h", "--ptxas-options=-v"));
}

TEST(NvrtcArguments, take_elements_that_hold_an_option_and_its_value) {
  EXPECT_THAT(for_nvrtc({"-Xptxas -v", "-I dir", "-O3 -use_fast_math", "-DTEXT=\"a b\"", " -w "}),
              ElementsAre("--ptxas-options=-v", "-Idir", "-use_fast_math", "-DTEXT=\"a b\"", "-w"));
}

TEST(NvrtcArguments, pass_on_what_is_not_known) {
  EXPECT_THAT(for_nvrtc({"--use_fast_math", "-extra-device-vectorization", "--some-new-option=5"}),
              ElementsAre("--use_fast_math", "-extra-device-vectorization", "--some-new-option=5"));
}

TEST(NvccArguments, are_as_written_but_for_the_kind_of_output) {
  EXPECT_THAT(for_nvcc({"-O3", "-Xcompiler", "-fopenmp", "-c", "-o", "x.o", "-ptx", "--std=c++17", "-arch=sm_80",
                        "-lcublas", "--generate-code", "arch=compute_90,code=sm_90", "-D", "A=1"}),
              ElementsAre("-O3", "-Xcompiler", "-fopenmp", "--std=c++17", "-D", "A=1"));
}

TEST(Arguments, note_what_would_leave_the_binary_incomplete) {
  const auto result = nvcc_arguments({"-rdc=true", "-dc", "-rdc", "false"}, hopper);
  EXPECT_THAT(result.arguments, IsEmpty());
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("-rdc=true was left out"), HasSubstr("-dc was left out")));
}

TEST(Architecture, is_the_devices_own_unless_the_options_ask_for_one_that_it_runs) {
  EXPECT_EQ(architecture({}), "sm_90");
  EXPECT_EQ(architecture({"-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(architecture({"-arch", "compute_90a"}), "sm_90a");
  EXPECT_EQ(architecture({"-gencode=arch=compute_90a,code=sm_90a", "-gencode", "arch=compute_80,code=sm_80"}),
            "sm_90a");
  EXPECT_EQ(architecture({"--gpu-architecture=native"}), "sm_90");
  EXPECT_EQ(architecture({"-arch=sm_80"}), "sm_90");
  EXPECT_EQ(nvrtc_arguments({"-arch=sm_80"}, {86, ""}).architecture.sm(), "sm_80");
  EXPECT_EQ(nvrtc_arguments({"-arch=sm_89"}, {86, ""}).architecture.sm(), "sm_86");
  EXPECT_THAT(nvrtc_arguments({"-arch=sm_80"}, hopper).notes,
              ElementsAre(HasSubstr("sm_80, which this device does not run: compiled for sm_90")));
}

}  // namespace
}  // namespace wattune
