#include "base/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
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

constexpr unsigned close_range_cloexec = 1U << 2;

/// Marks every descriptor from `first` on to be closed by exec. Async-signal-safe.
void close_on_exec_from(int first) {
  if (::syscall(SYS_close_range, first, ~0U, close_range_cloexec) == 0) return;
  // Linux before 5.11: one by one, up to where descriptors can be in practice.
  constexpr rlim_t most = 65536;
  rlimit limit{};
  const rlim_t end = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_cur, most) : most;
  for (int fd = first; fd < static_cast<int>(end); ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

/// Where a child's descriptors come from; each lies above Child::channel_fd, so that putting one in place hits no
/// other.
struct Descriptors {
  int input;
  int output;  ///< -1: this process's stderr
  int channel;
};

/// What the child does between fork and exec: only async-signal-safe calls. Returns errno where it fails.
int become(const char* program, char* const* argv, char* const* envp, const Descriptors& from, rlimit memory,
           int priority) {
  ::setpgid(0, 0);
  // A child that is stopped when its parent dies would stay so for ever: it has to wake up to end itself.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(from.input, 0) < 0) return errno;
  if (from.output >= 0 && ::dup2(from.output, 2) < 0) return errno;
  if (::dup2(2, 1) < 0) return errno;
  if (::dup2(from.channel, Child::channel_fd) < 0) return errno;
  // Whatever a library opened without close-on-exec stays out of the child.
  close_on_exec_from(Child::channel_fd + 1);
  if (memory.rlim_max != 0 && ::setrlimit(RLIMIT_DATA, &memory) != 0) return errno;
  ::setpriority(PRIO_PROCESS, 0, priority);
  ::execve(program, argv, envp);
  return errno;
}

/// A duplicate above the descriptors that a child finds in place.
FileDescriptor above_channel(int fd) {
  return FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, Child::channel_fd + 1));
}

/// The limit of RLIMIT_DATA to set for a child, within what this process may set; zeros where there is none to set.
rlimit memory_limit(unsigned long long bytes) {
  if (bytes == 0) return {0, 0};
  rlimit current{};
  ::getrlimit(RLIMIT_DATA, &current);
  const rlim_t limit = std::min<rlim_t>(bytes, current.rlim_max);
  return {limit, limit};
}

/// Waits until a process ends, without reaping it, for at most `seconds`. @return whether it has ended.
bool wait_for_end(pid_t pid, double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  while (true) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid) {
      return true;
    }
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return false;
    // Without a pidfd (Linux before 5.3) it looks again and again.
    const double longest = pidfd ? 3600 : 0.01;
    pollfd entry{pidfd.get(), POLLIN, 0};
    ::poll(&entry, 1, static_cast<int>(std::ceil(std::min(left, longest) * 1e3)));
  }
}

}  // namespace

std::string Child::Exit::text() const {
  if (WIFEXITED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return "ended";
}

Child Child::start(const std::string& program, const std::vector<std::string>& arguments, const ChildOptions& options) {
  auto fail = [&](int error) {
    return RunError(fmt::format("cannot start the child process '{}': {}", program, system_error_text(error)));
  };
  auto [ours, theirs] = Channel::pair();
  const FileDescriptor channel = above_channel(theirs.fd());
  if (!channel) throw fail(errno);
  // A child that reads the terminal would be stopped, for it is no foreground process.
  const FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const FileDescriptor input = above_channel(null.get());
  if (!input) throw fail(errno);
  FileDescriptor output;
  if (!options.stderr_file.empty()) {
    const FileDescriptor file(::open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file) {
      throw RunError(fmt::format("cannot start the child process '{}': its output file '{}': {}", program,
                                 options.stderr_file, system_error_text(errno)));
    }
    output = above_channel(file.get());
    if (!output) throw fail(errno);
  }
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) throw fail(errno);
  const FileDescriptor report_read(report[0]);
  FileDescriptor report_write(report[1]);
  report_write = above_channel(report_write.get());
  if (!report_write) throw fail(errno);

  std::vector<std::string> argument_strings{program};
  argument_strings.insert(argument_strings.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_strings = merged_environment(options.environment);
  const auto argv = pointers(argument_strings);
  const auto envp = pointers(environment_strings);
  const rlimit memory = memory_limit(options.memory_limit);
  const int priority = ::getpriority(PRIO_PROCESS, 0) + options.niceness;

  const pid_t pid = ::fork();
  if (pid < 0) throw fail(errno);
  if (pid == 0) {
    const Descriptors from{input.get(), output.get(), channel.get()};
    const int error = become(program.c_str(), argv.data(), envp.data(), from, memory, priority);
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

Child::~Child() {
  kill();
}

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
  // What it started ends with it, and its own status is kept: SIGKILL does not change that of a process that has ended.
  if (pid_ > 0) wait_for_end(pid_, seconds);
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
  // The set is too small for machines of more than 1024 cores, which then tell only how many there are.
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  int cores = known ? CPU_COUNT(&set) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  // cgroup v2: "max 100000" or "QUOTA PERIOD" in microseconds.
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && period > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota / period)));
  return static_cast<unsigned>(std::max(1, cores));
}

}  // namespace wattune
