#include "tune/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/file.hpp"
#include "model/two_stage.hpp"
#include "settings/selection.hpp"
#include "tune/backends.hpp"
#include "tune/live_evaluator.hpp"

namespace wattune {

namespace {

/// Opening, compiling, verifying; and each clock: until it is there and power is level, and the energy window.
constexpr double seconds_to_open = 5;
constexpr double seconds_a_clock = 3;

/// A kernel's default configuration, to be measured at one clock after the other.
class ClockSampler {
 public:
  ClockSampler(const std::filesystem::path& file, std::shared_ptr<SettingsClient> settings,
               const CalibrationOptions& options)
      : settings_(std::move(settings)),
        options_(options),
        text_(read_file(file, "the problem file")),
        clocks_(setting_parameter(Setting::sm_clock, settings_->capabilities().sm_clocks)),
        problem_(parse_problem(text_, file, read_options())),
        evaluator_(problem_, text_, live_options()) {
    const auto names = problem_.parameter_names();
    axis_ = static_cast<std::size_t>(std::find(names.begin(), names.end(), parameter_of(Setting::sm_clock)) -
                                     names.begin());
  }

  /// @return false where it was interrupted.
  bool start() { return evaluator_.start(options_.wake_fd).has_value(); }

  /// Nothing where it was interrupted. A clock that the board does not reach is a failure.
  std::optional<Evaluation> measure(double clock) {
    Proposal proposal;
    proposal.configuration = problem_.defaults;
    const auto& supported = settings_->capabilities().sm_clocks;
    const auto at = std::find(supported.begin(), supported.end(), clock) - supported.begin();
    proposal.configuration[axis_] = clocks_.values[static_cast<std::size_t>(at)];
    proposal.tier = "calibration";
    auto done = evaluate_alone(evaluator_, std::move(proposal), options_.wake_fd, options_.interrupted);
    if (!done) return std::nullopt;
    return std::move(done->evaluation);
  }

 private:
  [[nodiscard]] ReadOptions read_options() const {
    ReadOptions read;
    read.language = language_of_backend(backend_of_device(options_.device));
    read.device_settings = {clocks_};
    return read;
  }

  [[nodiscard]] LiveOptions live_options() const {
    LiveOptions live;
    live.device = options_.device;
    live.energy = true;
    live.compile_processes = 1;
    live.settings = settings_;
    live.device_settings = {clocks_};
    live.look_for_lock = options_.look_for_lock;
    live.voltage_command = options_.voltage_command;
    live.clock = options_.clock;
    live.log_file = options_.log_file;
    live.environment = options_.environment;
    live.on_note = options_.on_note;
    return live;
  }

  std::shared_ptr<SettingsClient> settings_;
  const CalibrationOptions& options_;
  std::string text_;
  Parameter clocks_;
  Problem problem_;
  LiveEvaluator evaluator_;
  std::size_t axis_ = 0;
};

double value_or_nan(const Evaluation& evaluation, const char* name) {
  const auto found = evaluation.quantities.find(name);
  return found == evaluation.quantities.end() ? std::numeric_limits<double>::quiet_NaN() : found->second.value;
}

struct Interrupted {};

/// One kernel over the clocks.
class KernelCalibration {
 public:
  KernelCalibration(ClockSampler& sampler, const std::vector<double>& supported, const CalibrationOptions& options)
      : sampler_(sampler), supported_(supported), options_(options) {}

  /// @param refine place the ridge of the voltage more closely than the spread clocks do @throws Interrupted
  std::vector<CalibrationSample> run(bool refine) {
    const auto range = reachable();
    if (options_.two_stage) {
      const std::size_t first = (options_.count + 1) / 2;
      sample_in_two_stages(
          range, [this](double clock) { return power_at(clock); }, first, options_.count - first);
    } else {
      for (const double clock : spread_clocks(range, options_.count)) sample(clock);
    }
    if (refine) refine_ridge(range);
    std::sort(samples_.begin(), samples_.end(),
              [](const auto& a, const auto& b) { return a.power.clock_hz < b.power.clock_hz; });
    return std::move(samples_);
  }

 private:
  /// A measured voltage places the ridge between two sampled clocks: halves their distance.
  void refine_ridge(const std::vector<double>& range) {
    constexpr int halvings = 2;
    for (int i = 0; i < halvings; ++i) {
      std::vector<PowerSample> powers;
      for (const auto& sample : samples_) powers.push_back(sample.power);
      if (powers.size() < least_clocks(PowerForm::free, true)) return;
      const PowerFit fit = fit_power_model(powers, PowerForm::free);
      if (!fit.measured_voltage || fit.ridge_interval.low_open) return;
      const double middle = (fit.ridge_interval.low_hz + fit.ridge_interval.high_hz) / 2;
      sample(*std::min_element(range.begin(), range.end(),
                               [&](double a, double b) { return std::fabs(a - middle) < std::fabs(b - middle); }));
    }
  }

  /// The supported clocks up to the highest that the board reaches, which is measured. It may stay below what it
  /// supports for its highest voltage (requests above fail), or for its power limit.
  std::vector<double> reachable() {
    const std::size_t step = std::max<std::size_t>(1, supported_.size() / options_.count);
    std::size_t top = supported_.size() - 1;
    std::size_t beyond = supported_.size();
    while (!sample(supported_[top])) {
      if (top < step) fail();
      beyond = top;
      top -= step;
    }
    while (beyond - top > 1) {
      const std::size_t middle = (top + beyond) / 2;
      (sample(supported_[middle]) ? top : beyond) = middle;
    }
    const PowerSample highest = std::max_element(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) {
                                  return a.power.clock_hz < b.power.clock_hz;
                                })->power;
    std::vector<double> range;
    std::copy_if(supported_.begin(), supported_.end(), std::back_inserter(range), [&](double clock) {
      // As the top again where the clock was reached, a little less where it was held back.
      return clock <= supported_[top] && clock <= std::max(highest.clock_hz + 1e6, supported_.front());
    });
    return range;
  }

  [[noreturn]] void fail() const {
    throw DeviceError(fmt::format("calibrating {}: its kernel runs at no clock ({})", options_.device, last_failure_));
  }

  /// @return whether the clock could be measured.
  bool sample(double clock) {
    const auto known =
        std::find_if(samples_.begin(), samples_.end(), [&](const auto& s) { return s.power.requested_hz == clock; });
    if (known != samples_.end()) return true;
    const auto evaluation = sampler_.measure(clock);
    if (!evaluation) throw Interrupted{};
    CalibrationSample sample;
    sample.power = {value_or_nan(*evaluation, "sm_clock"), value_or_nan(*evaluation, "power"),
                    value_or_nan(*evaluation, "voltage"), clock};
    sample.time_s = value_or_nan(*evaluation, "time");
    sample.temperature = value_or_nan(*evaluation, "temperature");
    const bool good = evaluation->ok() && sample.power.clock_hz > 0 && sample.power.power_w > 0 && sample.time_s > 0;
    if (!good) {
      last_failure_ = evaluation->ok() ? "clock, power or time is not told" : evaluation->message;
      note(fmt::format("{:g} MHz is left out: {}", clock * 1e-6, last_failure_));
      return false;
    }
    note(
        fmt::format("{:.0f} MHz: {:.1f} W{}", sample.power.clock_hz * 1e-6, sample.power.power_w,
                    std::isfinite(sample.power.voltage) ? fmt::format(", {:.1f} mV", sample.power.voltage * 1e3) : ""));
    samples_.push_back(sample);
    return true;
  }

  /// What cannot be measured between clocks that could is an error: two-stage sampling goes by every sample.
  PowerSample power_at(double clock) {
    if (!sample(clock)) fail_at(clock);
    return std::find_if(samples_.begin(), samples_.end(), [&](const auto& s) { return s.power.requested_hz == clock; })
        ->power;
  }

  [[noreturn]] void fail_at(double clock) const {
    throw DeviceError(fmt::format("calibrating {}: {:g} MHz could not be measured ({})", options_.device, clock * 1e-6,
                                  last_failure_));
  }

  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

  ClockSampler& sampler_;
  const std::vector<double>& supported_;
  const CalibrationOptions& options_;
  std::vector<CalibrationSample> samples_;
  std::string last_failure_;
};

std::vector<CalibrationSample> calibrate_kernel(const std::filesystem::path& problem, const char* what, bool refine,
                                                const std::shared_ptr<SettingsClient>& settings,
                                                const CalibrationOptions& options) {
  if (options.on_note) options.on_note(fmt::format("measuring a {} kernel at {} clocks", what, options.count));
  ClockSampler sampler(problem, settings, options);
  if (!sampler.start()) throw Interrupted{};
  return KernelCalibration(sampler, settings->capabilities().sm_clocks, options).run(refine);
}

}  // namespace

double calibration_seconds(const CalibrationOptions& options) {
  const double kernels = options.memory_problem.empty() ? 1 : 2;
  return kernels * (seconds_to_open + seconds_a_clock * static_cast<double>(options.count));
}

std::optional<Calibration> calibrate(const std::shared_ptr<SettingsClient>& settings,
                                     const CalibrationOptions& options) {
  const Capabilities& board = settings->capabilities();
  if (board.sm_clocks.size() < least_calibration_clocks) {
    throw DeviceError(fmt::format("calibrating {}: NVML lists {} supported clocks of {}, too few for a model",
                                  options.device, board.sm_clocks.size(), board.name));
  }
  Calibration calibration;
  calibration.board = board.uuid;
  calibration.name = board.name;
  calibration.driver = board.driver;
  calibration.simulated = board.simulated;
  calibration.supported_clocks = board.sm_clocks;
  try {
    calibration.compute = calibrate_kernel(options.compute_problem, "compute-bound", true, settings, options);
    if (!options.memory_problem.empty()) {
      CalibrationOptions then = options;
      then.look_for_lock = false;  // the clock is this run's own by now
      calibration.memory = calibrate_kernel(options.memory_problem, "memory-bound", false, settings, then);
    }
  } catch (const Interrupted&) {
    return std::nullopt;
  }
  calibration.made = utc_timestamp();
  return calibration;
}

}  // namespace wattune
