#include "base/channel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

namespace wattune {
namespace {

using nlohmann::json;

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    channel = std::make_unique<Channel>(FileDescriptor(ends[0]));
    peer = FileDescriptor(ends[1]);
  }

  /// Sends bytes as they are.
  void send_bytes(const std::string& bytes) {
    ASSERT_EQ(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  static std::string frame(const std::string& content) {
    std::string bytes;
    for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(content.size() >> (8 * i));
    return bytes + content;
  }
  static std::string cbor(const json& message) {
    const auto bytes = json::to_cbor(message);
    return {bytes.begin(), bytes.end()};
  }

  std::unique_ptr<Channel> channel;
  FileDescriptor peer;
};

TEST_F(ChannelTest, MessagesArriveWholeAndInOrder) {
  auto [one, other] = Channel::pair();
  const json first = {{"kind", "binary"}, {"data", json::binary({0, 1, 255})}, {"number", 1.5}};
  ASSERT_TRUE(one.send(first));
  ASSERT_TRUE(one.send("second"));
  ASSERT_TRUE(one.send(nullptr));
  EXPECT_EQ(other.receive(), first);
  EXPECT_EQ(other.try_receive(), json("second"));
  EXPECT_EQ(other.try_receive(), json(nullptr));
  EXPECT_EQ(other.try_receive(), std::nullopt);
  EXPECT_FALSE(other.closed());
}

TEST_F(ChannelTest, ALargeMessagePassesWhileThePeerReads) {
  auto ends = Channel::pair();
  const std::string text(10'000'000, 'x');
  std::thread sender([&] { EXPECT_TRUE(ends.first.send(text)); });
  const auto message = ends.second.receive();
  sender.join();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->get_ref<const std::string&>(), text);
}

TEST_F(ChannelTest, AFrameThatComesByteByByteIsPutTogether) {
  const std::string bytes = frame(cbor({{"a", 1}}));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(channel->try_receive(), std::nullopt);
    send_bytes(bytes.substr(i, 1));
  }
  EXPECT_EQ(channel->try_receive(), (json{{"a", 1}}));
}

TEST_F(ChannelTest, WhatWasSentBeforeThePeerWentIsTaken) {
  send_bytes(frame(cbor(1)) + frame(cbor(2)));
  peer.reset();
  EXPECT_EQ(channel->receive(), json(1));
  EXPECT_FALSE(channel->closed());
  EXPECT_EQ(channel->receive(), json(2));
  EXPECT_EQ(channel->receive(), std::nullopt);
  EXPECT_TRUE(channel->closed());
}

TEST_F(ChannelTest, ATornFrameAtTheEndIsNoMessage) {
  const std::string bytes = frame(cbor("a text that is cut"));
  for (const std::size_t length : {std::size_t{2}, std::size_t{4}, bytes.size() - 1}) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    Channel receiver{FileDescriptor(ends[0])};
    peer = FileDescriptor(ends[1]);
    send_bytes(bytes.substr(0, length));
    peer.reset();
    EXPECT_EQ(receiver.receive(), std::nullopt);
    EXPECT_TRUE(receiver.closed());
  }
}

TEST_F(ChannelTest, AFrameLargerThanAnyMessageIsABrokenPeer) {
  send_bytes(std::string("\x01\x00\x00\x40 and then", 13));  // 1 GiB and one byte
  EXPECT_EQ(channel->receive(), std::nullopt);
  EXPECT_TRUE(channel->closed());
}

TEST_F(ChannelTest, WhatIsNoCborIsABrokenPeer) {
  const std::vector<std::string> contents = {
      "",                                      // nothing
      "\xff",                                  // a break without a beginning
      "\x63xx",                                // a text that is cut
      "\x01\x01",                              // bytes behind the message
      "\x9b\x7f\xff\xff\xff\xff\xff\xff\xff",  // a list that claims more items than there can be
      "\xbb\xff\xff\xff\xff\xff\xff\xff\xff",  // a map that does
      std::string("\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9),
  };
  for (const auto& content : contents) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    Channel receiver{FileDescriptor(ends[0])};
    peer = FileDescriptor(ends[1]);
    send_bytes(frame(content));
    EXPECT_EQ(receiver.receive(), std::nullopt);
    EXPECT_TRUE(receiver.closed());
    EXPECT_EQ(receiver.try_receive(), std::nullopt);
  }
}

TEST_F(ChannelTest, SendingToAPeerThatIsGoneIsNoSignal) {
  peer.reset();
  EXPECT_FALSE(channel->send("anyone?"));
}

TEST_F(ChannelTest, IsClosedByExec) {
  const auto ends = Channel::pair();
  EXPECT_TRUE(::fcntl(ends.first.fd(), F_GETFD) & FD_CLOEXEC);
  EXPECT_TRUE(::fcntl(ends.second.fd(), F_GETFD) & FD_CLOEXEC);
  // Also the end that a child finds, which has come through exec.
  const Channel adopted(FileDescriptor(::dup(peer.get())));
  EXPECT_TRUE(::fcntl(adopted.fd(), F_GETFD) & FD_CLOEXEC);
}

}  // namespace
}  // namespace wattune
