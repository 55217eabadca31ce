#pragma once
// The settings server of one run: started before anything is set, in a session of its own, it outlives the run and
// puts the device back.

#include <sys/types.h>

#include <string>

#include "base/file.hpp"
#include "settings/board.hpp"

namespace wattune {

/// The hidden sub-command under which the program starts itself as a private settings server.
inline constexpr const char* settings_server_command = "settings-server";

/// The server's end finds its connection at this descriptor.
inline constexpr int settings_server_fd = 3;

struct StartedServer {
  pid_t pid = 0;
  FileDescriptor connection;
};

/// Starts this program as a private server. @param library NVML's, where it is not the driver's. @param commands in
/// place of those of the environment; empty: those. @throws RunError.
StartedServer start_private_server(const std::string& library = {}, const SettingCommands& commands = {});

/// What such a process does. @return its exit code.
int run_private_server();

}  // namespace wattune
