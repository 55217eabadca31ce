#include "backend/opencl/opencl_compiler.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "../../temporary_folder.hpp"
#include "backend/opencl/opencl_binary.hpp"
#include "backend/opencl/opencl_options.hpp"
#include "opencl_fixture.hpp"

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CompileRequest with_options(std::vector<std::string> options) {
  CompileRequest request;
  request.file = "/src/kernel.cl";
  request.options = std::move(options);
  return request;
}

TEST(OpenClOptions, OptionsForOtherCompilersAreDroppedWithANote) {
  const auto result = opencl::build_options(with_options(
      {"-std=c++11", "-cl-mad-enable", "-arch", "sm_80", "-Xptxas=-v", "--use_fast_math", "-O3", "-cl-std=CL1.2"}));
  EXPECT_THAT(result.options, ElementsAre("-cl-mad-enable", "-cl-std=CL1.2"));
  EXPECT_EQ(result.notes.size(), 5u);
  EXPECT_EQ(result.notes[0], "note: option -std=c++11 is not for OpenCL compilers and was left out");
  EXPECT_THAT(result.notes[1], HasSubstr("-arch sm_80"));
}

TEST(OpenClOptions, OneEntryMayHoldSeveralOptions) {
  const auto result = opencl::build_options(with_options({"-cl-mad-enable  -w -std=c++17 -Werror"}));
  EXPECT_THAT(result.options, ElementsAre("-cl-mad-enable", "-w", "-Werror"));
  EXPECT_EQ(result.notes.size(), 1u);
}

TEST(OpenClOptions, IncludePathsStartAtTheSourceAndKeepTheirSpaces) {
  auto request = with_options({"-Ifolder a", "-I", "/abs/b", "-I../c"});
  request.include_paths = {"/src", "/given"};
  const auto result = opencl::build_options(request);
  EXPECT_THAT(result.include_paths, ElementsAre("/src", "/given", "/src/folder a", "/abs/b", "/c"));
  EXPECT_THAT(result.options, IsEmpty());
}

TEST(OpenClOptions, DefinesOfOptionsBecomeDefineLines) {
  auto request = with_options({"-DA", "-D", "B=x y", "-DC=3"});
  request.source = "text";
  request.defines = {{"BLOCK", "32"}, {"LINES", "1\n2"}};
  EXPECT_EQ(
      opencl::full_source(request, opencl::build_options(request)),
      "#define A 1\n#define B x y\n#define C 3\n#define BLOCK 32\n#define LINES 1 2\n#line 1 \"/src/kernel.cl\"\ntext");
}

TEST(OpenClLog, RegistersAndSpillsAreThoseOfTheKernelAskedFor) {
  const std::string log =
      "ptxas info    : Compiling entry function 'one' for 'sm_90'\n    0 bytes stack frame, 0 bytes spill stores\n"
      "ptxas info    : Used 10 registers\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_90'\n    8 bytes stack frame, 16 bytes spill stores\n"
      "ptxas info    : Used 255 registers\n";
  std::map<std::string, std::int64_t> resources;
  opencl::resources_from_log(log, "two", resources);
  EXPECT_EQ(resources["registers"], 255);
  EXPECT_EQ(resources["spill_bytes"], 16);
  opencl::resources_from_log(log, "one", resources);
  EXPECT_EQ(resources["registers"], 10);
  EXPECT_EQ(resources["spill_bytes"], 0);
  resources.clear();
  opencl::resources_from_log("entry function 'two'\n99999999999999999999 registers", "two", resources);
  opencl::resources_from_log(log, "three", resources);
  EXPECT_TRUE(resources.empty());
}

TEST_F(OpenCl, DefinesReachTheSource) {
  auto asked = request("kernel void k(global int* x) { x[0] = VALUE + OTHER; }", "k");
  asked.defines = {{"VALUE", "40"}};
  asked.options = {"-DOTHER=2"};
  const auto result = compiled(asked);
  EXPECT_EQ(result.entry, "k");
  EXPECT_FALSE(result.binary.empty());
  EXPECT_FALSE(result.compiler.empty());
  auto loaded = device->load(result);
  ASSERT_TRUE(loaded);
  const auto x = buffer<int>({0});
  ASSERT_FALSE(device->run(launch(**loaded, 1, 1, {whole(*x)})));
  EXPECT_THAT(content<int>(*x), ElementsAre(42));
}

TEST_F(OpenCl, ABuildErrorIsAFailureWithTheLogAndTheLineOfTheFile) {
  auto asked = request("kernel void k(global int* x) {\n  x[0] = no_such_name;\n}", "k");
  asked.defines = {{"A", "1"}, {"B", "2"}};
  const auto result = backend->compiler("opencl:0")->compile(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::compile);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("no_such_name"), HasSubstr("kernel.cl:2")));
}

TEST_F(OpenCl, DroppedOptionsAreNotedInTheLog) {
  auto asked = request("kernel void k(global int* x) { x[0] = 1; }", "k");
  asked.options = {"-std=c++11"};
  EXPECT_THAT(compiled(asked).log, HasSubstr("note: option -std=c++11"));
}

TEST_F(OpenCl, AMissingKernelIsNamedWithThoseThereAre) {
  const auto result =
      backend->compiler("opencl:0")->compile(request("kernel void here(global int* x) { x[0] = 1; }", "gone"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::compile);
  EXPECT_EQ(result.error().message, "/nowhere/kernel.cl has no kernel gone; it has: here");
}

TEST_F(OpenCl, IncludesAreFoundBesideTheSourceAndInPathsWithSpaces) {
  const TemporaryFolder temporary;
  const auto folder = temporary.path() / "include test";
  std::filesystem::create_directories(folder / "more of it");
  std::ofstream(folder / "one.h") << "#define ONE 1\n";
  std::ofstream(folder / "more of it" / "two.h") << "#define TWO 2\n";
  auto asked =
      request("#include \"one.h\"\n#include \"two.h\"\nkernel void k(global int* x) { x[0] = ONE + TWO; }", "k");
  asked.file = (folder / "kernel.cl").string();
  asked.include_paths = {(folder / "more of it").string()};
  const auto result = backend->compiler("opencl:0")->compile(asked);
  ASSERT_TRUE(result) << result.error().message;
}

TEST_F(OpenCl, AnEditedIncludeIsCompiledAnew) {
  const TemporaryFolder temporary;
  const auto& folder = temporary.path();
  auto asked = request("#include \"outer.h\"\nkernel void k(global int* x) { x[0] = VALUE; }", "k");
  asked.file = (folder / "kernel.cl").string();
  std::ofstream(folder / "outer.h") << "#include <inner.h>\n";
  for (const int value : {1, 2}) {
    std::ofstream(folder / "inner.h") << "#define VALUE " << value << "\n";
    auto loaded = device->load(compiled(asked));
    ASSERT_TRUE(loaded);
    const auto x = buffer<int>({0});
    ASSERT_FALSE(device->run(launch(**loaded, 1, 1, {whole(*x)})));
    EXPECT_THAT(content<int>(*x), ElementsAre(value));
  }
}

TEST(OpenClOptions, TheSourceTellsEditedIncludesApart) {
  const TemporaryFolder temporary;
  const auto& folder = temporary.path();
  CompileRequest request;
  request.file = (folder / "kernel.cl").string();
  request.source = " #  include \"a.h\" // with a comment\n#include MACRO\n#include \"gone.h\"";
  const auto source = [&] { return opencl::full_source(request, opencl::build_options(request)); };
  EXPECT_THAT(source(), Not(HasSubstr("included files")));
  std::ofstream(folder / "a.h") << "#include \"a.h\"\n1";
  const std::string first = source();
  EXPECT_THAT(first, HasSubstr("// included files: "));
  std::ofstream(folder / "a.h") << "#include \"a.h\"\n2";
  EXPECT_NE(source(), first);
}

TEST(OpenClBinary, OptionsForLoadingTravelWithTheProgram) {
  const auto bytes = opencl::pack({"-cl-nv-maxrregcount=32", {1, '\n', 2}});
  const auto unpacked = opencl::unpack(bytes);
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->options, "-cl-nv-maxrregcount=32");
  EXPECT_THAT(unpacked->program, ElementsAre(1, '\n', 2));
  EXPECT_FALSE(opencl::unpack(std::span(bytes).first(20)));
  EXPECT_FALSE(opencl::unpack({}));
}

TEST_F(OpenCl, ABinaryThatIsNoProgramIsAFailure) {
  CompileResult broken;
  broken.entry = "k";
  for (const auto& binary : {std::vector<std::uint8_t>{1, 2, 3, 4}, opencl::pack({"", {1, 2, 3, 4}})}) {
    broken.binary = binary;
    const auto result = device->load(broken);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("kernel k"));
  }
}

TEST_F(OpenCl, OneCompilerServesManySources) {
  const auto compiler = backend->compiler("opencl:0");
  for (int i = 0; i < 3; ++i) {
    auto asked = request("kernel void k(global int* x) { x[0] = V; }", "k");
    asked.defines = {{"V", std::to_string(i)}};
    EXPECT_TRUE(compiler->compile(asked)) << i;
    asked.defines = {{"V", "+"}};
    EXPECT_FALSE(compiler->compile(asked)) << i;
  }
}

}  // namespace
}  // namespace wattune
