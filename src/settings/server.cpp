#include "settings/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
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
/// What takes longer hangs in the driver.
constexpr double hang_seconds = 5;

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

/// Counts up by one.
void signal_event(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
}

/// @return whether it was signalled since it was last taken.
bool take_event(int event) {
  std::uint64_t count = 0;
  return ::read(event, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

FileDescriptor make_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) throw RunError("the settings server cannot make an event: " + system_error_text(errno));
  return event;
}

/// A client and its thread: a driver that hangs on one board holds up nobody else. What both threads use outlives the
/// slower one.
struct Client {
  Client(std::shared_ptr<ServerShared> shared_in, FileDescriptor socket, std::shared_ptr<FileDescriptor> changed_in)
      : shared(std::move(shared_in)),
        connection(std::move(socket), *shared),
        stop(make_event()),
        changed(std::move(changed_in)) {}

  /// Serves until the client is gone, or `stop` is signalled.
  void serve() {
    while (!connection.ended()) {
      const short events = connection.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
      pollfd entries[2] = {{connection.fd(), events, 0}, {stop.get(), POLLIN, 0}};
      constexpr double longest = 60;
      const double left = std::clamp(connection.next_tick() - monotonic_seconds(), 0.0, longest);
      ::poll(entries, 2, static_cast<int>(std::ceil(left * 1e3)));
      if (entries[1].revents != 0 && take_event(stop.get())) connection.end(stop_reason);
      if ((entries[0].revents & POLLOUT) != 0) connection.flush();
      if ((entries[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !connection.ended()) connection.read();
      if (!connection.ended()) connection.tick();
    }
    ended = true;
    signal_event(changed->get());
  }

  std::shared_ptr<ServerShared> shared;
  SettingsConnection connection;
  FileDescriptor stop;
  std::string stop_reason;                  ///< written before `stop` is signalled
  std::shared_ptr<FileDescriptor> changed;  ///< signalled when a client has ended
  std::atomic<bool> ended = false;
  std::thread thread;
};

class SettingsServer {
 public:
  explicit SettingsServer(SettingsServerOptions options)
      : shared_(std::make_shared<ServerShared>()),
        listener_(std::move(options.listener)),
        signals_(signals()),
        changed_(std::make_shared<FileDescriptor>(make_event())) {
    shared_->config = std::move(options.config);
    shared_->open = std::move(options.open);
    shared_->log = std::move(options.log);
    shared_->system_wide = static_cast<bool>(listener_);
    if (options.connection) start(std::make_shared<Client>(shared_, std::move(options.connection), changed_));
  }

  int run() {
    if (shared_->system_wide) put_back_what_was_left();
    while (!finished()) turn();
    end_all();
    return failed_ ? 1 : 0;
  }

 private:
  [[nodiscard]] bool finished() const {
    return stop_at_ <= monotonic_seconds() || (!shared_->system_wide && clients_.empty());
  }

  /// In a thread of its own: a board whose driver hangs is not waited for.
  void put_back_what_was_left() {
    auto restoring = std::make_shared<std::packaged_task<void()>>([shared = shared_] {
      for (const bool simulated : {false, true}) {
        std::vector<std::string> problems;
        const auto reports = restore_all(shared->folder(simulated), shared->open, &problems);
        for (const auto& report : reports) shared->say(report.message);
        for (const auto& problem : problems) shared->say(problem);
      }
    });
    auto result = restoring->get_future();
    std::thread([restoring] { (*restoring)(); }).detach();
    if (result.wait_for(std::chrono::duration<double>(hang_seconds)) == std::future_status::ready) {
      result.get();
    } else {
      shared_->say("a board that an earlier server left changed is not yet put back: does its driver hang?");
    }
  }

  void start(const std::shared_ptr<Client>& client) {
    clients_.push_back(client);
    client->thread = std::thread([client] { client->serve(); });
  }

  void turn() {
    pollfd entries[3] = {{signals_.get(), POLLIN, 0}, {changed_->get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    constexpr double longest = 60;
    const double left = std::clamp(stop_at_ - monotonic_seconds(), 0.0, longest);
    ::poll(entries, 3, static_cast<int>(std::ceil(left * 1e3)));
    if (entries[0].revents != 0) take_signals();
    if (entries[1].revents != 0) forget_ended();
    if (entries[2].revents != 0) accept_client();
  }

  void forget_ended() {
    take_event(changed_->get());
    std::erase_if(clients_, [&](const auto& client) {
      if (!client->ended) return false;
      client->thread.join();
      failed_ = failed_ || client->connection.failed();
      return true;
    });
  }

  void end_all() {
    for (const auto& client : clients_) {
      client->stop_reason = shared_->system_wide ? "wattuned is being stopped" : "the settings server was told to end";
      signal_event(client->stop.get());
    }
    const double deadline = monotonic_seconds() + hang_seconds;
    while (!clients_.empty() && monotonic_seconds() < deadline) {
      pollfd entry{changed_->get(), POLLIN, 0};
      ::poll(&entry, 1, static_cast<int>(std::ceil((deadline - monotonic_seconds()) * 1e3)));
      forget_ended();
    }
    for (const auto& client : clients_) {
      client->thread.detach();
      failed_ = true;
      shared_->say("a board is not put back, for its driver hangs: 'wattune restore' puts it back later");
    }
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const auto signal = static_cast<int>(info.ssi_signo);
      const bool ends = signal == SIGTERM || (signal == SIGINT && shared_->system_wide);
      if (!ends) continue;
      stop_at_ = std::min(stop_at_, monotonic_seconds() + (shared_->system_wide ? 0 : grace_seconds));
    }
  }

  void accept_client() {
    FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    auto client = std::make_shared<Client>(shared_, std::move(socket), changed_);
    SettingsConnection& connection = client->connection;
    if (!connection.admit()) return;
    const auto of_user = std::count_if(clients_.begin(), clients_.end(), [&](const auto& other) {
      return other->connection.user() == connection.user();
    });
    if (clients_.size() >= most_connections ||
        (connection.user() != 0 && static_cast<std::size_t>(of_user) >= most_connections_of_a_user)) {
      connection.end("wattuned has too many clients");
      return;
    }
    start(client);
  }

  std::shared_ptr<ServerShared> shared_;
  FileDescriptor listener_;
  FileDescriptor signals_;
  std::shared_ptr<FileDescriptor> changed_;
  std::vector<std::shared_ptr<Client>> clients_;
  double stop_at_ = HUGE_VAL;
  bool failed_ = false;
};

}  // namespace

int serve_settings(SettingsServerOptions options) {
  return SettingsServer(std::move(options)).run();
}

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
