#pragma once
// Child processes: started by exec (never a bare fork), with nothing inherited but what is named.

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/channel.hpp"

namespace wattune {

struct ChildOptions {
  std::string stderr_file;              ///< where the child's stdout and stderr go; empty: this process's stderr
  unsigned long long memory_limit = 0;  ///< RLIMIT_DATA in bytes (address space that is only reserved is free); 0: none
  int niceness = 0;                     ///< added to the child's niceness
  std::vector<std::string> environment;  ///< NAME=VALUE, added to (and overriding) this process's environment
};

/// A running child with a message channel. The child finds its end as descriptor 3. Killed and reaped by the
/// destructor. It runs in a process group of its own, so that Ctrl-C reaches only the coordinator, and it is killed
/// together with what it started.
class Child {
 public:
  /// How a child ended, in words: "exited with code 1", "was killed by signal 11 (Segmentation fault)".
  struct Exit {
    int status = 0;  ///< as waitpid gives it
    [[nodiscard]] std::string text() const;
  };

  /// The descriptor at which a child finds its channel.
  static constexpr int channel_fd = 3;

  /// Starts `program` (a path) with `arguments` (without argv[0]). @throws RunError when it cannot be started.
  static Child start(const std::string& program, const std::vector<std::string>& arguments,
                     const ChildOptions& options = {});

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Kills the child and its process group with SIGKILL and reaps it.
  Exit kill();

  /// Waits for the child to end by itself for at most `seconds`, then kills it.
  Exit wait(double seconds);

 private:
  Child(pid_t pid, Channel channel) : pid_(pid), channel_(std::move(channel)) {}
  pid_t pid_ = -1;
  Channel channel_;
  Exit exit_{};
};

/// The path of this program's own executable, for starting it again as a worker.
std::string own_executable();

/// The cores that this process may use: its affinity, cut to the cgroup's CPU quota; at least 1.
unsigned available_cores();

}  // namespace wattune
