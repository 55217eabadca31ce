#pragma once
// The settings server: the only process that changes a device. Private to a run it is a child of the coordinator that
// outlives it; system-wide it serves the members of a group. Both speak settings/protocol.hpp.

#include <functional>
#include <string>

#include "base/file.hpp"
#include "settings/bounds.hpp"
#include "settings/keeper.hpp"

namespace wattune {

struct SettingsServerOptions {
  ServerConfig config;
  BoardOpener open;
  FileDescriptor connection;  ///< of a private server: its one client
  FileDescriptor listener;    ///< of a system-wide one: a listening Unix socket
  /// Notable events, one line each.
  std::function<void(const std::string&)> log;
};

/// Serves until its one client is gone, or (system-wide) until SIGTERM or SIGINT, each client in a thread of its own,
/// so that a driver that hangs on one board holds up no other. Puts back every board that a client had, however the
/// client ended, after killing the client's workers. A private server takes SIGTERM as a sign that its client will end,
/// too, and puts the board back after a grace period; it ignores SIGINT and SIGHUP. Blocks these signals in the calling
/// thread.
/// @return 0; 1 where something could not be put back.
int serve_settings(SettingsServerOptions options);

/// A listening Unix socket at a path that everybody may connect to: who may go on is decided by credentials. What an
/// earlier server left there is replaced. @throws RunError.
FileDescriptor listen_for_settings(const std::string& path);

}  // namespace wattune
