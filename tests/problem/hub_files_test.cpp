// The public T1 files, sloppy as they are. They lie outside the repository.

#include <fstream>
#include <iterator>

#include "problem/argument_data.hpp"
#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::HasSubstr;

class HubFilesTest : public ProblemTest {
 protected:
  void SetUp() override {
    ProblemTest::SetUp();
    data = std::filesystem::path(WATTUNE_SOURCE_DIR) / "../shared/data";
    if (!std::filesystem::exists(data / "hub")) GTEST_SKIP() << "no recorded data in " << data;
  }

  /// Copies a problem file next to a stand-in for its kernel.
  std::filesystem::path with_kernel(const std::string& name, const std::string& kernel, std::string_view text) const {
    write(kernel, text);
    std::filesystem::copy_file(data / "hub" / name, folder / name);
    return folder / name;
  }

  std::filesystem::path data;
};

TEST_F(HubFilesTest, every_file_gives_its_space_without_the_kernel) {
  const std::map<std::string, std::pair<std::size_t, std::size_t>> expected{
      {"convolution", {10, 4}}, {"dedispersion", {8, 3}}, {"gemm", {17, 8}}, {"hotspot", {10, 4}}};
  for (const auto& [name, counts] : expected) {
    const Problem problem =
        read_problem(data / "hub" / (name + "_milo.json"), {.problem_size = {}, .language = {}, .space_only = true});
    EXPECT_EQ(problem.parameters.size(), counts.first) << name;
    EXPECT_EQ(problem.restrictions.size(), counts.second) << name;
    EXPECT_FALSE(problem.warnings.empty()) << name;
    EXPECT_EQ(SearchSpace::build(problem.parameters, problem.restrictions).cartesian() > 0, true);
  }
}

TEST_F(HubFilesTest, spaces_of_the_literature_are_read) {
  for (const auto& entry : std::filesystem::directory_iterator(data / "spaces")) {
    if (entry.path().filename() == "counts.json") continue;
    EXPECT_NO_THROW(read_problem(entry.path(), {.problem_size = {}, .language = {}, .space_only = true}))
        << entry.path();
  }
  for (const std::string name : {"test_T1_input.json", "test_cache_file_T1_input.json"}) {
    EXPECT_NO_THROW(
        read_problem(data / "kernel_tuner" / name, {.problem_size = {}, .language = {}, .space_only = true}))
        << name;
  }
}

TEST_F(HubFilesTest, convolution_loads_with_its_sizes_and_launch) {
  const Problem problem = read_problem(with_kernel(
      "convolution_milo.json", "convolution_milo.cu",
      "__constant__ float d_filter[filter_height * filter_width];\n"
      "__global__ void convolution_kernel() { use_padding use_shmem tile_size_x tile_size_y block_size_y }\n"));
  EXPECT_EQ(problem.name, "convolution_milo");
  EXPECT_EQ(problem.arguments[1].size, (4096U + 14) * (4096 + 14));
  EXPECT_EQ(problem.arguments[2].memory, MemoryKind::constant);
  EXPECT_TRUE(problem.arguments[0].output);
  EXPECT_FALSE(problem.arguments[1].output);
  // block 16 x 16, no tiling
  EXPECT_EQ(launch_shape(problem, problem.defaults).grid, (std::array<std::uint64_t, 3>{256, 256, 1}));
  EXPECT_EQ(problem.kinds[0], ParameterKind::launch) << "block_size_x is not in the stand-in";
  EXPECT_EQ(problem.kinds[1], ParameterKind::code);
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("KernelSpecification.GlobalSize: ignored")));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("KernelSpecification.BenchmarkName: unknown key, ignored")));
}

TEST_F(HubFilesTest, hotspot_loads_although_a_default_is_not_among_the_values) {
  const Problem problem = read_problem(with_kernel("hotspot_milo.json", "hotspot_milo.cu", "tile_size_x"));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("TuningParameters[7].Default: 1 is not among Values")));
  EXPECT_EQ(problem.defaults[7], Value(10));
  EXPECT_EQ(argument_data(problem, problem.arguments[3]).size(), 4U);
}

TEST_F(HubFilesTest, dedispersion_loads) {
  const Problem problem =
      read_problem(with_kernel("dedispersion_milo.json", "dedisp_milo/dedispersion.cu.hip", "tile_size_x"));
  EXPECT_EQ(problem.arguments[1].size, 25000U * 2048);
  EXPECT_EQ(launch_shape(problem, problem.defaults).grid, (std::array<std::uint64_t, 3>{1563, 64, 1}));
}

TEST_F(HubFilesTest, gemm_whose_work_group_is_not_known_is_refused_where_it_is_to_run) {
  const auto file = with_kernel("gemm_milo.json", "gemm_milo/common.opencl", "MWG");
  EXPECT_THAT(error_of([&] { read_problem(file); }),
              HasSubstr("KernelSpecification.LocalSize.X: there is no parameter 'block_size_x'"));
}

}  // namespace
}  // namespace wattune
