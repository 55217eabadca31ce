// Grid, block, shared and local memory.

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Shape = std::array<std::uint64_t, 3>;

class LaunchTest : public ProblemTest {
 protected:
  static Parts launch_parts(const std::string& members) {
    Parts parts = with(&Parts::launch, members);
    parts.arguments = "[]";
    return parts;
  }
  Problem launch(const std::string& members) const { return parse(launch_parts(members)); }
  std::string launch_error(const std::string& members) const { return parse_error(launch_parts(members)); }
  /// Of the configuration block_size_x = 64, TILE = 4.
  LaunchShape shape(const std::string& members) const { return launch_shape(launch(members), {Value(64), Value(4)}); }
  std::string shape_error(const std::string& members) const {
    return error_of([&] { shape(members); });
  }
};

TEST_F(LaunchTest, the_grid_covers_the_problem_by_divisors) {
  const LaunchShape result =
      shape(R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1000, 7], "GridDivX": ["block_size_x", "TILE"],
                                      "GridDivY": [2])");
  EXPECT_EQ(result.grid, (Shape{4, 4, 1}));
  EXPECT_EQ(result.block, (Shape{64, 1, 1}));
}

TEST_F(LaunchTest, a_dimension_without_divisors_is_divided_by_its_block_parameter_if_there_is_one) {
  EXPECT_EQ(shape(R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1000, 7], "GridDivY": ["1"])").grid,
            (Shape{16, 7, 1}));
  EXPECT_EQ(shape(R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1000, 7, 3])").grid, (Shape{16, 7, 3}));
  EXPECT_EQ(shape(R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1000], "GridDivX": [])").grid,
            (Shape{1000, 1, 1}));
}

TEST_F(LaunchTest, problem_size_may_be_a_number_and_a_divisor_a_string) {
  EXPECT_EQ(shape(R"("LocalSize": {"X": 32}, "ProblemSize": 1000, "GridDivX": "TILE * 10")").grid, (Shape{25, 1, 1}));
}

TEST_F(LaunchTest, global_size_counts_blocks_or_items) {
  const std::string sizes =
      R"("LocalSize": {"X": "block_size_x", "Y": "2"}, "GlobalSize": {"X": "block_size_x * 8", "Y": "4"}, )";
  EXPECT_EQ(shape(sizes + R"("GlobalSizeType": "CUDA")").grid, (Shape{512, 4, 1}));
  EXPECT_EQ(shape(sizes + R"("GlobalSizeType": "Vulkan")").grid, (Shape{512, 4, 1}));
  EXPECT_EQ(shape(sizes + R"("GlobalSizeType": "OpenCL")").grid, (Shape{8, 2, 1}));
  EXPECT_EQ(shape(sizes + R"("GlobalSizeType": null)").grid, (Shape{512, 4, 1})) << "as in the kernel's language";
  EXPECT_THAT(launch_error(sizes + R"("GlobalSizeType": "HIP")"), HasSubstr("GlobalSizeType: unknown value 'HIP'"));
}

TEST_F(LaunchTest, global_size_may_use_the_problem_size) {
  EXPECT_EQ(
      shape(
          R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [4096], "GlobalSize": {"X": "ProblemSize[0] / block_size_x"})")
          .grid,
      (Shape{64, 1, 1}));
}

TEST_F(LaunchTest, divisors_win_over_global_size_with_a_warning) {
  const Problem problem = launch(
      R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1024], "GridDivX": ["block_size_x"], "GlobalSize": {"X": "7"})");
  EXPECT_EQ(launch_shape(problem, problem.defaults).grid, (Shape{32, 1, 1}));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("GlobalSize: ignored, for ProblemSize and GridDiv give the grid")));
}

TEST_F(LaunchTest, divisors_that_cannot_be_used_are_warned_about) {
  EXPECT_THAT(launch(R"("LocalSize": {"X": 1}, "GlobalSize": {"X": 7}, "GridDivX": ["TILE"])").warnings,
              Contains(HasSubstr("GridDivX: ignored, for there is no ProblemSize")));
}

TEST_F(LaunchTest, divisors_beyond_the_problems_dimensions_are_ignored_whatever_they_name) {
  EXPECT_THAT(launch(R"("LocalSize": {"X": 1}, "ProblemSize": 100, "GridDivX": ["TILE"], "GridDivY": ["block_size_y"])")
                  .warnings,
              Contains(HasSubstr("GridDivY: ignored, for ProblemSize has 1 dimension")));
}

TEST_F(LaunchTest, the_block_comes_from_block_parameters_where_local_size_is_missing_or_useless) {
  EXPECT_EQ(shape(R"("ProblemSize": [1000])").block, (Shape{64, 1, 1}));
  const Problem problem = launch(R"("LocalSize": {"X": "threads"}, "ProblemSize": [1000])");
  EXPECT_THAT(problem.warnings,
              Contains(HasSubstr("LocalSize.X: there is no parameter 'threads'; block_size_x is used")));
  EXPECT_EQ(launch_shape(problem, {Value(64), Value(1)}).block, (Shape{64, 1, 1}));
}

TEST_F(LaunchTest, a_launch_that_is_not_known_is_an_error_unless_only_the_space_is_read) {
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": "block_size_x", "Y": "threads"}, "ProblemSize": [10])"),
              HasSubstr("LocalSize.Y: there is no parameter 'threads', so the work-group's size is not known"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"Y": "1"}, "ProblemSize": [10])"), HasSubstr("LocalSize: X is missing"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": "1"}, "Stream": null)"),
              HasSubstr("there is neither GlobalSize nor ProblemSize"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": "1"}, "GlobalSize": {"X": "n"})"),
              HasSubstr("GlobalSize.X: there is no parameter 'n'"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": "1"}, "GlobalSize": {"Y": "1"})"),
              HasSubstr("GlobalSize.X: is missing"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": "1"}, "ProblemSize": [9], "GridDivX": ["n"])"),
              HasSubstr("GridDivX[0]: there is no parameter 'n'"));
  EXPECT_THAT(parse(with(&Parts::launch, R"("LocalSize": {"X": "threads"}, "GlobalSize": {"X": "n"})"),
                    {.problem_size = {}, .language = {}, .space_only = true})
                  .warnings,
              testing::AllOf(Contains(HasSubstr("LocalSize.X: there is no parameter 'threads'; block_size_x is used")),
                             Contains(HasSubstr("GlobalSize.X: there is no parameter 'n'"))));
}

TEST_F(LaunchTest, sizes_that_are_no_positive_integers_fail_the_configuration) {
  const auto with_global = [](const std::string& x) {
    return R"("LocalSize": {"X": 32}, "GlobalSize": {"X": ")" + x + "\"}";
  };
  EXPECT_THAT(shape_error(with_global("0")), HasSubstr("GlobalSize.X is 0; it must be a positive integer"));
  EXPECT_THAT(shape_error(with_global("TILE - 5")), HasSubstr("GlobalSize.X is -1; it must be"));
  EXPECT_THAT(shape_error(with_global("TILE / 3")), HasSubstr("it must be a positive integer"));
  EXPECT_THAT(shape_error(with_global("[1]")), HasSubstr("GlobalSize.X is [1]"));
  EXPECT_THAT(shape_error(with_global("1e30")), HasSubstr("below 2^63"));
  EXPECT_THAT(shape_error(with_global("1 // (TILE - 4)")), HasSubstr("zero"));
  EXPECT_THAT(shape_error(R"("LocalSize": {"X": "TILE - 4"}, "ProblemSize": 7)"), HasSubstr("LocalSize.X is 0"));
  EXPECT_THAT(shape_error(R"("LocalSize": {"X": 1}, "ProblemSize": 7, "GridDivX": ["TILE - 4"])"),
              HasSubstr("GridDivX is 0"));
  EXPECT_THAT(shape_error(R"("LocalSize": {"X": 1}, "ProblemSize": 7, "GridDivX": ["2**40", "2**40"])"),
              HasSubstr("too large"));
}

TEST_F(LaunchTest, items_must_fill_whole_work_groups) {
  EXPECT_THAT(shape_error(R"("LocalSize": {"X": 64}, "GlobalSize": {"X": 100}, "GlobalSizeType": "OpenCL")"),
              HasSubstr("GlobalSize.X = 100 is no multiple of LocalSize.X = 64; round it up"));
}

TEST_F(LaunchTest, problem_sizes_are_positive_integers) {
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": 1}, "ProblemSize": [])"), HasSubstr("ProblemSize: is empty"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": 1}, "ProblemSize": [8, 0])"),
              HasSubstr("ProblemSize[1]: is 0; give a positive"));
  EXPECT_THAT(launch_error(R"("LocalSize": {"X": 1}, "ProblemSize": "n")"),
              HasSubstr("ProblemSize: is a string; give an integer"));
}

TEST_F(LaunchTest, the_problem_size_can_be_replaced) {
  const Problem problem = parse({}, {.problem_size = {{64}}, .language = {}});
  EXPECT_EQ(problem.problem_size, std::vector<std::int64_t>{64});
  EXPECT_EQ(problem.arguments[0].size, 64U);
  EXPECT_EQ(launch_shape(problem, problem.defaults).grid, (Shape{2, 1, 1}));
  EXPECT_THAT(parse_error({}, {.problem_size = {{64, 64}}, .language = {}}),
              HasSubstr("has 2 numbers, the file's ProblemSize 1"));
  EXPECT_THAT(parse_error({}, {.problem_size = {{0}}, .language = {}}), HasSubstr("holds 0; give positive integers"));
}

TEST_F(LaunchTest, shared_memory_is_a_number_or_depends_on_the_configuration) {
  const std::string sizes = R"("LocalSize": {"X": 1}, "GlobalSize": {"X": 7}, "SharedMemory": )";
  const auto bytes = [&](const std::string& value) {
    return shared_memory_bytes(launch(sizes + value), {Value(64), Value(4)});
  };
  EXPECT_EQ(bytes("1024"), 1024U);
  EXPECT_EQ(bytes("\"block_size_x * 4\""), 256U);
  EXPECT_EQ(bytes("\"(TILE - 4) * 8\""), 0U);
  EXPECT_THAT(launch_error(sizes + "-1"), HasSubstr("SharedMemory: is -1"));
  EXPECT_THAT(launch_error(sizes + "\"n * 4\""), HasSubstr("SharedMemory: "));
  EXPECT_THAT(launch_error(sizes + "\"ProblemSize[0]\""),
              HasSubstr("SharedMemory: uses ProblemSize, which is not given"));
  EXPECT_THAT(error_of([&] { bytes("\"TILE - 5\""); }),
              HasSubstr("SharedMemory is -1; it must be an integer that is not negative"));
}

TEST_F(LaunchTest, local_memory_follows_the_configuration) {
  const Problem problem =
      parse(with(&Parts::arguments,
                 R"-([{"Name": "l", "Type": "float", "MemoryType": "Local", "Size": "block_size_x * (TILE - 1)"}])-"));
  EXPECT_EQ(problem.arguments[0].size, 0U);
  EXPECT_EQ(local_elements(problem, problem.arguments[0], {Value(64), Value(4)}), 192U);
  EXPECT_THAT(error_of([&] {
                local_elements(problem, problem.arguments[0], {Value(64), Value(1)});
              }),
              HasSubstr("Size of 'l' is 0"));
}

}  // namespace
}  // namespace wattune
