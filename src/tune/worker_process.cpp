// A worker: opens one device and measures on it, one request after the other.

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"
#include "tune/backends.hpp"
#include "tune/child_processes.hpp"
#include "tune/compile_cached.hpp"
#include "tune/device_details.hpp"
#include "tune/device_session.hpp"
#include "tune/sensor_probe.hpp"
#include "tune/wire.hpp"

namespace wattune {

namespace {

using nlohmann::json;

[[noreturn]] void end_with_all_children() {
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);  // Child::start made it a group of its own
  ::_exit(0);
}

/// A process whose coordinator has died must not go on holding the device or compiling, whatever its main thread is
/// doing; nor must what it has started (nvcc and the programs that nvcc starts).
void end_with_coordinator(int fd) {
  std::thread([fd] {
    pollfd entry{fd, POLLRDHUP, 0};
    while (::poll(&entry, 1, -1) < 0 || (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0) {
    }
    end_with_all_children();
  }).detach();
}

json error_reply(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return {{"error", error.what()}, {"code", static_cast<int>(known ? known->code() : ExitCode::run_failed)}};
}

class Worker {
 public:
  explicit Worker(Channel channel) : channel_(std::move(channel)) {}

  int serve() {
    while (auto request = channel_.receive()) {
      json reply;
      try {
        reply = answer(*request);
      } catch (const std::exception& error) {
        reply = error_reply(error);
      }
      if (!channel_.send(reply)) break;
    }
    return 0;
  }

 private:
  json answer(const json& request) {
    const std::string operation = request.at("op");
    if (operation == "devices") return devices(request);
    if (operation == "open") return open(request);
    if (operation == "sensors") return sensors(request);
    if (operation == "reference") return reference(request);
    if (operation == "probe") return probe(request);
    if (operation == "evaluate") return evaluate(request);
    throw RunError("a worker does not know the request '" + operation + "'");
  }

  static json devices(const json& request) {
    json found = json::array();
    json details = json::array();
    for (const auto& device : make_backend(request.at("backend"))->devices()) {
      found.push_back(to_json(device));
      if (request.at("details").get<bool>()) details.push_back(device_details(device));
    }
    return {{"devices", found}, {"details", details}};
  }

  json sensors(const json& request) {
    return probe_sensors_here(sensor_probe_request_from_json(request), [this](const std::string& text) {
      if (!channel_.send({{"progress", text}})) ::_exit(0);
    });
  }

  json open(const json& request) {
    ReadOptions options;
    options.language = request.at("language");
    if (request.contains("problem_size")) {
      options.problem_size = request.at("problem_size").get<std::vector<std::int64_t>>();
    }
    if (request.contains("device_settings")) {
      for (const auto& [name, list] : request.at("device_settings").items()) {
        Parameter parameter{name, {}};
        for (const auto& value : list) parameter.values.push_back(value_from_json(value));
        options.device_settings.push_back(std::move(parameter));
      }
    }
    problem_ = parse_problem(request.at("text").get<std::string>(), request.at("file").get<std::string>(), options);
    if (problem_.hash != request.at("hash").get<std::string>()) {
      throw RunError(
          problem_.file.string() +
          ": the problem, its kernel or its data were changed while it was being tuned; run the command again");
    }
    MeasureOptions measure;
    measure.energy_ticks = request.at("energy_ticks");
    measure.energy_estimator = estimator_from(request.at("energy_estimator").get<std::string>());
    measure.verify_only = request.at("verify_only");
    measure.voltage_command = request.at("voltage_command").get<std::vector<std::string>>();
    measure.on_warning = [this](const std::string& text) {
      if (!channel_.send({{"warning", text}})) ::_exit(0);
    };
    const bool wait_for_quiet = request.at("wait_for_quiet");
    measure.on_phase = [this, wait_for_quiet](std::string_view phase) { announce(phase, wait_for_quiet); };
    device_.reset();
    device_ = std::make_unique<DeviceSession>(problem_, request.at("device").get<std::string>(),
                                              request.at("energy").get<bool>(), std::move(measure));
    const auto needs = device_->session().needs();
    return {{"device", to_json(device_->info())},
            {"meter", device_->meter()},
            {"needs", needs == Session::Needs::nothing            ? "nothing"
                      : needs == Session::Needs::reference_kernel ? "reference_kernel"
                                                                  : "default_configuration"}};
  }

  /// Tells the coordinator which phase begins (it restarts its watchdog), and lets it make the machine quiet first.
  void announce(std::string_view phase, bool wait_for_quiet) {
    const bool wait = wait_for_quiet && (phase == "time" || phase == "energy" || phase == "observe");
    if (!channel_.send({{"phase", phase}, {"wait", wait}})) ::_exit(0);
    if (wait && !channel_.receive()) ::_exit(0);
  }

  json reference(const json& request) {
    const auto failure =
        device_->session().set_reference(compile_result_from_json(request.at("binary")), values(request));
    return failure ? json{{"failure", to_json(*failure)}} : json{{"reference", true}};
  }

  json probe(const json& request) {
    const auto reading =
        device_->session().clocks_under_load(compile_result_from_json(request.at("binary")), values(request));
    if (!reading) return {{"failure", to_json(reading.error())}};
    json reply = {{"probe", true}, {"reasons", reading->throttle_reasons}};
    if (reading->sm_clock_hz) reply["sm_clock"] = *reading->sm_clock_hz;
    return reply;
  }

  json evaluate(const json& request) {
    const auto configuration = values(request);
    const auto binary = compile_result_from_json(request.at("binary"));
    EvaluateOptions wanted;
    if (request.contains("abandon_above")) wanted.abandon_above = request.at("abandon_above").get<double>();
    if (request.contains("hopeless_energy")) wanted.hopeless_energy = request.at("hopeless_energy").get<double>();
    wanted.least_beyond_idle = request.value("least_beyond_idle", 0.0);
    wanted.exact = request.value("exact", false);
    wanted.only_time = request.value("only_time", false);
    const auto result = device_->evaluate(binary, configuration, request.at("as_reference").get<bool>(), wanted);
    return {{"evaluation", to_json(result.evaluation, problem_.parameter_names())},
            {"poisoned", result.poisoned},
            {"others", device_->others()}};
  }

  static std::vector<Value> values(const json& request) {
    std::vector<Value> result;
    for (const auto& value : request.at("configuration")) result.push_back(value_from_json(value));
    return result;
  }

  Channel channel_;
  Problem problem_;
  std::unique_ptr<DeviceSession> device_;
};

json compile(Compiler& compiler, BinaryCache* cache, const CompileRequest& request) {
  const auto compiled = compile_cached(compiler, cache, request);
  json reply = compiled.outcome ? json{{"result", to_json(*compiled.outcome)}}
                                : json{{"failure", to_json(compiled.outcome.error())}};
  reply["cached"] = compiled.cached;
  return reply;
}

}  // namespace

int run_worker(Channel channel) {
  end_with_coordinator(channel.fd());
  return Worker(std::move(channel)).serve();
}

int run_compiler(Channel channel) {
  end_with_coordinator(channel.fd());
  std::unique_ptr<Compiler> compiler;
  std::optional<BinaryCache> cache;
  std::string device;
  while (auto request = channel.receive()) {
    json reply;
    try {
      const auto wanted = compile_request_from_json(*request);
      if (!compiler || device != wanted.device) {
        compiler = make_backend(backend_of_device(wanted.device))->compiler(wanted.device);
        device = wanted.device;
      }
      if (!cache && request->at("cache") != "") cache.emplace(request->at("cache").get<std::string>());
      reply = compile(*compiler, cache ? &*cache : nullptr, wanted);
    } catch (const std::exception& error) {
      reply = error_reply(error);
    }
    if (!channel.send(reply)) break;
  }
  end_with_all_children();
}

}  // namespace wattune
