// The problem files of the suite, as a user opens them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "evaluate/session.hpp"
#include "kernels/references.hpp"
#include "problem/argument_data.hpp"
#include "problem/problem.hpp"
#include "space/search_space.hpp"

namespace wattune {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> problem_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "problem.json")) files.push_back(entry.path() / "problem.json");
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path kernel(const std::string& name) {
  return fs::path(WATTUNE_SOURCE_DIR) / "kernels" / name / "problem.json";
}

SearchSpace space_of(const Problem& problem) {
  return SearchSpace::build(problem.parameters, problem.restrictions);
}

class ProblemFile : public testing::TestWithParam<fs::path> {};

TEST_P(ProblemFile, is_read_without_a_warning_for_each_of_its_languages) {
  const Problem own = read_problem(GetParam());
  for (const std::string& language : own.languages) {
    const Problem problem = read_problem(GetParam(), {.problem_size = {}, .language = language});
    EXPECT_EQ(problem.kernel.language, language);
    EXPECT_EQ(problem.warnings, std::vector<std::string>{}) << language;
  }
}

TEST_P(ProblemFile, has_defaults_that_are_valid_and_can_be_launched) {
  const Problem problem = read_problem(GetParam());
  const SearchSpace space = space_of(problem);
  const auto point = space.find(problem.defaults);
  ASSERT_TRUE(point.has_value());
  EXPECT_TRUE(space.contains(*point));
  const LaunchShape shape = launch_shape(problem, problem.defaults);
  EXPECT_GE(shape.grid[0], 1U);
  EXPECT_EQ(shape.grid[2], 1U);
  EXPECT_LE(shape.block[0] * shape.block[1] * shape.block[2], 1024U);
}

TEST_P(ProblemFile, names_a_host_reference_that_exists_if_any) {
  register_kernel_references();
  const Problem problem = read_problem(GetParam());
  if (problem.verification.reference == Verification::Reference::host) {
    EXPECT_TRUE(find_host_reference(problem.verification.host_function));
  }
}

const auto folder_name = [](const auto& info) { return info.param.parent_path().filename().string(); };
INSTANTIATE_TEST_SUITE_P(suite, ProblemFile, testing::ValuesIn(problem_files(fs::path(WATTUNE_SOURCE_DIR) / "kernels")),
                         folder_name);
INSTANTIATE_TEST_SUITE_P(device_tests, ProblemFile,
                         testing::ValuesIn(problem_files(fs::path(WATTUNE_SOURCE_DIR) / "tests/device/problems")),
                         folder_name);

TEST(GemmProblem, has_the_space_of_the_paper) {
  const SearchSpace space = space_of(read_problem(kernel("gemm")));
  EXPECT_EQ(to_string(space.cartesian()), "82944");
  EXPECT_EQ(to_string(space.size()), "17472");
}

TEST(GemmProblem, compiles_every_parameter_in) {
  for (const std::string language : {"OpenCL", "CUDA"}) {
    const Problem problem = read_problem(kernel("gemm"), {.problem_size = {}, .language = language});
    EXPECT_EQ(problem.kinds, std::vector<ParameterKind>(15, ParameterKind::code)) << language;
  }
}

TEST(FmaChainProblem, changes_only_the_launch_with_block_size_and_passes) {
  for (const std::string language : {"OpenCL", "CUDA"}) {
    const Problem problem = read_problem(kernel("fma_chain"), {.problem_size = {}, .language = language});
    const auto expected = {ParameterKind::launch, ParameterKind::launch, ParameterKind::code, ParameterKind::code};
    EXPECT_EQ(problem.kinds, std::vector<ParameterKind>(expected)) << language;
  }
}

TEST(StreamCopyProblem, changes_only_the_launch_with_block_size_and_passes) {
  for (const std::string language : {"OpenCL", "CUDA"}) {
    const Problem problem = read_problem(kernel("stream_copy"), {.problem_size = {}, .language = language});
    const auto expected = {ParameterKind::launch, ParameterKind::launch, ParameterKind::code, ParameterKind::code};
    EXPECT_EQ(problem.kinds, std::vector<ParameterKind>(expected)) << language;
  }
}

std::vector<std::vector<std::byte>> initial_arguments(const Problem& problem) {
  std::vector<std::vector<std::byte>> arguments;
  for (const Argument& argument : problem.arguments) arguments.push_back(argument_data(problem, argument));
  return arguments;
}

TEST(GemmHostReference, changes_the_output_alone) {
  register_kernel_references();
  const Problem problem = read_problem(kernel("gemm"), {.problem_size = {{128, 256, 32}}, .language = {}});
  const auto before = initial_arguments(problem);
  auto after = before;
  find_host_reference("gemm")(problem, after);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i] != after[i], problem.arguments[i].output) << problem.arguments[i].name;
  }
}

TEST(GemmHostReference, refuses_sizes_that_the_tiles_do_not_divide) {
  register_kernel_references();
  const Problem problem = read_problem(kernel("gemm"), {.problem_size = {{100, 128, 32}}, .language = {}});
  auto arguments = initial_arguments(problem);
  try {
    find_host_reference("gemm")(problem, arguments);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 (kernel("gemm").string() + ": ProblemSize [100, 128, 32]: gemm takes M and N in multiples "
                                            "of 128 and K in multiples of 32")
                     .c_str());
  }
}

TEST(FmaChainHostReference, refuses_a_length_that_is_no_multiple_of_the_unrolled_steps) {
  register_kernel_references();
  const Problem problem = read_problem(kernel("fma_chain"), {.problem_size = {{1000, 100}}, .language = {}});
  auto arguments = initial_arguments(problem);
  EXPECT_THROW(find_host_reference("fma_chain")(problem, arguments), UsageError);
}

TEST(StreamCopyHostReference, copies_and_leaves_its_input_alone) {
  register_kernel_references();
  const Problem problem = read_problem(kernel("stream_copy"), {.problem_size = {{4096}}, .language = {}});
  const auto before = initial_arguments(problem);
  auto after = before;
  find_host_reference("stream_copy")(problem, after);
  EXPECT_EQ(after[1], before[1]);
  EXPECT_EQ(after[2], before[1]);
}

TEST(StreamCopyHostReference, refuses_a_count_that_vectors_do_not_divide) {
  register_kernel_references();
  const Problem problem = read_problem(kernel("stream_copy"), {.problem_size = {{4098}}, .language = {}});
  auto arguments = initial_arguments(problem);
  EXPECT_THROW(find_host_reference("stream_copy")(problem, arguments), UsageError);
}

}  // namespace
}  // namespace wattune
