// A program's own observer fails while the clock of a simulated GPU is set: the board is put back.

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "driver/library.hpp"
#include "tune/live_evaluator.hpp"
#include "tune/setting_axes.hpp"
#include "tune/simulated.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

constexpr const char* device = "sim:a100-pcie-40gb";

constexpr const char* text = R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "block_size_x", "Values": [64]}, {"Name": "WAY", "Values": [1, 2]},
    {"Name": "nvml_gr_clock", "Values": [900]}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu", "ProblemSize": [4096],
    "LocalSize": {"X": "block_size_x"},
    "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
                   "Size": "ProblemSize[0]"}]},
  "wattune": {"Observers": ["failing"]}})";

class ObserverUnderSettings : public ::testing::Test {
 protected:
  // The library opens one simulated machine in a process.
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "wattune-observer-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    ::setenv("WATTUNE_SIMGPU", WATTUNE_SIMGPU_LIBRARY, 1);
    ::setenv("WATTUNE_SIM_GPUS", "a100-pcie-40gb", 1);
    ::setenv("WATTUNE_SIM_STATE", (folder / "machine").c_str(), 1);
  }
  static void TearDownTestSuite() {
    for (const char* variable : {"WATTUNE_SIMGPU", "WATTUNE_SIM_GPUS", "WATTUNE_SIM_STATE"}) ::unsetenv(variable);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }

  ObserverUnderSettings() {
    std::ofstream(folder / "scale.cu") << "extern \"C\" __global__ void scale(float* y) { y[threadIdx.x] = WAY; }\n";
    clock = prepare_simulation(device, folder);
    problem = parse_problem(text, folder / "problem.json", ReadOptions{});
    SettingChoice choice;
    choice.allowed = true;
    settings = open_settings(device, {Setting::sm_clock}, choice);
    settings->acquire(0, -1);
  }
  /// What the board's SM clock is locked to, as the simulated machine knows it.
  static double lock() {
    std::string why_not;
    double (*truth)(unsigned, const char*) = nullptr;
    SharedLibrary::open(WATTUNE_SIMGPU_LIBRARY, why_not)->required(truth, "wattune_sim_truth");
    return truth(0, "sm_lock_high");
  }

  /// The evaluation of a value of WAY.
  Evaluation evaluate(LiveEvaluator& evaluator, int way) {
    Proposal proposal;
    proposal.configuration = {Value(64), Value(way), Value(900)};
    evaluator.submit(std::move(proposal));
    auto done = evaluator.next(120, -1);
    if (!done) throw RunError("no evaluation came");
    return std::move(done->evaluation);
  }

  LiveOptions options() {
    LiveOptions live;
    live.device = device;
    live.settings = settings;
    live.look_for_lock = false;
    live.clock = clock.get();
    return live;
  }

  static inline std::filesystem::path folder;
  std::unique_ptr<Clock> clock;
  Problem problem;
  std::shared_ptr<SettingsClient> settings;
};

TEST_F(ObserverUnderSettings, ThatThrowsCostsItsConfigurationAndTheBoardIsPutBack) {
  LiveEvaluator evaluator(problem, text, options());
  ASSERT_TRUE(evaluator.start(-1));
  EXPECT_TRUE(evaluate(evaluator, 1).ok());
  const Evaluation failed = evaluate(evaluator, 2);
  EXPECT_THAT(failed.message, HasSubstr("the instrument is unplugged"));
  EXPECT_EQ(lock(), 900e6);
  EXPECT_EQ(settings->release(), "");
  EXPECT_EQ(lock(), 0);
}

TEST_F(ObserverUnderSettings, ExceptionThatEndsTheProgramPutsTheBoardBack) {
  try {
    LiveEvaluator evaluator(problem, text, options());
    ASSERT_TRUE(evaluator.start(-1));
    evaluate(evaluator, 2);
    EXPECT_EQ(lock(), 900e6);
    throw RunError("the program gives up");
  } catch (const RunError&) {
    settings.reset();
  }
  EXPECT_EQ(lock(), 0);
}

}  // namespace
}  // namespace wattune
