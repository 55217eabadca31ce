#pragma once
// Compile processes: each compiles one variant at a time, so that a compiler that crashes, hangs or eats the memory
// costs that variant only.

#include <poll.h>

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "backend/backend.hpp"
#include "base/subprocess.hpp"
#include "tune/binary_cache.hpp"

namespace wattune {

/// 8 GiB; none in a build with sanitizers, whose shadow memory counts.
unsigned long long default_memory_limit();

struct CompilePoolOptions {
  unsigned processes = 1;
  double timeout_seconds = 120;                              ///< of running time; pauses do not count
  unsigned long long memory_limit = default_memory_limit();  ///< bytes of data a compile process may take; 0: any
  std::size_t kept_bytes = 256U << 20;                       ///< binaries kept in memory for variants asked for again
  std::string cache_folder;                                  ///< of binaries on disk; empty: none
  ChildOptions child;
};

/// Used by one thread: add() requests, poll the descriptors, pump(), find() what is done.
class CompilePool {
 public:
  explicit CompilePool(CompilePoolOptions options);

  /// The key of a request: equal keys give equal binaries.
  static std::string key(const CompileRequest& request);

  /// Queues a compilation unless it is queued, under way or kept already.
  void add(const std::string& key, const CompileRequest& request);
  /// What a compilation gave; null while it is not done. Shared, so it outlives its place in the pool.
  [[nodiscard]] std::shared_ptr<const CompileOutcome> find(const std::string& key);
  /// Drops what is queued and not begun.
  void forget_queue();

  /// Takes what the processes sent, ends those past their deadline, replaces those that died, gives out new work.
  /// @throws Error where compiling is impossible as such (no compiler, no device).
  void pump();
  void add_poll_entries(std::vector<pollfd>& entries) const;
  /// Real seconds until a deadline of a compilation under way; nothing where none runs.
  [[nodiscard]] std::optional<double> seconds_to_deadline() const;

  /// Stops and continues the processes, for windows in which the machine must be quiet.
  void pause();
  void resume();

  /// Variants compiled, and found in the cache on disk instead.
  [[nodiscard]] std::size_t compiled() const noexcept { return compiled_; }
  [[nodiscard]] std::size_t cached() const noexcept { return cached_; }
  /// True while something is queued or under way.
  [[nodiscard]] bool busy() const noexcept { return !queue_.empty() || running() > 0; }

 private:
  struct Job {
    std::string key;
    CompileRequest request;
    int attempts = 0;  ///< processes that died of it
  };
  struct Process {
    Child child;
    std::optional<Job> job;
    double deadline = 0;
    double started = 0;
  };

  [[nodiscard]] std::size_t running() const noexcept;
  void start_processes();
  void give_work();
  void take_reply(Process& process, const nlohmann::json& reply);
  void died(Process& process, const std::string& how);
  void fail(Process& process, const std::string& message);
  void keep(const std::string& key, CompileOutcome outcome);
  void signal_all(int signal_number) const;

  CompilePoolOptions options_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::deque<Job> queue_;
  std::unordered_map<std::string, bool> pending_;  ///< queued or under way
  struct Kept {
    std::string key;
    std::shared_ptr<const CompileOutcome> outcome;
    std::size_t bytes;
  };
  std::list<Kept> kept_;  ///< most recently used first
  std::unordered_map<std::string, std::list<Kept>::iterator> kept_by_key_;
  std::size_t kept_bytes_ = 0;
  std::size_t compiled_ = 0;
  std::size_t cached_ = 0;
  std::optional<double> paused_at_;
};

}  // namespace wattune
