#include "model/calibration.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"
#include "base/error.hpp"

namespace wattune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A board with a ridge at 1 GHz, sampled at ten clocks, that reaches 1.4 of 1.6 GHz.
Calibration sampled_board(const std::string& board = "GPU-1", const std::string& driver = "550") {
  Calibration calibration;
  calibration.board = board;
  calibration.name = "A board";
  calibration.driver = driver;
  calibration.made = "2026-01-01T00:00:00.000Z";
  calibration.simulated = true;
  const PowerModel truth{30, 0, 4e-8, 0, std::numeric_limits<double>::infinity(), VoltageCurve::hinge(1e9, 1e-9)};
  for (double clock = 5e8; clock < 1.65e9; clock += 1e8) calibration.supported_clocks.push_back(clock);
  for (double clock = 5e8; clock < 1.45e9; clock += 1e8) {
    calibration.compute.push_back(
        {{clock, truth.power(clock), std::numeric_limits<double>::quiet_NaN(), clock}, 1e6 / clock, 45});
  }
  return calibration;
}

class CalibrationStoreTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<KnownCalibration> find(const std::string& board, const std::string& driver,
                                                     const std::string& name = "A board", bool simulated = true) const {
    return find_calibration(board, driver, name, simulated, folder_);
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST(CalibrationTest, ItsModelIsThatOfTheComputingKernel) {
  EXPECT_NEAR(sampled_board().fit().ridge_hz, 1e9, 1e6);
}

TEST(CalibrationTest, ClocksBeyondTheHighestThatWasReachedAreNotReachable) {
  EXPECT_EQ(sampled_board().reachable_clocks().back(), 1.4e9);
  EXPECT_EQ(sampled_board().reachable_clocks().size(), 10);
}

TEST(CalibrationTest, IsWrittenAndReadTheSame) {
  const auto text = to_json(sampled_board());
  EXPECT_EQ(to_json(calibration_from_json(text)), text);
}

TEST(CalibrationTest, WhatCannotBeIsRefusedWithTheKey) {
  const auto refusal = [](const std::function<void(nlohmann::json&)>& change) {
    auto text = to_json(sampled_board());
    change(text);
    try {
      calibration_from_json(text);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0]["power_w"] = -1; }), HasSubstr("'power_w'"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0]["power_w"] = 2e5; }), HasSubstr("'power_w' is 200000"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0]["time_s"] = 1e6; }), HasSubstr("'time_s'"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0]["voltage_v"] = 850; }), HasSubstr("'voltage_v'"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0]["temperature_c"] = 5000; }), HasSubstr("'temperature_c'"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"][0].erase("clock_hz"); }), HasSubstr("'clock_hz'"));
  EXPECT_THAT(refusal([](auto& t) { t["compute"] = "none"; }), HasSubstr("'compute'"));
  EXPECT_THAT(refusal([](auto& t) { t["format"] = 2; }), HasSubstr("'format'"));
  EXPECT_THAT(refusal([](auto& t) { t["supported_clocks_hz"] = {2e9, 1e9}; }), HasSubstr("'supported_clocks_hz'"));
  EXPECT_THAT(refusal([](auto& t) { t.erase("simulated"); }), HasSubstr("'simulated'"));
}

TEST_F(CalibrationStoreTest, TheBoardsOwnIsFoundAgain) {
  save_calibration(sampled_board("GPU-2"), folder_);
  save_calibration(sampled_board("GPU-1"), folder_);
  const auto found = find("GPU-1", "550");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->own);
  EXPECT_EQ(found->calibration.board, "GPU-1");
}

TEST_F(CalibrationStoreTest, AnotherDriversIsBetterThanAnotherBoards) {
  save_calibration(sampled_board("GPU-1", "540"), folder_);
  auto later = sampled_board("GPU-2");
  later.made = "2026-02-02T00:00:00.000Z";
  save_calibration(later, folder_);
  EXPECT_EQ(find("GPU-1", "550")->calibration.driver, "540");
}

TEST_F(CalibrationStoreTest, AnotherBoardOfTheModelStandsInAndIsMarked) {
  save_calibration(sampled_board("GPU-2"), folder_);
  const auto found = find("GPU-1", "550");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->own);
  EXPECT_FALSE(find("GPU-1", "550", "Another board"));
  EXPECT_FALSE(find("GPU-1", "550", "A board", false)) << "what is simulated says nothing of what is real";
}

TEST_F(CalibrationStoreTest, DamagedFilesCountAsIfTheyWereNotThere) {
  std::ofstream(folder_ / "GPU-1_550.json") << R"({"format": 1)";
  auto few = sampled_board("GPU-3");
  few.compute.resize(2);
  save_calibration(few, folder_);
  EXPECT_FALSE(find("GPU-1", "550"));
  EXPECT_FALSE(find_calibration("GPU-1", "550", "A board", true, folder_ / "missing"));
}

TEST_F(CalibrationStoreTest, ADamagedFileOfThisBoardIsToldOf) {
  const fs::path file = folder_ / "GPU-1_550.json";
  std::ofstream(file) << R"({"format": 1)";
  save_calibration(sampled_board("GPU-2"), folder_);
  std::string problem;
  EXPECT_TRUE(find_calibration("GPU-1", "550", "A board", true, folder_, &problem))
      << "another board of the model stands in";
  EXPECT_THAT(problem, testing::AllOf(HasSubstr(file.string()), HasSubstr("'wattune calibrate' makes it anew")));
  problem.clear();
  find_calibration("GPU-1", "simulated, CUDA 13.0", "A board", true, folder_, &problem);
  EXPECT_THAT(problem, HasSubstr(file.string())) << "under whatever name the driver goes";
  problem.clear();
  EXPECT_FALSE(find_calibration("GPU-2", "551", "Another board", true, folder_, &problem));
  EXPECT_EQ(problem, "") << "other boards' files are not this one's";
}

TEST_F(CalibrationStoreTest, AFolderThatCannotBeWrittenIsAnErrorThatSaysWhatToDo) {
  std::ofstream(folder_ / "plain") << "no folder";
  try {
    save_calibration(sampled_board(), folder_ / "plain");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("name another folder in WATTUNE_CALIBRATION_DIR"));
  }
}

}  // namespace
}  // namespace wattune
