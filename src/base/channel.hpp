#pragma once
// Messages between the processes of a run: JSON values as CBOR, framed by a 4-byte length, over a Unix stream socket.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/file.hpp"

namespace wattune {

/// One end of a connection. Not thread-safe: one thread uses it.
class Channel {
 public:
  /// The largest message accepted, in bytes; a longer one is taken for a broken peer.
  static constexpr std::uint32_t max_message_bytes = 1U << 30;

  /// Takes a connected socket and makes it close-on-exec.
  explicit Channel(FileDescriptor socket);

  /// A connected pair, both ends close-on-exec.
  static std::pair<Channel, Channel> pair();

  /// Sends a message whole, blocking. @return false when the peer is gone.
  [[nodiscard]] bool send(const nlohmann::json& message);

  /// Blocks until a message has come. @return nothing when the peer is gone or sent what is no message.
  [[nodiscard]] std::optional<nlohmann::json> receive();

  /// Takes what has come without blocking. @return a whole message if there is one.
  [[nodiscard]] std::optional<nlohmann::json> try_receive();

  /// True once the peer is gone (or broken) and everything it sent has been taken.
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  /// The descriptor to poll for input.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

 private:
  std::optional<nlohmann::json> take_message();
  bool fill(bool blocking);

  FileDescriptor socket_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace wattune
