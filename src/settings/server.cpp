#include "settings/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "settings/connection.hpp"

namespace wattune {

namespace {

constexpr std::size_t most_connections = 64;
constexpr std::size_t most_connections_of_a_user = 8;
/// From a batch system's SIGTERM, which client and private server get at once, until the server does it itself.
constexpr double grace_seconds = 2;

/// SIGTERM, SIGINT and SIGHUP as a descriptor.
FileDescriptor signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  FileDescriptor fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) throw RunError("the settings server cannot wait for signals: " + system_error_text(errno));
  return fd;
}

class SettingsServer {
 public:
  explicit SettingsServer(SettingsServerOptions options)
      : listener_(std::move(options.listener)), signals_(signals()) {
    shared_.config = std::move(options.config);
    shared_.open = std::move(options.open);
    shared_.log = std::move(options.log);
    shared_.system_wide = static_cast<bool>(listener_);
    if (options.connection) {
      connections_.push_back(std::make_unique<SettingsConnection>(std::move(options.connection), shared_));
    }
  }

  int run() {
    if (shared_.system_wide) put_back_what_was_left();
    while (!finished()) turn();
    for (const auto& connection : connections_) {
      connection->end(shared_.system_wide ? "wattuned is being stopped" : "the settings server was told to end");
      failed_ = failed_ || connection->failed();
    }
    return failed_ ? 1 : 0;
  }

 private:
  [[nodiscard]] bool finished() const {
    return stop_at_ <= monotonic_seconds() || (!shared_.system_wide && connections_.empty());
  }

  void put_back_what_was_left() {
    for (const bool simulated : {false, true}) {
      std::vector<std::string> problems;
      const auto reports = restore_all(shared_.folder(simulated), shared_.open, &problems);
      if (!shared_.log) continue;
      for (const auto& report : reports) shared_.log(report.message);
      for (const auto& problem : problems) shared_.log(problem);
    }
  }

  void turn() {
    std::vector<pollfd> entries = {{signals_.get(), POLLIN, 0}};
    if (listener_) entries.push_back({listener_.get(), POLLIN, 0});
    const std::size_t first = entries.size();
    double until = std::min(stop_at_, monotonic_seconds() + 60);
    for (const auto& connection : connections_) {
      const short events = connection->wants_to_write() ? POLLIN | POLLOUT : POLLIN;
      entries.push_back({connection->fd(), events, 0});
      until = std::min(until, connection->next_tick());
    }
    const double left = std::max(0.0, until - monotonic_seconds());
    ::poll(entries.data(), entries.size(), static_cast<int>(std::ceil(left * 1e3)));
    if (entries[0].revents != 0) take_signals();
    for (std::size_t i = 0; i < connections_.size(); ++i) serve(*connections_[i], entries[first + i].revents);
    std::erase_if(connections_, [&](const auto& connection) {
      failed_ = failed_ || connection->failed();
      return connection->ended();
    });
    if (listener_ && entries[1].revents != 0) accept_client();
  }

  static void serve(SettingsConnection& connection, short events) {
    if ((events & POLLOUT) != 0) connection.flush();
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) connection.read();
    if (!connection.ended()) connection.tick();
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const auto signal = static_cast<int>(info.ssi_signo);
      const bool ends = signal == SIGTERM || (signal == SIGINT && shared_.system_wide);
      if (!ends) continue;
      stop_at_ = std::min(stop_at_, monotonic_seconds() + (shared_.system_wide ? 0 : grace_seconds));
    }
  }

  void accept_client() {
    FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    auto connection = std::make_unique<SettingsConnection>(std::move(socket), shared_);
    if (!connection->admit()) return;
    const auto of_user = std::count_if(connections_.begin(), connections_.end(), [&](const auto& other) {
      return other->user() == connection->user();
    });
    if (connections_.size() >= most_connections ||
        (connection->user() != 0 && static_cast<std::size_t>(of_user) >= most_connections_of_a_user)) {
      connection->end("wattuned has too many clients");
      return;
    }
    connections_.push_back(std::move(connection));
  }

  ServerShared shared_;
  FileDescriptor listener_;
  FileDescriptor signals_;
  std::vector<std::unique_ptr<SettingsConnection>> connections_;
  double stop_at_ = HUGE_VAL;
  bool failed_ = false;
};

}  // namespace

int serve_settings(SettingsServerOptions options) { return SettingsServer(std::move(options)).run(); }

FileDescriptor listen_for_settings(const std::string& path) {
  auto fail = [&] {
    return RunError(fmt::format("wattuned cannot listen at '{}': {}", path, system_error_text(errno)));
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    throw fail();
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw fail();
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), raw, sizeof address) == 0) {
    errno = EADDRINUSE;
    throw fail();
  }
  ::unlink(path.c_str());
  if (::bind(socket.get(), raw, sizeof address) != 0) throw fail();
  if (::chmod(path.c_str(), 0666) != 0) throw fail();
  constexpr int backlog = 64;
  if (::listen(socket.get(), backlog) != 0) throw fail();
  return socket;
}

}  // namespace wattune
