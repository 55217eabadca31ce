// Energy through the public interface, on a simulated GPU and in this process.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "wattune/wattune.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

class LibraryEnergy : public ::testing::Test {
 protected:
  // The library opens one simulated machine in a process.
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "wattune-library-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    ::setenv("WATTUNE_SIMGPU", WATTUNE_SIMGPU_LIBRARY, 1);
  }
  static void TearDownTestSuite() {
    ::unsetenv("WATTUNE_SIMGPU");
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  static TuningRequest request(const std::string& name) {
    TuningRequest result;
    result.file = WATTUNE_SOURCE_DIR "/kernels/gemm/problem.json";
    result.device = "sim:h200";
    result.minimize = {"energy"};
    result.strategy = "random";
    result.budget = "40";
    result.output = folder / name;
    return result;
  }
  static std::size_t count(const TuningResult& result, const std::string& tier) {
    return static_cast<std::size_t>(std::count_if(result.evaluations.begin(), result.evaluations.end(),
                                                  [&](const auto& evaluation) { return evaluation.tier == tier; }));
  }
  static std::size_t count_bounds(const TuningResult& result) {
    return static_cast<std::size_t>(
        std::count_if(result.evaluations.begin(), result.evaluations.end(),
                      [](const auto& evaluation) { return evaluation.quantities.contains("energy_bound"); }));
  }
  static inline std::filesystem::path folder;
};

TEST_F(LibraryEnergy, MeasuresTheBestAgainAndWhatCannotWinNoFurther) {
  const auto result = tune(request("default"));
  EXPECT_EQ(count(result, "screen"), 40U);
  EXPECT_GE(count(result, "final"), 5U);
  EXPECT_GT(count_bounds(result), 0U);
  EXPECT_EQ(result.best().tier, "final");
  EXPECT_GE(result.best().quantities.at("energy").samples, 4);
}

TEST_F(LibraryEnergy, MeasuresEverythingWhereThatIsAskedFor) {
  auto all = request("all");
  all.measure_hopeless = true;
  all.finalists = 0;
  const auto result = tune(all);
  EXPECT_EQ(result.evaluations.size(), 40U);
  EXPECT_EQ(count_bounds(result), 0U);
  EXPECT_EQ(result.best().tier, "screen");
}

TEST_F(LibraryEnergy, ComesFromTheEstimatorAskedFor) {
  auto wanted = request("estimator");
  wanted.energy_estimator = "median";
  wanted.budget = "2";
  wanted.finalists = 0;
  EXPECT_GT(tune(wanted).best().value("energy"), 0);
  wanted.energy_estimator = "guess";
  try {
    tune(wanted);
    ADD_FAILURE() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("guess"));
    EXPECT_THAT(error.what(), HasSubstr("integral"));
  }
}

}  // namespace
}  // namespace wattune
