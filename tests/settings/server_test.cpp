#include "settings/server.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/channel.hpp"
#include "base/clock.hpp"
#include "fake_board.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Waits until something is so; false where that takes too long.
template <typename Condition>
bool soon(Condition condition, double seconds = 20) {
  const double deadline = monotonic_seconds() + seconds;
  while (!condition()) {
    if (monotonic_seconds() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

const json open_request = {{"op", "open"}, {"version", 1}, {"uuid", "GPU-1"}};
const json acquire_request = {{"op", "acquire"}, {"wait", false}};
json set_request(double megahertz) {
  return {{"op", "set"}, {"settings", {{"sm_clock_hz", megahertz * 1e6}}}};
}

json ask(Channel& channel, const json& request) {
  // A server that refuses a client may be gone before the request is sent; its reason still waits to be read.
  [[maybe_unused]] const bool sent = channel.send(request);
  return channel.receive().value_or(json{{"error", "gone"}});
}

/// A child that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0) {
      while (true) ::pause();
    }
  }
  ~Sleeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  bool is_killed() {
    return soon([&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; }) && (pid_ = 0, true);
  }

 private:
  pid_t pid_;
};

/// A private server in a thread.
class PrivateServer : public SettingsTest {
 protected:
  ~PrivateServer() override { join(); }

  void start(double lease_seconds = 60) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    client.emplace(FileDescriptor(fds[0]));
    SettingsServerOptions options;
    options.config.lease_seconds = lease_seconds;
    options.open = opener();
    options.connection = FileDescriptor(fds[1]);
    thread = std::thread([this, options = std::make_shared<SettingsServerOptions>(std::move(options))] {
      result = serve_settings(std::move(*options));
    });
  }
  void take() {
    ASSERT_TRUE(ask(*client, open_request).contains("capabilities"));
    ASSERT_TRUE(ask(*client, acquire_request).contains("acquired"));
  }
  /// The server ends once its client is gone.
  int join() {
    client.reset();
    if (thread.joinable()) thread.join();
    return result;
  }

  std::optional<Channel> client;
  std::thread thread;
  int result = -1;
};

TEST_F(PrivateServer, PutsBackWhenItsClientIsGoneAndEnds) {
  start();
  take();
  EXPECT_TRUE(ask(*client, set_request(1200)).contains("set"));
  EXPECT_EQ(state->locks().at(Setting::sm_clock), 1.2e9);
  EXPECT_EQ(join(), 0);
  EXPECT_TRUE(state->is_restored());
  EXPECT_FALSE(has_record());
}

TEST_F(PrivateServer, PutsBackOnRelease) {
  start();
  take();
  ask(*client, set_request(1200));
  EXPECT_TRUE(ask(*client, {{"op", "release"}}).contains("released"));
  EXPECT_TRUE(state->is_restored());
}

TEST_F(PrivateServer, KillsTheWorkersOfALostClient) {
  Sleeper worker;  // before the connection is made, which a fork would keep open
  start();
  take();
  EXPECT_EQ(ask(*client, {{"op", "worker"}, {"pid", worker.pid()}}).value("error", ""), "");
  ask(*client, set_request(1200));
  join();
  EXPECT_TRUE(worker.is_killed());
  EXPECT_TRUE(state->is_restored());
}

TEST_F(PrivateServer, KillsNobodyElsesProcesses) {
  start();
  take();
  EXPECT_THAT(ask(*client, {{"op", "worker"}, {"pid", ::getppid()}}).value("error", ""), HasSubstr("is no child"));
}

TEST_F(PrivateServer, ClientThatGivesNoSignOfLifeLosesItsLease) {
  start(0.2);
  take();
  Sleeper worker;
  ask(*client, {{"op", "worker"}, {"pid", worker.pid()}});
  ask(*client, set_request(1200));
  EXPECT_TRUE(worker.is_killed());
  EXPECT_TRUE(soon([&] { return state->is_restored(); }));
  const auto last = client->receive();
  ASSERT_TRUE(last);
  EXPECT_THAT(last->value("error", ""), HasSubstr("no sign of life for 0.2 s"));
  EXPECT_FALSE(client->receive());
}

TEST_F(PrivateServer, SignsOfLifeKeepTheLease) {
  start(0.5);
  take();
  ask(*client, set_request(1200));
  const double until = monotonic_seconds() + 1.5;
  while (monotonic_seconds() < until) {
    ASSERT_TRUE(client->send({{"op", "alive"}}));
    pollfd entry{client->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&entry, 1, 50), 0);
  }
  EXPECT_FALSE(state->is_restored());
}

TEST_F(PrivateServer, ValueThatIsNotSupportedIsRefusedWithoutAChange) {
  start();
  take();
  EXPECT_THAT(ask(*client, set_request(1201)).value("error", ""), HasSubstr("the nearest are 1200, 1215 MHz"));
  EXPECT_TRUE(state->history().empty());
}

TEST_F(PrivateServer, ErrorsOfTheBoardReachTheClient) {
  start();
  take();
  state->failures[Setting::sm_clock] = SettingError::Kind::lost_device;
  const json reply = ask(*client, set_request(1200));
  EXPECT_EQ(reply.value("code", ""), "lost");
  EXPECT_THAT(reply.value("error", ""), HasSubstr("as the test wants"));
  EXPECT_EQ(join(), 1);
  EXPECT_TRUE(has_record());
}

TEST_F(PrivateServer, AnotherVersionIsRefusedByName) {
  start();
  EXPECT_THAT(ask(*client, {{"op", "open"}, {"version", 2}, {"uuid", "GPU-1"}}).value("error", ""),
              HasSubstr("different versions of wattune"));
}

/// A system-wide server in a thread, and clients of it.
class SystemServer : public SettingsTest {
 protected:
  ~SystemServer() override { stop(); }

  void start(ServerConfig config = {}) {
    socket_path = (path / "socket").string();
    SettingsServerOptions options;
    config.lease_seconds = 60;
    options.config = std::move(config);
    options.open = opener();
    options.listener = listen_for_settings(socket_path);
    thread = std::thread([this, options = std::make_shared<SettingsServerOptions>(std::move(options))] {
      result = serve_settings(std::move(*options));
    });
  }
  int stop() {
    if (!thread.joinable()) return result;
    ::pthread_kill(thread.native_handle(), SIGTERM);
    thread.join();
    return result;
  }
  Channel connect() const { return connect(socket_path); }
  static Channel connect(const std::string& to) {
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, to.c_str(), sizeof address.sun_path - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw RunError("cannot connect");
    }
    return Channel(std::move(socket));
  }
  Channel holder() {
    Channel channel = connect();
    ask(channel, open_request);
    EXPECT_TRUE(ask(channel, acquire_request).contains("acquired"));
    return channel;
  }
  void send_raw(Channel& channel, const std::string& bytes) {
    [[maybe_unused]] const auto n = ::send(channel.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Whether the server still serves others.
  bool serves() {
    Channel other = connect();
    return ask(other, open_request).contains("capabilities");
  }

  std::string socket_path;
  std::thread thread;
  int result = -1;
};

TEST_F(SystemServer, ClientThatDisconnectsLeavesTheBoardAsItWas) {
  start();
  {
    Channel client = holder();
    ask(client, set_request(1200));
    EXPECT_FALSE(state->is_restored());
  }
  EXPECT_TRUE(soon([&] { return state->is_restored(); }));
  EXPECT_TRUE(serves());
}

TEST_F(SystemServer, SecondClientIsToldWhoHasTheBoardOrWaits) {
  start();
  auto first = std::make_optional(holder());
  ask(*first, set_request(1200));
  Channel second = connect();
  ask(second, open_request);
  EXPECT_EQ(ask(second, acquire_request).value("busy", ""), "wattune (pid " + std::to_string(::getpid()) + ")");
  ASSERT_TRUE(second.send({{"op", "acquire"}, {"wait", true}}));
  first.reset();
  EXPECT_TRUE(second.receive().value_or(json{}).contains("acquired"));
  EXPECT_TRUE(state->is_restored());
}

TEST_F(SystemServer, GarbageEndsTheClientAndPutsTheBoardBack) {
  start();
  Channel client = holder();
  ask(client, set_request(1200));
  send_raw(client, "GET / HTTP/1.1\r\n\r\n");
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->value("error", ""), HasSubstr("claims"));
  EXPECT_FALSE(client.receive());
  EXPECT_TRUE(state->is_restored());
  EXPECT_TRUE(serves());
}

TEST_F(SystemServer, WhatIsBeyondBoundsIsRefused) {
  ServerConfig config;
  config.bounds.sm_clock = SettingRange{600e6, 1200e6};
  start(config);
  Channel client = holder();
  EXPECT_THAT(ask(client, set_request(1410)).value("error", ""), HasSubstr("what this machine's administrator allows"));
  const json limit = {{"op", "set"}, {"settings", {{"power_limit_w", 300}}}};
  EXPECT_THAT(ask(client, limit).value("error", ""), HasSubstr("150 to 250 W")) << "above the default limit";
  EXPECT_TRUE(state->history().empty());
  EXPECT_TRUE(ask(client, set_request(1200)).contains("set"));
}

TEST_F(SystemServer, FloodEndsTheClientAndPutsTheBoardBack) {
  start();
  Channel client = holder();
  ask(client, set_request(1200));
  for (int i = 0; i < 100000; ++i) {
    if (!client.send({{"op", "alive"}})) break;
  }
  EXPECT_TRUE(soon([&] { return state->is_restored(); }));
  EXPECT_TRUE(serves());
}

TEST_F(SystemServer, ClientThatDoesNotReadItsAnswersIsEnded) {
  start();
  Channel client = connect();
  // Each answer is larger than its request, and none is fetched.
  for (int i = 0; i < 100000; ++i) {
    if (!client.send({{"op", "open"}, {"version", 7}, {"uuid", "GPU-1"}})) break;
  }
  EXPECT_TRUE(serves());
}

TEST_F(SystemServer, BoardThatHangsHoldsUpNobodyElse) {
  start();
  Channel hung = holder();
  state->hang("GPU-1");
  ASSERT_TRUE(hung.send(set_request(1200)));
  Channel other = connect();
  const json open_other = {{"op", "open"}, {"version", 1}, {"uuid", "GPU-2"}};
  EXPECT_TRUE(ask(other, open_other).contains("capabilities"));
  EXPECT_TRUE(ask(other, acquire_request).contains("acquired"));
  EXPECT_TRUE(ask(other, set_request(900)).contains("set"));
  EXPECT_TRUE(ask(other, {{"op", "release"}}).contains("released"));
  Channel second = connect();
  ask(second, open_request);
  EXPECT_TRUE(ask(second, acquire_request).contains("busy"));
  state->hang("");
  EXPECT_TRUE(hung.receive().value_or(json{}).contains("set"));
}

TEST_F(SystemServer, StopDoesNotWaitForABoardThatHangs) {
  start();
  Channel hung = holder();
  state->hang("GPU-1");
  ASSERT_TRUE(hung.send(set_request(1200)));
  ASSERT_TRUE(soon([&] { return has_record(); }));
  EXPECT_EQ(stop(), 1);
  state->hang("");
  EXPECT_TRUE(soon([&] { return !has_record(); })) << "it is put back once the driver comes to itself";
}

TEST_F(SystemServer, StopPutsAllBoardsBack) {
  start();
  Channel client = holder();
  ask(client, set_request(1200));
  stop();
  EXPECT_TRUE(state->is_restored());
  EXPECT_THAT(client.receive().value_or(json{}).value("error", ""), HasSubstr("being stopped"));
}

TEST_F(SystemServer, StartPutsBackWhatAnEarlierOneLeft) {
  SettingsRecord record;
  record.uuid = "GPU-1";
  record.boot = boot_id();
  record.before.power_limit_w = 250;
  record.touched = {Setting::sm_clock, Setting::power_limit};
  SettingsFolder::open().write(record);
  state->locked[Setting::sm_clock] = 1.2e9;
  state->power_limit = 200;
  start();
  EXPECT_TRUE(serves());
  EXPECT_TRUE(state->is_restored());
}

TEST_F(SystemServer, OnlyMembersOfTheGroupAreServed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as several users";
  std::filesystem::permissions(path, std::filesystem::perms::others_exec | std::filesystem::perms::group_exec,
                               std::filesystem::perm_options::add);
  ServerConfig config;
  config.group = "daemon";
  start(config);
  const group* daemon = ::getgrnam("daemon");
  ASSERT_NE(daemon, nullptr);
  /// 0: served; 1: refused with the reason; 9: this machine lets no process become that user.
  auto as_user = [&](gid_t group, bool supplementary) {
    const pid_t child = ::fork();
    if (child == 0) {
      const gid_t other = 65534;
      const gid_t extra = supplementary ? group : other;
      if (::chdir(path.c_str()) != 0) ::_exit(8);
      if (::setgroups(1, &extra) != 0 || ::setgid(supplementary ? other : group) != 0 || ::setuid(65534) != 0) {
        ::_exit(9);
      }
      // Relative to the folder, which that user may search; the folders above it may be closed to them.
      Channel channel = connect("socket");
      const json reply = ask(channel, open_request);
      ::_exit(reply.contains("capabilities")                                                        ? 0
              : reply.value("error", "").find("add you to the group 'daemon'") != std::string::npos ? 1
                                                                                                    : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  const int stranger = as_user(65534, false);
  if (stranger == 9) GTEST_SKIP() << "this machine lets no process become another user";
  EXPECT_EQ(stranger, 1);
  EXPECT_EQ(as_user(daemon->gr_gid, false), 0);
  EXPECT_EQ(as_user(daemon->gr_gid, true), 0);
}

}  // namespace
}  // namespace wattune
