#include "settings/http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

TEST(HttpReply, IsThereOnceItsBodyIs) {
  const std::string text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCONTENT-LENGTH: 5\r\n\r\nhello";
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(parse_http_reply(text.substr(0, n), false)) << n;
  const auto reply = parse_http_reply(text + "more", false);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "hello");
}

TEST(HttpReply, WithoutLengthLastsUntilTheEnd) {
  const std::string text = "HTTP/1.0 403 Forbidden\r\n\r\nno";
  EXPECT_FALSE(parse_http_reply(text, false));
  const auto reply = parse_http_reply(text, true);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 403);
  EXPECT_EQ(reply->body, "no");
}

TEST(HttpReply, ThatIsNoneIsAnError) {
  for (const char* text :
       {"", "HTTP/1.1 200 OK\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 x\r\n\r\n",
        "HTTP/1.1 999 ?\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    EXPECT_THROW(parse_http_reply(text, true), UsageError) << text;
  }
}

/// Answers one client with a text.
class Daemon {
 public:
  explicit Daemon(std::string answer) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_.get(), 1);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      char chunk[4096];
      while (request_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = ::recv(client.get(), chunk, sizeof chunk, 0);
        if (n <= 0) return;
        request_.append(chunk, static_cast<std::size_t>(n));
      }
      ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      if (answer.empty()) ::recv(client.get(), chunk, sizeof chunk, 0);  // until the client has had enough
    });
  }
  ~Daemon() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::string path() const { return (folder_.path() / "socket").string(); }
  std::string request() {
    thread_.join();
    return request_;
  }

 private:
  const TemporaryFolder folder_;
  FileDescriptor listener_;
  std::string request_;
  std::thread thread_;
};

std::string error_of(const std::string& socket, double seconds) {
  try {
    ask_http(socket, "GET", "/", "", seconds);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

TEST(Http, AsksADaemonAtASocket) {
  Daemon daemon("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  const auto reply = ask_http(daemon.path(), "POST", "/gpu/set?gpu_ids=0", "secret", 20);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "{}");
  const std::string request = daemon.request();
  EXPECT_THAT(request, HasSubstr("POST /gpu/set?gpu_ids=0 HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nAuthorization: Bearer secret\r\n"));
}

TEST(Http, SaysWhyThereIsNoAnswer) {
  EXPECT_THAT(error_of("/nonexistent/socket", 1), HasSubstr("No such file"));
  Daemon silent("");
  EXPECT_THAT(error_of(silent.path(), 0.05), HasSubstr("did not answer within 0.05 s"));
  Daemon other("SSH-2.0-OpenSSH\r\n\r\n");
  EXPECT_THAT(error_of(other.path(), 20), HasSubstr("does not speak HTTP"));
}

}  // namespace
}  // namespace wattune
