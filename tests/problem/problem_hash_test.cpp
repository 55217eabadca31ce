// What the problem's hash depends on, and what not.

#include "problem_fixture.hpp"

namespace wattune {
namespace {

class ProblemHashTest : public ProblemTest {
 protected:
  void SetUp() override {
    ProblemTest::SetUp();
    write("saxpy.cu", "#include \"a.h\"\nTILE block_size_x");
    write("a.h", "int a;");
    write("v.bin", "0123456789abcdef");
    write("ref.cu", "naive");
    parts.arguments =
        R"([{"Name": "y", "Type": "float", "MemoryType": "Vector", "Size": 4, "FillType": "BinaryRaw", "DataSource": "v.bin"}])";
    parts.specification = R"(, "CompilerOptions": ["-O3"], "SharedMemory": 0)";
    parts.wattune =
        R"({"Verification": {"Reference": {"Kernel": {"KernelName": "naive", "KernelFile": "ref.cu", "GridSize": [1], "LocalSize": [1]}}}})";
    original = parse(parts).hash;
  }
  std::string changed(std::string Parts::*part, const std::string& from, const std::string& to) const {
    Parts copy = parts;
    std::string& value = copy.*part;
    const auto at = value.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    value.replace(at, from.size(), to);
    return parse(copy).hash;
  }
  Parts parts;
  std::string original;
};

TEST_F(ProblemHashTest, it_is_the_same_for_the_same_problem) {
  EXPECT_EQ(original.size(), 32U);
  EXPECT_EQ(parse(parts).hash, original);
}

TEST_F(ProblemHashTest, layout_of_the_file_and_its_folder_do_not_matter) {
  EXPECT_EQ(changed(&Parts::arguments, "{", "{\n\n   "), original);
  const auto other = folder / "elsewhere/deep";
  std::filesystem::create_directories(other);
  for (const char* file : {"saxpy.cu", "a.h", "v.bin", "ref.cu"})
    std::filesystem::copy_file(folder / file, other / file);
  EXPECT_EQ(parse_problem(text(parts), other / "q.json").hash, original);
}

TEST_F(ProblemHashTest, objectives_metrics_and_budget_do_not_matter) {
  Parts copy = parts;
  copy.root = R"(, "Budget": [{"Type": "TuningDuration", "BudgetValue": 1}], "General": {"BenchmarkName": "other"})";
  copy.wattune.insert(1, R"("Objectives": [{"Name": "time"}], "Workload": {"Flop": 1}, )");
  EXPECT_EQ(parse(copy).hash, original);
}

TEST_F(ProblemHashTest, content_of_files_matters) {
  for (const char* file : {"saxpy.cu", "a.h", "v.bin", "ref.cu"}) {
    const auto path = folder / file;
    std::ifstream stream(path);
    const std::string content((std::istreambuf_iterator<char>(stream)), {});
    std::string other = content;
    other.front() = other.front() == '#' ? '\n' : 'X';
    if (std::string(file) == "saxpy.cu") other = content + "\n";
    write(file, other);
    EXPECT_NE(parse(parts).hash, original) << file;
    write(file, content);
  }
  EXPECT_EQ(parse(parts).hash, original);
}

TEST_F(ProblemHashTest, what_results_depend_on_matters) {
  EXPECT_NE(changed(&Parts::parameters, "[32, 64]", "[32, 96]"), original);
  EXPECT_NE(changed(&Parts::parameters, "[32, 64]", "[64, 32]"), original) << "points are positions in the lists";
  EXPECT_NE(changed(&Parts::conditions, "[]", R"([{"Expression": "TILE > 1"}])"), original);
  EXPECT_NE(changed(&Parts::specification, "-O3", "-O2"), original);
  EXPECT_NE(changed(&Parts::specification, "\"SharedMemory\": 0", "\"SharedMemory\": 8"), original);
  EXPECT_NE(changed(&Parts::launch, "[1000]", "[1001]"), original);
  EXPECT_NE(changed(&Parts::launch, "\"X\": \"block_size_x\"", "\"X\": \"32\""), original);
  EXPECT_NE(changed(&Parts::launch, "[\"block_size_x\"]", "[\"block_size_x\", \"TILE\"]"), original);
  EXPECT_NE(changed(&Parts::arguments, "\"Size\": 4", "\"Size\": 3"), original);
  EXPECT_NE(changed(&Parts::arguments, "\"float\"", "\"int32\""), original);
  EXPECT_NE(changed(&Parts::arguments, "BinaryRaw", "Script"), original);
  EXPECT_NE(changed(&Parts::wattune, "\"GridSize\": [1]", "\"GridSize\": [2]"), original);
  EXPECT_NE(changed(&Parts::wattune, "{\"Verification\": {", "{\"Verification\": {\"AbsoluteTolerance\": 1, "),
            original);
  EXPECT_NE(changed(&Parts::wattune, "{", R"({"Kinds": {"TILE": "launch"}, )"), original);
  EXPECT_NE(changed(&Parts::wattune, "{", R"({"Defines": {}, )"), original);
  EXPECT_NE(changed(&Parts::wattune, "{", R"({"Arguments": {"y": {"Reset": "zero"}}, )"), original);
  EXPECT_NE(parse(parts, {.problem_size = {{999}}, .language = {}}).hash, original);
}

TEST_F(ProblemHashTest, the_default_matters_where_it_is_the_reference) {
  Parts copy = parts;
  EXPECT_EQ(changed(&Parts::parameters, "\"Default\": 2", "\"Default\": 4"), original);
  copy.wattune = "{}";
  const std::string without_reference = parse(copy).hash;
  parts = copy;
  EXPECT_NE(changed(&Parts::parameters, "\"Default\": 2", "\"Default\": 4"), without_reference);
}

}  // namespace
}  // namespace wattune
