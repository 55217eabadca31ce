#pragma once
// The little of HTTP that it takes to ask a daemon at a Unix socket.

#include <optional>
#include <string>
#include <string_view>

namespace wattune {

struct HttpReply {
  int status = 0;
  std::string body;
};

inline constexpr std::size_t most_http_bytes = std::size_t{1} << 20;

/// The reply that a stream of bytes begins with; nothing where it is not all there. @param ended the stream has ended.
/// @throws UsageError for what is no reply, saying why in one line.
std::optional<HttpReply> parse_http_reply(std::string_view bytes, bool ended);

/// @param socket where the daemon listens. @param method "GET", "POST". @param target path and query.
/// @param token sent as a bearer token; empty: none.
/// @throws DeviceError in one line: nobody listens, no answer in time, or what is no answer.
HttpReply ask_http(const std::string& socket, const std::string& method, const std::string& target,
                   const std::string& token, double limit_seconds);

}  // namespace wattune
