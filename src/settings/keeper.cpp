#include "settings/keeper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace wattune {

namespace {

/// A setter may fail for a moment while the driver is busy.
constexpr int attempts = 3;
constexpr double pause_seconds = 0.05;

/// @return what went wrong; empty where nothing did.
std::string put_back(SettableBoard& board, const std::vector<Setting>& touched, const SavedSettings& before) {
  std::string problems;
  for (auto setting = touched.rbegin(); setting != touched.rend(); ++setting) {
    SettingResult error;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      if (attempt > 0) real_clock().sleep_until(real_clock().now() + pause_seconds);
      try {
        error = board.restore(*setting, before);
      } catch (const Error& thrown) {
        error = SettingError{SettingError::Kind::other, thrown.what()};
      }
      if (!error || error->kind == SettingError::Kind::lost_device) break;
    }
    if (error) problems += fmt::format("{}{}", problems.empty() ? "" : "; ", error->message);
  }
  return problems;
}

/// A site's command that a killed server had begun may still set the board: it is waited for, or it would undo what is
/// put back.
void wait_for_commands_of(const ProcessIdentity& server) {
  constexpr double patience_seconds = 12;  // longer than a command may take
  const double deadline = monotonic_seconds() + patience_seconds;
  while (survives_in_session(server) && monotonic_seconds() < deadline) {
    real_clock().sleep_until(real_clock().now() + pause_seconds);
  }
}

/// Puts back what a record says; the caller holds the board's lock. @return as put_back().
std::string put_back(SettableBoard& board, const SettingsRecord& record, const SettingsFolder& folder) {
  std::string problems;
  // A reboot has put back everything itself.
  if (record.boot == boot_id()) {
    wait_for_commands_of(record.server);
    board.take_route(record.route, record.route_details);
    problems = put_back(board, record.touched, record.before);
  }
  if (problems.empty()) folder.remove(record.uuid);
  return problems;
}

}  // namespace

std::optional<Keeper> Keeper::take(SettableBoard& board, const SettingsFolder& folder, const ProcessIdentity& client,
                                   std::optional<double> locked_sm_clock_hz) {
  const std::string& uuid = board.capabilities().uuid;
  auto lock = folder.try_lock(uuid);
  if (!lock) return std::nullopt;
  if (const auto stale = folder.find(uuid)) {
    const std::string problems = put_back(board, *stale, folder);
    if (!problems.empty()) {
      throw DeviceError(
          fmt::format("the settings that an earlier run left on {} cannot be put back: {}; run 'wattune "
                      "restore' as the user who made them, or ask an administrator",
                      uuid, problems));
    }
  }
  if (const auto error = board.try_permission()) throw DeviceError(error->message);
  Keeper keeper(board, folder, std::move(*lock));
  SettingsRecord& record = keeper.record_;
  record.uuid = uuid;
  record.library = board.library();
  record.route = board.capabilities().route;
  record.route_details = board.route_details();
  record.boot = boot_id();
  record.driver = board.capabilities().driver;
  record.client = client;
  record.server = own_identity();
  record.created = utc_timestamp();
  record.before = board.read();
  record.before.locked_sm_clock_hz = locked_sm_clock_hz;
  return keeper;
}

Keeper::Keeper(Keeper&& other) noexcept
    : board_(other.board_),
      folder_(other.folder_),
      lock_(std::exchange(other.lock_, std::nullopt)),
      record_(std::move(other.record_)),
      current_(other.current_) {}

Keeper::~Keeper() {
  if (!lock_) return;
  try {
    restore();
  } catch (const std::exception&) {
    // The record is still there: a later start puts the board back.
  }
}

void Keeper::note(Setting setting) {
  auto& touched = record_.touched;
  if (std::find(touched.begin(), touched.end(), setting) != touched.end()) return;
  touched.push_back(setting);
  folder_->write(record_);
}

SettingResult Keeper::set(const DeviceSettings& settings) {
  for (const Setting setting : all_settings) {
    const auto& value = settings.at(setting);
    if (!value || current_.at(setting) == value) continue;
    note(setting);
    current_.at(setting).reset();
    if (auto error = board_->set(setting, *value)) return error;
    current_.at(setting) = value;
  }
  return std::nullopt;
}

std::string Keeper::restore() {
  std::string problems = put_back(*board_, record_.touched, record_.before);
  if (problems.empty()) {
    if (!record_.touched.empty()) folder_->remove(record_.uuid);
    record_.touched.clear();
  }
  current_ = {};
  lock_.reset();
  return problems;
}

// ---- what was left behind

namespace {

/// Kills the server of a run that is dead, if it still lives: it hangs. @return whether it has ended.
bool end_hung_server(const SettingsRecord& record) {
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, record.server.pid, 0)));
  if (!pidfd || !is_alive(record.server)) return true;
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0) return false;
  pollfd entry{pidfd.get(), POLLIN, 0};
  constexpr int longest_milliseconds = 2000;
  return ::poll(&entry, 1, longest_milliseconds) > 0;
}

/// The lock, given up by a server that is putting the board back just now.
std::optional<BoardLock> lock_of_dead_run(const SettingsFolder& folder, const SettingsRecord& record) {
  constexpr double patience_seconds = 3;
  const double deadline = monotonic_seconds() + patience_seconds;
  while (true) {
    if (auto lock = folder.try_lock(record.uuid)) return lock;
    if (is_alive(record.client)) return std::nullopt;
    if (monotonic_seconds() > deadline) break;
    real_clock().sleep_until(real_clock().now() + pause_seconds);
  }
  return end_hung_server(record) ? folder.try_lock(record.uuid) : std::nullopt;
}

RestoreReport restore_one(const SettingsFolder& folder, const BoardOpener& open, const SettingsRecord& record) {
  using State = RestoreReport::State;
  const auto lock = lock_of_dead_run(folder, record);
  if (!lock) {
    return {record.uuid, State::in_use,
            fmt::format("{}: in use by wattune (pid {}), which puts it back itself", record.uuid, record.client.pid)};
  }
  const auto now = folder.find(record.uuid);
  if (!now) return {record.uuid, State::nothing_to_do, record.uuid + ": its settings server has just put it back"};
  if (now->boot != boot_id()) {
    folder.remove(record.uuid);
    return {record.uuid, State::nothing_to_do, record.uuid + ": the machine was rebooted since, which put it back"};
  }
  try {
    const auto board = open({now->uuid, "", now->library});
    const std::string problems = put_back(*board, *now, folder);
    if (!problems.empty()) return {record.uuid, State::failed, record.uuid + ": " + problems};
  } catch (const Error& error) {
    return {record.uuid, State::failed, record.uuid + ": " + error.what()};
  }
  std::string what;
  for (const Setting setting : now->touched) what += fmt::format("{}{}", what.empty() ? "" : ", ", to_string(setting));
  return {record.uuid, State::restored, fmt::format("{}: put back ({})", record.uuid, what)};
}

}  // namespace

std::vector<RestoreReport> restore_all(const SettingsFolder& folder, const BoardOpener& open,
                                       std::vector<std::string>* problems) {
  std::vector<RestoreReport> reports;
  for (const auto& record : folder.records(problems)) reports.push_back(restore_one(folder, open, record));
  return reports;
}

}  // namespace wattune
