#pragma once
// The server's side of one client.

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "settings/bounds.hpp"
#include "settings/keeper.hpp"
#include "settings/protocol.hpp"

namespace wattune {

/// What the connections of a server share, each of which is served by a thread of its own.
struct ServerShared {
  ServerConfig config;
  bool system_wide = false;
  BoardOpener open;
  std::function<void(const std::string&)> log;

  /// Opened when the first board is taken. @throws DeviceError.
  const SettingsFolder& folder(bool simulated);
  /// To the log, if there is one.
  void say(const std::string& text);

 private:
  std::mutex mutex_;
  std::optional<SettingsFolder> folders_[2];  ///< of real boards, of simulated ones
};

/// One client. Nothing that it sends makes it throw, block or grow without limit. One thread uses it.
class SettingsConnection {
 public:
  SettingsConnection(FileDescriptor socket, ServerShared& shared);
  ~SettingsConnection();
  SettingsConnection(SettingsConnection&&) = delete;

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] uid_t user() const noexcept { return peer_.uid; }
  /// Root, this process's own user, or a member of the group; other clients are told why not, and ended.
  bool admit();

  /// Takes what the client has sent, and answers.
  void read();
  /// Sends what could not be sent before.
  void flush();
  [[nodiscard]] bool wants_to_write() const noexcept { return !outgoing_.empty(); }

  /// Looks whether its time is up, and whether a board that it waits for is free.
  void tick();
  /// Monotonic time at which tick() is due.
  [[nodiscard]] double next_tick() const;

  /// Kills the client's workers, puts the board back, closes. @param reason for the log and the client; empty: the
  /// client is gone.
  void end(const std::string& reason);
  [[nodiscard]] bool ended() const noexcept { return !socket_; }
  /// Whether something could not be put back.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  void handle(const SettingsRequest& request);
  void open_board(const SettingsRequest& request);
  void acquire(const SettingsRequest& request);
  bool try_to_take();
  void set(const DeviceSettings& settings);
  void add_worker(std::int64_t pid);
  void release();
  void kill_workers();
  std::string put_back();
  void reply(const nlohmann::json& message);
  void refuse(const std::string& code, const std::string& message);
  [[nodiscard]] std::string client() const;
  [[nodiscard]] bool within_rate();

  FileDescriptor socket_;
  ServerShared& shared_;
  ucred peer_{};
  FrameReader reader_{most_request_bytes};
  std::string outgoing_;
  double deadline_;   ///< by which it must have said something
  double tokens_;     ///< requests that it may still make at once
  double tokens_at_;  ///< when that was so
  std::unique_ptr<SettableBoard> board_;
  std::optional<Keeper> keeper_;
  bool waiting_ = false;  ///< for the board's lock
  std::optional<double> locked_sm_clock_hz_;
  std::vector<FileDescriptor> workers_;  ///< pidfds
  bool failed_ = false;
};

}  // namespace wattune
