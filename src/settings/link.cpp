#include "settings/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"

namespace wattune {

using nlohmann::json;

namespace {

json parse(const std::string& message) {
  json parsed = json::from_cbor(message, true, false);
  if (!parsed.is_object()) throw DeviceError("the settings server sent what is no message");
  return parsed;
}

[[noreturn]] void throw_ended(const json& message) {
  throw LostServer("the settings server ended the connection: " + message.value("error", "no reason given"));
}

}  // namespace

std::optional<SettingsLink> SettingsLink::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::nullopt;
  }
  return SettingsLink(std::move(socket));
}

void SettingsLink::send(const json& message) {
  const std::string bytes = frame(message);
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

std::optional<json> SettingsLink::receive(double seconds, int wake_fd) {
  const double deadline = monotonic_seconds() + seconds;
  while (true) {
    if (auto message = reader_.take()) {
      json reply = parse(*message);
      // The reason for which the server has just ended the connection is no answer.
      if (reply.value("code", "") == "ended") throw_ended(reply);
      return reply;
    }
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return std::nullopt;
    pollfd entries[2] = {{socket_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    constexpr double longest = 3600;
    ::poll(entries, 2, static_cast<int>(std::ceil(std::min(left, longest) * 1e3)));
    if (entries[0].revents != 0) {
      fill();
    } else if (wake_fd >= 0 && entries[1].revents != 0) {
      return std::nullopt;
    }
  }
}

void SettingsLink::check() {
  pollfd entry{socket_.get(), POLLIN, 0};
  if (::poll(&entry, 1, 0) <= 0) return;
  fill();
  if (const auto message = reader_.take()) throw_ended(parse(*message));
}

void SettingsLink::fill() {
  char chunk[65536];
  const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, 0);
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) {
    // The reason may have come along with an earlier answer.
    if (const auto message = reader_.take()) throw_ended(parse(*message));
    throw LostServer("the settings server was killed or has crashed");
  }
  reader_.add({chunk, static_cast<std::size_t>(n)});
}

}  // namespace wattune
