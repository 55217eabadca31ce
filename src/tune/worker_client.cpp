#include "tune/worker_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "tune/backends.hpp"
#include "tune/child_processes.hpp"
#include "tune/wire.hpp"

namespace wattune {

using nlohmann::json;

void WorkerClient::start(const json& open_request, double timeout_seconds) {
  child_.emplace(Child::start(own_executable(), {worker_command}, child_options_));
  request(open_request, State::opening, timeout_seconds);
}

void WorkerClient::request(const json& message, State state, double timeout_seconds) {
  state_ = state;
  phase_ = state == State::opening ? "open" : state == State::referencing ? "reference" : "load";
  deadline_ = monotonic_seconds() + timeout_seconds;
  [[maybe_unused]] const bool sent = child_->channel().send(message);
}

void WorkerClient::let_go() {
  [[maybe_unused]] const bool sent = child_->channel().send({{"go", true}});
}

void WorkerClient::phase_began(const std::string& phase, double timeout_seconds) {
  phase_ = phase;
  deadline_ = monotonic_seconds() + timeout_seconds;
}

std::optional<json> WorkerClient::receive() {
  return child_ ? child_->channel().try_receive() : std::nullopt;
}

Child::Exit WorkerClient::end(bool by_itself) {
  if (!child_) return {};
  const auto exit = by_itself ? child_->wait(2.0) : child_->kill();
  child_.reset();
  state_ = State::none;
  return exit;
}

std::vector<FoundDevices> find_devices(const std::vector<std::string>& backends, double timeout_seconds, bool details) {
  std::vector<FoundDevices> all;
  for (const auto& backend : backends) {
    FoundDevices found{backend, {}, "", {}};
    ChildOptions options;
    options.stderr_file = "/dev/null";
    Child child = Child::start(own_executable(), {worker_command}, options);
    pollfd entry{child.channel().fd(), POLLIN, 0};
    std::optional<json> reply;
    const double deadline = monotonic_seconds() + timeout_seconds;
    if (child.channel().send({{"op", "devices"}, {"backend", backend}, {"details", details}})) {
      while (!reply && !child.channel().closed() && monotonic_seconds() < deadline) {
        ::poll(&entry, 1, static_cast<int>(std::ceil(1e3 * std::max(0.0, deadline - monotonic_seconds()))));
        reply = child.channel().try_receive();
      }
    }
    if (!reply) {
      found.problem = child.channel().closed()
                          ? fmt::format("the process that looked for devices {}", child.wait(1.0).text())
                          : fmt::format("looking for devices took longer than {:g} s", timeout_seconds);
    } else if (reply->contains("error")) {
      found.problem = reply->at("error");
    } else {
      for (const auto& device : reply->at("devices")) found.devices.push_back(device_from_json(device));
      for (const auto& device : reply->at("details")) found.details.push_back(device.dump());
      if (found.devices.empty()) found.problem = "no device";
    }
    all.push_back(std::move(found));
  }
  return all;
}

DeviceInfo find_device(const std::string& name) {
  const auto found = find_devices({backend_of_device(name)});
  for (const auto& device : found.front().devices) {
    const bool is_uuid = name.starts_with("GPU-") && device.uuid.starts_with(name);
    const bool is_pci = name.starts_with("pci:") && device.pci.ends_with(name.substr(4));
    if (device.id == name || is_uuid || is_pci) return device;
  }
  throw DeviceError(fmt::format("--device {}: there is no such device{}{}; 'wattune devices' lists them", name,
                                found.front().problem.empty() ? "" : ": ", found.front().problem));
}

std::vector<std::string> backends_for(const std::vector<std::string>& languages) {
  std::vector<std::string> backends;
  for (const auto& backend : backend_names()) {
    if (std::find(languages.begin(), languages.end(), language_of_backend(backend)) != languages.end()) {
      backends.push_back(backend);
    }
  }
  return backends;
}

DeviceInfo best_device(const std::vector<std::string>& languages) {
  return best_device(find_devices(backends_for(languages)));
}

DeviceInfo best_device(const std::vector<FoundDevices>& found) {
  const DeviceInfo* best = nullptr;
  std::string reasons;
  for (const auto& backend : found) {
    for (const auto& device : backend.devices) {
      if (best == nullptr || (best->kind != "gpu" && device.kind == "gpu")) best = &device;
    }
    if (!backend.problem.empty()) reasons += fmt::format("; {}: {}", backend.backend, backend.problem);
  }
  if (best == nullptr) {
    throw DeviceError("no device was found that can run this problem's kernel" + reasons);
  }
  return *best;
}

}  // namespace wattune
