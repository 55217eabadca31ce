#include "base/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"

extern char** environ;

namespace wattune {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result;
  auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const bool overridden = std::any_of(additions.begin(), additions.end(),
                                        [&](const std::string& a) { return name_of(a) == name_of(text); });
    if (!overridden) result.push_back(text);
  }
  result.insert(result.end(), additions.begin(), additions.end());
  return result;
}

/// What the child does between fork and exec: only async-signal-safe calls. Returns errno where it fails.
int become(const char* program, char* const* argv, char* const* envp, int channel, int output,
           const ChildOptions& options) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (output >= 0 && (::dup2(output, 1) < 0 || ::dup2(output, 2) < 0)) return errno;
  if (output < 0 && ::dup2(2, 1) < 0) return errno;
  if (channel == Child::channel_fd) {
    if (::fcntl(channel, F_SETFD, 0) < 0) return errno;
  } else if (::dup2(channel, Child::channel_fd) < 0) {
    return errno;
  }
  // Whatever a library opened without close-on-exec stays out of the child.
  ::syscall(SYS_close_range, Child::channel_fd + 1, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  if (options.memory_limit != 0) {
    const rlimit limit{options.memory_limit, options.memory_limit};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return errno;
  }
  if (options.niceness != 0) ::setpriority(PRIO_PROCESS, 0, options.niceness);
  ::execve(program, argv, envp);
  return errno;
}

}  // namespace

std::string Child::Exit::text() const {
  if (WIFEXITED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return "ended";
}

Child Child::start(const std::string& program, const std::vector<std::string>& arguments,
                   const ChildOptions& options) {
  auto fail = [&](int error) {
    return RunError(fmt::format("cannot start the child process '{}': {}", program, system_error_text(error)));
  };
  auto [ours, theirs] = Channel::pair();
  FileDescriptor output;
  if (!options.stderr_file.empty()) {
    output = FileDescriptor(::open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!output) throw fail(errno);
  }
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) throw fail(errno);
  FileDescriptor report_read(report[0]);
  FileDescriptor report_write(report[1]);
  // The report pipe must not lie where the channel goes.
  if (report_write.get() == channel_fd) {
    const int moved = ::fcntl(report_write.get(), F_DUPFD_CLOEXEC, channel_fd + 1);
    if (moved < 0) throw fail(errno);
    report_write = FileDescriptor(moved);
  }

  std::vector<std::string> argument_strings{program};
  argument_strings.insert(argument_strings.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_strings = merged_environment(options.environment);
  const auto argv = pointers(argument_strings);
  const auto envp = pointers(environment_strings);

  const pid_t pid = ::fork();
  if (pid < 0) throw fail(errno);
  if (pid == 0) {
    const int error = become(program.c_str(), argv.data(), envp.data(), theirs.fd(), output.get(), options);
    [[maybe_unused]] const auto n = ::write(report_write.get(), &error, sizeof error);
    ::_exit(127);
  }
  ::setpgid(pid, pid);
  report_write.reset();
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(report_read.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  Child child(pid, std::move(ours));
  if (n > 0) {
    child.kill();
    throw fail(error);
  }
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)), exit_(other.exit_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    channel_ = std::move(other.channel_);
    exit_ = other.exit_;
  }
  return *this;
}

Child::~Child() { kill(); }

Child::Exit Child::kill() {
  if (pid_ <= 0) return exit_;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &exit_.status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return exit_;
}

Child::Exit Child::wait(double seconds) {
  if (pid_ <= 0) return exit_;
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  const double deadline = monotonic_seconds() + seconds;
  while (pidfd) {
    const double left = std::max(0.0, deadline - monotonic_seconds());
    pollfd entry{pidfd.get(), POLLIN, 0};
    const int n = ::poll(&entry, 1, static_cast<int>(std::ceil(left * 1e3)));
    if (n < 0 && errno == EINTR) continue;
    if (n == 1) {
      // It has ended: what it started ends with it, and its status is kept.
      ::kill(-pid_, SIGKILL);
      while (::waitpid(pid_, &exit_.status, 0) < 0 && errno == EINTR) {
      }
      pid_ = -1;
    }
    break;
  }
  return kill();
}

std::string own_executable() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw RunError("cannot find this program's own executable: " + error.message());
  return path.string();
}

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = 1;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  // cgroup v2: "max 100000" or "QUOTA PERIOD" in microseconds.
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && period > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota / period)));
  return static_cast<unsigned>(std::max(1, cores));
}

}  // namespace wattune
