// The kernel's source, kinds of parameters, defines and the kernel's name.

#include <sys/stat.h>

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class ReadKernelTest : public ProblemTest {
 protected:
  using Defines = std::vector<std::pair<std::string, std::string>>;

  Parts with_source(std::string_view text) const {
    write("saxpy.cu", text);
    return {};
  }
  static Defines default_defines(const Problem& problem) { return defines(problem, problem.defaults); }
};

TEST_F(ReadKernelTest, the_source_is_read_with_its_identifiers) {
  const Problem problem = parse({});
  EXPECT_EQ(problem.kernel.language, "CUDA");
  EXPECT_EQ(problem.kernel.file, folder / "saxpy.cu");
  EXPECT_THAT(problem.kernel.text, HasSubstr("__global__"));
  EXPECT_THAT(problem.kernel.identifiers, Contains("TILE"));
  EXPECT_THAT(problem.languages, ElementsAre("CUDA"));
}

TEST_F(ReadKernelTest, a_kernel_file_that_cannot_be_read_is_told_at_its_key) {
  std::filesystem::remove(folder / "saxpy.cu");
  EXPECT_THAT(parse_error({}), HasSubstr("p.json:5: KernelSpecification.KernelFile: cannot read kernel file"));
  const Problem problem = parse({}, {.problem_size = {}, .language = {}, .space_only = true});
  EXPECT_THAT(problem.warnings, ElementsAre(HasSubstr("KernelFile: cannot be read")));
  EXPECT_THAT(problem.kinds, testing::Each(ParameterKind::code));
  std::filesystem::create_directories(folder / "saxpy.cu");
  EXPECT_THAT(parse_error({}), HasSubstr("name a file, not a folder"));
}

TEST_F(ReadKernelTest, a_pipe_is_no_kernel_file) {
  std::filesystem::remove(folder / "saxpy.cu");
  ASSERT_EQ(::mkfifo((folder / "saxpy.cu").c_str(), 0600), 0);
  EXPECT_THAT(parse_error({}), HasSubstr("is no regular file"));
}

TEST_F(ReadKernelTest, a_parameter_whose_name_occurs_nowhere_is_of_the_launch) {
  const Problem problem = parse(with_source("__global__ void saxpy() { /* block_size_x */ TILE; }"));
  EXPECT_EQ(problem.kinds[0], ParameterKind::launch);
  EXPECT_EQ(problem.kinds[1], ParameterKind::code);
}

TEST_F(ReadKernelTest, includes_options_and_the_kernel_name_count_as_uses) {
  write("a.h", "block_size_x");
  Parts parts = with_source("#include \"a.h\"\n");
  parts.specification = R"(, "CompilerOptions": ["-DSIZE=TILE"])";
  EXPECT_THAT(parse(parts).kinds, testing::Each(ParameterKind::code));
  parts = with_source("x");
  std::string json = text(parts);
  json.replace(json.find("\"saxpy\""), 7, "\"saxpy<TILE>\"");
  const Problem problem = parse_text(json);
  EXPECT_THAT(problem.kinds, ElementsAre(ParameterKind::launch, ParameterKind::code));
  EXPECT_EQ(kernel_name(problem, {Value(32), Value(4)}), "saxpy<4>");
  EXPECT_THAT(default_defines(problem), IsEmpty());
}

TEST_F(ReadKernelTest, token_pasting_may_use_any_parameter) {
  const Problem problem = parse(with_source("#define F(a, b) a##b\n"));
  EXPECT_THAT(problem.kinds, testing::Each(ParameterKind::code));
  EXPECT_THAT(default_defines(problem), testing::SizeIs(2 + 2 + 3 + 1))
      << "parameters, blocks y and z, grid, kernel_tuner";
}

TEST_F(ReadKernelTest, kinds_can_be_declared) {
  Parts parts = with_source("TILE");
  parts.wattune = R"({"Kinds": {"TILE": "launch", "block_size_x": "code"}})";
  const Problem problem = parse(parts);
  EXPECT_THAT(problem.kinds, ElementsAre(ParameterKind::code, ParameterKind::launch));
  EXPECT_THAT(default_defines(problem), ElementsAre(Pair("block_size_x", "32")))
      << "defined, for the file says it is used";
  parts.wattune = R"({"Kinds": {"TILES": "launch"}})";
  EXPECT_THAT(parse_error(parts),
              HasSubstr("wattune.Kinds.TILES: there is no parameter 'TILES'; did you mean 'TILE'?"));
  parts.wattune = R"({"Kinds": {"TILE": "runtime"}})";
  EXPECT_THAT(parse_error(parts), HasSubstr("unknown value 'runtime'"));
}

TEST_F(ReadKernelTest, device_settings_are_never_defined) {
  Parts parts = with_source("nvml_gr_clock TILE a##b");
  parts.parameters =
      R"([{"Name": "block_size_x", "Type": "int", "Values": [32]}, {"Name": "nvml_gr_clock", "Type": "int", "Values": [1000]}])";
  EXPECT_THAT(default_defines(parse(parts)), testing::Not(Contains(Pair("nvml_gr_clock", testing::_))));
  parts.wattune = R"({"Kinds": {"nvml_gr_clock": "code"}})";
  EXPECT_THAT(parse_error(parts), HasSubstr("is a setting of the device"));
  parts.wattune = R"({"Defines": {"CLOCK": "nvml_gr_clock"}})";
  EXPECT_THAT(parse_error(parts), HasSubstr("wattune.Defines.CLOCK: uses nvml_gr_clock"));
}

TEST_F(ReadKernelTest, only_names_that_occur_are_defined) {
  EXPECT_THAT(default_defines(parse(with_source("TILE"))), ElementsAre(Pair("TILE", "2")));
  EXPECT_THAT(default_defines(parse(with_source("kernel_tuner grid_size_x block_size_y block_size_x"))),
              ElementsAre(Pair("block_size_x", "32"), Pair("block_size_y", "1"), Pair("grid_size_x", "32"),
                          Pair("kernel_tuner", "1")));
}

TEST_F(ReadKernelTest, values_are_written_as_c_reads_them) {
  Parts parts = with_source("A B C D block_size_x");
  parts.parameters =
      R"([{"Name": "block_size_x", "Type": "int", "Values": [32]}, {"Name": "A", "Type": "bool", "Values": [true]},
      {"Name": "B", "Type": "float", "Values": [2]}, {"Name": "C", "Type": "string", "Values": ["float"]},
      {"Name": "D", "Type": "float", "Values": "[1e300 * 10.0 ** 20]"}])";
  EXPECT_THAT(default_defines(parse(parts)), ElementsAre(Pair("block_size_x", "32"), Pair("A", "1"), Pair("B", "2.0"),
                                                         Pair("C", "float"), Pair("D", testing::_)));
}

TEST_F(ReadKernelTest, explicit_defines_replace_the_default_ones) {
  Parts parts = with_source("WIDTH NAME TILE");
  parts.wattune = R"({"Defines": {"WIDTH": "block_size_x * TILE", "NAME": "'float'", "UNUSED": 1}})";
  const Problem problem = parse(parts);
  EXPECT_THAT(default_defines(problem), ElementsAre(Pair("WIDTH", "64"), Pair("NAME", "float")));
  EXPECT_THAT(problem.kinds, testing::Each(ParameterKind::code)) << "used by a define";
  parts.wattune = R"({"Defines": {}})";
  EXPECT_THAT(default_defines(parse(parts)), IsEmpty());
}

TEST_F(ReadKernelTest, faulty_defines_are_errors) {
  Parts parts = with(&Parts::wattune, R"({"Defines": {"A B": 1}})");
  EXPECT_THAT(parse_error(parts), HasSubstr("'A B' is no identifier"));
  parts.wattune = R"({"Defines": {"A": "TILED + 1"}})";
  EXPECT_THAT(parse_error(parts), HasSubstr("wattune.Defines.A: "));
  parts.wattune = R"({"Defines": {"A": true}})";
  EXPECT_THAT(parse_error(parts), HasSubstr("is a boolean; give a string"));
}

TEST_F(ReadKernelTest, equal_defines_make_one_binary_for_all_launches) {
  const Problem problem = parse(with_source("TILE"));
  EXPECT_EQ(defines(problem, {Value(32), Value(2)}), defines(problem, {Value(64), Value(2)}));
  EXPECT_NE(defines(problem, {Value(32), Value(2)}), defines(problem, {Value(32), Value(4)}));
}

TEST_F(ReadKernelTest, the_kernel_name_takes_parameters_as_whole_words) {
  std::string json = text({});
  json.replace(json.find("\"saxpy\""), 7, "\"saxpy<TILE, MY_TILE, block_size_x>\"");
  const Problem problem = parse_text(json);
  EXPECT_EQ(kernel_name(problem, {Value(32), Value(4)}), "saxpy<4, MY_TILE, 32>");
}

TEST_F(ReadKernelTest, another_language_has_a_source_of_its_own) {
  write("cl/saxpy.cl", "__kernel void f() {}");
  Parts parts =
      with(&Parts::wattune, R"({"Sources": [{"Language": "OpenCL", "KernelFile": "cl/saxpy.cl", "KernelName": "f",
      "CompilerOptions": ["-cl-fast-relaxed-math"]}]})");
  parts.specification = R"(, "CompilerOptions": ["-std=c++17"])";
  EXPECT_EQ(parse(parts).kernel.language, "CUDA");
  EXPECT_THAT(parse(parts).languages, ElementsAre("CUDA", "OpenCL"));
  const Problem problem = parse(parts, {.problem_size = {}, .language = "OpenCL"});
  EXPECT_EQ(problem.kernel.file, folder / "cl/saxpy.cl");
  EXPECT_EQ(problem.kernel.kernel_name, "f");
  EXPECT_THAT(problem.kernel.options, ElementsAre("-cl-fast-relaxed-math"));
  EXPECT_THAT(problem.kinds, testing::Each(ParameterKind::launch)) << "kinds are those of the chosen source";
  EXPECT_FALSE(problem.global_size_in_items) << "the meaning of GlobalSize stays that of the file";
  parts.wattune = R"({"Sources": [{"Language": "OpenCL", "KernelFile": "cl/saxpy.cl"}]})";
  EXPECT_EQ(parse(parts, {.problem_size = {}, .language = "OpenCL"}).kernel.kernel_name, "saxpy");
  EXPECT_THAT(parse(parts, {.problem_size = {}, .language = "OpenCL"}).kernel.options, IsEmpty());
}

TEST_F(ReadKernelTest, a_language_without_a_source_is_an_error_that_lists_those_there_are) {
  EXPECT_THAT(
      parse_error({}, {.problem_size = {}, .language = "OpenCL"}),
      HasSubstr(
          "KernelSpecification.Language: there is no source in OpenCL, only in: CUDA; add one under wattune.Sources"));
  EXPECT_THAT(parse_error(with(&Parts::wattune, R"({"Sources": [{"Language": "CUDA", "KernelFile": "x.cu"}]})")),
              HasSubstr("there are two sources in CUDA"));
  EXPECT_THAT(parse_error(with(&Parts::wattune, R"({"Sources": [{"Language": "HIP", "KernelFile": "x.cu"}]})")),
              HasSubstr("unknown value 'HIP'"));
  EXPECT_THAT(parse_error(with(&Parts::wattune, R"({"Sources": [{"Language": "OpenCL", "File": "x.cu"}]})")),
              HasSubstr("wattune.Sources[0].File: unknown key"));
}

TEST_F(ReadKernelTest, a_language_that_cannot_be_run_is_refused_by_name_but_its_space_is_read) {
  std::string json = text({});
  json.replace(json.find("\"CUDA\""), 6, "\"Vulkan\"");
  EXPECT_THAT(error_of([&] { parse_text(json); }),
              HasSubstr("KernelSpecification.Language: Vulkan is not supported; give CUDA or OpenCL"));
  EXPECT_THAT(parse_text(json, {.problem_size = {}, .language = {}, .space_only = true}).warnings,
              Contains(HasSubstr("Vulkan is not supported; only the space is read")));
}

TEST_F(ReadKernelTest, members_for_other_tools_are_warned_about) {
  const Problem problem = parse(with(&Parts::specification, R"(, "Device": {"DeviceId": 0}, "Profiling": true,
      "SimulationInput": "x", "Stream": null, "KernelFlie": "y")"));
  EXPECT_THAT(problem.warnings,
              ElementsAre(HasSubstr("KernelFlie: unknown key, ignored; did you mean 'KernelFile'?"),
                          HasSubstr("Device: ignored; the device is chosen"), HasSubstr("Profiling: ignored"),
                          HasSubstr("SimulationInput: ignored; recorded results are replayed")));
}

TEST_F(ReadKernelTest, what_this_version_cannot_do_is_refused_by_name) {
  EXPECT_THAT(parse_error(with(&Parts::specification, R"(, "Steps": [])")),
              HasSubstr("KernelSpecification.Steps: not supported yet"));
  for (const std::string key : {"Steps"}) {
    EXPECT_THAT(parse_error(with(&Parts::wattune, "{\"" + key + "\": {}}")),
                HasSubstr("wattune." + key + ": not supported yet in this version"));
  }
}

TEST_F(ReadKernelTest, a_misspelt_key_of_our_own_is_an_error_with_the_nearest_one) {
  EXPECT_THAT(
      parse_error(with(&Parts::wattune, R"({"Objectivs": []})")),
      HasSubstr("wattune.Objectivs: unknown key; did you mean 'Objectives'?; known here: Metrics, Objectives, "));
}

}  // namespace
}  // namespace wattune
