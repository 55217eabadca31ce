#pragma once
// A board whose settings can be changed. The settings server is the only user of what changes it.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

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
  /// Takes the route of this name instead of the first usable one: the one by which an earlier server set.
  virtual void take_route(const std::string& name) = 0;
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
  /// Whether it can be used, and why not. Asks nothing that could change the board.
  [[nodiscard]] virtual RouteState state() const = 0;
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

/// Opens the board of this UUID, else of this PCI bus id. @param library as in load_nvml().
/// @throws DeviceError where NVML does not have it.
std::unique_ptr<SettableBoard> open_nvml_board(const std::string& uuid, const std::string& pci,
                                               const std::string& library = {});

}  // namespace wattune
