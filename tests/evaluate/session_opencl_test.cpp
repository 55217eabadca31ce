// The same on a real OpenCL device.

#include <gmock/gmock.h>

#include "backend/opencl/opencl_backend.hpp"
#include "evaluate/session.hpp"
#include "problems.hpp"

// Read by the leak sanitizer: PoCL and LLVM keep what they allocate until the process ends.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang\n";
}  // NOLINT

namespace wattune {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t count = 256;

class OpenClSession : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      backend = make_opencl_backend();
      device = backend->open("opencl:0");
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "no OpenCL here: " << error.what();
    }
  }

  CompileResult compiled(const std::string& source) {
    CompileRequest request;
    request.source = source;
    request.kernel_name = "k";
    auto result = backend->compiler("opencl:0")->compile(request);
    if (!result) throw std::runtime_error(result.error().message);
    return *result;
  }

  Evaluation evaluate(const Problem& problem, const std::string& source,
                      const std::vector<Value>& configuration = {16}) {
    Session session(problem, *device, nullptr, MeasureOptions{});
    return session.evaluate(compiled(source), configuration).evaluation;
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Device> device;
};

Problem saxpy_problem() {
  Problem problem =
      make_problem({scalar_argument("a", "float", 2), vector_argument("x", "float", count, Access::read_only, 3),
                    output_argument("y", "float", count, Access::write_only)});
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 6;
  return problem;
}

TEST_F(OpenClSession, ARightKernelIsVerifiedAndTimed) {
  const Evaluation result = evaluate(saxpy_problem(), R"(
kernel void k(float a, global const float* x, global float* y) { size_t i = get_global_id(0); y[i] = a * x[i]; })");
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.verification, "verified");
  EXPECT_GT(result.quantities.at("time").value, 0);
  EXPECT_GE(result.quantities.at("time").value, result.quantities.at("time_min").value);
  EXPECT_GT(result.resources.at("max_work_group"), 0);
}

TEST_F(OpenClSession, WritesOutOfBoundsAreCaughtOnBothSides) {
  const std::string start =
      "kernel void k(float a, global const float* x, global float* y) { size_t i = get_global_id(0);";
  Evaluation result = evaluate(saxpy_problem(), start + "y[i] = a * x[i]; if (i == 255) y[i + 1] = 1; }");
  EXPECT_EQ(result.outcome, Outcome::correctness);
  EXPECT_THAT(result.message, HasSubstr("after argument y: first at byte 1024"));
  result = evaluate(saxpy_problem(), start + "y[i] = a * x[i]; if (i == 0) y[-2] = 1; }");
  EXPECT_EQ(result.outcome, Outcome::correctness);
  EXPECT_THAT(result.message, HasSubstr("before argument y: first at byte -8"));
}

TEST_F(OpenClSession, OutputsThatAreNotWrittenAreCaught) {
  const Evaluation result = evaluate(saxpy_problem(), R"(
kernel void k(float a, global const float* x, global float* y) { size_t i = get_global_id(0); if (i < 200) y[i] = a * x[i]; })");
  EXPECT_EQ(result.outcome, Outcome::correctness);
  EXPECT_THAT(result.message, HasSubstr("56 were not written at all"));
}

TEST_F(OpenClSession, AWorkGroupThatIsTooLargeIsAResourceFailure) {
  const std::uint64_t limit = device->info().max_work_group;
  const std::int64_t block = static_cast<std::int64_t>(limit) * 2;
  Problem problem = saxpy_problem();
  problem.global_size[0] = Expression::parse("1");
  const Evaluation result = evaluate(problem, R"(
kernel void k(float a, global const float* x, global float* y) { size_t i = get_global_id(0); if (i < 256) y[i] = a * x[i]; })",
                                     {block});
  EXPECT_EQ(result.outcome, Outcome::resources);
}

TEST_F(OpenClSession, ScalarsOfEveryTypeArrive) {
  std::vector<Argument> arguments = {output_argument("y", "double", 9, Access::write_only)};
  for (const char* type :
       {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double"}) {
    arguments.push_back(scalar_argument(type, type, 7));
  }
  arguments[0].size = 10;
  Problem problem = make_problem(arguments, 16);
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 7;
  const Evaluation result = evaluate(problem, R"(
kernel void k(global double* y, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i, double j) {
  if (get_global_id(0) != 0) return;
  y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = g; y[7] = h; y[8] = i; y[9] = j;
})");
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.verification, "verified");
}

TEST_F(OpenClSession, LocalAndConstantArgumentsReachTheKernel) {
  Argument filter = vector_argument("filter", "int32", 4, Access::read_only, 5);
  filter.memory = MemoryKind::constant;
  Argument tile = vector_argument("tile", "int32", 0, Access::read_write);
  tile.memory = MemoryKind::local;
  tile.local_size = Expression::parse("block");
  Problem problem = make_problem({output_argument("y", "int32", count, Access::write_only), filter, tile});
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 5;
  const Evaluation result = evaluate(problem, R"(
kernel void k(global int* y, constant int* filter, local int* tile) {
  size_t i = get_local_id(0);
  tile[i] = filter[i % 4];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
})");
  EXPECT_TRUE(result.ok()) << result.message;
}

TEST_F(OpenClSession, VectorsAreComparedByComponent) {
  Problem problem = make_problem({output_argument("y", "float4", count, Access::write_only)});
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 1;
  const Evaluation result =
      evaluate(problem, "kernel void k(global float4* y) { y[get_global_id(0)] = (float4)(1, 1, 2, 1); }");
  EXPECT_EQ(result.outcome, Outcome::correctness);
  EXPECT_THAT(result.message, HasSubstr("256 of 1024 values are wrong; first at element 0 component 2"));
}

TEST_F(OpenClSession, AResetKeepsAnAccumulatorFromGrowing) {
  Problem problem = make_problem({output_argument("y", "int32", count, Access::read_write, 3)});
  problem.arguments[0].reset = Reset::restore;
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 4;
  const Evaluation result = evaluate(problem, R"(
kernel void k(global int* y) {
  size_t i = get_global_id(0);
  int s = y[i];
  for (int j = 0; j < 20000; ++j) s = s * 3 + j;
  y[i] = s == 123456 ? 5 : y[i] + 1;
})");
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_GT(result.quantities.at("reset_time").value, 0);
}

TEST_F(OpenClSession, ALongKernelRunsJustAFewTimes) {
  Problem problem = make_problem({output_argument("y", "int32", 1, Access::read_write, 0)}, 16);
  problem.verification.reference = Verification::Reference::none;
  MeasureOptions options;
  options.max_time_seconds = 0.02;
  Session session(problem, *device, nullptr, options);
  // A dependent chain of some hundred milliseconds.
  const auto result = session.evaluate(compiled(R"(
kernel void k(global int* y) {
  if (get_global_id(0) != 0) return;
  uint s = (uint)y[0];
  for (int j = 0; j < 100000000; ++j) s = s * 1664525u + 1013904223u + (s >> 16);
  y[0] = (int)s;
})"),
                                       {16});
  ASSERT_TRUE(result.evaluation.ok()) << result.evaluation.message;
  EXPECT_LE(result.evaluation.quantities.at("time").n, 2);
}

}  // namespace
}  // namespace wattune
