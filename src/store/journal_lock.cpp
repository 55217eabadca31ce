#include "store/journal_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Claims on claims on claims: that deep only after processes were killed in the midst of a takeover, several in a row.
constexpr int max_claim_depth = 4;
/// Each attempt that fails means that another process got on; this many in a row mean that something else is wrong.
constexpr int max_attempts = 100;

std::string first_line(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Start time and state of a process; nothing where /proc does not show it.
struct ProcessState {
  unsigned long long start_time;
  bool ended;  ///< a zombie: it has ended and only its parent has not noticed
};
std::optional<ProcessState> process_state(long pid) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid).c_str());
  // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
  const auto close = line.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(close + 1));
  std::string state;
  fields >> state;
  std::string skipped;
  for (int i = 4; i < 22; ++i) fields >> skipped;
  ProcessState result{0, state == "Z" || state == "X"};
  if (!(fields >> result.start_time)) return std::nullopt;
  return result;
}

std::string random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// A lock file as found.
struct Found {
  std::optional<LockHolder> holder;  ///< nothing where the content is not of ours
  timespec touched{};
};

std::optional<LockHolder> holder_from(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  try {
    LockHolder holder;
    holder.host = object.at("host").get<std::string>();
    holder.pid = object.at("pid").get<long>();
    holder.start_time = object.at("start_time").get<unsigned long long>();
    holder.boot = object.at("boot").get<std::string>();
    holder.pid_namespace = object.at("pid_namespace").get<std::string>();
    holder.token = object.at("token").get<std::string>();
    const bool plain = holder.token.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (plain && !holder.token.empty() && holder.pid > 0) return holder;
  } catch (const json::exception&) {
    // Not of ours, or cut short.
  }
  return std::nullopt;
}

std::string text_of(const LockHolder& holder) {
  return json{{"host", holder.host},
              {"pid", holder.pid},
              {"start_time", holder.start_time},
              {"boot", holder.boot},
              {"pid_namespace", holder.pid_namespace},
              {"token", holder.token}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

/// Nothing where there is no such file. Opening it makes an NFS client ask the server anew.
std::optional<Found> look_at(const fs::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT || errno == ESTALE) return std::nullopt;
    throw RunError(
        fmt::format("cannot read the lock file '{}': {}; make it readable for this user, or name another "
                    "output folder",
                    file.string(), system_error_text(errno)));
  }
  struct stat status {};
  char buffer[4096];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  if (n < 0 || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  return Found{holder_from(std::string(buffer, static_cast<std::size_t>(n))), status.st_mtim};
}

double seconds_between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
}

/// @param now the time by the clock of the file system, which on a network is not this machine's.
bool is_stale(const Found& found, const LockHolder& self, const timespec& now) {
  if (found.holder && found.holder->boot == self.boot && found.holder->pid_namespace == self.pid_namespace &&
      found.holder->host == self.host) {
    if (::kill(static_cast<pid_t>(found.holder->pid), 0) != 0 && errno == ESRCH) return true;
    const auto state = process_state(found.holder->pid);
    const bool comparable = state && found.holder->start_time != 0;
    return state && (state->ended || (comparable && state->start_time != found.holder->start_time));
  }
  return seconds_between(found.touched, now) > JournalLock::stale_seconds;
}

/// A file with the content of a lock, to be put in place whole. Removed by the destructor (a second name of it stays).
class Draft {
 public:
  Draft(const fs::path& target, const LockHolder& holder) : file_(target.string() + ".new-" + holder.token) {
    const FileDescriptor fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    const std::string text = text_of(holder);
    struct stat status {};
    if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fstat(fd.get(), &status) != 0) {
      const int error = errno;
      if (fd) ::unlink(file_.c_str());
      throw RunError(
          fmt::format("cannot write the lock file '{}': {}; free space, or name a folder that this user may "
                      "write to",
                      target.string(), system_error_text(error)));
    }
    made_ = status.st_mtim;
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { ::unlink(file_.c_str()); }

  /// When it was made, by the file system's clock.
  [[nodiscard]] const timespec& made() const { return made_; }

  /// @return false where there is a file of that name.
  [[nodiscard]] bool link_to(const fs::path& target) const {
    if (::link(file_.c_str(), target.c_str()) == 0) return true;
    const int error = errno;
    if (error == EEXIST) return false;
    // An answer lost on the network: the link may have been made all the same.
    struct stat status {};
    if (::stat(file_.c_str(), &status) == 0 && status.st_nlink == 2) return true;
    if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK) return copy_to(target);
    throw RunError(fmt::format("cannot make the lock file '{}': {}; name another output folder", target.string(),
                               system_error_text(error)));
  }

  void rename_to(const fs::path& target) const {
    if (::rename(file_.c_str(), target.c_str()) == 0) return;
    throw RunError(
        fmt::format("cannot take over the stale lock file '{}': {}; delete it, or name another output folder",
                    target.string(), system_error_text(errno)));
  }

 private:
  /// For file systems without hard links: exclusive too, but a kill in between leaves an empty file, which is stale
  /// only by its age.
  [[nodiscard]] bool copy_to(const fs::path& target) const {
    const std::string text = read_file(file_, "the lock file");
    const FileDescriptor fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd && errno == EEXIST) return false;
    if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return true;
    throw RunError(fmt::format("cannot make the lock file '{}': {}; name another output folder", target.string(),
                               system_error_text(errno)));
  }

  fs::path file_;
  timespec made_{};
};

fs::path claim_of(const fs::path& file, const std::string& token) {
  return file.string() + "." + token;
}

/// The claim on a lock file that holds no token: its content, if any, is not of ours.
const std::string unknown_token = "unknown";

/// Makes `file` this holder's. @return the live holder where there is one, as words for a message.
std::optional<std::string> take(const fs::path& file, const LockHolder& self, int depth) {
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const Draft draft(file, self);
    if (draft.link_to(file)) return std::nullopt;
    const auto found = look_at(file);
    if (!found) continue;
    if (!is_stale(*found, self, draft.made())) {
      if (!found->holder) return "another process";
      return fmt::format("process {} on host '{}'", found->holder->pid, found->holder->host);
    }
    if (depth == max_claim_depth) break;
    const std::string token = found->holder ? found->holder->token : unknown_token;
    const fs::path claim = claim_of(file, token);
    // Who holds the claim is about to take the lock over: look again rather than wait for it.
    if (take(claim, self, depth + 1)) {
      ::usleep(1000);
      continue;
    }
    const auto again = look_at(file);
    const bool same = again && (again->holder ? again->holder->token : unknown_token) == token &&
                      is_stale(*again, self, draft.made());
    try {
      if (same) draft.rename_to(file);
    } catch (const RunError&) {
      ::unlink(claim.c_str());
      throw;
    }
    ::unlink(claim.c_str());
    if (same) return std::nullopt;
  }
  return "processes that start and end all the time";
}

/// Removes drafts and claims of processes that were killed in the midst of taking the lock that is this process's now.
void sweep(const fs::path& file, const LockHolder& self) {
  const std::string prefix = file.filename().string() + ".";
  const std::string own_claim = prefix + self.token;
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.starts_with(own_claim)) continue;
    const auto found = look_at(entry->path());
    if (!found || !found->holder) continue;
    const auto own = look_at(file);
    if (own && is_stale(*found, self, own->touched)) ::unlink(entry->path().c_str());
  }
}

}  // namespace

LockHolder LockHolder::self() {
  LockHolder holder;
  char name[256] = {};
  holder.host = ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
  holder.pid = ::getpid();
  if (const auto state = process_state(holder.pid)) holder.start_time = state->start_time;
  holder.boot = first_line("/proc/sys/kernel/random/boot_id");
  std::error_code error;
  holder.pid_namespace = fs::read_symlink("/proc/self/ns/pid", error).string();
  holder.token = random_token();
  return holder;
}

JournalLock JournalLock::acquire(const fs::path& file, const std::string& subject) {
  const LockHolder self = LockHolder::self();
  const fs::path absolute = fs::absolute(file);
  if (const auto holder = take(absolute, self, 0)) {
    throw RunError(
        fmt::format("{} is in use by {}; wait until it ends or stop it, or name another output folder; if it "
                    "is surely gone, delete '{}'",
                    subject, *holder, file.string()));
  }
  JournalLock lock(absolute, self.token);
  sweep(absolute, self);
  return lock;
}

JournalLock::JournalLock(JournalLock&& other) noexcept
    : file_(std::move(other.file_)), token_(std::exchange(other.token_, {})) {}

JournalLock::~JournalLock() {
  release();
}

bool JournalLock::touch() const noexcept {
  try {
    const auto found = look_at(file_);
    if (!found || !found->holder || found->holder->token != token_) return false;
    // UTIME_NOW is the file server's own time.
    const timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    ::utimensat(AT_FDCWD, file_.c_str(), now, 0);
    return true;
  } catch (const std::exception&) {
    // Unreadable for now (a server that does not answer): nobody else has been seen to hold it.
    return true;
  }
}

void JournalLock::release() noexcept {
  if (token_.empty()) return;
  try {
    const fs::path claim = claim_of(file_, token_);
    bool claimed = false;
    try {
      // A claim that is taken means that another process is taking over: the lock is its business then.
      if (take(claim, LockHolder::self(), 1)) return;
      claimed = true;
    } catch (const RunError&) {
      // No room for a claim on a full disk: the lock goes without one, for left behind it would need a takeover.
    }
    if (const auto found = look_at(file_); found && found->holder && found->holder->token == token_) {
      ::unlink(file_.c_str());
    }
    if (claimed) ::unlink(claim.c_str());
  } catch (const std::exception&) {
    // The lock stays; it is stale once this process has ended.
  }
}

}  // namespace wattune
