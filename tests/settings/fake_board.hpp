#pragma once
// A board in memory, and a folder for records of its own.

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "settings/keeper.hpp"

namespace wattune {

/// What a board is set to, and every call that changed it. Several boards that were opened share it, as processes do.
struct FakeSettings {
  std::mutex mutex;
  std::map<Setting, double> locked;
  double power_limit = 250;
  std::vector<std::string> calls;
  std::map<Setting, SettingError::Kind> failures;  ///< of setting and restoring
  bool permission = true;
  std::string hanging;  ///< UUID of a board whose calls do not return until it is cleared
  std::condition_variable hanging_ends;

  void hang(const std::string& uuid) {
    const std::lock_guard guard(mutex);
    hanging = uuid;
    hanging_ends.notify_all();
  }
  std::map<Setting, double> locks() {
    const std::lock_guard guard(mutex);
    return locked;
  }
  double limit() {
    const std::lock_guard guard(mutex);
    return power_limit;
  }
  bool is_restored() {
    const std::lock_guard guard(mutex);
    return locked.empty() && power_limit == 250;
  }
  std::vector<std::string> history() {
    const std::lock_guard guard(mutex);
    return calls;
  }
};

class FakeSettableBoard final : public SettableBoard {
 public:
  FakeSettableBoard(std::shared_ptr<FakeSettings> state, const std::string& uuid) : state_(std::move(state)) {
    capabilities_.uuid = uuid;
    capabilities_.name = "Fake 100";
    capabilities_.driver = "1.0";
    for (int clock = 210; clock <= 1410; clock += 15) capabilities_.sm_clocks.push_back(clock * 1e6);
    capabilities_.memory_clocks = {810e6, 1215e6};
    capabilities_.power_limit = SettingRange{150, 300};
    capabilities_.power_limit_default = 250;
    capabilities_.power_limit_now = 250;
    capabilities_.may_set_sm_clock = capabilities_.may_set_memory_clock = capabilities_.may_set_power_limit = true;
    capabilities_.route = "fake";
    capabilities_.routes = {{"fake", true, ""}};
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  SavedSettings read() override { return {state_->limit(), std::nullopt, std::nullopt, std::nullopt}; }
  void take_route(const std::string& name, const std::string&) override { capabilities_.route = name; }
  SettingResult try_permission() override {
    if (state_->permission) return std::nullopt;
    return SettingError{SettingError::Kind::no_permission, "cannot set anything: Insufficient Permissions"};
  }
  SettingResult set(Setting setting, double value) override {
    std::unique_lock guard(state_->mutex);
    state_->hanging_ends.wait(guard, [&] { return state_->hanging != capabilities_.uuid; });
    state_->calls.push_back("set " + std::string(to_string(setting)));
    if (auto error = failure(setting)) return error;
    if (setting == Setting::power_limit) {
      state_->power_limit = value;
    } else {
      state_->locked[setting] = value;
    }
    return std::nullopt;
  }
  SettingResult restore(Setting setting, const SavedSettings& before) override {
    const std::lock_guard guard(state_->mutex);
    state_->calls.push_back("restore " + std::string(to_string(setting)));
    if (auto error = failure(setting)) return error;
    if (setting == Setting::power_limit) {
      state_->power_limit = before.power_limit_w.value_or(0);
    } else {
      state_->locked.erase(setting);
      if (setting == Setting::sm_clock && before.locked_sm_clock_hz)
        state_->locked[setting] = *before.locked_sm_clock_hz;
    }
    return std::nullopt;
  }

 private:
  SettingResult failure(Setting setting) {
    const auto found = state_->failures.find(setting);
    if (found == state_->failures.end()) return std::nullopt;
    return SettingError{found->second, "cannot set the " + std::string(to_string(setting)) + ": as the test wants"};
  }

  std::shared_ptr<FakeSettings> state_;
  Capabilities capabilities_;
};

/// A fake board, and an empty folder for its records.
class SettingsTest : public testing::Test {
 protected:
  SettingsTest() { ::setenv("WATTUNE_SETTINGS_DIR", path.c_str(), 1); }
  ~SettingsTest() override { ::unsetenv("WATTUNE_SETTINGS_DIR"); }

  [[nodiscard]] BoardOpener opener() {
    return [state = state](const BoardName& name) -> std::unique_ptr<SettableBoard> {
      if (!name.uuid.starts_with("GPU-")) throw DeviceError("NVML has no board " + name.uuid);
      return std::make_unique<FakeSettableBoard>(state, name.uuid);
    };
  }
  [[nodiscard]] bool has_record(const std::string& uuid = "GPU-1") const {
    return std::filesystem::exists(path / (uuid + ".json"));
  }

  const TemporaryFolder temporary;
  const std::filesystem::path& path = temporary.path();
  std::shared_ptr<FakeSettings> state = std::make_shared<FakeSettings>();
};

/// What an error says; empty where nothing was thrown.
template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace wattune
