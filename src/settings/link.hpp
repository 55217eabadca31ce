#pragma once
// The client's end of a connection to a settings server.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"
#include "settings/protocol.hpp"

namespace wattune {

/// The server has ended, or has ended the connection.
class LostServer : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A connection on which each request has one answer.
class SettingsLink {
 public:
  explicit SettingsLink(FileDescriptor socket) : socket_(std::move(socket)) {}
  /// To the server that listens at a path; nothing where none does.
  static std::optional<SettingsLink> connect(const std::string& path);

  /// Where the server is gone, the next receive() or check() says so.
  void send(const nlohmann::json& message);

  /// Nothing where the time is up or `wake_fd` (-1: none) is readable. @throws LostServer.
  std::optional<nlohmann::json> receive(double seconds, int wake_fd = -1);

  /// Takes what the server says unasked, which is why it ends the connection, without waiting. @throws LostServer.
  void check();

  /// Readable where check() has something to say.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

 private:
  void fill();

  FileDescriptor socket_;
  FrameReader reader_{most_reply_bytes};
};

}  // namespace wattune
