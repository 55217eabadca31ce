#include "problem/shell_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"

extern "C" char** environ;

namespace wattune {

namespace {

/// The attributes and actions of a spawn, freed at the end.
struct Spawn {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  Spawn() {
    if (posix_spawn_file_actions_init(&actions) != 0) throw std::bad_alloc();
    if (posix_spawnattr_init(&attributes) != 0) {
      posix_spawn_file_actions_destroy(&actions);
      throw std::bad_alloc();
    }
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

pid_t start(const std::string& command, const std::filesystem::path& folder, int output) {
  Spawn spawn;
  posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addchdir_np(&spawn.actions, folder.c_str());
  // A command in a group of its own can be ended with all that it started; it handles signals as from a shell.
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setpgroup(&spawn.attributes, 0);
  posix_spawnattr_setsigmask(&spawn.attributes, &none);
  posix_spawnattr_setsigdefault(&spawn.attributes, &defaults);
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string text = command;
  char shell[] = "sh";
  char option[] = "-c";
  char* arguments[] = {shell, option, text.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/bin/sh", &spawn.actions, &spawn.attributes, arguments, environ);
  if (error != 0) {
    throw UsageError(fmt::format("cannot run '{}' in '{}': {}; check the folder", command, folder.string(),
                                 system_error_text(error)));
  }
  return pid;
}

/// Fills the buffer. @return the bytes read; one more than the buffer holds where there was more.
std::size_t read_up_to(int fd, std::vector<std::byte>& buffer) {
  std::size_t filled = 0;
  std::byte beyond{};
  while (true) {
    const bool full = filled == buffer.size();
    const ssize_t n = full ? ::read(fd, &beyond, 1) : ::read(fd, buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return filled;
    filled += static_cast<std::size_t>(n);
    if (full) return filled;
  }
}

}  // namespace

std::vector<std::byte> shell_output(const std::string& command, const std::filesystem::path& folder,
                                    std::size_t bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw UsageError(fmt::format("cannot make a pipe for '{}': {}", command, system_error_text(errno)));
  }
  FileDescriptor output(ends[0]);
  FileDescriptor input(ends[1]);
  std::vector<std::byte> buffer(bytes);
  const pid_t pid = start(command, folder, input.get());
  input.reset();
  const std::size_t given = read_up_to(output.get(), buffer);
  if (given > bytes) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (given > bytes) {
    throw UsageError(
        fmt::format("the command '{}' writes more than the {} bytes needed; correct it or Size", command, bytes));
  }
  if (WIFSIGNALED(status)) {
    throw UsageError(fmt::format("the command '{}' was killed by signal {} ({}); run it by hand in '{}'", command,
                                 WTERMSIG(status), ::strsignal(WTERMSIG(status)), folder.string()));
  }
  if (WEXITSTATUS(status) != 0) {
    throw UsageError(fmt::format("the command '{}' failed with exit code {}; run it by hand in '{}'", command,
                                 WEXITSTATUS(status), folder.string()));
  }
  if (given < bytes) {
    throw UsageError(
        fmt::format("the command '{}' writes {} bytes, {} are needed; correct it or Size", command, given, bytes));
  }
  return buffer;
}

}  // namespace wattune
