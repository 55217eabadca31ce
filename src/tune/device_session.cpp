#include "tune/device_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "evaluate/power_estimate.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "sensor/profile.hpp"
#include "settings/command.hpp"
#include "tune/backends.hpp"

namespace wattune {

namespace {

void flag_as_shared(Evaluation& evaluation) {
  for (const char* name : {"time", "time_min", "power", "energy"}) {
    const auto found = evaluation.quantities.find(name);
    if (found != evaluation.quantities.end()) found->second.flags.emplace_back("shared");
  }
}

}  // namespace

DeviceSession::DeviceSession(const Problem& problem, const std::string& device, bool energy, MeasureOptions options)
    : problem_(problem), backend_(make_backend(backend_of_device(device))), device_(backend_->open(device)) {
  check_memory();
  if (energy) {
    open_meter();
    choose_estimator_of(options);
  } else if (!settings_of(problem_.parameter_names(), problem_.defaults).empty()) {
    open_clock_meter();
    options.clock_meter = clock_meter_.get();
  }
  if (info().kind == "gpu") users_.emplace(info().uuid, info().pci, info().simulated ? simulation_library() : "");
  options.voltage_command = fill_in(options.voltage_command, {{"uuid", info().uuid}, {"pci", info().pci}});
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
  throw DeviceError(
      fmt::format("{}: {} {:.3g} GiB, {} ({}) has {:.3g} GiB for it; make the problem smaller, for example "
                  "with --problem-size",
                  problem_.file.string(), who, bytes / (1U << 30), info().id, info().name, limit / (1U << 30)));
}

/// By what is known of the board's sensors, where they were probed.
void DeviceSession::choose_estimator_of(MeasureOptions& options) {
  options.sensor_profile = load_profile(info().board(), info().driver, profile_folder());
  const SensorProfile* profile = options.sensor_profile ? &*options.sensor_profile : nullptr;
  const EnergyEstimator asked = options.energy_estimator;
  std::string lacks;
  if (asked == EnergyEstimator::counter && !meter_->energy_joules()) lacks = "no energy counter";
  if (asked == EnergyEstimator::samples && meter_->recorded_power(0).empty())
    lacks = "no record of power in its driver";
  const bool reads = asked == EnergyEstimator::integral || asked == EnergyEstimator::median;
  if (reads && !meter_->power_watts() && !meter_->instant_power_watts()) lacks = "no power reading";
  if (!lacks.empty()) {
    throw DeviceError(
        fmt::format("energy estimator '{}' cannot be used on {} ({}): it has {}; leave the choice to 'auto'",
                    to_string(asked), info().id, info().name, lacks));
  }
  estimator_ = asked == EnergyEstimator::automatic ? choose_estimator(*meter_, profile) : asked;
  options.energy_estimator = estimator_;
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

void DeviceSession::note_others() {
  if (!users_) return;
  const auto now = users_->others();
  if (!now) return;
  for (const auto& other : *now) {
    if (std::find(others_.begin(), others_.end(), other) == others_.end()) others_.push_back(other);
  }
}

std::string note_about(const std::vector<std::string>& others, const DeviceInfo& device) {
  return fmt::format(
      "others compute on {} too: {}; they take their share of its time and power, so what is measured "
      "meanwhile is flagged 'shared' (measure on a device of one's own for figures to rely on)",
      device.id, fmt::join(others, ", "));
}

Session::Result DeviceSession::evaluate(const CompileResult& binary, const std::vector<Value>& configuration,
                                        bool as_reference, const EvaluateOptions& wanted) {
  Session::Result result;
  std::optional<Failure> failure;
  others_.clear();
  note_others();
  if (as_reference) failure = session_->set_reference(binary, configuration);
  if (failure) {
    result.evaluation.outcome = failure->outcome;
    result.evaluation.message = failure->message;
    result.poisoned = failure->outcome == Outcome::crash || failure->outcome == Outcome::lost_device;
  } else {
    result = session_->evaluate(binary, configuration, wanted);
    note_others();
  }
  if (!others_.empty()) flag_as_shared(result.evaluation);
  result.evaluation.configuration = configuration;
  result.evaluation.board = info().board();
  return result;
}

}  // namespace wattune
