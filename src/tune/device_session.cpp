#include "tune/device_session.hpp"

#include <fmt/format.h>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "tune/backends.hpp"

namespace wattune {

DeviceSession::DeviceSession(const Problem& problem, const std::string& device, bool energy, MeasureOptions options)
    : problem_(problem), backend_(make_backend(backend_of_device(device))), device_(backend_->open(device)) {
  check_memory();
  if (energy) {
    open_meter();
  } else if (!settings_of(problem_.parameter_names(), problem_.defaults).empty()) {
    open_clock_meter();
    options.clock_meter = clock_meter_.get();
  }
  session_ = std::make_unique<Session>(problem_, *device_, meter_.get(), std::move(options));
}

/// Only to see whether the device is at the clocks that were set; without it, results are taken on trust.
void DeviceSession::open_clock_meter() {
  clock_meter_ = open_nvml_meter(info().uuid, info().pci, nullptr, info().simulated ? simulation_library() : "");
}

/// Before the content of arguments is made, which takes its time.
void DeviceSession::check_memory() const {
  double total = 0;
  for (const auto& argument : problem_.arguments) {
    if (argument.memory != MemoryKind::vector && argument.memory != MemoryKind::constant) continue;
    const double bytes = static_cast<double>(argument.size) * static_cast<double>(argument.type.bytes);
    total += bytes;
    const auto most = static_cast<double>(info().max_allocation);
    if (most > 0 && bytes > most) fail_for_memory("argument " + argument.name + " needs", bytes, most);
  }
  const auto all = static_cast<double>(info().global_memory);
  if (all > 0 && total > all) fail_for_memory("the arguments need", total, all);
}

void DeviceSession::fail_for_memory(const std::string& who, double bytes, double limit) const {
  throw DeviceError(fmt::format("{}: {} {:.3g} GiB, {} ({}) has {:.3g} GiB for it; make the problem smaller, for example "
                                "with --problem-size",
                                problem_.file.string(), who, bytes / (1U << 30), info().id, info().name,
                                limit / (1U << 30)));
}

void DeviceSession::open_meter() {
  std::string why_not = "only GPUs of NVIDIA have a meter that this version reads";
  if (info().kind == "gpu" && !(info().uuid.empty() && info().pci.empty())) {
    meter_ = open_nvml_meter(info().uuid, info().pci, &why_not, info().simulated ? simulation_library() : "");
  }
  if (!meter_) {
    throw DeviceError("energy cannot be measured on " + info().id + " (" + info().name + "): " + why_not +
                      "; minimize time instead");
  }
}

Session::Result DeviceSession::evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                        bool as_reference, const EvaluateOptions& wanted) {
  Session::Result result;
  std::optional<Failure> failure;
  if (as_reference) failure = session_->set_reference(binary, configuration);
  if (failure) {
    result.evaluation.outcome = failure->outcome;
    result.evaluation.message = failure->message;
    result.poisoned = failure->outcome == Outcome::crash || failure->outcome == Outcome::lost_device;
  } else {
    result = session_->evaluate(binary, configuration, wanted);
  }
  result.evaluation.configuration = configuration;
  result.evaluation.board = info().board();
  return result;
}

}  // namespace wattune
