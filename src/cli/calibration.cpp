#include "cli/calibration.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/error.hpp"
#include "cli/say.hpp"
#include "cli/sensors.hpp"
#include "kernels/sources.hpp"
#include "sensor/profile.hpp"
#include "settings/command.hpp"
#include "settings/voltage.hpp"
#include "tune/calibrate.hpp"
#include "tune/worker_client.hpp"

namespace wattune::cli {

namespace {

constexpr double probe_seconds = 40;

/// Energy is estimated by what the sensors are known to do: that comes first.
void probe_where_unknown(const DeviceInfo& device) {
  if (load_profile(device.board(), device.driver, profile_folder())) return;
  warn_of_unused_profile(device);
  say("{}: its power sensors are not known yet: probing them first, about {}\n", device.id,
      format_duration(probe_seconds));
  try {
    probe_and_tell({device.id});
  } catch (const RunError& error) {
    say("wattune: warning: {}\n", error.what());
  }
}

std::vector<std::string> voltage_command_of(const std::string& text, bool simulated) {
  if (text == "none") return {};
  const std::string command = text.empty() ? default_voltage_command(simulated) : text;
  return command.empty() ? std::vector<std::string>() : split_command(command, "--voltage-command");
}

CalibrationOptions options_of(const CalibrationRequest& request, const CalibrationSurroundings& surroundings,
                              bool simulated) {
  CalibrationOptions options;
  const auto kernels = surroundings.scratch.path() / "kernels";
  options.device = request.device;
  options.compute_problem = write_kernel("fma_chain", kernels);
  options.memory_problem = write_kernel("stream_copy", kernels);
  options.count = request.samples;
  options.two_stage = request.two_stage;
  options.look_for_lock = !request.settings.assume_no_lock && request.settings.restore_clock.empty();
  options.voltage_command = voltage_command_of(request.voltage_command, simulated);
  options.log_file = (surroundings.scratch.path() / "calibrate.log").string();
  options.environment = surroundings.scratch.environment();
  options.environment.push_back("WATTUNE_CUDA_COMPILER=" + request.compiler);
  options.clock = surroundings.clock;
  options.wake_fd = surroundings.interrupt.fd();
  options.interrupted = [&] { return surroundings.interrupt.signal() != 0; };
  options.on_note = [device = request.device](const std::string& text) { say("{}: {}\n", device, text); };
  return options;
}

void keep(const Calibration& calibration, const std::string& device) {
  try {
    say("{}: kept in {}\n", device, save_calibration(calibration, calibration_folder()).string());
  } catch (const RunError& error) {
    say("wattune: warning: {}\n", error.what());
  }
}

}  // namespace

std::optional<Calibration> make_calibration(const CalibrationRequest& request,
                                            const CalibrationSurroundings& surroundings) {
  const std::shared_ptr<SettingsClient> settings = open_settings(request.device, {Setting::sm_clock}, request.settings);
  const bool simulated = settings->capabilities().simulated;
  const CalibrationOptions options = options_of(request, surroundings, simulated);
  say("Calibrating {} ({}{}): two kernels at {} clocks, about {}{}\n", request.device, settings->capabilities().name,
      simulated ? ", simulated" : "", options.count, format_duration(calibration_seconds(options)),
      simulated ? " of its time" : "");
  if (request.probe) probe_where_unknown(find_device(request.device));
  if (!settings->acquire(request.settings.wait_seconds, surroundings.interrupt.fd())) return std::nullopt;
  const auto calibration = calibrate(settings, options);
  const std::string problems = settings->release();
  if (calibration) keep(*calibration, request.device);
  if (!problems.empty()) throw DeviceError(problems);
  return calibration;
}

std::optional<Calibration> obtain_calibration(const CalibrationRequest& request, const SettingsClient& settings,
                                              const CalibrationSurroundings& surroundings) {
  const Capabilities& board = settings.capabilities();
  std::string problem;
  auto known = find_calibration(board.uuid, board.driver, board.name, board.simulated, calibration_folder(), &problem);
  if (!problem.empty()) say("wattune: warning: {}: {}\n", request.device, problem);
  if (!known) {
    say("{} has not been calibrated yet; its clocks follow from that\n", request.device);
    return make_calibration(request, surroundings);
  }
  if (!known->own) {
    say("{} has not been calibrated: another {} has ({}, {}), and its model is taken; 'wattune calibrate --device {}' "
        "makes "
        "one of this board's own\n",
        request.device, board.name, known->calibration.board, known->calibration.made, request.device);
  } else if (known->calibration.driver != board.driver) {
    say("wattune: warning: {} was calibrated under driver {}, and has {} now; 'wattune calibrate' makes it anew\n",
        request.device, known->calibration.driver, board.driver);
  }
  // The other board may be held to fewer clocks.
  known->calibration.supported_clocks = board.sm_clocks;
  return std::move(known->calibration);
}

}  // namespace wattune::cli
