// What the simulated compiler sees in a source.

#include "nvrtc/source.hpp"

#include <gmock/gmock.h>

namespace wattune::simgpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> words(const Preprocessor& preprocessor) {
  std::vector<std::string> result;
  for (const auto& token : preprocessor.tokens()) result.push_back(token.text);
  return result;
}

Preprocessor run(const std::string& text) {
  Preprocessor preprocessor({}, {});
  preprocessor.run(text, "kernel.cu");
  return preprocessor;
}

SourceFacts facts(const std::string& text, const std::string& kernel = "k") {
  const auto preprocessor = run(text);
  return look_at(preprocessor.tokens(), kernel);
}

TEST(SimulatedPreprocessor, replaces_macros_and_leaves_out_comments) {
  EXPECT_THAT(words(run("#define N 4 // four\n#define M (N * 2)\nint /* a\nb */ a[M];\n")),
              ElementsAre("int", "a", "[", "(", "4", "*", "2", ")", "]", ";"));
}

TEST(SimulatedPreprocessor, follows_conditions) {
  EXPECT_THAT(
      words(run("#define N 4\n#if N > 4\na\n#elif N == 4 && !defined(M)\nb\n#else\nc\n#endif\n#ifdef M\nd\n#endif\n")),
      ElementsAre("b"));
}

TEST(SimulatedPreprocessor, tells_errors_with_their_place) {
  EXPECT_THAT(run("\n#error first\n").errors(), ElementsAre(HasSubstr("kernel.cu(2): error: #error directive: first")));
  EXPECT_THAT(run("#if 0\n#error hidden\n#endif\n").errors(), IsEmpty());
  EXPECT_THAT(run("#line 10 \"other.cu\"\n#error here\n").errors(), ElementsAre(HasSubstr("other.cu(10)")));
  EXPECT_THAT(run("#if 1\n").errors(), ElementsAre(HasSubstr("#endif")));
  EXPECT_THAT(run("#endif\n").errors(), ElementsAre(HasSubstr("without #if")));
  EXPECT_THAT(run("#include \"nowhere.h\"\n").errors(), ElementsAre(HasSubstr("nowhere.h")));
  EXPECT_THAT(run("#include <cuda_fp16.h>\n").errors(), IsEmpty());
}

TEST(SimulatedPreprocessor, survives_what_is_no_source) {
  run("#define A A\nA\n#define B C\n#define C B\nB");
  run("\"unterminated\n'");
  run("/* open");
  run("#if ((((((\n#endif");
  run("#define\n#if\n#endif\n#include\n#\n#line\n");
  run(std::string("\0#if\xff", 5));
}

TEST(SimulatedCompiler, adds_up_shared_memory_and_arrays) {
  const auto found = facts(
      "#define N 16\nstruct V { float s[4]; };\nconstexpr int M = N / 2;\n"
      "extern \"C\" __global__ __launch_bounds__(N * 8, 2) void k(float* x) {\n"
      "  __shared__ V tile[N][M];\n  extern __shared__ float more[];\n  float own[N];\n  double pair[2];\n}\n");
  EXPECT_TRUE(found.has_kernel);
  EXPECT_TRUE(found.is_extern_c);
  EXPECT_EQ(found.shared_bytes, 16U * 8 * 16);
  EXPECT_EQ(found.array_words, 16U + 4);
  EXPECT_EQ(found.max_threads, 128U);
  EXPECT_THAT(found.imbalance, IsEmpty());
}

TEST(SimulatedCompiler, finds_kernels_in_templates_and_behind_macros) {
  EXPECT_TRUE(facts("template <int N> __global__ void k(float* x) {}").has_kernel);
  EXPECT_TRUE(facts("#define KERNEL extern \"C\" __global__\nKERNEL void k(int n) {}").is_extern_c);
  EXPECT_FALSE(facts("__global__ void other(int n) { k(n); }").has_kernel);
  EXPECT_FALSE(facts("__global__ void other(int n) {}").has_name);
}

TEST(SimulatedCompiler, finds_variables_of_the_module) {
  const auto found = facts("__constant__ float a[8];\n__device__ int b;\n__device__ int f(int x) { return x; }\n");
  ASSERT_THAT(found.variables, SizeIs(2));
  EXPECT_EQ(found.variables[0].name, "a");
  EXPECT_EQ(found.variables[0].bytes, 32U);
  EXPECT_EQ(found.variables[1].name, "b");
}

TEST(SimulatedCompiler, tells_brackets_that_do_not_match) {
  EXPECT_THAT(facts("void f() { {").imbalance, HasSubstr("\"}\""));
  EXPECT_THAT(facts("void f() ) ").imbalance, HasSubstr("\"(\""));
  EXPECT_THAT(facts("char c = '{'; const char* s = \"((\";").imbalance, IsEmpty());
}

TEST(SimulatedCompiler, evaluates_integer_expressions_as_c_does) {
  const auto value = [](const std::string& text) { return evaluate(tokens_of(text), {{"n", 6}}); };
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3 % 5"), 4);
  EXPECT_EQ(value("n > 4 ? n / 4 : 0"), 1);
  EXPECT_EQ(value("!0 && ~0 == -1"), 1);
  EXPECT_EQ(value("1 << 5 | 3"), 35);
  EXPECT_EQ(value("0x10u"), 16);
  EXPECT_EQ(value("1 / 0"), std::nullopt);
  EXPECT_EQ(value("m"), std::nullopt);
  EXPECT_EQ(value("1 +"), std::nullopt);
  EXPECT_EQ(value("99999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace wattune::simgpu
