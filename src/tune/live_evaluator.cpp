#include "tune/live_evaluator.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/duration.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "tune/backends.hpp"
#include "tune/compile_cached.hpp"
#include "tune/device_session.hpp"
#include "tune/wire.hpp"

namespace wattune {

using nlohmann::json;

namespace {

/// A device that cannot be opened twice running is not there.
constexpr int max_failed_opens = 2;
/// A configuration that has killed this many workers is not tried again.
constexpr int max_attempts = 2;

ChildOptions child_options(const LiveOptions& options) {
  ChildOptions child;
  child.stderr_file = options.log_file;
  child.environment = options.environment;
  return child;
}

CompilePoolOptions pool_options(const LiveOptions& options) {
  CompilePoolOptions pool;
  pool.processes = options.compile_processes != 0 ? options.compile_processes : available_cores();
  pool.timeout_seconds = options.compile_timeout_seconds;
  pool.cache_folder = options.cache_folder;
  pool.child = child_options(options);
  return pool;
}

}  // namespace

LiveEvaluator::LiveEvaluator(const Problem& problem, std::string text, LiveOptions options)
    : problem_(problem),
      text_(std::move(text)),
      options_(std::move(options)),
      pool_(pool_options(options_)),
      worker_(child_options(options_)),
      order_(options_.setting_share_seconds),
      lock_checked_(!options_.settings || !options_.look_for_lock || options_.verify_only) {
  // An OpenCL compiler uses the device's own processor, or opens a context on the card: not while the worker measures.
  std::error_code error;
  Hasher includes;
  for (const auto& [path, hash] : problem.kernel.includes) {
    includes.add(path.string()).add(hash);
    includes_.push_back({path, std::filesystem::last_write_time(path, error)});
  }
  includes_hash_ = includes.hex();
  wait_for_quiet_ = backend_of_device(options_.device) == "opencl";
}

LiveEvaluator::~LiveEvaluator() = default;

std::size_t LiveEvaluator::capacity() const {
  if (options_.settings && options_.hold_all) return grouping_capacity;
  return 4 * (options_.compile_processes != 0 ? options_.compile_processes : available_cores()) + 4;
}

json LiveEvaluator::open_request() const {
  json request = {{"op", "open"},
                  {"device", options_.device},
                  {"text", text_},
                  {"file", problem_.file.string()},
                  {"language", problem_.kernel.language},
                  {"hash", problem_.hash},
                  {"wait_for_quiet", wait_for_quiet_},
                  {"energy", options_.energy},
                  {"energy_ticks", options_.energy_ticks},
                  {"energy_estimator", options_.energy_estimator},
                  {"voltage_command", options_.voltage_command},
                  {"verify_only", options_.verify_only}};
  if (!problem_.problem_size.empty()) request["problem_size"] = problem_.problem_size;
  if (!options_.device_settings.empty()) {
    json settings = json::object();
    for (const auto& parameter : options_.device_settings) settings[parameter.name] = to_json(parameter.values);
    request["device_settings"] = settings;
  }
  return request;
}

std::optional<DeviceInfo> LiveEvaluator::start(int wake_fd) {
  while (!opened_) {
    if (worker_.state() == WorkerClient::State::none) start_worker();
    keep_settings();
    if (worker_.state() == WorkerClient::State::none) continue;
    wait(1.0, wake_fd);
    pollfd wake{wake_fd, POLLIN, 0};
    if (wake_fd >= 0 && ::poll(&wake, 1, 0) > 0) return std::nullopt;
    drive_worker();
  }
  return device_;
}

void LiveEvaluator::check_includes() const {
  std::error_code error;
  for (const auto& include : includes_) {
    if (std::filesystem::last_write_time(include.path, error) != include.written || error) {
      throw RunError(fmt::format("{}: changed while the kernel that includes it was being tuned; run the command again",
                                 include.path.string()));
    }
  }
}

void LiveEvaluator::submit(Proposal proposal) {
  check_includes();
  const int deaths = deaths_ == nullptr ? 0 : deaths_->count(proposal.configuration);
  const DeviceSettings settings = settings_of(problem_.parameter_names(), proposal.configuration);
  Entry entry{std::move(proposal), "", nullptr, deaths, settings};
  if (deaths >= max_attempts) {
    finish_failed(std::move(entry), Outcome::crash,
                  fmt::format("{} workers died; this run was killed before it could say so", deaths));
    return;
  }
  try {
    const auto request = compile_request(entry.proposal.configuration);
    entry.key = CompilePool::key(request);
    pool_.add(entry.key, request);
  } catch (const ExpressionError& error) {
    finish_failed(std::move(entry), Outcome::launch, error.what());
    return;
  }
  waiting_.push_back(std::move(entry));
}

CompileRequest LiveEvaluator::compile_request(const std::vector<Value>& configuration) const {
  return variant_request(problem_, device_.id, includes_hash_, configuration);
}

std::optional<Evaluator::Done> LiveEvaluator::next(double seconds, int wake_fd) {
  const double until = monotonic_seconds() + seconds;
  while (true) {
    advance();
    if (!finished_.empty()) {
      Done done = std::move(finished_.front());
      finished_.pop_front();
      return done;
    }
    const double left = until - monotonic_seconds();
    pollfd wake{wake_fd, POLLIN, 0};
    if (left <= 0 || (wake_fd >= 0 && ::poll(&wake, 1, 0) > 0)) return std::nullopt;
    wait(left, wake_fd);
  }
}

/// Where the settings server was lost, the device was put back under the kernel that is being measured.
void LiveEvaluator::keep_settings() {
  if (!options_.settings) return;
  const std::string loss = options_.settings->keep_alive();
  if (loss.empty()) return;
  note(loss);
  if (worker_.state() == WorkerClient::State::none || worker_.state() == WorkerClient::State::idle) return;
  worker_.end(false);
  pool_.resume();
  if (!current_) return;
  waiting_.push_front(std::move(*current_));
  current_.reset();
}

void LiveEvaluator::advance() {
  keep_settings();
  pump();
  finish_uncompilable();
  drive_worker();
  if (worker_.state() == WorkerClient::State::idle) {
    if (reference_ == Reference::wanted) {
      send_reference();
    } else {
      send_next();
    }
    pump();
  }
}

void LiveEvaluator::wait(double seconds, int wake_fd) {
  std::vector<pollfd> entries;
  pool_.add_poll_entries(entries);
  if (const auto deadline = pool_.seconds_to_deadline()) seconds = std::min(seconds, *deadline);
  if (options_.settings) {
    seconds = std::min(seconds, options_.settings->keep_alive_seconds());
    if (options_.settings->fd() >= 0) entries.push_back({options_.settings->fd(), POLLIN, 0});
  }
  if (worker_.state() != WorkerClient::State::none) {
    entries.push_back({worker_.fd(), POLLIN, 0});
    if (worker_.state() != WorkerClient::State::idle) {
      seconds = std::min(seconds, std::max(0.0, worker_.deadline() - monotonic_seconds()));
    }
  }
  if (wake_fd >= 0) entries.push_back({wake_fd, POLLIN, 0});
  ::poll(entries.data(), entries.size(), static_cast<int>(std::ceil(seconds * 1e3)));
}

// ---- the worker

void LiveEvaluator::drive_worker() {
  using State = WorkerClient::State;
  if (worker_.state() != State::none) {
    while (auto message = worker_.receive()) {
      handle_message(*message);
      if (worker_.state() == State::none) break;
    }
  }
  if (worker_.state() != State::none && worker_.dead()) {
    handle_death();
  } else if (worker_.state() != State::none && worker_.state() != State::idle &&
             monotonic_seconds() > worker_.deadline()) {
    handle_timeout();
  }
  if (worker_.state() == State::none) start_worker();
}

/// The settings server kills the worker, too, when this process is lost.
void LiveEvaluator::start_worker() {
  worker_.start(open_request(), options_.open_timeout_seconds);
  if (options_.settings) options_.settings->add_worker(worker_.pid());
}

void LiveEvaluator::handle_message(const json& message) {
  if (message.contains("phase")) {
    handle_phase(message);
    return;
  }
  if (message.contains("warning")) {
    const std::string text = message.at("warning");
    if (warnings_.insert(text).second) note("warning: " + text);
    return;
  }
  pool_.resume();
  const auto state = worker_.state();
  worker_.answered();
  idle_since_ = monotonic_seconds();
  if (message.contains("error")) {
    throw_error(static_cast<ExitCode>(message.at("code").get<int>()), message.at("error").get<std::string>(),
                state == WorkerClient::State::opening);
  }
  if (state == WorkerClient::State::opening) {
    device_ = device_from_json(message.at("device"));
    meter_ = message.at("meter").get<std::string>();
    opened_ = true;
    failed_opens_ = 0;
    if (suspect_) finished_.push_back(*std::exchange(suspect_, std::nullopt));
    reference_needs_ = message.at("needs").get<std::string>();
    request_reference();
  } else if (state == WorkerClient::State::referencing) {
    handle_reference_answer(message);
  } else if (state == WorkerClient::State::probing) {
    handle_probe(message);
  } else {
    handle_answer(message);
  }
}

/// @param opening it was said by a process that opened the device
void LiveEvaluator::throw_error(ExitCode code, const std::string& text, bool opening) const {
  if (!opened_ || !opening || code != ExitCode::device) throw Error(code, text);
  throw DeviceError(
      fmt::format("{} ({}) was lost: it was there when the run began. What was measured is kept; once it "
                  "is back, the same command goes on. A process that opens it anew says: {}",
                  options_.device, device_.name, text));
}

/// Compilers open the device, too.
void LiveEvaluator::pump() {
  try {
    pool_.pump();
  } catch (const Error& error) {
    throw_error(error.code(), error.what(), true);
  }
}

void LiveEvaluator::handle_phase(const json& message) {
  const std::string phase = message.at("phase");
  limit_ = limit_of_phase(phase);
  worker_.phase_began(phase, limit_);
  if (message.at("wait").get<bool>()) {
    pool_.pause();
    worker_.let_go();
  } else {
    pool_.resume();
  }
}

/// Real seconds that a phase of an evaluation may take.
double LiveEvaluator::limit_of_phase(const std::string& phase) const {
  double limit = options_.phase_timeout_seconds;
  // An energy window is as long as it was asked to be; no meter's counter ticks more slowly than this.
  constexpr double slowest_tick = 1.0;
  if (phase == "energy") limit += slowest_tick * options_.energy_ticks;
  if (!options_.limit_by_fastest) return limit;
  return std::min(limit, launch_limit_.of_phase(phase).value_or(limit));
}

void LiveEvaluator::learn(const Evaluation& evaluation) {
  launch_limit_.learn(evaluation);
  energy_bounds_.learn(evaluation, settings_of(problem_.parameter_names(), evaluation.configuration));
}

void LiveEvaluator::recorded(const Evaluation& evaluation) {
  learn(evaluation);
  if (deaths_ != nullptr) deaths_->forget(evaluation.configuration);
}

void LiveEvaluator::handle_answer(const json& message) {
  Entry entry = std::move(*current_);
  current_.reset();
  Evaluation evaluation = evaluation_from_json(message.at("evaluation"), problem_.parameter_names());
  learn(evaluation);
  note_others(message.at("others").get<std::vector<std::string>>());
  if (reference_ == Reference::from_first && evaluation.ok()) {
    reference_binary_ = entry.binary;
    reference_key_ = entry.key;
    reference_configuration_ = entry.proposal.configuration;
    reference_ = Reference::ready;
  }
  if (!message.at("poisoned").get<bool>()) {
    finish(std::move(entry), std::move(evaluation));
    return;
  }
  worker_.end(false);
  if (evaluation.outcome == Outcome::lost_device && ++entry.attempts < max_attempts) {
    note(fmt::format("{}; a new worker tries this configuration once more", evaluation.message));
    waiting_.push_front(std::move(entry));
    return;
  }
  suspect_ = completed(std::move(entry), std::move(evaluation));
}

/// Once for each change, not for each evaluation.
void LiveEvaluator::note_others(std::vector<std::string> others) {
  if (!others.empty() && others != others_) note(note_about(others, device_));
  others_ = std::move(others);
}

void LiveEvaluator::handle_death() {
  const auto state = worker_.state();
  const std::string phase = worker_.phase();
  const auto exit = worker_.end(true);
  const std::string how = exit.text();
  pool_.resume();
  if (state == WorkerClient::State::opening) {
    if (++failed_opens_ >= max_failed_opens) {
      throw DeviceError(fmt::format("--device {}: the worker {} while it opened the device; see {}", options_.device,
                                    how, options_.log_file.empty() ? "its output" : options_.log_file));
    }
  } else if (state == WorkerClient::State::referencing) {
    reference_failed(fmt::format("its worker {}", how));
  } else if (state == WorkerClient::State::probing) {
    probe_failed(fmt::format("its worker {}", how));
  } else if (current_) {
    Entry entry = std::move(*current_);
    current_.reset();
    // Who kills a run kills its workers too, often before the coordinator. That is not held against a configuration for
    // longer than this process lives.
    const bool by_kill = WIFSIGNALED(exit.status) && WTERMSIG(exit.status) == SIGKILL;
    if (deaths_ != nullptr && !by_kill) deaths_->add(entry.proposal.configuration);
    if (++entry.attempts >= max_attempts) {
      finish_failed(std::move(entry), Outcome::crash,
                    fmt::format("{} workers died; the last {} in phase '{}'", max_attempts, how, phase));
    } else {
      note(fmt::format("the worker {} in phase '{}'; a new one tries this configuration once more", how, phase));
      waiting_.push_front(std::move(entry));
    }
  }
}

void LiveEvaluator::handle_timeout() {
  const auto state = worker_.state();
  const std::string phase = worker_.phase();
  worker_.end(false);
  pool_.resume();
  std::string text = fmt::format("phase '{}' ran longer than {}", phase, format_interval(limit_));
  if (state == WorkerClient::State::opening) {
    throw DeviceError(fmt::format("--device {}: opening the device took longer than {}", options_.device,
                                  format_interval(options_.open_timeout_seconds)));
  }
  if (state == WorkerClient::State::referencing) {
    reference_failed(text);
  } else if (current_) {
    if (limit_ < options_.phase_timeout_seconds) {
      text += fmt::format(", where the fastest launch so far takes {} (--abandon-above 0 waits {})",
                          format_interval(*launch_limit_.fastest()), format_interval(options_.phase_timeout_seconds));
    }
    Entry entry = std::move(*current_);
    current_.reset();
    finish_failed(std::move(entry), Outcome::timeout, text);
  }
}

// ---- evaluations

void LiveEvaluator::send_next() {
  const auto next = next_ready();
  if (!next) return;
  if (!lock_checked_) {
    send_probe(*waiting_[*next].binary, waiting_[*next].proposal.configuration);
    return;
  }
  Entry entry = std::move(waiting_[*next]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(*next));
  if (apply_settings(entry)) send(std::move(entry));
}

/// The waiting entry to evaluate next, with its binary; nothing while that is being compiled. Where settings are tuned,
/// the device waits for a binary rather than go to another setting and come back.
std::optional<std::size_t> LiveEvaluator::next_ready() {
  std::vector<DeviceSettings> settings;
  for (const auto& entry : waiting_) {
    // What is to be measured exactly is interleaved as it was proposed.
    if (entry.proposal.tier == "final") break;
    settings.push_back(entry.settings);
  }
  if (settings.empty() && !waiting_.empty()) settings.push_back(waiting_.front().settings);
  const auto order = order_.order(settings, device_seconds());
  for (const std::size_t index : order) {
    Entry& entry = waiting_[index];
    if (options_.settings && entry.settings != settings[order.front()]) break;
    if (!entry.binary) entry.binary = pool_.find(entry.key);
    if (entry.binary) return index;
    // Its binary may have been dropped to make room; asking again is harmless where it is under way.
    pool_.add(entry.key, compile_request(entry.proposal.configuration));
  }
  return std::nullopt;
}

/// @return false where the board does not take the entry's settings: it has failed.
bool LiveEvaluator::apply_settings(Entry& entry) {
  if (!options_.settings || options_.verify_only) return true;
  const std::string refusal = options_.settings->set(entry.settings);
  order_.begin(entry.settings, device_seconds());
  if (refusal.empty()) return true;
  finish_failed(std::move(entry), Outcome::measurement, refusal);
  return false;
}

void LiveEvaluator::send(Entry entry) {
  current_ = std::move(entry);
  json request = {{"op", "evaluate"},
                  {"binary", wattune::to_json(**current_->binary)},
                  {"configuration", to_json(current_->proposal.configuration)},
                  {"as_reference", reference_ == Reference::from_first}};
  const bool searching = current_->proposal.tier == "screen";  // others are measured in full
  if (const auto fastest = launch_limit_.fastest(); searching && options_.abandon_factor && fastest) {
    request["abandon_above"] = *options_.abandon_factor * *fastest;
  }
  if (searching && options_.skip_hopeless && energy_bounds_.least()) {
    request["hopeless_energy"] = *energy_bounds_.least();
    request["least_beyond_idle"] = energy_bounds_.beyond_idle(current_->settings);
  }
  const std::string& tier = current_->proposal.tier;
  request["exact"] = tier == "final" || tier == "clock" || tier == "calibration";
  request["only_time"] = tier == "timing";
  profile_.idle_ended(monotonic_seconds() - idle_since_);
  limit_ = options_.phase_timeout_seconds;
  worker_.request(request, WorkerClient::State::evaluating, limit_);
}

// ---- somebody else's clock lock

void LiveEvaluator::send_probe(const CompileOutcome& binary, const std::vector<Value>& configuration) {
  limit_ = options_.phase_timeout_seconds;
  worker_.request({{"op", "probe"}, {"binary", wattune::to_json(*binary)}, {"configuration", to_json(configuration)}},
                  WorkerClient::State::probing, limit_);
}

/// A lock cannot be read, only seen: the clock stays low under load although nothing holds it back.
void LiveEvaluator::handle_probe(const json& message) {
  if (message.contains("failure")) {
    const Failure failure = failure_from_json(message.at("failure"));
    probe_failed(failure.message);
    // The worker's hold on the device is broken; where the device is lost, opening it anew says so.
    if (failure.outcome == Outcome::crash || failure.outcome == Outcome::lost_device) worker_.end(false);
    return;
  }
  lock_checked_ = true;
  const auto& clocks = options_.settings->capabilities().sm_clocks;
  if (!message.contains("sm_clock") || clocks.empty()) {
    note("whether somebody else has locked the clock is not known: the device does not tell its clock");
    return;
  }
  constexpr double well_below = 0.8;
  const double clock = message.at("sm_clock");
  if (clock >= well_below * clocks.back() || !message.at("reasons").empty()) return;
  throw DeviceError(fmt::format(
      "the SM clock of {} ({}) stays at {:.0f} MHz under load although nothing holds it back: somebody seems to have "
      "locked it, which cannot be read and would be lost. Ask who did; give --restore-clock {:.0f} to lock it to that "
      "again afterwards, or --assume-no-lock to leave it unlocked",
      device_.name, device_.uuid, clock * 1e-6, clock * 1e-6));
}

void LiveEvaluator::probe_failed(const std::string& why) {
  constexpr int most = 5;
  if (++failed_probes_ < most) {
    // The next one may do: this one fails by itself when its turn comes.
    if (waiting_.size() > 1) std::rotate(waiting_.begin(), waiting_.begin() + 1, waiting_.end());
    return;
  }
  throw DeviceError(
      fmt::format("whether somebody else has locked the clock of {} cannot be found out, for no "
                  "configuration runs ({}); give --assume-no-lock if nobody has",
                  device_.id, why.substr(0, why.find('\n'))));
}

void LiveEvaluator::finish_uncompilable() {
  for (std::size_t i = 0; i < waiting_.size();) {
    const auto binary = pool_.find(waiting_[i].key);
    if (binary && !*binary) {
      Entry entry = std::move(waiting_[i]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      finish_failed(std::move(entry), binary->error().outcome, binary->error().message);
    } else {
      ++i;
    }
  }
}

Evaluator::Done LiveEvaluator::completed(Entry entry, Evaluation evaluation) {
  evaluation.configuration = entry.proposal.configuration;
  evaluation.board = device_.board();
  if (options_.verify_only) evaluation.tier = "verify";
  evaluation.timestamp = utc_timestamp();
  evaluation.proposal = entry.proposal.number;
  evaluation.told = entry.proposal.told;
  if (entry.binary && *entry.binary) {
    evaluation.phases["compile"] = (*entry.binary)->seconds;
    for (const auto& [name, value] : (*entry.binary)->resources) evaluation.resources.try_emplace(name, value);
  }
  profile_.add(evaluation);
  return {std::move(entry.proposal), std::move(evaluation)};
}

void LiveEvaluator::finish_failed(Entry entry, Outcome outcome, const std::string& message) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.message = message;
  finish(std::move(entry), std::move(evaluation));
}

Profile LiveEvaluator::profile() const {
  Profile profile = profile_;
  profile.compiled = pool_.compiled();
  profile.cached = pool_.cached();
  return profile;
}

}  // namespace wattune
