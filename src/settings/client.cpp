#include "settings/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "driver/library.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/link.hpp"
#include "settings/private_server.hpp"
#include "settings/process_identity.hpp"
#include "settings/protocol.hpp"

namespace wattune {

using nlohmann::json;

namespace {

/// NVML's setters take milliseconds; one that takes so long hangs.
constexpr double reply_seconds = 30;
/// Far longer than a board is put back.
constexpr double put_back_seconds = 1.5;
/// For the first word of the system-wide server, which other users load too.
constexpr double system_seconds = 10;

/// So many servers that are lost within such a time are not replaced any more: what ended them would end the next.
constexpr std::size_t most_losses = 4;
constexpr double losses_seconds = 60;
/// How long a private server is waited for that puts the board back.
constexpr int end_milliseconds = 10000;
constexpr const char* system_route = "wattuned";

/// The system-wide server's answer about a board.
struct SystemServer {
  RouteState state{system_route, false, ""};
  Capabilities capabilities;
  double lease_seconds = 30;
  std::optional<SettingsLink> link;
};

SystemServer ask_system_server(const Capabilities& board) {
  SystemServer found;
  const std::string path = system_server_socket();
  found.link = SettingsLink::connect(path);
  if (!found.link) {
    found.state.reason =
        fmt::format("no server listens at {}; an administrator can install it (docs/settings.md)", path);
    return found;
  }
  try {
    SettingsRequest request;
    request.kind = SettingsRequest::Kind::open;
    request.version = settings_protocol_version;
    request.uuid = board.uuid;
    found.link->send(to_json(request));
    const auto reply = found.link->receive(system_seconds);
    if (!reply || reply->contains("error")) {
      found.state.reason = reply ? reply->at("error").get<std::string>() : "it does not answer";
      return found;
    }
    found.capabilities = capabilities_from_json(reply->at("capabilities"));
    found.capabilities.route = system_route;
    found.lease_seconds = reply->at("lease_seconds");
    found.state.usable = found.capabilities.may_set_anything();
    if (!found.state.usable) found.state.reason = "it may set nothing of this board itself";
  } catch (const Error& error) {
    found.state.reason = error.what();
  }
  return found;
}

/// Behind NVML's own ways, in the order in which they are tried.
void insert_route(Capabilities& capabilities, const RouteState& state) {
  auto& routes = capabilities.routes;
  const auto place = std::find_if(routes.begin(), routes.end(), [](const RouteState& route) {
    return route.name == "zeusd" || route.name == "settings command";
  });
  routes.insert(place, state);
}

}  // namespace

std::string system_server_socket() {
  const std::string named = environment("WATTUNE_SETTINGS_SOCKET");
  return named.empty() ? "/run/wattune/wattuned.sock" : named;
}

Capabilities with_system_server(Capabilities capabilities) {
  if (!capabilities.refused.empty()) return capabilities;
  auto found = ask_system_server(capabilities);
  insert_route(capabilities, found.state);
  if (capabilities.may_set_anything() || !found.state.usable) return capabilities;
  found.capabilities.routes = capabilities.routes;
  return found.capabilities;
}

struct SettingsClient::Impl {
  explicit Impl(SettingsClientOptions options_in) : options(std::move(options_in)) { open(); }
  ~Impl();

  void open();
  void open_private();
  /// Goes over to the system-wide server where that can set what is wanted.
  bool open_system();
  json ask(const SettingsRequest& request, double seconds = reply_seconds, int wake_fd = -1);
  /// Asks once more where the server was lost meanwhile and another has taken its place.
  json ask_surely(const SettingsRequest& request);
  [[nodiscard]] bool can_all() const {
    return std::all_of(options.wanted.begin(), options.wanted.end(),
                       [&](Setting setting) { return capabilities.may_set(setting); });
  }
  void check_wanted() const;
  bool take(double wait_seconds, int wake_fd);
  void register_worker(pid_t pid);
  /// After the loss of the server: another one puts the board back and takes it.
  /// @throws DeviceError saying why the server was lost, and why none has taken its place.
  void replace_server(const std::string& why);
  /// @return false where it was a private one that has been killed: it has put nothing back.
  bool end_server();

  SettingsClientOptions options;
  std::optional<SettingsLink> link;
  pid_t server = 0;  ///< of a private one
  Capabilities capabilities;
  double lease_seconds = 30;
  double renewed = 0;
  bool held = false;
  std::optional<double> locked_sm_clock_hz;
  DeviceSettings current;
  std::size_t changes = 0;
  std::vector<pid_t> workers;  ///< that are registered, dead ones among them
  std::deque<double> losses;   ///< when servers were lost, of late
  std::string loss;            ///< one that keep_alive() has yet to tell
};

SettingsClient::Impl::~Impl() {
  const bool taken = held;
  if (end_server() || !taken) return;
  try {
    open_private();
    take(0, -1);
  } catch (const std::exception&) {
    // Its record is still there: 'wattune restore' or the next run puts the board back.
  }
  end_server();
}

json SettingsClient::Impl::ask(const SettingsRequest& request, double seconds, int wake_fd) {
  if (!link) throw DeviceError("there is no connection to a settings server any more");
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
  StartedServer started = start_private_server(options.library, options.commands);
  server = started.pid;
  link.emplace(std::move(started.connection));
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::open;
  request.version = settings_protocol_version;
  request.uuid = options.uuid;
  request.pci = options.pci;
  request.wanted = options.wanted;
  const json reply = ask(request);
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
  capabilities = capabilities_from_json(reply.at("capabilities"));
  lease_seconds = reply.at("lease_seconds");
}

bool SettingsClient::Impl::open_system() {
  auto found = ask_system_server(capabilities);
  const bool can =
      found.state.usable && std::all_of(options.wanted.begin(), options.wanted.end(),
                                        [&](Setting setting) { return found.capabilities.may_set(setting); });
  if (!can && found.state.usable) found.state = {system_route, false, "it cannot set this either"};
  insert_route(capabilities, found.state);
  if (!can) return false;
  end_server();
  found.capabilities.routes = capabilities.routes;
  capabilities = std::move(found.capabilities);
  lease_seconds = found.lease_seconds;
  link = std::move(found.link);
  return true;
}

void SettingsClient::Impl::open() {
  open_private();
  if (!capabilities.refused.empty()) return;
  // NVML itself comes before the system-wide server, and that before other services.
  const bool direct = capabilities.route == "locked clocks" || capabilities.route == "application clocks";
  if (!direct || !can_all()) open_system();
}

bool SettingsClient::Impl::end_server() {
  link.reset();
  held = false;
  const pid_t pid = std::exchange(server, 0);
  if (pid <= 0) return true;
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd entry{pidfd.get(), POLLIN, 0};
  // One that hangs in the driver still puts the board back where it comes to itself again.
  if (pidfd && ::poll(&entry, 1, end_milliseconds) == 0) return true;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status);
}

void SettingsClient::Impl::check_wanted() const {
  for (const Setting setting : options.wanted) {
    refuse_if_read_only(fmt::format("set the {} of {}", to_string(setting), capabilities.name));
    const std::string reason = why_not(capabilities, setting);
    if (reason.empty()) continue;
    throw DeviceError(fmt::format("the {} of {} ({}) cannot be set: {}; 'wattune devices' shows what can",
                                  to_string(setting), capabilities.name, capabilities.uuid, reason));
  }
}

bool SettingsClient::Impl::take(double wait_seconds, int wake_fd) {
  check_wanted();
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::acquire;
  request.wait = wait_seconds > 0;
  request.locked_sm_clock_hz = locked_sm_clock_hz;
  const auto acquire = [&] {
    return ask(request, request.wait ? wait_seconds : reply_seconds, request.wait ? wake_fd : -1);
  };
  json reply = acquire();
  // The server of a run that was killed just now is still putting the board back.
  const double deadline = monotonic_seconds() + put_back_seconds;
  while (reply.contains("busy") && monotonic_seconds() < deadline) {
    real_clock().sleep_until(real_clock().now() + 0.05);
    reply = acquire();
  }
  if (reply.contains("woken")) return false;
  if (reply.contains("late") || reply.contains("busy")) {
    throw DeviceError(
        fmt::format("the settings of {} ({}) are in use by {}; use another device, or wait until it has "
                    "ended (--settings-wait TIME)",
                    capabilities.name, capabilities.uuid, reply.value("busy", "another run")));
  }
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
  held = true;
  current = {};
  return true;
}

void SettingsClient::Impl::register_worker(pid_t pid) {
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::worker;
  request.pid = pid;
  const json reply = ask(request);
  if (reply.contains("error")) throw DeviceError(reply.at("error").get<std::string>());
}

void SettingsClient::Impl::replace_server(const std::string& why) {
  end_server();
  const double now = monotonic_seconds();
  losses.push_back(now);
  while (losses.front() < now - losses_seconds) losses.pop_front();
  try {
    open();
    // What the lost server has left changed is put back as the board is taken.
    take(0, -1);
    if (losses.size() > most_losses) {
      end_server();
      throw DeviceError(
          fmt::format("{} servers were lost within {:g} s; the device was put back", losses.size(), losses_seconds));
    }
    for (const pid_t worker : workers) register_worker(worker);
  } catch (const Error& error) {
    end_server();
    throw DeviceError(
        fmt::format("{}. No other can take its place: {}. 'wattune restore' puts the device back where "
                    "that is still to be done; the same command given again continues the run",
                    why, error.what()));
  }
  loss = why + "; another has taken its place";
}

json SettingsClient::Impl::ask_surely(const SettingsRequest& request) {
  try {
    return ask(request);
  } catch (const LostServer& lost) {
    replace_server(lost.what());
  }
  return ask(request);
}

SettingsClient::SettingsClient(SettingsClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

SettingsClient::~SettingsClient() = default;

const Capabilities& SettingsClient::capabilities() const {
  return impl_->capabilities;
}

std::size_t SettingsClient::changes() const {
  return impl_->changes;
}

void SettingsClient::restore_sm_clock_to(double hertz) {
  impl_->locked_sm_clock_hz = hertz;
}

void SettingsClient::check_wanted() const {
  impl_->check_wanted();
}

bool SettingsClient::acquire(double wait_seconds, int wake_fd) {
  return impl_->take(wait_seconds, wake_fd);
}

std::string SettingsClient::set(const DeviceSettings& settings) {
  if (impl_->held && settings == impl_->current) return {};
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::set;
  request.settings = settings;
  const json reply = impl_->ask_surely(request);
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
  std::erase_if(impl_->workers, [](pid_t worker) { return identify(worker).start_time == 0; });
  impl_->workers.push_back(pid);
  try {
    impl_->register_worker(pid);
  } catch (const LostServer& lost) {
    impl_->replace_server(lost.what());
  }
}

double SettingsClient::keep_alive_seconds() const {
  return impl_->lease_seconds / 4;
}

int SettingsClient::fd() const {
  return impl_->link ? impl_->link->fd() : -1;
}

std::string SettingsClient::keep_alive() {
  if (!impl_->held || !impl_->link) return {};
  try {
    impl_->link->check();
  } catch (const LostServer& lost) {
    impl_->replace_server(lost.what());
  }
  if (monotonic_seconds() >= impl_->renewed + keep_alive_seconds()) {
    impl_->renewed = monotonic_seconds();
    SettingsRequest request;
    request.kind = SettingsRequest::Kind::alive;
    impl_->link->send(to_json(request));
  }
  return std::exchange(impl_->loss, {});
}

std::string SettingsClient::release() {
  if (!impl_->held) return {};
  SettingsRequest request;
  request.kind = SettingsRequest::Kind::release;
  std::string problems;
  try {
    const json reply = impl_->ask_surely(request);
    if (reply.contains("error")) problems = reply.at("error").get<std::string>();
  } catch (const Error& error) {
    problems = error.what();
  }
  impl_->end_server();
  return problems;
}

}  // namespace wattune
