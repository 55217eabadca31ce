// wattune calibrate: the power-frequency model of a device, measured now.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/calibration.hpp"
#include "cli/commands.hpp"
#include "cli/model_report.hpp"
#include "cli/say.hpp"
#include "model/kernel_clock.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "tune/simulated.hpp"
#include "tune/worker_client.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double per_mhz = 1e6;

/// A calibration to be shown, and whose it is.
struct Shown {
  Calibration calibration;
  bool own = true;
};

std::optional<Shown> stored(const std::string& device) {
  const DeviceInfo info = find_device(device);
  std::string problem;
  auto known = find_calibration(info.board(), info.driver, info.name, info.simulated, calibration_folder(), &problem);
  if (!problem.empty()) say("wattune: warning: {}: {}\n", info.id, problem);
  if (!known) {
    throw UsageError(
        fmt::format("--stored: there is no calibration of {} ({}) in '{}'; 'wattune calibrate --device {} "
                    "--allow-settings' makes one",
                    info.id, info.name, calibration_folder().string(), device));
  }
  return Shown{std::move(known->calibration), known->own};
}

std::optional<Shown> measured(const CalibrateArguments& arguments, const std::string& device,
                              const CalibrationSurroundings& surroundings) {
  CalibrationRequest request;
  request.device = device;
  request.settings = arguments.settings;
  request.voltage_command = arguments.voltage_command;
  request.samples = arguments.samples;
  request.two_stage = arguments.two_stage;
  request.probe = !arguments.no_probe;
  request.compiler = arguments.compiler;
  auto calibration = make_calibration(request, surroundings);
  if (!calibration) return std::nullopt;
  return Shown{std::move(*calibration), true};
}

/// Least and greatest of what samples of both kernels tell; nothing where none does.
std::optional<std::pair<double, double>> temperatures(const Calibration& calibration) {
  std::optional<std::pair<double, double>> range;
  for (const auto* samples : {&calibration.compute, &calibration.memory}) {
    for (const auto& sample : *samples) {
      if (!std::isfinite(sample.temperature)) continue;
      if (!range) range = {sample.temperature, sample.temperature};
      range = {std::min(range->first, sample.temperature), std::max(range->second, sample.temperature)};
    }
  }
  return range;
}

/// Where the memory-bound kernel uses least energy, and how much slower than at its fastest it is there. Nothing where
/// it was not measured.
struct MemoryOptimum {
  double clock_hz;
  double saving;    ///< of energy, against the highest clock
  double slowdown;  ///< likewise of time
};

std::optional<MemoryOptimum> memory_optimum(const Calibration& calibration, const PowerModel& device) {
  std::vector<TimeSample> times;
  std::vector<ClockPower> powers;
  for (const auto& sample : calibration.memory) {
    times.push_back({sample.power.clock_hz, sample.time_s});
    powers.push_back({sample.power.clock_hz, sample.power.power_w, sample.temperature});
  }
  constexpr std::size_t enough = 4;
  if (times.size() < enough) return std::nullopt;
  const KernelClockModel model{fit_kernel_time(times), fit_kernel_power(powers, device).model};
  const auto clocks = calibration.reachable_clocks();
  const double best = most_efficient_clock(model, clocks);
  return MemoryOptimum{best, 1 - model.energy(best) / model.energy(clocks.back()),
                       model.time.time(best) / model.time.time(clocks.back()) - 1};
}

ModelReport report_of(const Calibration& calibration, const CalibrateArguments& arguments) {
  ModelReport report;
  report.device = calibration.name;
  report.kernel = "fma_chain";
  report.clock = "sm_clock";
  report.power = "power";
  report.fit = calibration.fit(power_form_from(arguments.form));
  if (report.fit.measured_voltage) report.voltage = "voltage";
  const auto [low, high] =
      std::minmax_element(calibration.compute.begin(), calibration.compute.end(),
                          [](const auto& a, const auto& b) { return a.power.clock_hz < b.power.clock_hz; });
  report.sampled = {low->power.clock_hz, high->power.clock_hz};
  report.supported = {calibration.supported_clocks, "as the driver lists them"};
  report.width = parse_width(arguments.width, "--width");
  conclude(report, arguments.count);
  return report;
}

json samples_json(const std::vector<CalibrationSample>& samples) {
  json list = json::array();
  for (const auto& sample : samples) {
    json entry = {{"requested_mhz", sample.power.requested_hz / per_mhz},
                  {"clock_mhz", sample.power.clock_hz / per_mhz},
                  {"power_w", sample.power.power_w},
                  {"time_s", sample.time_s}};
    entry["voltage_v"] = std::isfinite(sample.power.voltage) ? json(sample.power.voltage) : json(nullptr);
    entry["temperature_c"] = std::isfinite(sample.temperature) ? json(sample.temperature) : json(nullptr);
    list.push_back(std::move(entry));
  }
  return list;
}

json to_json(const Shown& shown, const ModelReport& report) {
  json object = to_json(report);
  const Calibration& calibration = shown.calibration;
  object["board"] = calibration.board;
  object["driver"] = calibration.driver;
  object["made"] = calibration.made;
  object["simulated"] = calibration.simulated;
  object["own"] = shown.own;
  const auto range = temperatures(calibration);
  object["temperature_c"] = range ? json{range->first, range->second} : json(nullptr);
  object["compute"] = samples_json(calibration.compute);
  object["memory"] = samples_json(calibration.memory);
  const auto memory = memory_optimum(calibration, report.fit.model);
  object["memory_optimum_mhz"] = memory ? json(memory->clock_hz / per_mhz) : json(nullptr);
  return object;
}

void print(const Shown& shown, const ModelReport& report) {
  const Calibration& calibration = shown.calibration;
  const auto range = temperatures(calibration);
  fmt::print("Power model of {}{} ({}, driver {}), measured {}{}\n", printable(calibration.name),
             calibration.simulated ? ", simulated" : "", printable(calibration.board), printable(calibration.driver),
             printable(calibration.made),
             range ? fmt::format(" at {:.0f} to {:.0f} degC", range->first, range->second) : "");
  if (!shown.own) fmt::print("It is another board's: this one has not been calibrated\n");
  Table table({{"set MHz", Table::Align::right},
               {"MHz", Table::Align::right},
               {"W", Table::Align::right},
               {"mV", Table::Align::right},
               {"degC", Table::Align::right}});
  const auto number = [](double value, double scale, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value * scale, digits) : std::string("-");
  };
  for (const auto& sample : calibration.compute) {
    table.add_row({fmt::format("{:g}", sample.power.requested_hz / per_mhz),
                   fmt::format("{:.0f}", sample.power.clock_hz / per_mhz), number(sample.power.power_w, 1, 1),
                   number(sample.power.voltage, 1e3, 1), number(sample.temperature, 1, 0)});
  }
  fmt::print("\n{}", table.text());
  print_model(report);
  if (const auto memory = memory_optimum(calibration, report.fit.model)) {
    fmt::print(
        "A memory-bound kernel (stream_copy) uses least at {:g} MHz: {:.1f} % less energy, {:.1f} % slower than at the "
        "highest clock\n",
        memory->clock_hz / per_mhz, 100 * memory->saving, 100 * memory->slowdown);
  }
}

}  // namespace

int run_calibrate(const CalibrateArguments& arguments) {
  power_form_from(arguments.form);
  parse_width(arguments.width, "--width");
  const Interrupt interrupt;
  const std::string device = arguments.device.empty() ? best_device({"CUDA"}).id : arguments.device;
  const ScratchFolder scratch;
  const auto clock = prepare_simulation(device, scratch.path());
  const auto shown = arguments.stored ? stored(device) : measured(arguments, device, {scratch, interrupt, clock.get()});
  if (!shown) {
    say("wattune: interrupted; nothing is kept\n");
    return static_cast<int>(ExitCode::interrupted);
  }
  const ModelReport report = report_of(shown->calibration, arguments);
  for (const auto& warning : report.warnings) say("wattune: warning: {}\n", warning);
  if (arguments.json) {
    fmt::print("{}", json_text(to_json(*shown, report)));
  } else {
    print(*shown, report);
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
