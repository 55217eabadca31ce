// Through a site's own commands, for example by sudo.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "settings/board.hpp"
#include "settings/command.hpp"

namespace wattune {

using nlohmann::json;

namespace {

constexpr double limit_seconds = 10;

const char* placeholder_of(Setting setting) {
  switch (setting) {
    case Setting::sm_clock:
      return "sm_clock";
    case Setting::memory_clock:
      return "memory_clock";
    default:
      return "power_limit";
  }
}

class CommandRoute final : public SettingRoute {
 public:
  CommandRoute(std::shared_ptr<const NvmlBoardAccess> access, const Capabilities& capabilities,
               std::unique_ptr<SettingRoute> locked, SettingCommands commands)
      : access_(std::move(access)),
        uuid_(capabilities.uuid),
        locked_(std::move(locked)),
        commands_(std::move(commands)) {
    // Faulty commands of the environment are no reason to fail where other routes do.
    try {
      parse();
    } catch (const UsageError& error) {
      fault_ = error.what();
    }
  }

  [[nodiscard]] std::string name() const override { return "settings command"; }

  [[nodiscard]] std::string details() const override {
    return json{{"set", commands_.set}, {"reset", commands_.reset}}.dump();
  }
  void adopt(const std::string& details) override {
    const json known = json::parse(details, nullptr, false);
    if (!known.is_object()) return;
    commands_ = {known.value("set", ""), known.value("reset", "")};
    fault_.clear();
    parse();
  }

  [[nodiscard]] RouteState state() override {
    if (commands_.empty()) {
      return {name(), false,
              "none is given; where this site has a command for users that sets clocks, name it with "
              "--settings-command and --settings-reset-command"};
    }
    return {name(), fault_.empty(), fault_};
  }

  [[nodiscard]] bool may_set(Setting setting) const override {
    const bool told_which = has_placeholder(set_, "setting") && has_placeholder(reset_, "setting");
    return locked_->may_set(setting) && (setting == Setting::sm_clock || told_which);
  }

  SettingResult set(Setting setting, double value) override { return run(set_, "set", setting, value); }

  SettingResult restore(Setting setting, const SavedSettings& before) override {
    switch (setting) {
      case Setting::sm_clock:
        if (before.locked_sm_clock_hz) return set(setting, *before.locked_sm_clock_hz);
        return run(reset_, "reset", setting, std::nullopt);
      case Setting::memory_clock:
        return run(reset_, "reset", setting, std::nullopt);
      default:
        return run(reset_, "reset", setting, before.power_limit_w);
    }
  }

 private:
  void parse() {
    set_.clear();
    reset_.clear();
    if (commands_.empty()) return;
    commands_.check();
    set_ = split_command(commands_.set, "--settings-command");
    reset_ = split_command(commands_.reset, "--settings-reset-command");
  }

  SettingResult run(const std::vector<std::string>& command, const char* verb, Setting setting,
                    std::optional<double> value) const {
    refuse_if_read_only("set a device by a command");
    if (command.empty()) {
      return SettingError{SettingError::Kind::other, fault_.empty() ? "there is no command" : fault_};
    }
    const auto index = access_->index();
    const std::map<std::string, std::string> values = {
        {"uuid", uuid_},
        {"pci", access_->pci()},
        {"index", index ? std::to_string(*index) : ""},
        {"setting", placeholder_of(setting)},
        {"value", value ? fmt::format("{:.7g}", *value / edge_scale(setting)) : ""}};
    const auto result = run_command(fill_in(command, values), limit_seconds);
    if (result.ok) return std::nullopt;
    return SettingError{SettingError::Kind::other, fmt::format("cannot {} the {}: the command '{}' {}", verb,
                                                               to_string(setting), command.front(), result.problem)};
  }

  std::shared_ptr<const NvmlBoardAccess> access_;
  std::string uuid_;
  std::unique_ptr<SettingRoute> locked_;
  SettingCommands commands_;
  std::vector<std::string> set_;
  std::vector<std::string> reset_;
  std::string fault_;
};

}  // namespace

void SettingCommands::check() const {
  if (set.empty() || reset.empty()) {
    throw UsageError(fmt::format("{} is given without {}: what sets a device must also be able to put it back",
                                 set.empty() ? "--settings-reset-command" : "--settings-command",
                                 set.empty() ? "--settings-command" : "--settings-reset-command"));
  }
  if (!has_placeholder(split_command(set, "--settings-command"), "value")) {
    throw UsageError("--settings-command: has no {value}, in whose place the clock or limit is put");
  }
  split_command(reset, "--settings-reset-command");
}

SettingCommands SettingCommands::from_environment() {
  return {environment("WATTUNE_SETTINGS_COMMAND"), environment("WATTUNE_SETTINGS_RESET_COMMAND")};
}

std::unique_ptr<SettingRoute> make_command_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                 const Capabilities& capabilities, SettingCommands commands) {
  auto locked = make_locked_route(access, capabilities);
  return std::make_unique<CommandRoute>(std::move(access), capabilities, std::move(locked), std::move(commands));
}

}  // namespace wattune
