#include "base/channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"

namespace wattune {

Channel::Channel(FileDescriptor socket) : socket_(std::move(socket)) {
  // The end that a child finds in place has come through exec; what the child starts must not hold it open.
  if (socket_) ::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
}

std::pair<Channel, Channel> Channel::pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    throw RunError("cannot make a socket pair for a child process: " + system_error_text(errno));
  }
  return {Channel(FileDescriptor(fds[0])), Channel(FileDescriptor(fds[1]))};
}

bool Channel::send(const nlohmann::json& message) {
  std::vector<std::uint8_t> frame(4);
  nlohmann::json::to_cbor(message, frame);
  const std::size_t length = frame.size() - 4;
  if (length > max_message_bytes) throw RunError("a message to a child process is larger than 1 GiB");
  for (unsigned i = 0; i < 4; ++i) frame[i] = static_cast<std::uint8_t>(length >> (8 * i));
  std::size_t sent = 0;
  while (sent < frame.size()) {
    const ssize_t n = ::send(socket_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<nlohmann::json> Channel::receive() {
  while (true) {
    if (auto message = take_message()) return message;
    if (closed_ || !fill(true)) return std::nullopt;
  }
}

std::optional<nlohmann::json> Channel::try_receive() {
  while (true) {
    if (auto message = take_message()) return message;
    if (closed_ || !fill(false)) return std::nullopt;
  }
}

std::optional<nlohmann::json> Channel::take_message() {
  if (buffer_.size() < 4) return std::nullopt;
  std::uint32_t length = 0;
  for (unsigned i = 0; i < 4; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(buffer_[i])) << (8 * i);
  }
  if (length > max_message_bytes) {
    closed_ = true;
    return std::nullopt;
  }
  if (buffer_.size() - 4 < length) return std::nullopt;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(buffer_.data()) + 4;
  nlohmann::json message(nlohmann::json::value_t::discarded);
  try {
    message = nlohmann::json::from_cbor(begin, begin + length, true, false);
  } catch (const nlohmann::json::exception&) {
    // A list that claims more items than there can be is thrown even where exceptions are not asked for.
  }
  buffer_.erase(0, 4 + static_cast<std::size_t>(length));
  if (message.is_discarded()) {
    closed_ = true;
    return std::nullopt;
  }
  return message;
}

bool Channel::fill(bool blocking) {
  char chunk[65536];
  while (true) {
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, blocking ? 0 : MSG_DONTWAIT);
    if (n > 0) {
      buffer_.append(chunk, static_cast<std::size_t>(n));
      return true;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    closed_ = true;
    return false;
  }
}

}  // namespace wattune
