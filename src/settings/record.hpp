#pragma once
// What is written down before a board is changed, so that any later process can put it back; and the lock of a board.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "settings/board.hpp"
#include "settings/process_identity.hpp"

namespace wattune {

/// One board that is changed, or was left so by a crash.
struct SettingsRecord {
  std::string uuid;
  std::string library;  ///< NVML's file where it is a simulated one; else empty: the driver's
  std::string route;
  std::string route_details;  ///< see SettableBoard::route_details()
  std::string boot;           ///< boot id: a reboot puts everything back
  std::string driver;
  ProcessIdentity client;
  ProcessIdentity server;
  std::string created;  ///< UTC
  SavedSettings before;
  std::vector<Setting> touched;
};

/// As a record is stored. @throws UsageError for what is none.
std::string to_text(const SettingsRecord& record);
SettingsRecord record_from_text(const std::string& text);

/// Held as long as it lives, and gone with its process.
class BoardLock {
 public:
  explicit BoardLock(FileDescriptor file) : file_(std::move(file)) {}

 private:
  FileDescriptor file_;
};

/// The folder for records and locks. It is local to the node and outlives jobs: neither a home folder nor TMPDIR.
class SettingsFolder {
 public:
  /// WATTUNE_SETTINGS_DIR; else /run/wattune for root; else /var/tmp/wattune-UID. It is made where it is missing.
  /// @param simulated for simulated boards: where WATTUNE_SIM_STATE names a machine, the folder beside that file.
  /// @throws DeviceError where there is none that is safe: of another owner, writable by others, on a network file
  /// system.
  static SettingsFolder open(bool simulated = false);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Nothing where another process holds it. @throws DeviceError where the lock cannot be made.
  std::optional<BoardLock> try_lock(const std::string& uuid) const;
  /// Who holds it, for messages: "wattune (pid 1234)".
  [[nodiscard]] std::string holder(const std::string& uuid) const;

  /// Written whole and synced before it returns. @throws DeviceError.
  void write(const SettingsRecord& record) const;
  void remove(const std::string& uuid) const;
  /// @throws DeviceError for a damaged one, with what to do.
  [[nodiscard]] std::optional<SettingsRecord> find(const std::string& uuid) const;
  /// All that there are. What cannot be read is told in `problems`, one line each.
  [[nodiscard]] std::vector<SettingsRecord> records(std::vector<std::string>* problems) const;

 private:
  explicit SettingsFolder(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] std::filesystem::path file(const std::string& uuid, const char* ending) const;

  std::filesystem::path path_;
};

}  // namespace wattune
