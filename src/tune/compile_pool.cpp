#include "tune/compile_pool.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/duration.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "tune/child_processes.hpp"
#include "tune/wire.hpp"

namespace wattune {

namespace {
/// A variant that has killed this many processes is not tried again.
constexpr int max_attempts = 2;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif
}  // namespace

unsigned long long default_memory_limit() {
  return sanitized ? 0 : 8ULL << 30;
}

CompilePool::CompilePool(CompilePoolOptions options) : options_(std::move(options)) {
  options_.processes = std::max(1U, options_.processes);
  options_.child.memory_limit = options_.memory_limit;
  options_.child.niceness = 5;  // the worker, not the compilers, gets the core when they compete
}

std::string CompilePool::key(const CompileRequest& request) {
  Hasher hasher;
  hasher.add(request.device).add(request.source).add(request.kernel_name);
  for (const auto& [name, value] : request.defines) hasher.add(name).add(value);
  for (const auto& option : request.options) hasher.add(option);
  return hasher.hex();
}

void CompilePool::add(const std::string& key, const CompileRequest& request) {
  if (pending_.contains(key) || kept_by_key_.contains(key)) return;
  pending_[key] = true;
  queue_.push_back({key, request, 0});
}

std::shared_ptr<const CompileOutcome> CompilePool::find(const std::string& key) {
  const auto found = kept_by_key_.find(key);
  if (found == kept_by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->outcome;
}

void CompilePool::forget_queue() {
  for (const auto& job : queue_) pending_.erase(job.key);
  queue_.clear();
}

void CompilePool::pump() {
  if (paused_at_) return;
  for (auto& process : processes_) {
    while (auto reply = process->child.channel().try_receive()) take_reply(*process, *reply);
    if (process->child.channel().closed()) {
      const auto exit = process->child.wait(1.0);
      died(*process, exit.text());
    } else if (process->job && monotonic_seconds() > process->deadline) {
      process->child.kill();
      fail(*process,
           fmt::format("the compiler ran longer than {} and was stopped", format_interval(options_.timeout_seconds)));
    }
  }
  std::erase_if(processes_, [](const auto& process) { return process->child.pid() < 0; });
  start_processes();
  give_work();
}

void CompilePool::take_reply(Process& process, const nlohmann::json& reply) {
  if (!process.job) return;
  if (reply.contains("error")) {
    throw Error(static_cast<ExitCode>(reply.at("code").get<int>()), reply.at("error").get<std::string>());
  }
  const std::string key = process.job->key;
  process.job.reset();
  ++(reply.at("cached").get<bool>() ? cached_ : compiled_);
  if (reply.contains("result")) {
    keep(key, compile_result_from_json(reply.at("result")));
  } else {
    keep(key, tl::unexpected(failure_from_json(reply.at("failure"))));
  }
}

/// The variant may be innocent (somebody killed the process): it gets one more chance.
void CompilePool::died(Process& process, const std::string& how) {
  if (!process.job) return;
  if (++process.job->attempts < max_attempts) {
    queue_.push_front(std::move(*process.job));
    process.job.reset();
  } else {
    fail(process, fmt::format("{} compiler processes died of it; the last {}", max_attempts, how));
  }
}

void CompilePool::fail(Process& process, const std::string& message) {
  if (!process.job) return;
  keep(process.job->key, tl::unexpected(Failure{Outcome::compile, message}));
  process.job.reset();
  ++compiled_;
}

void CompilePool::keep(const std::string& key, CompileOutcome outcome) {
  pending_.erase(key);
  const std::size_t bytes = outcome ? outcome->binary.size() + outcome->log.size() : outcome.error().message.size();
  kept_.push_front({key, std::make_shared<const CompileOutcome>(std::move(outcome)), bytes});
  kept_by_key_[key] = kept_.begin();
  kept_bytes_ += bytes;
  while (kept_bytes_ > options_.kept_bytes && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().bytes;
    kept_by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

void CompilePool::start_processes() {
  const std::size_t wanted = std::min<std::size_t>(options_.processes, running() + queue_.size());
  while (processes_.size() < wanted) {
    processes_.push_back(std::make_unique<Process>(
        Process{Child::start(own_executable(), {compile_command}, options_.child), std::nullopt, 0, 0}));
  }
}

void CompilePool::give_work() {
  for (auto& process : processes_) {
    if (queue_.empty()) return;
    if (process->job) continue;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    process->started = monotonic_seconds();
    process->deadline = process->started + options_.timeout_seconds;
    nlohmann::json request = to_json(job.request);
    request["cache"] = options_.cache_folder;
    // A send that fails means that the process has died: pump() will find its channel closed.
    [[maybe_unused]] const bool sent = process->child.channel().send(request);
    process->job = std::move(job);
  }
}

void CompilePool::add_poll_entries(std::vector<pollfd>& entries) const {
  if (paused_at_) return;
  for (const auto& process : processes_) entries.push_back({process->child.channel().fd(), POLLIN, 0});
}

std::optional<double> CompilePool::seconds_to_deadline() const {
  std::optional<double> nearest;
  if (paused_at_) return nearest;
  for (const auto& process : processes_) {
    if (process->job && (!nearest || process->deadline < *nearest)) nearest = process->deadline;
  }
  if (nearest) *nearest = std::max(0.0, *nearest - monotonic_seconds());
  return nearest;
}

void CompilePool::pause() {
  if (paused_at_) return;
  signal_all(SIGSTOP);
  paused_at_ = monotonic_seconds();
}

void CompilePool::resume() {
  if (!paused_at_) return;
  const double pause = monotonic_seconds() - *paused_at_;
  for (auto& process : processes_) process->deadline += pause;
  paused_at_.reset();
  signal_all(SIGCONT);
}

void CompilePool::signal_all(int signal_number) const {
  for (const auto& process : processes_) {
    if (process->child.pid() > 0) ::kill(-process->child.pid(), signal_number);
  }
}

std::size_t CompilePool::running() const noexcept {
  return static_cast<std::size_t>(std::count_if(processes_.begin(), processes_.end(),
                                                [](const auto& process) { return process->job.has_value(); }));
}

}  // namespace wattune
