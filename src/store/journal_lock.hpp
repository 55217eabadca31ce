#pragma once
// The lock of a journal: an exclusive file that names its holder, kept alive by a heartbeat. It needs no support for
// locks by the file system, so it works on NFS and Lustre.

#include <filesystem>
#include <optional>
#include <string>

namespace wattune {

/// Who holds a lock, as its file says.
struct LockHolder {
  std::string host;
  long pid = 0;
  unsigned long long start_time = 0;  ///< of the process, in clock ticks since the machine booted
  std::string boot;                   ///< id of the machine's boot and
  std::string pid_namespace;          ///< of the process numbers: where both agree, the pid can be looked up
  std::string token;                  ///< different for every lock ever made

  /// The calling process, with a new token.
  static LockHolder self();
};

/// An exclusive lock file, held while this object lives.
///
/// The invariant behind a takeover: the file with token X is replaced or removed only by who holds the claim `FILE.X`,
/// itself an exclusive file, and a claim is given up only after the file's token is no longer X. So of two processes
/// that find the same stale lock one wins, and neither can hit a lock that was made in the meantime.
class JournalLock {
 public:
  /// A lock whose holder cannot be looked up (another machine) is stale when it was not touched for this long.
  static constexpr double stale_seconds = 60;
  /// How often a holder touches it.
  static constexpr double heartbeat_seconds = 5;

  /// @param subject what is locked, for messages: "the journal 'results/gemm.jsonl'".
  /// @throws RunError where a live process holds the lock (names host, pid and file) or it cannot be written.
  static JournalLock acquire(const std::filesystem::path& file, const std::string& subject);

  JournalLock(JournalLock&& other) noexcept;
  JournalLock& operator=(JournalLock&&) = delete;
  ~JournalLock();

  /// Renews the heartbeat. @return false where the lock is no longer this process's: it slept for so long that another
  /// took the lock for stale.
  [[nodiscard]] bool touch() const noexcept;

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

 private:
  JournalLock(std::filesystem::path file, std::string token) : file_(std::move(file)), token_(std::move(token)) {}
  void release() noexcept;

  std::filesystem::path file_;
  std::string token_;  ///< empty: not held
};

}  // namespace wattune
