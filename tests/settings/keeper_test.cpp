#include "settings/keeper.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "driver/nvml_settings.hpp"
#include "fake_board.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using State = RestoreReport::State;

class KeeperTest : public SettingsTest {
 protected:
  Keeper take() {
    auto keeper = Keeper::take(*board, folder, own_identity(), std::nullopt);
    if (!keeper) throw RunError("the board is locked");
    return std::move(*keeper);
  }

  /// Sets, and dies without putting back, as a process that is killed.
  void leave_behind(const DeviceSettings& settings) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto keeper = Keeper::take(*board, folder, own_identity(), std::nullopt);
      keeper->set(settings);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    const std::lock_guard guard(state->mutex);
    if (settings.sm_clock_hz) state->locked[Setting::sm_clock] = *settings.sm_clock_hz;
    if (settings.power_limit_w) state->power_limit = *settings.power_limit_w;
  }

  SettingsFolder folder = SettingsFolder::open();
  std::unique_ptr<SettableBoard> board = opener()({"GPU-1", "", ""});
};

TEST_F(KeeperTest, PutsBackWhatItTouchedAndNothingElse) {
  Keeper keeper = take();
  EXPECT_FALSE(has_record());
  EXPECT_FALSE(keeper.set({1.2e9, std::nullopt, 200}));
  EXPECT_TRUE(has_record());
  EXPECT_EQ(state->limit(), 200);
  EXPECT_EQ(keeper.restore(), "");
  EXPECT_TRUE(state->is_restored());
  EXPECT_FALSE(has_record());
  EXPECT_THAT(state->history(),
              ElementsAre("set SM clock", "set power limit", "restore power limit", "restore SM clock"));
}

TEST_F(KeeperTest, SetsOnlyWhatChanges) {
  Keeper keeper = take();
  keeper.set({1.2e9, std::nullopt, 200});
  keeper.set({1.2e9, std::nullopt, 220});
  keeper.set({1.2e9, std::nullopt, 220});
  EXPECT_THAT(state->history(), ElementsAre("set SM clock", "set power limit", "set power limit"));
}

TEST_F(KeeperTest, DestructorPutsBack) {
  {
    Keeper keeper = take();
    keeper.set({1.2e9, std::nullopt, std::nullopt});
  }
  EXPECT_TRUE(state->is_restored());
}

TEST_F(KeeperTest, BringsBackTheLockThatTheUserTells) {
  auto keeper = Keeper::take(*board, folder, own_identity(), 900e6);
  keeper->set({1.2e9, std::nullopt, std::nullopt});
  keeper->restore();
  EXPECT_EQ(state->locks().at(Setting::sm_clock), 900e6);
}

TEST_F(KeeperTest, ASettingThatFailsIsPutBackAllTheSame) {
  Keeper keeper = take();
  state->failures[Setting::power_limit] = SettingError::Kind::other;
  const auto error = keeper.set({1.2e9, std::nullopt, 200});
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("as the test wants"));
  state->failures.clear();
  EXPECT_EQ(keeper.restore(), "");
  EXPECT_TRUE(state->is_restored());
}

TEST_F(KeeperTest, RecordStaysWhereABoardCannotBePutBack) {
  Keeper keeper = take();
  keeper.set({1.2e9, std::nullopt, std::nullopt});
  state->failures[Setting::sm_clock] = SettingError::Kind::lost_device;
  EXPECT_THAT(keeper.restore(), HasSubstr("as the test wants"));
  EXPECT_TRUE(has_record());
  state->failures.clear();
  const auto reports = restore_all(folder, opener(), nullptr);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].state, State::restored);
  EXPECT_TRUE(state->is_restored());
}

TEST_F(KeeperTest, OneBoardHasOneKeeper) {
  Keeper keeper = take();
  EXPECT_FALSE(Keeper::take(*board, folder, own_identity(), std::nullopt));
  EXPECT_THAT(folder.holder("GPU-1"), HasSubstr("pid " + std::to_string(::getpid())));
  keeper.set({1.2e9, std::nullopt, std::nullopt});
  EXPECT_EQ(folder.holder("GPU-1"), "wattune (pid " + std::to_string(::getpid()) + ")");
}

TEST_F(KeeperTest, NextKeeperPutsBackWhatWasLeftBehind) {
  leave_behind({1.2e9, std::nullopt, 200});
  EXPECT_FALSE(state->is_restored());
  Keeper keeper = take();
  EXPECT_TRUE(state->is_restored());
  EXPECT_FALSE(has_record());
}

TEST_F(KeeperTest, RestorePutsBackWhatWasLeftBehind) {
  leave_behind({1.2e9, std::nullopt, 200});
  const auto reports = restore_all(folder, opener(), nullptr);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].message, "GPU-1: put back (SM clock, power limit)");
  EXPECT_TRUE(state->is_restored());
  EXPECT_TRUE(restore_all(folder, opener(), nullptr).empty());
}

TEST_F(KeeperTest, RestoreLeavesLivingRunsAlone) {
  Keeper keeper = take();
  keeper.set({1.2e9, std::nullopt, std::nullopt});
  const auto reports = restore_all(folder, opener(), nullptr);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].state, State::in_use);
  EXPECT_THAT(reports[0].message, HasSubstr("in use by wattune (pid " + std::to_string(::getpid())));
  EXPECT_FALSE(state->is_restored());
}

TEST_F(KeeperTest, WhatARebootHasPutBackIsForgotten) {
  leave_behind({1.2e9, std::nullopt, std::nullopt});
  auto record = *folder.find("GPU-1");
  record.boot = "another";
  folder.write(record);
  const auto reports = restore_all(folder, opener(), nullptr);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].state, State::nothing_to_do);
  EXPECT_FALSE(has_record());
  EXPECT_TRUE(state->history().empty());
}

TEST_F(KeeperTest, RecordThatCannotBeReadIsTold) {
  std::ofstream(path / "GPU-1.json") << "{\"version\": 1";
  std::vector<std::string> problems;
  EXPECT_TRUE(restore_all(folder, opener(), &problems).empty());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0],
              AllOf(HasSubstr("GPU-1.json' is damaged (it is not a JSON object)"), HasSubstr("nvidia-smi -rgc"),
                    HasSubstr("then delete the file"), Not(HasSubstr("exception"))));
}

TEST_F(KeeperTest, BoardWithADamagedRecordIsNotTakenAndTheFileAndItsKeyAreNamed) {
  const auto refused_with = [&](const std::string& text) {
    std::ofstream(path / "GPU-1.json") << text;
    return error_of([&] { take(); });
  };
  EXPECT_THAT(refused_with("garbage"), AllOf(HasSubstr("GPU-1.json' is damaged (it is not a JSON object)"),
                                             HasSubstr("then delete the file"), Not(HasSubstr("exception"))));
  EXPECT_THAT(refused_with(R"({"version": 1})"), HasSubstr("(key 'uuid' is missing)"));
  EXPECT_THAT(refused_with(R"({"version": "1"})"), HasSubstr("(key 'version' does not hold what it should)"));
  EXPECT_THAT(refused_with(R"({"version": 2})"),
              HasSubstr("GPU-1.json' cannot be used: it was written by another version"));
}

TEST_F(KeeperTest, WithoutPermissionNothingIsTakenOrNoted) {
  state->permission = false;
  EXPECT_THAT(error_of([&] { take(); }), HasSubstr("Insufficient Permissions"));
  EXPECT_FALSE(has_record());
}

TEST_F(SettingsTest, FolderThatOthersCanWriteToIsRefused) {
  std::filesystem::permissions(path, std::filesystem::perms::all);
  EXPECT_THAT(error_of([] { SettingsFolder::open(); }),
              testing::AllOf(HasSubstr("others may write to it"), HasSubstr("WATTUNE_SETTINGS_DIR")));
}

TEST_F(SettingsTest, FolderThatIsALinkIsRefused) {
  std::filesystem::create_directory(path / "real");
  std::filesystem::create_directory_symlink(path / "real", path / "link");
  ::setenv("WATTUNE_SETTINGS_DIR", (path / "link").c_str(), 1);
  EXPECT_THAT(error_of([] { SettingsFolder::open(); }), HasSubstr("it is no folder"));
}

TEST_F(SettingsTest, BoardsOfStrangeNamesStayInTheFolder) {
  const auto folder = SettingsFolder::open();
  SettingsRecord record;
  record.uuid = "../../GPU-1";
  folder.write(record);
  EXPECT_TRUE(std::filesystem::exists(path / "______GPU-1.json"));
}

TEST(ReadOnly, NoSetterIsCalledWhateverElseIsAsked) {
  std::string why_not;
  const auto library = SharedLibrary::open(std::string(WATTUNE_BINARY_DIR) + "/tests/fake/libfake_nvml.so", why_not);
  ASSERT_TRUE(library) << why_not;
  const NvmlSetters setters(*library);
  ::setenv("WATTUNE_READ_ONLY", "1", 1);
  EXPECT_THAT(error_of([&] { static_cast<void>(setters.lock_sm_clock(nullptr, 1200, 1200)); }),
              HasSubstr("cannot lock the SM clock: WATTUNE_READ_ONLY=1"));
  EXPECT_NE(error_of([&] { static_cast<void>(setters.reset_sm_clock(nullptr)); }), "");
  EXPECT_NE(error_of([&] { static_cast<void>(setters.lock_memory_clock(nullptr, 1, 1)); }), "");
  EXPECT_NE(error_of([&] { static_cast<void>(setters.reset_memory_clock(nullptr)); }), "");
  EXPECT_NE(error_of([&] { static_cast<void>(setters.set_application_clocks(nullptr, 1, 1)); }), "");
  EXPECT_NE(error_of([&] { static_cast<void>(setters.reset_application_clocks(nullptr)); }), "");
  EXPECT_NE(error_of([&] { static_cast<void>(setters.set_power_limit(nullptr, 1)); }), "");
  ::setenv("WATTUNE_READ_ONLY", "0", 1);
  EXPECT_EQ(setters.lock_sm_clock(nullptr, 1200, 1200), NvmlResult::function_not_found);
  ::unsetenv("WATTUNE_READ_ONLY");
}

}  // namespace
}  // namespace wattune
