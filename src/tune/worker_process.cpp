// A worker: opens one device and measures on it, one request after the other.

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "evaluate/session.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "tune/backends.hpp"
#include "tune/binary_cache.hpp"
#include "tune/child_processes.hpp"
#include "tune/wire.hpp"

namespace wattune {

namespace {

using nlohmann::json;

/// A process whose coordinator has died must not go on holding the device or compiling, whatever its main thread is
/// doing; nor must what it has started (nvcc and the programs that nvcc starts).
void end_with_coordinator(int fd) {
  std::thread([fd] {
    pollfd entry{fd, POLLRDHUP, 0};
    while (::poll(&entry, 1, -1) < 0 || (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0) {
    }
    if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);  // Child::start made it a group of its own
    ::_exit(0);
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
    if (operation == "reference") return reference(request);
    if (operation == "evaluate") return evaluate(request);
    throw RunError("a worker does not know the request '" + operation + "'");
  }

  static json devices(const json& request) {
    json found = json::array();
    for (const auto& device : make_backend(request.at("backend"))->devices()) found.push_back(to_json(device));
    return {{"devices", found}};
  }

  json open(const json& request) {
    ReadOptions options;
    options.language = request.at("language");
    if (request.contains("problem_size")) {
      options.problem_size = request.at("problem_size").get<std::vector<std::int64_t>>();
    }
    problem_ = parse_problem(request.at("text").get<std::string>(), request.at("file").get<std::string>(), options);
    if (problem_.hash != request.at("hash").get<std::string>()) {
      throw RunError(problem_.file.string() +
                     ": the problem, its kernel or its data were changed while it was being tuned; run the command again");
    }
    const std::string device = request.at("device");
    backend_ = make_backend(backend_of_device(device));
    device_ = backend_->open(device);
    check_memory();
    if (request.at("energy").get<bool>()) open_meter();
    MeasureOptions measure;
    measure.energy_ticks = request.at("energy_ticks");
    measure.verify_only = request.at("verify_only");
    const bool wait_for_quiet = request.at("wait_for_quiet");
    measure.on_phase = [this, wait_for_quiet](std::string_view phase) { announce(phase, wait_for_quiet); };
    session_ = std::make_unique<Session>(problem_, *device_, meter_.get(), measure);
    const auto needs = session_->needs();
    return {{"device", to_json(device_->info())},
            {"meter", meter_ ? meter_->name() : "none"},
            {"needs", needs == Session::Needs::nothing            ? "nothing"
                      : needs == Session::Needs::reference_kernel ? "reference_kernel"
                                                                  : "default_configuration"}};
  }

  /// Before the content of arguments is made, which takes its time.
  void check_memory() const {
    const DeviceInfo& device = device_->info();
    double total = 0;
    for (const auto& argument : problem_.arguments) {
      if (argument.memory != MemoryKind::vector && argument.memory != MemoryKind::constant) continue;
      const double bytes = static_cast<double>(argument.size) * static_cast<double>(argument.type.bytes);
      total += bytes;
      const auto most = static_cast<double>(device.max_allocation);
      if (most > 0 && bytes > most) fail_for_memory("argument " + argument.name + " needs", bytes, most);
    }
    const auto all = static_cast<double>(device.global_memory);
    if (all > 0 && total > all) fail_for_memory("the arguments need", total, all);
  }

  [[noreturn]] void fail_for_memory(const std::string& who, double bytes, double limit) const {
    throw DeviceError(fmt::format("{}: {} {:.3g} GiB, {} ({}) has {:.3g} GiB for it; make the problem smaller, for example "
                                  "with --problem-size",
                                  problem_.file.string(), who, bytes / (1U << 30), device_->info().id,
                                  device_->info().name, limit / (1U << 30)));
  }

  void open_meter() {
    const DeviceInfo& device = device_->info();
    std::string why_not = "only GPUs of NVIDIA have a meter that this version reads";
    if (device.kind == "gpu" && !(device.uuid.empty() && device.pci.empty())) {
      meter_ = open_nvml_meter(device.uuid, device.pci, &why_not, device.simulated ? simulation_library() : "");
    }
    if (!meter_) {
      throw DeviceError("energy cannot be measured on " + device.id + " (" + device.name + "): " + why_not +
                        "; minimize time instead");
    }
  }

  /// Tells the coordinator which phase begins (it restarts its watchdog), and lets it make the machine quiet first.
  void announce(std::string_view phase, bool wait_for_quiet) {
    const bool wait = wait_for_quiet && (phase == "time" || phase == "energy");
    if (!channel_.send({{"phase", phase}, {"wait", wait}})) ::_exit(0);
    if (wait && !channel_.receive()) ::_exit(0);
  }

  json reference(const json& request) {
    const auto failure = session_->set_reference(compile_result_from_json(request.at("binary")), values(request));
    return failure ? json{{"failure", to_json(*failure)}} : json{{"reference", true}};
  }

  json evaluate(const json& request) {
    const auto configuration = values(request);
    const auto binary = compile_result_from_json(request.at("binary"));
    Session::Result result;
    try {
      std::optional<Failure> failure;
      if (request.at("as_reference").get<bool>()) failure = session_->set_reference(binary, configuration);
      if (failure) {
        result.evaluation.outcome = failure->outcome;
        result.evaluation.message = failure->message;
        result.poisoned = failure->outcome == Outcome::crash || failure->outcome == Outcome::lost_device;
      } else {
        std::optional<double> abandon_above;
        if (request.contains("abandon_above")) abandon_above = request.at("abandon_above").get<double>();
        result = session_->evaluate(binary, configuration, abandon_above);
      }
    } catch (const ExpressionError& error) {
      result.evaluation.outcome = Outcome::launch;
      result.evaluation.message = error.what();
    }
    result.evaluation.configuration = configuration;
    result.evaluation.board = device_->info().board();
    return {{"evaluation", to_json(result.evaluation, problem_.parameter_names())}, {"poisoned", result.poisoned}};
  }

  static std::vector<Value> values(const json& request) {
    std::vector<Value> result;
    for (const auto& value : request.at("configuration")) result.push_back(value_from_json(value));
    return result;
  }

  Channel channel_;
  Problem problem_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<PowerMeter> meter_;
  std::unique_ptr<Session> session_;
};

/// A compiler that cannot write its temporary files fails without a good reason: that is no fault of the kernel.
void check_temporary_folder() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  const auto space = std::filesystem::space(folder, error);
  constexpr std::uintmax_t enough = 1 << 20;
  if (!error && space.available >= enough) return;
  throw RunError("cannot compile: the temporary folder '" + folder.string() + "' " +
                 (error ? "cannot be used (" + error.message() + ")" : std::string("is full")) +
                 "; free some space, or set TMPDIR to another folder");
}

/// Compiles, or finds in the cache what was compiled before. Refusals of the compiler are cached too.
json compile(Compiler& compiler, BinaryCache* cache, const CompileRequest& request) {
  std::optional<CompileOutcome> outcome;
  std::string key;
  if (cache != nullptr) {
    key = BinaryCache::key(request, compiler.identity());
    outcome = cache->find(key);
  }
  const bool cached = outcome.has_value();
  if (!cached) {
    outcome = compiler.compile(request);
    if (!*outcome) check_temporary_folder();
    if (cache != nullptr) cache->keep(key, *outcome);
  } else if (*outcome) {
    (*outcome)->cached = true;
    (*outcome)->seconds = 0;
  }
  json reply = *outcome ? json{{"result", to_json(**outcome)}} : json{{"failure", to_json(outcome->error())}};
  reply["cached"] = cached;
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
  return 0;
}

}  // namespace wattune
