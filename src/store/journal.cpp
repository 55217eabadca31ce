#include "store/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "store/journal_header.hpp"
#include "store/journal_line.hpp"
#include "store/journal_lock.hpp"
#include "store/journal_reader.hpp"

namespace wattune {

namespace {

namespace fs = std::filesystem;

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
      return "free space, or name another output folder";
    case EDQUOT:
      return "your disk quota is used up: free space, or name another output folder";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f), or name another output folder";
    case EROFS:
    case EACCES:
    case EPERM:
      return "name an output folder that this user may write to";
    case EIO:
      return "check the disk, or name another output folder";
    default:
      return "check the file system, or name another output folder";
  }
}

RunError folder_error(const fs::path& folder, int error) {
  return RunError(fmt::format("cannot write to the output folder '{}': {}; {}", folder.string(),
                              system_error_text(error), advice(error)));
}

/// Puts what happened to a folder's names on disk. File systems that cannot do so order their own changes.
void sync_folder(const fs::path& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return;
  if (::fsync(fd.get()) != 0 && errno == EIO) throw folder_error(folder, errno);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> parents;  // of what is to be made
  for (fs::path path = fs::absolute(folder); !fs::exists(path, error) && path.has_relative_path();
       path = path.parent_path()) {
    parents.push_back(path.parent_path());
  }
  fs::create_directories(folder, error);
  if (error) throw folder_error(folder, error.value());
  for (const auto& parent : parents) sync_folder(parent);
}

/// Writes all of a text. @param written bytes that were. @return errno of the failure, 0 for none.
int write_all(int fd, std::string_view text, std::size_t& written) {
  written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    written += static_cast<std::size_t>(n);
  }
  return 0;
}
int write_all(int fd, std::string_view text) {
  std::size_t written = 0;
  return write_all(fd, text, written);
}

/// A new journal with its header, which comes under its name whole or not at all.
FileDescriptor make_file(const fs::path& file, const std::string& header) {
  const fs::path draft = file.string() + ".new";
  FileDescriptor fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  int error = fd ? write_all(fd.get(), header) : errno;
  if (error == 0 && ::fsync(fd.get()) != 0) error = errno;
  if (error == 0 && ::rename(draft.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(draft.c_str());
    throw RunError(
        fmt::format("cannot begin the journal '{}': {}; {}", file.string(), system_error_text(error), advice(error)));
  }
  sync_folder(file.parent_path());
  return fd;
}

/// An existing journal, made to end with a whole line.
FileDescriptor open_file(const fs::path& file, const JournalText& text) {
  FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  int error = fd ? 0 : errno;
  if (error == 0 && ::ftruncate(fd.get(), static_cast<off_t>(text.whole_bytes)) != 0) error = errno;
  if (error == 0 && text.newline_missing) error = write_all(fd.get(), "\n");
  if (error == 0 && ::fdatasync(fd.get()) != 0) error = errno;
  if (error != 0) {
    throw RunError(fmt::format("cannot go on with the journal '{}': {}; {}", file.string(), system_error_text(error),
                               advice(error)));
  }
  return fd;
}

/// The problem's name as part of a file's name.
std::string file_stem(const std::string& name) {
  std::string stem;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
                       c == '-' || (c == '.' && !stem.empty());
    stem += plain ? c : '_';
  }
  return stem.empty() ? "problem" : stem.substr(0, 100);
}

/// Why journals of the same problem in the folder are not gone on with: of several, why the newest is not.
std::vector<std::string> notes_on_others(const fs::path& file, const JournalHeader& header) {
  const std::string prefix = file_stem(header.problem_name) + "-";
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& other = entry->path();
    if (other == file || other.extension() != ".jsonl" || !other.filename().string().starts_with(prefix)) continue;
    std::error_code ignored;
    others.emplace_back(fs::last_write_time(other, ignored), other);
  }
  std::sort(others.rbegin(), others.rend());
  for (const auto& [time, other] : others) {
    try {
      const auto conflict = read_journal_header(other).conflict_with(header);
      if (!conflict) continue;
      const std::string more = others.size() > 1 ? fmt::format(" (and {} more)", others.size() - 1) : "";
      return {fmt::format("a new journal '{}' is begun and '{}'{} is left as it is: {}", file.string(), other.string(),
                          more, *conflict)};
    } catch (const UsageError&) {
      // Not a journal, or damaged: nothing is said about a file that is not used.
    }
  }
  return {};
}

/// What of the journal's circumstances is not as it was when it was begun, though its results still count.
std::vector<std::string> notes_on_changes(const fs::path& file, const JournalHeader& before, const JournalHeader& now) {
  std::vector<std::string> notes;
  auto compare = [&](std::string_view what, const std::string& old_one, const std::string& new_one) {
    if (old_one == new_one) return;
    notes.push_back(fmt::format("journal '{}' was begun with {} '{}', now it is '{}': its results come from both",
                                file.string(), what, old_one, new_one));
  };
  compare("driver", before.driver, now.driver);
  compare("compiler", before.compiler, now.compiler);
  compare("meter", before.meter, now.meter);
  return notes;
}

}  // namespace

struct Journal::Impl {
  Impl(fs::path path, JournalLock held) : file(std::move(path)), lock(std::move(held)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  void start() {
    thread = std::thread([this] { keep(); });
  }
  void keep();
  void throw_error();
  bool cut_off(std::size_t bytes);
  void write_line(const std::string& line);

  const fs::path file;
  JournalLock lock;
  JournalContent before;
  std::vector<std::string> notes;
  FileDescriptor fd;

  std::mutex mutex;
  // Guarded by the mutex:
  std::condition_variable work;      ///< for the thread: something to sync, or to end
  std::condition_variable done;      ///< for flush()
  std::uint64_t size = 0;            ///< bytes of whole lines
  std::size_t torn = 0;              ///< bytes beyond them of a line that could not be cut off
  std::uint64_t appended = 0;        ///< lines
  std::uint64_t synced = 0;          ///< of them, on disk or given up
  std::optional<std::string> error;  ///< of the thread, not yet thrown
  std::string lock_lost;             ///< why; empty while it is held
  bool ending = false;

  std::thread thread;
};

/// The thread: syncs what was appended, and keeps the lock alive.
void Journal::Impl::keep() {
  using Clock = std::chrono::steady_clock;
  const auto period =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(JournalLock::heartbeat_seconds));
  auto next_beat = Clock::now() + period;
  std::unique_lock held(mutex);
  while (true) {
    work.wait_until(held, next_beat, [&] { return ending || synced != appended; });
    if (synced != appended) {
      const std::uint64_t target = appended;
      held.unlock();
      const int failure = ::fdatasync(fd.get()) == 0 ? 0 : errno;
      held.lock();
      if (failure != 0) {
        error = fmt::format(
            "cannot put the journal '{}' on disk: {}; the last results may be missing from it; {}, then "
            "run the same command again",
            file.string(), system_error_text(failure), advice(failure));
      }
      synced = target;
      done.notify_all();
    } else if (ending) {
      return;
    }
    if (Clock::now() < next_beat) continue;
    next_beat = Clock::now() + period;
    if (!lock_lost.empty()) continue;
    held.unlock();
    const bool ours = lock.touch();
    held.lock();
    if (ours) continue;
    lock_lost = fmt::format(
        "the lock '{}' of the journal was taken over or deleted while this process was suspended; stop "
        "one of the two runs that write to '{}'",
        lock.file().string(), file.string());
  }
}

Journal::Impl::~Impl() {
  {
    const std::lock_guard held(mutex);
    ending = true;
  }
  work.notify_all();
  if (thread.joinable()) thread.join();
}

/// Throws what the thread met with: a failed sync once, a lost lock every time. Needs the mutex.
void Journal::Impl::throw_error() {
  if (!lock_lost.empty()) throw RunError(lock_lost);
  if (error) throw RunError(*std::exchange(error, std::nullopt));
}

/// Cuts off what lies behind the whole lines, if it is what this process has left there: were it that of a process that
/// took the lock over, it would be whole lines too. Needs the mutex.
bool Journal::Impl::cut_off(std::size_t bytes) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) == size + bytes &&
         ::ftruncate(fd.get(), static_cast<off_t>(size)) == 0;
}

/// Needs the mutex.
void Journal::Impl::write_line(const std::string& line) {
  if (torn > 0 && cut_off(torn)) torn = 0;
  // What could not be cut off gets an end of its own, so that it spoils no line but itself.
  const std::string text = torn > 0 ? "\n" + line : line;
  std::size_t written = 0;
  const int failure = write_all(fd.get(), text, written);
  torn += written;
  if (failure == 0) {
    size += std::exchange(torn, 0);
    return;
  }
  std::string message =
      fmt::format("cannot append to the journal '{}': {}; ", file.string(), system_error_text(failure));
  if (torn == 0 || cut_off(torn)) {
    torn = 0;
    message += "the results before are kept; ";
  } else {
    message += fmt::format(
        "part of a line could not be cut off its end ({}) and will be skipped, the results before "
        "are kept; ",
        system_error_text(errno));
  }
  throw RunError(message + advice(failure) + ", then run the same command again to go on");
}

fs::path Journal::path_for(const fs::path& folder, const JournalHeader& header) {
  // All that must agree for a journal to be resumed: what differs in it opens a journal of its own.
  Hasher hasher;
  hasher.add(header.problem_hash).add(header.backend).add(header.device_name).add(header.simulated ? "simulated" : "");
  for (const auto& name : header.parameter_names) hasher.add(name);
  for (const auto& values : header.parameter_values) {
    std::string key;
    append_key(key, values);
    hasher.add(key);
  }
  return folder / fmt::format("{}-{}.jsonl", file_stem(header.problem_name), hasher.hex().substr(0, 8));
}

Journal Journal::open(const fs::path& folder, const JournalHeader& header) {
  make_folder(folder);
  const fs::path file = path_for(folder, header);
  auto impl = std::make_unique<Impl>(
      file, JournalLock::acquire(file.string() + ".lock", fmt::format("the journal '{}'", file.string())));
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error))) {
    JournalText text = read_journal_text(file);
    if (const auto conflict = text.content.header.conflict_with(header)) {
      throw UsageError(
          fmt::format("cannot go on with the journal '{}': {}; move it away, or name another output folder",
                      file.string(), *conflict));
    }
    impl->fd = open_file(file, text);
    impl->size = text.whole_bytes + (text.newline_missing ? 1 : 0);
    impl->notes = notes_on_changes(file, text.content.header, header);
    impl->before = std::move(text.content);
  } else {
    const std::string line = header_line(header);
    impl->fd = make_file(file, line);
    impl->size = line.size();
    impl->before.header = header;
    impl->notes = notes_on_others(file, header);
  }
  impl->start();
  return Journal(std::move(impl));
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

const fs::path& Journal::file() const noexcept {
  return impl_->file;
}
const JournalContent& Journal::before() const noexcept {
  return impl_->before;
}
const std::vector<std::string>& Journal::notes() const noexcept {
  return impl_->notes;
}

void Journal::append(const Evaluation& evaluation) {
  const std::string line = evaluation_line(evaluation, impl_->before.header.parameter_names);
  const std::lock_guard held(impl_->mutex);
  if (!impl_->lock_lost.empty()) impl_->throw_error();
  impl_->write_line(line);
  ++impl_->appended;
  impl_->work.notify_one();
  impl_->throw_error();
}

void Journal::flush() {
  std::unique_lock held(impl_->mutex);
  const std::uint64_t target = impl_->appended;
  impl_->done.wait(held, [&] { return impl_->synced >= target; });
  impl_->throw_error();
}

}  // namespace wattune
