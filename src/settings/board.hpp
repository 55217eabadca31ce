#pragma once
// A board whose settings can be changed. The settings server is the only user of what changes it.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/nvml.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/capabilities.hpp"

namespace wattune {

/// Why a board could not be set.
struct SettingError {
  enum class Kind { no_permission, not_supported, lost_device, other };
  Kind kind = Kind::other;
  std::string message;
};
/// Nothing: it was done.
using SettingResult = std::optional<SettingError>;

/// What was set before the first change: what restoring brings back. A clock lock cannot be read; it is known only
/// where the user tells it.
struct SavedSettings {
  std::optional<double> power_limit_w;
  std::optional<double> application_sm_clock_hz;
  std::optional<double> application_memory_clock_hz;
  std::optional<double> locked_sm_clock_hz;
};
nlohmann::json to_json(const SavedSettings& saved);
/// @throws UsageError.
SavedSettings saved_settings_from_json(const nlohmann::json& json);

class SettableBoard {
 public:
  virtual ~SettableBoard() = default;
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual SavedSettings read() = 0;
  /// The file of NVML where it is a simulated one; else empty.
  [[nodiscard]] virtual std::string library() const { return {}; }
  /// Takes the first usable route by which all of these can be set, where there is one.
  virtual void prefer_route(const std::vector<Setting>& /*wanted*/) {}
  /// Takes the route of this name: the one by which an earlier server set. @param details as route_details() gave them.
  virtual void take_route(const std::string& name, const std::string& details) = 0;
  /// What else another process has to know to put the board back by the route in use: a socket, a command.
  [[nodiscard]] virtual std::string route_details() const { return {}; }
  /// Whether the route in use really has permission, found without a change: the power limit is set to what it is.
  virtual SettingResult try_permission() = 0;
  /// Sets, and reads back what can be read.
  virtual SettingResult set(Setting setting, double value) = 0;
  /// Puts one setting back, and reads back what can be read.
  virtual SettingResult restore(Setting setting, const SavedSettings& before) = 0;
};

/// A way to change NVML's settings.
class SettingRoute {
 public:
  virtual ~SettingRoute() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether it can be used, and why not. Does nothing that could change the board.
  [[nodiscard]] virtual RouteState state() = 0;
  /// See SettableBoard::route_details().
  [[nodiscard]] virtual std::string details() const { return {}; }
  virtual void adopt(const std::string& /*details*/) {}
  [[nodiscard]] virtual bool may_set(Setting setting) const = 0;
  virtual SettingResult set(Setting setting, double value) = 0;
  virtual SettingResult restore(Setting setting, const SavedSettings& before) = 0;
};

/// A board of NVML, with what its routes share.
struct NvmlBoardAccess {
  std::shared_ptr<const Nvml> nvml;
  NvmlDevice device = nullptr;
  NvmlSettingsReader reader;
  NvmlSetters setters;
  std::optional<int> compute_capability;  ///< 86 for 8.6

  /// Root or CAP_SYS_ADMIN, or what the simulated machine calls root.
  [[nodiscard]] bool is_root() const;
  [[nodiscard]] std::optional<unsigned> index() const;  ///< NVML's number of the board
  [[nodiscard]] std::string pci() const;                ///< PCI bus id as NVML writes it; empty where it does not tell
  [[nodiscard]] std::optional<double> power_limit() const;
  [[nodiscard]] std::optional<double> application_clock(NvmlClock clock) const;
  /// The error of a result, nothing for success. @param doing "lock the SM clock to 1200 MHz".
  [[nodiscard]] SettingResult check(NvmlResult result, const std::string& doing) const;
};

/// "locked clocks": root's way, with the power limit.
std::unique_ptr<SettingRoute> make_locked_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                const Capabilities& capabilities);
/// "application clocks": where users may set them.
std::unique_ptr<SettingRoute> make_application_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                     const Capabilities& capabilities);

/// A site's own commands that set a board and put it back, as split_command() reads them. In place of {uuid}, {pci} and
/// {index} the board is put, of {setting} sm_clock, memory_clock or power_limit, of {value} MHz or W.
struct SettingCommands {
  std::string set;    ///< has a {value}; without {setting} it sets SM clocks
  std::string reset;  ///< {value} is the power limit that was; empty for clocks
  [[nodiscard]] bool empty() const noexcept { return set.empty() && reset.empty(); }
  /// @throws UsageError naming the option: where one is missing or cannot be read.
  void check() const;
  /// WATTUNE_SETTINGS_COMMAND and WATTUNE_SETTINGS_RESET_COMMAND.
  static SettingCommands from_environment();
};

/// "zeusd": the Zeus project's daemon, at the socket that ZEUSD_SOCK_PATH names.
std::unique_ptr<SettingRoute> make_zeusd_route(std::shared_ptr<const NvmlBoardAccess> access,
                                               const Capabilities& capabilities);
/// "settings command".
std::unique_ptr<SettingRoute> make_command_route(std::shared_ptr<const NvmlBoardAccess> access,
                                                 const Capabilities& capabilities, SettingCommands commands);

/// Opens the board of this UUID, else of this PCI bus id. @param library as in load_nvml().
/// @throws DeviceError where NVML does not have it.
std::unique_ptr<SettableBoard> open_nvml_board(const std::string& uuid, const std::string& pci,
                                               const std::string& library = {});

}  // namespace wattune
