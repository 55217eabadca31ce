// The example of the user documentation and the file that holds every addition are read without a complaint.

#include <iterator>

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::IsEmpty;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

class DocumentationTest : public ProblemTest {
 protected:
  /// The first block of the page in a language.
  static std::string block(const std::string& page, const std::string& language) {
    const std::string fence = "```" + language + "\n";
    const auto begin = page.find(fence);
    EXPECT_NE(begin, std::string::npos) << language;
    return page.substr(begin + fence.size(), page.find("\n```", begin) - begin - fence.size() + 1);
  }
};

TEST_F(DocumentationTest, the_example_of_the_reference_page_is_read_without_a_warning) {
  const std::string page = content(std::filesystem::path(WATTUNE_SOURCE_DIR) / "docs/problem-file.md");
  write("saxpy.cu", block(page, "cuda"));
  write("saxpy.cl", "__kernel void saxpy() { TILE; }");
  write("problem.json", block(page, "json"));
  const Problem problem = read_problem(folder / "problem.json");
  EXPECT_THAT(problem.warnings, IsEmpty());
  EXPECT_EQ(problem.kinds[0], ParameterKind::launch);
  EXPECT_EQ(problem.kinds[1], ParameterKind::code);
  EXPECT_THAT(read_problem(folder / "problem.json", {.problem_size = {}, .language = "OpenCL"}).warnings, IsEmpty());
}

TEST_F(DocumentationTest, every_addition_is_read_for_each_language) {
  const auto file = std::filesystem::path(WATTUNE_SOURCE_DIR) / "tests/problem/data/every_addition.json";
  for (const std::string language : {"CUDA", "OpenCL"}) {
    const Problem problem = read_problem(file, {.problem_size = {}, .language = language});
    EXPECT_THAT(problem.warnings, IsEmpty());
    EXPECT_EQ(problem.kernel.language, language);
    EXPECT_EQ(problem.metrics.size(), 4U);
    EXPECT_EQ(problem.objectives.size(), 3U);
    EXPECT_EQ(problem.observers, (std::vector<std::string>{"rack", "room"}));
    EXPECT_EQ(problem.launch_function, "twice");
  }
}

}  // namespace
}  // namespace wattune
