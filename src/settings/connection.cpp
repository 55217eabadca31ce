#include "settings/connection.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace wattune {

using nlohmann::json;

namespace {

/// Requests a second, on average and at once: a client that makes more is broken.
constexpr double rate = 100;
constexpr double burst = 400;
/// A client that takes no board must say what it wants within this time.
constexpr double idle_seconds = 60;
constexpr double lock_retry_seconds = 0.2;
constexpr std::size_t most_workers = 64;
/// Replies that a client has not fetched.
constexpr std::size_t most_outgoing = 4 * most_reply_bytes;
/// How long killed workers are waited for: their kernels may still run, and the board can be put back meanwhile.
constexpr double worker_end_seconds = 0.3;

bool is_member(int socket, const ucred& peer, const std::string& group) {
  if (group.empty()) return false;
  struct group found {};
  struct group* entry = nullptr;
  std::vector<char> text(1U << 16U);
  while (::getgrnam_r(group.c_str(), &found, text.data(), text.size(), &entry) == ERANGE) text.resize(2 * text.size());
  if (entry == nullptr) return false;
  if (peer.gid == entry->gr_gid) return true;
  std::vector<gid_t> groups(256);
  socklen_t length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) return false;
  groups.resize(length / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), entry->gr_gid) != groups.end();
}

const char* code_of(SettingError::Kind kind) {
  switch (kind) {
    case SettingError::Kind::no_permission:
      return "permission";
    case SettingError::Kind::not_supported:
      return "unsupported";
    case SettingError::Kind::lost_device:
      return "lost";
    default:
      return "other";
  }
}

bool has_ended(int pidfd, double seconds) {
  pollfd entry{pidfd, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(std::ceil(seconds * 1e3))) > 0;
}

}  // namespace

const SettingsFolder& ServerShared::folder(bool simulated) {
  const std::lock_guard guard(mutex_);
  auto& folder = folders_[simulated ? 1 : 0];
  if (!folder) folder = SettingsFolder::open(simulated);
  return *folder;
}

void ServerShared::say(const std::string& text) {
  if (!log) return;
  const std::lock_guard guard(mutex_);
  log(text);
}

SettingsConnection::SettingsConnection(FileDescriptor socket, ServerShared& shared)
    : socket_(std::move(socket)),
      shared_(shared),
      deadline_(monotonic_seconds() + idle_seconds),
      tokens_(burst),
      tokens_at_(monotonic_seconds()) {
  socklen_t length = sizeof peer_;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer_, &length) != 0) peer_ = {0, UINT32_MAX, UINT32_MAX};
}

SettingsConnection::~SettingsConnection() {
  end("");
}

std::string SettingsConnection::client() const {
  return fmt::format("pid {} of user {}", peer_.pid, peer_.uid);
}

bool SettingsConnection::admit() {
  if (!shared_.system_wide || peer_.uid == 0 || peer_.uid == ::geteuid() ||
      is_member(socket_.get(), peer_, shared_.config.group)) {
    return true;
  }
  const std::string who = shared_.config.group.empty()
                              ? "its configuration allows no group"
                              : fmt::format("ask an administrator to add you to the group '{}'", shared_.config.group);
  end("you are not allowed to use wattuned: " + who);
  return false;
}

// ---- messages

void SettingsConnection::reply(const json& message) {
  outgoing_ += frame(message);
  flush();
  if (outgoing_.size() > most_outgoing) end("it does not read its answers");
}

void SettingsConnection::refuse(const std::string& code, const std::string& message) {
  reply({{"error", message}, {"code", code}});
}

void SettingsConnection::flush() {
  while (socket_ && !outgoing_.empty()) {
    const ssize_t n = ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    outgoing_.erase(0, static_cast<std::size_t>(n));
  }
}

bool SettingsConnection::within_rate() {
  const double now = monotonic_seconds();
  tokens_ = std::min(burst, tokens_ + rate * (now - tokens_at_));
  tokens_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void SettingsConnection::read() {
  char chunk[16384];
  const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
  if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (n <= 0) {
    end("");
    return;
  }
  reader_.add({chunk, static_cast<std::size_t>(n)});
  try {
    while (const auto message = reader_.take()) {
      if (!within_rate()) {
        end("it makes too many requests");
        return;
      }
      handle(parse_settings_request(*message));
      if (ended()) return;
    }
  } catch (const UsageError& error) {
    end(error.what());
  }
}

void SettingsConnection::handle(const SettingsRequest& request) {
  using Kind = SettingsRequest::Kind;
  if (keeper_) deadline_ = monotonic_seconds() + shared_.config.lease_seconds;
  try {
    switch (request.kind) {
      case Kind::open:
        open_board(request);
        break;
      case Kind::acquire:
        acquire(request);
        break;
      case Kind::set:
        set(request.settings);
        break;
      case Kind::worker:
        add_worker(request.pid);
        break;
      case Kind::release:
        release();
        break;
      case Kind::alive:
        break;
    }
  } catch (const Error& error) {
    refuse("device", error.what());
  }
}

void SettingsConnection::open_board(const SettingsRequest& request) {
  if (request.version != settings_protocol_version) {
    refuse("version", fmt::format("the settings server speaks version {} of its protocol, and was asked for {}: client "
                                  "and server are of different versions of wattune",
                                  settings_protocol_version, request.version));
    return;
  }
  if (board_) throw UsageError("a client opened two boards");
  board_ = shared_.open({request.uuid, request.pci, ""});
  board_->prefer_route(request.wanted);
  json capabilities = to_json(board_->capabilities());
  reply({{"capabilities", std::move(capabilities)}, {"lease_seconds", shared_.config.lease_seconds}});
}

void SettingsConnection::acquire(const SettingsRequest& request) {
  if (!board_ || keeper_ || waiting_) throw UsageError("a client asked for a board at the wrong moment");
  locked_sm_clock_hz_ = request.locked_sm_clock_hz;
  if (locked_sm_clock_hz_) {
    const std::string objection =
        objection_to(Setting::sm_clock, *locked_sm_clock_hz_, board_->capabilities(), SettingBounds{});
    if (!objection.empty()) {
      refuse("bounds", objection);
      return;
    }
  }
  waiting_ = true;
  if (try_to_take() || request.wait) return;
  waiting_ = false;
  const Capabilities& capabilities = board_->capabilities();
  reply({{"busy", shared_.folder(capabilities.simulated).holder(capabilities.uuid)}});
}

/// @return whether the client has its answer.
bool SettingsConnection::try_to_take() {
  try {
    const SettingsFolder& folder = shared_.folder(board_->capabilities().simulated);
    auto taken = Keeper::take(*board_, folder, identify(peer_.pid), locked_sm_clock_hz_);
    if (!taken) return false;
    keeper_.emplace(std::move(*taken));
    waiting_ = false;
    deadline_ = monotonic_seconds() + shared_.config.lease_seconds;
    shared_.say(fmt::format("{} has {}", client(), board_->capabilities().uuid));
    reply({{"acquired", true}});
  } catch (const Error& error) {
    waiting_ = false;
    refuse("device", error.what());
  }
  return true;
}

void SettingsConnection::set(const DeviceSettings& settings) {
  if (!keeper_) throw UsageError("a client set a board that it does not have");
  const Capabilities& capabilities = board_->capabilities();
  SettingBounds bounds = shared_.config.of(capabilities.uuid);
  if (shared_.system_wide && !bounds.power_limit && capabilities.power_limit) {
    bounds.power_limit = SettingRange{capabilities.power_limit->least, capabilities.power_limit_default};
  }
  for (const Setting setting : all_settings) {
    if (!settings.at(setting)) continue;
    const std::string objection = objection_to(setting, *settings.at(setting), capabilities, bounds);
    if (objection.empty()) continue;
    refuse("bounds", objection);
    return;
  }
  if (const auto error = keeper_->set(settings)) {
    refuse(code_of(error->kind), error->message);
  } else {
    reply({{"set", true}});
  }
}

void SettingsConnection::add_worker(std::int64_t pid) {
  std::erase_if(workers_, [](const FileDescriptor& worker) { return has_ended(worker.get(), 0); });
  if (workers_.size() >= most_workers) throw UsageError("a client has too many workers");
  FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  // Checked while the pidfd is held: the number cannot pass to another process meanwhile. Killing is for the client's
  // own children only.
  if (pidfd && !has_ended(pidfd.get(), 0)) {
    const auto worker = static_cast<pid_t>(pid);
    if (parent_of(worker) != peer_.pid || (peer_.uid != 0 && user_of(worker) != static_cast<std::int64_t>(peer_.uid))) {
      refuse("worker", fmt::format("process {} is no child of the client's process {}", pid, peer_.pid));
      return;
    }
    workers_.push_back(std::move(pidfd));
  }
  reply({{"worker", pid}});
}

void SettingsConnection::release() {
  if (!keeper_) throw UsageError("a client gave back a board that it does not have");
  workers_.clear();
  const std::string problems = put_back();
  deadline_ = monotonic_seconds() + idle_seconds;
  if (problems.empty()) {
    reply({{"released", true}});
  } else {
    refuse("restore", problems);
  }
}

// ---- time and end

double SettingsConnection::next_tick() const {
  return waiting_ ? monotonic_seconds() + lock_retry_seconds : deadline_;
}

void SettingsConnection::tick() {
  if (waiting_) {
    try_to_take();
    return;
  }
  if (monotonic_seconds() < deadline_) return;
  end(keeper_ ? fmt::format("its client gave no sign of life for {:g} s, as when it is stopped, so the device was put "
                            "back",
                            shared_.config.lease_seconds)
              : "its client was idle too long");
}

void SettingsConnection::kill_workers() {
  for (const auto& worker : workers_) ::syscall(SYS_pidfd_send_signal, worker.get(), SIGKILL, nullptr, 0);
  const double deadline = monotonic_seconds() + worker_end_seconds;
  for (const auto& worker : workers_) has_ended(worker.get(), std::max(0.0, deadline - monotonic_seconds()));
  workers_.clear();
}

std::string SettingsConnection::put_back() {
  if (!keeper_) return {};
  std::string problems = keeper_->restore();
  keeper_.reset();
  const std::string& uuid = board_->capabilities().uuid;
  if (problems.empty()) {
    shared_.say(fmt::format("{} is put back", uuid));
  } else {
    failed_ = true;
    problems =
        fmt::format("the settings of {} could not all be put back: {}; 'wattune restore' tries again", uuid, problems);
    shared_.say(problems);
  }
  return problems;
}

void SettingsConnection::end(const std::string& reason) {
  if (!socket_) return;
  waiting_ = false;
  kill_workers();
  if (keeper_) shared_.say(reason.empty() ? client() + " is gone" : client() + ": " + reason);
  put_back();
  if (!reason.empty()) {
    outgoing_ += frame({{"error", reason}, {"code", "ended"}});
    flush();
  }
  socket_.reset();
}

}  // namespace wattune
