#include "tune/sensor_probe.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "backend/cuda/simulation.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "sensor/duty_table.hpp"
#include "sensor/probe.hpp"
#include "sensor/profile.hpp"
#include "tune/backends.hpp"
#include "tune/child_processes.hpp"

namespace wattune {

namespace {

using nlohmann::json;

/// Device time that a probe takes, and what opening and compiling may take on top.
constexpr double probe_seconds = 60;
constexpr double opening_seconds = 120;

DeviceInfo find(Backend& backend, const std::string& wanted) {
  for (const auto& info : backend.devices()) {
    if (info.id == wanted || (wanted.starts_with("GPU-") && info.uuid.starts_with(wanted)) ||
        wanted == "pci:" + info.pci) {
      return info;
    }
  }
  throw DeviceError(
      fmt::format("--device {}: there is no such device; 'wattune devices' lists those there are", wanted));
}

/// Device time before the device is opened: idle power is measured then.
struct EarlyClock {
  std::shared_ptr<const Simulation> simulation;
  std::unique_ptr<Clock> own;
  Clock* clock = &real_clock();
};

EarlyClock clock_of(const DeviceInfo& info) {
  EarlyClock early;
  if (!info.simulated) return early;
  early.simulation = Simulation::load();
  const auto names = early.simulation->board_names();
  for (unsigned board = 0; board < names.size(); ++board) {
    if (info.id != simulated_prefix + names[board]) continue;
    early.own = early.simulation->clock(board);
    early.clock = early.own.get();
  }
  return early;
}

[[noreturn]] void throw_reply(const json& reply) {
  const std::string message = reply.at("error");
  switch (static_cast<ExitCode>(reply.at("code").get<int>())) {
    case ExitCode::device:
      throw DeviceError(message);
    case ExitCode::usage:
      throw UsageError(message);
    default:
      throw RunError(message);
  }
}

}  // namespace

json to_json(const SensorProbeRequest& request) {
  return {{"device", request.device}, {"table", request.table}, {"phase_seconds", request.phase_seconds}};
}

SensorProbeRequest sensor_probe_request_from_json(const json& object) {
  return {object.at("device"), object.at("table"), object.at("phase_seconds")};
}

json probe_sensors_here(const SensorProbeRequest& request, const std::function<void(const std::string&)>& on_progress) {
  const auto backend = make_backend(backend_of_device(request.device));
  const DeviceInfo info = find(*backend, request.device);
  std::string why_not = "only GPUs of NVIDIA have sensors that this version reads";
  std::unique_ptr<PowerMeter> meter;
  if (info.kind == "gpu" && !(info.uuid.empty() && info.pci.empty())) {
    meter = open_nvml_meter(info.uuid, info.pci, &why_not, info.simulated ? simulation_library() : "");
  }
  if (!meter) {
    throw DeviceError(fmt::format("the sensors of {} ({}) cannot be probed: {}", info.id, info.name, why_not));
  }
  ProbeOptions options;
  options.on_progress = on_progress;
  on_progress("measuring idle power without a context");
  const auto early = clock_of(info);
  const auto bare = idle_power(*meter, *early.clock, options.idle_seconds);

  const auto device = backend->open(info.id);
  const auto compiler = backend->compiler(info.id);
  Clock& clock = device->clock() != nullptr ? *device->clock() : real_clock();
  SwitchedLoad load(*device, *compiler, backend->language(), clock);
  SensorProfile profile = probe_sensors(*meter, load, clock, options);
  profile.idle_bare_w = bare;
  profile.board = info.board();
  profile.name = info.name;
  profile.driver = info.driver;
  profile.made = utc_timestamp();
  profile.simulated = info.simulated;
  json reply = {{"profile", to_json(profile)}};
  try {
    reply["file"] = save_profile(profile, profile_folder()).string();
  } catch (const RunError& error) {
    reply["not_kept"] = error.what();  // what was found is worth its time all the same
  }
  if (request.table) {
    on_progress("switching a load on and off for the table");
    DutyTableOptions table;
    table.phase_seconds = request.phase_seconds;
    if (profile.counter) table.rise_seconds = profile.counter->rise.value_or(0);
    reply["table"] = to_json(measure_duty_table(*meter, load, clock, table));
  }
  return reply;
}

json probe_sensors_of(const SensorProbeRequest& request, const std::function<void(const std::string&)>& on_progress) {
  ChildOptions options;
  options.stderr_file = "/dev/null";
  Child child = Child::start(own_executable(), {worker_command}, options);
  json message = to_json(request);
  message["op"] = "sensors";
  // Rows, their phases, and what precedes each.
  constexpr double table_phases = 32;
  const double limit =
      opening_seconds + probe_seconds + (request.table ? table_phases * (request.phase_seconds + 1) : 0);
  const double deadline = monotonic_seconds() + limit;
  pollfd entry{child.channel().fd(), POLLIN, 0};
  bool open = child.channel().send(message);
  while (open && monotonic_seconds() < deadline) {
    ::poll(&entry, 1, static_cast<int>(std::ceil(1e3 * std::max(0.0, deadline - monotonic_seconds()))));
    while (auto reply = child.channel().try_receive()) {
      if (reply->contains("progress")) {
        on_progress(reply->at("progress"));
        continue;
      }
      if (reply->contains("error")) throw_reply(*reply);
      return std::move(*reply);
    }
    open = !child.channel().closed();
  }
  if (!open)
    throw RunError(
        fmt::format("probing the sensors of {}: the process that did it {}", request.device, child.wait(1.0).text()));
  throw RunError(fmt::format("probing the sensors of {} took longer than {:g} s", request.device, limit));
}

}  // namespace wattune
