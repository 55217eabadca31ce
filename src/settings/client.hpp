#pragma once
// A client of a settings server: what a run holds while it changes a device.

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "settings/board.hpp"
#include "settings/capabilities.hpp"

namespace wattune {

/// Where a system-wide server listens: WATTUNE_SETTINGS_SOCKET, else /run/wattune/wattuned.sock.
std::string system_server_socket();

struct SettingsClientOptions {
  std::string uuid;
  std::string pci;
  std::string library;          ///< NVML's, where it is that of simulated GPUs
  std::vector<Setting> wanted;  ///< what is to be set: decides which server is used
  SettingCommands commands;     ///< of the user; empty: those of the environment
};

/// With what the system-wide server would set of that board for this user, and whether it would.
Capabilities with_system_server(Capabilities capabilities);

/// A connection to a server, private or system-wide, for one board. The destructor puts the board back; so does the
/// server when this process dies. When the server dies, another one puts the board back at once and takes its place.
/// One thread uses it.
class SettingsClient {
 public:
  /// Starts a private server; where that cannot set what is wanted, asks the system-wide one, if there is one.
  /// Nothing is set yet, and no lock is held. @throws DeviceError, RunError.
  explicit SettingsClient(SettingsClientOptions options);
  ~SettingsClient();
  SettingsClient(const SettingsClient&) = delete;
  SettingsClient& operator=(const SettingsClient&) = delete;

  [[nodiscard]] const Capabilities& capabilities() const;

  /// @throws DeviceError where WATTUNE_READ_ONLY forbids it or something wanted cannot be set, saying what to ask for.
  void check_wanted() const;

  /// Before acquire(): what putting the board back locks the SM clock to. Without it the clock is unlocked then.
  void restore_sm_clock_to(double hertz);

  /// Takes the board, after check_wanted().
  /// @param wait_seconds how long to wait where another run has it; 0: not at all.
  /// @param wake_fd ends the waiting when it becomes readable; -1: none. @return false where it was woken.
  /// @throws DeviceError where the board cannot be taken, or is in use.
  bool acquire(double wait_seconds, int wake_fd);

  /// Sets the board; what is set already costs nothing. Renews the lease.
  /// @return why the board does not take these values; empty where it does. @throws DeviceError for what ends a run: a
  /// lost device or server, a missing permission.
  std::string set(const DeviceSettings& settings);

  /// A child process of this one to be killed when this one is lost. @throws DeviceError.
  void add_worker(pid_t pid);

  /// To be called again and again, at any pace, while the board is held: renews the lease in time.
  /// @return empty where all is well; else, once, how the server was lost: another has taken its place, and the board
  /// has been put back meanwhile. It has to be set again, and what was being measured is worth nothing.
  /// @throws DeviceError where the server was lost and none could take its place.
  std::string keep_alive();

  /// Readable when keep_alive() should be called at once; -1 where there is no server.
  [[nodiscard]] int fd() const;

  /// Seconds between two calls of keep_alive() that are soon enough.
  [[nodiscard]] double keep_alive_seconds() const;

  /// How often the board's settings were changed.
  [[nodiscard]] std::size_t changes() const;

  /// Puts the board back and gives it up. @return what could not be put back; empty where all was.
  std::string release();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
