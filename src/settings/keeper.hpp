#pragma once
// Keeps one board: notes what it was, changes it, puts it back.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "settings/board.hpp"
#include "settings/record.hpp"

namespace wattune {

/// A board as users and records name it: by UUID, else by PCI bus id. `library` as in SettingsRecord.
struct BoardName {
  std::string uuid;
  std::string pci;
  std::string library;
};
/// open_nvml_board(), or a test's. @throws DeviceError.
using BoardOpener = std::function<std::unique_ptr<SettableBoard>(const BoardName& name)>;

/// A board under a lock. The destructor puts it back where restore() was not called.
class Keeper {
 public:
  /// Nothing where another process has the board; see SettingsFolder::holder(). What an earlier server left is put
  /// back first. @param locked_sm_clock_hz what restoring locks the SM clock to; nothing: it is not locked.
  /// @throws DeviceError where the board cannot be put back, or permission is missing.
  static std::optional<Keeper> take(SettableBoard& board, const SettingsFolder& folder, const ProcessIdentity& client,
                                    std::optional<double> locked_sm_clock_hz);
  Keeper(Keeper&& other) noexcept;
  ~Keeper();

  /// Sets what is given and not so already; notes each setting before it is touched for the first time.
  SettingResult set(const DeviceSettings& settings);

  /// Puts back all that was touched. @return what could not be put back, one line; empty where all was. The record
  /// stays in that case, so that a later start or `wattune restore` tries again.
  std::string restore();

 private:
  Keeper(SettableBoard& board, const SettingsFolder& folder, BoardLock lock)
      : board_(&board), folder_(&folder), lock_(std::move(lock)) {}
  void note(Setting setting);

  SettableBoard* board_;
  const SettingsFolder* folder_;
  std::optional<BoardLock> lock_;
  SettingsRecord record_;
  DeviceSettings current_;
};

/// What became of a record.
struct RestoreReport {
  std::string uuid;
  enum class State { restored, nothing_to_do, in_use, failed };
  State state = State::restored;
  std::string message;  ///< one line
};

/// Puts back what records in the folder say, but for boards whose run is alive. Where the run is dead and its settings
/// server hangs, the server is killed. @param problems records that cannot be read, one line each.
std::vector<RestoreReport> restore_all(const SettingsFolder& folder, const BoardOpener& open,
                                       std::vector<std::string>* problems);

}  // namespace wattune
