#include "settings/private_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "driver/library.hpp"
#include "settings/server.hpp"

extern char** environ;

namespace wattune {

namespace {

RunError cannot_start(int error) {
  return RunError("cannot start the settings server that puts the device back: " + system_error_text(error));
}

/// The attributes and actions of posix_spawn, freed at the end.
struct Spawn {
  Spawn() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
  }
  ~Spawn() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

/// This process's environment, with other values of some variables.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
      return variable.starts_with(change.first) && variable.substr(change.first.size()).starts_with('=');
    });
    if (!changed) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : changes) variables.push_back(name + "=" + value);
  return variables;
}

double lease_seconds() {
  constexpr double usual = 30;
  const std::string text = environment("WATTUNE_SETTINGS_LEASE");
  if (text.empty()) return usual;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  return *end == '\0' && seconds >= 1 && seconds <= 3600 ? seconds : usual;
}

}  // namespace

StartedServer start_private_server(const std::string& library, const SettingCommands& commands) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) throw cannot_start(errno);
  StartedServer started;
  started.connection = FileDescriptor(fds[0]);
  const FileDescriptor original(fds[1]);
  // Above the descriptor that it is put in place of, so that putting it there clears close-on-exec.
  const FileDescriptor theirs(::fcntl(original.get(), F_DUPFD_CLOEXEC, settings_server_fd + 1));
  if (!theirs) throw cannot_start(errno);
  Spawn spawn;
  // A session of its own: neither the terminal's signals nor a kill of the run's process group reach it.
  ::posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
  sigset_t usual;
  ::sigfillset(&usual);
  ::posix_spawnattr_setsigdefault(&spawn.attributes, &usual);
  ::posix_spawn_file_actions_addopen(&spawn.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&spawn.actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, theirs.get(), settings_server_fd);
  std::string program = own_executable();
  std::string command = settings_server_command;
  char* arguments[] = {program.data(), command.data(), nullptr};
  std::vector<std::pair<std::string, std::string>> changes;
  if (!library.empty()) changes.emplace_back("WATTUNE_NVML", library);
  if (!commands.empty()) {
    changes.emplace_back("WATTUNE_SETTINGS_COMMAND", commands.set);
    changes.emplace_back("WATTUNE_SETTINGS_RESET_COMMAND", commands.reset);
  }
  std::vector<std::string> variables = environment_with(changes);
  std::vector<char*> environment_pointers;
  for (auto& variable : variables) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);
  const int error = ::posix_spawn(&started.pid, program.c_str(), &spawn.actions, &spawn.attributes, arguments,
                                  environment_pointers.data());
  if (error != 0) throw cannot_start(error);
  return started;
}

int run_private_server() {
  // What a library of the coordinator opened without close-on-exec must not be kept open by a process that outlives it.
  ::close_range(settings_server_fd + 1, ~0U, 0);
  // Temporary files of a batch job may go before this process does.
  [[maybe_unused]] const int moved = ::chdir("/");
  SettingsServerOptions options;
  options.config.lease_seconds = lease_seconds();
  options.connection = FileDescriptor(settings_server_fd);
  ::fcntl(settings_server_fd, F_SETFD, FD_CLOEXEC);
  options.open = [](const BoardName& name) { return open_nvml_board(name.uuid, name.pci, name.library); };
  return serve_settings(std::move(options));
}

}  // namespace wattune
