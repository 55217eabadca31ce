// The problems beside this file, each with both compilers: compiled, verified against its reference, and timed.

#include "evaluate/session.hpp"
#include "on_gpu.hpp"
#include "problem/problem.hpp"

namespace wattune {
namespace {

using Case = std::tuple<const char*, CudaCompilerChoice>;

class DeviceProblem : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    CudaBackendOptions options;
    options.compiler = std::get<1>(GetParam());
    try {
      backend_ = make_cuda_backend(options);
      device_ = backend_->open(tested_device());
      compiler_ = backend_->compiler(tested_device());
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "needs an NVIDIA GPU: " << error.what();
    }
    ReadOptions read;
    read.language = "CUDA";
    problem_ = read_problem(device_data() / "problems" / std::get<0>(GetParam()) / "problem.json", read);
  }

  tl::expected<CompileResult, Failure> compile(const std::vector<Value>& configuration) {
    CompileRequest request;
    request.device = device_->info().id;
    request.source = problem_.kernel.text;
    request.file = problem_.kernel.file.string();
    request.defines = defines(problem_, configuration);
    request.options = problem_.kernel.options;
    for (const auto& path : problem_.kernel.include_paths) request.include_paths.push_back(path.string());
    request.kernel_name = kernel_name(problem_, configuration);
    return compiler_->compile(request);
  }

  tl::expected<CompileResult, Failure> compile_reference() {
    const auto& kernel = *problem_.verification.kernel;
    CompileRequest request;
    request.device = device_->info().id;
    request.source = kernel.source;
    request.file = kernel.file.string();
    request.options = kernel.options;
    request.kernel_name = kernel.name;
    return compiler_->compile(request);
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
  Problem problem_;
};

INSTANTIATE_TEST_SUITE_P(All, DeviceProblem,
                         testing::Combine(testing::Values("constant_symbol", "templated", "large_shared_memory",
                                                          "host_code"),
                                          testing::Values(CudaCompilerChoice::automatic, CudaCompilerChoice::nvcc)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == CudaCompilerChoice::nvcc ? "_nvcc" : "_auto");
                         });

TEST_P(DeviceProblem, is_verified_and_timed_in_every_configuration) {
  Session session(problem_, *device_, nullptr, {});
  if (session.needs() != Session::Needs::nothing) {
    const bool kernel = session.needs() == Session::Needs::reference_kernel;
    const auto reference = kernel ? compile_reference() : compile(problem_.defaults);
    ASSERT_TRUE(reference) << reference.error().message;
    const auto failure = session.set_reference(*reference, kernel ? std::vector<Value>() : problem_.defaults);
    ASSERT_FALSE(failure) << failure->message;
  }
  const auto space = SearchSpace::build(problem_.parameters, problem_.restrictions);
  ASSERT_GT(space.size(), 0U);
  for (Count i = 0; i < space.size(); ++i) {
    const auto configuration = space.values(space.point(i));
    const auto binary = compile(configuration);
    ASSERT_TRUE(binary) << binary.error().message;
    const auto result = session.evaluate(*binary, configuration);
    ASSERT_TRUE(result.evaluation.ok()) << to_string(result.evaluation.outcome) << ": " << result.evaluation.message;
    EXPECT_EQ(result.evaluation.verification, "verified");
    EXPECT_GT(result.evaluation.quantities.at("time").value, 0);
    if (i == 0) {
      std::cout << problem_.name << " with " << binary->compiler << " in " << binary->seconds
                << " s: " << result.evaluation.quantities.at("time").value * 1e6 << " us, "
                << result.evaluation.resources.at("registers") << " registers\n";
    }
  }
}

}  // namespace
}  // namespace wattune
