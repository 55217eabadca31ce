#include "settings/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "driver/library.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/private_server.hpp"
#include "settings/protocol.hpp"

namespace wattune {

using nlohmann::json;

namespace {

/// NVML's setters take milliseconds; one that takes so long hangs.
constexpr double reply_seconds = 30;

/// A connection on which each request has one answer.
class Link {
 public:
  explicit Link(FileDescriptor socket) : socket_(std::move(socket)) {}

  void send(const json& message) {
    const std::string bytes = frame(message);
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;  // the next answer will say that the server is gone, and why
      sent += static_cast<std::size_t>(n);
    }
  }

  /// Nothing where the time is up or `wake_fd` is readable. @throws DeviceError where the server is gone.
  std::optional<json> receive(double seconds, int wake_fd) {
    const double deadline = monotonic_seconds() + seconds;
    while (true) {
      if (auto message = reader_.take()) return parse(*message);
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

  /// What the server said of itself, without waiting.
  void check() {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0) return;
    fill();
    if (auto message = reader_.take()) gone(*message);
  }

  void close() { socket_.reset(); }

 private:
  void fill() {
    char chunk[65536];
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, 0);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
      throw DeviceError(
          "the settings server is gone: run 'wattune restore' to put the device back, then the same command again to "
          "go on");
    }
    reader_.add({chunk, static_cast<std::size_t>(n)});
  }

  static json parse(const std::string& message) {
    json parsed = json::from_cbor(message, true, false);
    if (!parsed.is_object()) throw DeviceError("the settings server sent what is no message");
    return parsed;
  }

  [[noreturn]] static void gone(const std::string& message) {
    throw DeviceError("the settings server ended the connection: " + parse(message).value("error", "no reason given"));
  }

  FileDescriptor socket_;
  FrameReader reader_{most_reply_bytes};
};

std::optional<FileDescriptor> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::nullopt;
  }
  return socket;
}

}  // namespace

std::string system_server_socket() {
  const std::string named = environment("WATTUNE_SETTINGS_SOCKET");
  return named.empty() ? "/run/wattune/wattuned.sock" : named;
}

struct SettingsClient::Impl {
  explicit Impl(SettingsClientOptions options_in) : options(std::move(options_in)) { open(); }
  ~Impl() { end_server(); }

  void open();
  void open_private();
  /// The capabilities through the system-wide server, and why it cannot be used.
  RouteState open_system();
  json ask(const SettingsRequest& request, double seconds = reply_seconds, int wake_fd = -1);
  [[nodiscard]] bool can_all() const {
    return std::all_of(options.wanted.begin(), options.wanted.end(),
                       [&](Setting setting) { return capabilities.may_set(setting); });
  }
  void end_server();

  SettingsClientOptions options;
  std::optional<Link> link;
  pid_t server = 0;  ///< of a private one
  Capabilities capabilities;
  double lease_seconds = 30;
  double renewed = 0;
  bool held = false;
  std::optional<double> locked_sm_clock_hz;
  DeviceSettings current;
  std::size_t changes = 0;
};

json SettingsClient::Impl::ask(const SettingsRequest& request, double seconds, int wake_fd) {
  if (!link) throw DeviceError("the settings server is gone");
  link->send(to_json(request));
  renewed = monotonic_seconds();
  auto reply = link->receive(seconds, wake_fd);
  if (!reply) {
    link.reset();  // it ends with the connection, and puts the device back
    if (request.kind == SettingsRequest::Kind::acquire && request.wait) {
      pollfd wake{wake_fd, POLLIN, 0};
      return {{wake_fd >= 0 && ::poll(&wake, 1, 0) > 0 ? "woken" : "late", true}};
    }
    throw DeviceError(fmt::format("the settings server did not answer for {:g} s: is the driver hanging?", seconds));
  }
  return std::move(*reply);
}

void SettingsClient::Impl::open_private() {
  StartedServer started = start_private_server(options.library);
  server = started.pid;
  link.emplace(std::move(started.connection));
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::open;
  request.version = settings_protocol_version;
  request.uuid = options.uuid;
  request.pci = options.pci;
  const json reply = ask(request);
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
  capabilities = capabilities_from_json(reply.at("capabilities"));
  lease_seconds = reply.at("lease_seconds");
}

RouteState SettingsClient::Impl::open_system() {
  const std::string path = system_server_socket();
  auto socket = connect_to(path);
  if (!socket) {
    return {"wattuned", false,
            fmt::format("no server listens at {}; an administrator can install it (docs/settings.md)", path)};
  }
  Link other(std::move(*socket));
  try {
    SettingsRequest request;
    request.kind = SettingsRequest::Kind::open;
    request.version = settings_protocol_version;
    request.uuid = capabilities.uuid;
    other.send(to_json(request));
    const auto reply = other.receive(reply_seconds, -1);
    if (!reply) return {"wattuned", false, "it does not answer"};
    if (reply->contains("error")) return {"wattuned", false, reply->at("error").get<std::string>()};
    Capabilities theirs = capabilities_from_json(reply->at("capabilities"));
    theirs.route = "wattuned";
    theirs.routes = capabilities.routes;
    const bool can = std::all_of(options.wanted.begin(), options.wanted.end(),
                                 [&](Setting setting) { return theirs.may_set(setting); });
    if (!can) return {"wattuned", false, "it cannot set this either"};
    end_server();
    capabilities = std::move(theirs);
    lease_seconds = reply->at("lease_seconds");
    link.emplace(std::move(other));
    return {"wattuned", true, ""};
  } catch (const Error& error) {
    return {"wattuned", false, error.what()};
  }
}

void SettingsClient::Impl::open() {
  open_private();
  if (can_all() || !capabilities.refused.empty()) return;
  const RouteState state = open_system();
  capabilities.routes.push_back(state);
}

void SettingsClient::Impl::end_server() {
  link.reset();
  held = false;
  if (server <= 0) return;
  while (::waitpid(server, nullptr, 0) < 0 && errno == EINTR) {
  }
  server = 0;
}

SettingsClient::SettingsClient(SettingsClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

SettingsClient::~SettingsClient() = default;

const Capabilities& SettingsClient::capabilities() const { return impl_->capabilities; }

std::size_t SettingsClient::changes() const { return impl_->changes; }

void SettingsClient::restore_sm_clock_to(double hertz) { impl_->locked_sm_clock_hz = hertz; }

void SettingsClient::check_wanted() const {
  for (const Setting setting : impl_->options.wanted) {
    refuse_if_read_only(fmt::format("set the {} of {}", to_string(setting), impl_->capabilities.name));
    const std::string reason = why_not(impl_->capabilities, setting);
    if (reason.empty()) continue;
    throw DeviceError(fmt::format("the {} of {} ({}) cannot be set: {}; 'wattune devices' shows what can",
                                  to_string(setting), impl_->capabilities.name, impl_->capabilities.uuid, reason));
  }
}

bool SettingsClient::acquire(double wait_seconds, int wake_fd) {
  check_wanted();
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::acquire;
  request.wait = wait_seconds > 0;
  request.locked_sm_clock_hz = impl_->locked_sm_clock_hz;
  const json reply = impl_->ask(request, request.wait ? wait_seconds : reply_seconds, request.wait ? wake_fd : -1);
  if (reply.contains("woken")) return false;
  if (reply.contains("late") || reply.contains("busy")) {
    throw DeviceError(fmt::format("the settings of {} ({}) are in use by {}; use another device, or wait until it has "
                                  "ended (--settings-wait TIME)",
                                  impl_->capabilities.name, impl_->capabilities.uuid,
                                  reply.value("busy", "another run")));
  }
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
  impl_->held = true;
  return true;
}

std::string SettingsClient::set(const DeviceSettings& settings) {
  if (impl_->held && settings == impl_->current) return {};
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::set;
  request.settings = settings;
  const json reply = impl_->ask(request);
  ++impl_->changes;
  if (!reply.contains("error")) {
    impl_->current = settings;
    return {};
  }
  impl_->current = {};
  const std::string problem =
      fmt::format("{} ({}) cannot be set to {}: {}", impl_->capabilities.name, impl_->capabilities.uuid,
                  to_string(settings), reply.at("error").get<std::string>());
  const std::string code = reply.value("code", "");
  if (code == "unsupported" || code == "bounds" || code == "other") return problem;
  throw DeviceError(problem);
}

void SettingsClient::add_worker(pid_t pid) {
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::worker;
  request.pid = pid;
  const json reply = impl_->ask(request);
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
}

double SettingsClient::keep_alive_seconds() const { return impl_->lease_seconds / 4; }

void SettingsClient::keep_alive() {
  if (!impl_->held || !impl_->link) return;
  impl_->link->check();
  if (monotonic_seconds() < impl_->renewed + keep_alive_seconds()) return;
  impl_->renewed = monotonic_seconds();
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::alive;
  impl_->link->send(to_json(request));
}

std::string SettingsClient::release() {
  if (!impl_->held) return {};
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::release;
  std::string problems;
  try {
    const json reply = impl_->ask(request);
    if (reply.contains("error")) problems = reply.at("error").get<std::string>();
  } catch (const Error& error) {
    problems = error.what();
  }
  impl_->end_server();
  return problems;
}

}  // namespace wattune
