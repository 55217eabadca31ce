// NVML's own ways to set clocks and limits.

#include <fmt/format.h>

#include <cmath>

#include "settings/board.hpp"

namespace wattune {

namespace {

unsigned megahertz(double hertz) {
  return static_cast<unsigned>(std::lround(hertz * 1e-6));
}

SettingResult set_power_limit(const NvmlBoardAccess& access, double watts) {
  const auto milliwatts = static_cast<unsigned>(std::lround(watts * 1e3));
  return access.check(access.setters.set_power_limit(access.device, milliwatts),
                      fmt::format("set the power limit to {:g} W", watts));
}

class LockedRoute final : public SettingRoute {
 public:
  LockedRoute(std::shared_ptr<const NvmlBoardAccess> access, const Capabilities& capabilities)
      : access_(std::move(access)),
        has_clocks_(!capabilities.sm_clocks.empty()),
        has_memory_clocks_(capabilities.memory_clocks.size() > 1),
        has_power_limit_(capabilities.power_limit.has_value()) {}

  [[nodiscard]] std::string name() const override { return "locked clocks"; }

  [[nodiscard]] RouteState state() override {
    if (access_->is_root()) return {name(), true, ""};
    return {name(), false,
            "needs root or CAP_SYS_ADMIN; ask an administrator for it, or for the system-wide wattuned "
            "(docs/settings.md)"};
  }

  [[nodiscard]] bool may_set(Setting setting) const override {
    const auto capability = access_->compute_capability;
    switch (setting) {
      case Setting::sm_clock:
        return has_clocks_ && (!capability || *capability >= 70);  // Volta and newer
      case Setting::memory_clock:
        // Ampere and newer, but not A100 (8.0); Hopper (9.x) has only the deferred form, which survives reboots.
        return has_memory_clocks_ && (!capability || (*capability > 80 && *capability / 10 != 9));
      default:
        return has_power_limit_;
    }
  }

  SettingResult set(Setting setting, double value) override {
    const unsigned clock = megahertz(value);
    switch (setting) {
      case Setting::sm_clock:
        return access_->check(access_->setters.lock_sm_clock(access_->device, clock, clock),
                              fmt::format("lock the SM clock to {} MHz", clock));
      case Setting::memory_clock:
        return access_->check(access_->setters.lock_memory_clock(access_->device, clock, clock),
                              fmt::format("lock the memory clock to {} MHz", clock));
      default:
        return set_power_limit(*access_, value);
    }
  }

  SettingResult restore(Setting setting, const SavedSettings& before) override {
    switch (setting) {
      case Setting::sm_clock:
        if (before.locked_sm_clock_hz) return set(Setting::sm_clock, *before.locked_sm_clock_hz);
        return access_->check(access_->setters.reset_sm_clock(access_->device), "reset the SM clock");
      case Setting::memory_clock:
        return access_->check(access_->setters.reset_memory_clock(access_->device), "reset the memory clock");
      default:
        return before.power_limit_w ? set_power_limit(*access_, *before.power_limit_w) : std::nullopt;
    }
  }

 private:
  std::shared_ptr<const NvmlBoardAccess> access_;
  bool has_clocks_, has_memory_clocks_, has_power_limit_;
};

class ApplicationRoute final : public SettingRoute {
 public:
  ApplicationRoute(std::shared_ptr<const NvmlBoardAccess> access, const Capabilities& capabilities)
      : access_(std::move(access)),
        has_clocks_(!capabilities.sm_clocks.empty()),
        has_memory_clocks_(capabilities.memory_clocks.size() > 1) {}

  [[nodiscard]] std::string name() const override { return "application clocks"; }

  [[nodiscard]] RouteState state() override {
    const auto& reader = access_->reader;
    if (!access_->application_clock(NvmlClock::sm) || !access_->application_clock(NvmlClock::memory)) {
      return {name(), false, "this board or driver has none"};
    }
    int restricted = 1;
    if (access_->is_root()) return {name(), true, ""};
    if (reader.restriction == nullptr ||
        reader.restriction(access_->device, nvml_restricted_application_clocks, &restricted) != NvmlResult::success) {
      return {name(), false, "NVML does not tell whether users may set them"};
    }
    if (restricted == 0) return {name(), true, ""};
    return {name(), false,
            "only root may set them; an administrator can allow all users with 'nvidia-smi -acp UNRESTRICTED'"};
  }

  [[nodiscard]] bool may_set(Setting setting) const override {
    return setting == Setting::sm_clock ? has_clocks_ : setting == Setting::memory_clock && has_memory_clocks_;
  }

  SettingResult set(Setting setting, double value) override {
    auto memory = access_->application_clock(NvmlClock::memory);
    auto sm = access_->application_clock(NvmlClock::sm);
    (setting == Setting::memory_clock ? memory : sm) = value;
    if (setting == Setting::power_limit || !memory || !sm) {
      return SettingError{SettingError::Kind::not_supported,
                          fmt::format("cannot set the {} through application clocks", to_string(setting))};
    }
    return set_both(*memory, *sm);
  }

  SettingResult restore(Setting, const SavedSettings& before) override {
    if (is_default(before)) {
      return access_->check(access_->setters.reset_application_clocks(access_->device), "reset the application clocks");
    }
    return set_both(*before.application_memory_clock_hz, *before.application_sm_clock_hz);
  }

 private:
  SettingResult set_both(double memory, double sm) {
    return access_->check(
        access_->setters.set_application_clocks(access_->device, megahertz(memory), megahertz(sm)),
        fmt::format("set the application clocks to {} MHz (memory) and {} MHz (SM)", megahertz(memory), megahertz(sm)));
  }

  /// Whether there is nothing to bring back but the default.
  [[nodiscard]] bool is_default(const SavedSettings& before) const {
    if (!before.application_memory_clock_hz || !before.application_sm_clock_hz) return true;
    const auto& reader = access_->reader;
    unsigned memory = 0;
    unsigned sm = 0;
    return reader.default_application_clock != nullptr &&
           reader.default_application_clock(access_->device, NvmlClock::memory, &memory) == NvmlResult::success &&
           reader.default_application_clock(access_->device, NvmlClock::sm, &sm) == NvmlResult::success &&
           memory == megahertz(*before.application_memory_clock_hz) && sm == megahertz(*before.application_sm_clock_hz);
  }

  std::shared_ptr<const NvmlBoardAccess> access_;
  bool has_clocks_, has_memory_clocks_;
};

}  // namespace

std::unique_ptr<SettingRoute> make_locked_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                const Capabilities& capabilities) {
  return std::make_unique<LockedRoute>(std::move(access), capabilities);
}

std::unique_ptr<SettingRoute> make_application_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                     const Capabilities& capabilities) {
  return std::make_unique<ApplicationRoute>(std::move(access), capabilities);
}

}  // namespace wattune
