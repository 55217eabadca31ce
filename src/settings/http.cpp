#include "settings/http.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "HTTP/1.1 200 OK".
int status_of(std::string_view line) {
  if (!line.starts_with("HTTP/1.")) throw UsageError("it does not speak HTTP");
  const auto space = line.find(' ');
  const auto status = space == std::string_view::npos ? std::nullopt : number<int>(line.substr(space + 1, 3));
  if (!status || *status < 100 || *status > 599) throw UsageError("its HTTP reply has no status");
  return *status;
}

/// The body's length, where a line of the head tells it.
std::optional<std::size_t> length_of(std::string_view head) {
  std::optional<std::size_t> length;
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = lower(line.substr(0, colon));
    if (name == "transfer-encoding") throw UsageError("its HTTP reply comes in pieces, which is not understood");
    if (name != "content-length") continue;
    length = number<std::size_t>(trim(line.substr(colon + 1)));
    if (!length || *length > most_http_bytes) throw UsageError("its HTTP reply has a bad length");
  }
  return length;
}

FileDescriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw DeviceError("the name of its socket is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw DeviceError(system_error_text(errno));
  }
  return socket;
}

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

std::optional<HttpReply> parse_http_reply(std::string_view bytes, bool ended) {
  if (bytes.size() > most_http_bytes) throw UsageError("its HTTP reply is too long");
  const auto head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) {
    if (ended) throw UsageError(bytes.empty() ? "it gave no answer" : "its HTTP reply is cut off");
    return std::nullopt;
  }
  const auto line_end = bytes.find("\r\n");
  HttpReply reply;
  reply.status = status_of(bytes.substr(0, line_end));
  const auto length = length_of(bytes.substr(0, head_end + 2));
  const std::string_view body = bytes.substr(head_end + 4);
  if (length && body.size() < *length && ended) throw UsageError("its HTTP reply is cut off");
  if (length ? body.size() < *length : !ended) return std::nullopt;
  reply.body = body.substr(0, length.value_or(body.size()));
  return reply;
}

HttpReply ask_http(const std::string& socket, const std::string& method, const std::string& target,
                   const std::string& token, double limit_seconds) {
  const FileDescriptor connection = connect_to(socket);
  const std::string authorization = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
  const std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}Content-Length: 0\r\n\r\n", method,
                  target, authorization);
  if (!send_all(connection.get(), request)) throw DeviceError("it took no request");
  const double deadline = monotonic_seconds() + limit_seconds;
  std::string bytes;
  try {
    while (true) {
      const double left = deadline - monotonic_seconds();
      pollfd entry{connection.get(), POLLIN, 0};
      if (left <= 0 || ::poll(&entry, 1, static_cast<int>(std::ceil(left * 1e3))) == 0) {
        throw DeviceError(fmt::format("it did not answer within {:g} s", limit_seconds));
      }
      char chunk[4096];
      const ssize_t n = ::recv(connection.get(), chunk, sizeof chunk, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) bytes.append(chunk, static_cast<std::size_t>(n));
      if (auto reply = parse_http_reply(bytes, n <= 0)) return std::move(*reply);
    }
  } catch (const UsageError& error) {
    throw DeviceError(error.what());
  }
}

}  // namespace wattune
