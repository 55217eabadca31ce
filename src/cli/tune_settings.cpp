#include "cli/tune_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/say.hpp"
#include "settings/command.hpp"
#include "settings/voltage.hpp"
#include "tune/backends.hpp"
#include "tune/setup.hpp"

namespace wattune::cli {

Chosen choose(const TuneArguments& arguments) {
  Chosen chosen;
  ReadOptions& options = chosen.options;
  if (!arguments.problem_size.empty()) options.problem_size = parse_problem_size(arguments.problem_size);
  chosen.device = arguments.device;
  if (!chosen.device.empty()) options.language = language_of_backend(backend_of_device(chosen.device));
  chosen.text = read_file(arguments.problem, "the problem file");
  chosen.problem = parse_problem(chosen.text, arguments.problem, options);
  if (!chosen.device.empty()) return chosen;
  const DeviceInfo device = best_device(chosen.problem.languages);
  chosen.device = device.id;
  options.language = language_of_backend(device.backend);
  if (options.language != chosen.problem.kernel.language) {
    chosen.problem = parse_problem(chosen.text, arguments.problem, options);
  }
  return chosen;
}

bool choose_settings(const TuneArguments& arguments, Chosen& chosen, const CalibrationSurroundings& surroundings) {
  const auto wanted = wanted_settings(chosen.problem, arguments.settings);
  if (wanted.empty()) return true;
  chosen.settings = open_settings(chosen.device, wanted, arguments.settings);
  SettingChoice choice = arguments.settings;
  if (are_calibrated(choice)) {
    chosen.clocks = calibrated_clocks(arguments, chosen.device, *chosen.settings, surroundings);
    if (!chosen.clocks) return false;
    std::vector<std::string> megahertz;
    for (const double clock : chosen.clocks->all) megahertz.push_back(fmt::format("{}", clock * 1e-6));
    choice.clocks = fmt::format("{}", fmt::join(megahertz, ","));
  }
  chosen.options.device_settings = setting_parameters(chosen.problem, choice, chosen.settings->capabilities());
  chosen.problem = parse_problem(chosen.text, arguments.problem, chosen.options);
  std::string text;
  for (const Setting setting : wanted) {
    for (const auto& parameter : chosen.problem.parameters) {
      if (parameter.name != parameter_of(setting)) continue;
      text += fmt::format("{}{} values of {}", text.empty() ? "" : ", ", parameter.values.size(), to_string(setting));
    }
  }
  say("Settings: {}, set by {}, put back at the end\n", text, chosen.settings->capabilities().route);
  return true;
}

std::vector<Objective> objectives_of(const TuneArguments& arguments, Chosen& chosen) {
  const bool asked = !arguments.minimize.empty() || !arguments.maximize.empty() || !chosen.problem.objectives.empty();
  if (!chosen.settings || asked || arguments.meter == "none") {
    return choose_objectives(chosen.problem, arguments.minimize, arguments.maximize);
  }
  return choose_objectives(chosen.problem, {"energy"}, {});
}

bool take_settings(const TuneArguments& arguments, const Chosen& chosen, const Budget& budget, int wake_fd,
                   LiveOptions& live) {
  if (!chosen.settings) return true;
  if (!chosen.settings->acquire(arguments.settings.wait_seconds, wake_fd)) return false;
  live.settings = chosen.settings;
  live.device_settings = chosen.options.device_settings;
  live.look_for_lock = !arguments.settings.assume_no_lock && arguments.settings.restore_clock.empty();
  live.hold_all = arguments.strategy == "random" || arguments.strategy == "brute_force";
  double settings = 1;
  for (const auto& parameter : chosen.problem.parameters) {
    const auto setting = setting_of(parameter.name);
    if (!setting) continue;
    const bool chosen_clocks = *setting == Setting::sm_clock && chosen.clocks;
    settings *= static_cast<double>(chosen_clocks ? chosen.clocks->search.size() : parameter.values.size());
  }
  if (budget.seconds) live.setting_share_seconds = *budget.seconds / settings;
  return true;
}

std::vector<std::string> voltage_command(const TuneArguments& arguments, const Chosen& chosen) {
  std::string text = arguments.voltage_command;
  if (text == "none" || (text.empty() && !chosen.settings)) return {};
  if (text.empty()) text = default_voltage_command(chosen.settings->capabilities().simulated);
  return text.empty() ? std::vector<std::string>() : split_command(text, "--voltage-command");
}

void give_back_settings(const Chosen& chosen, TuneResult& result) {
  if (!chosen.settings) return;
  const std::string problems = chosen.settings->release();
  if (!problems.empty() && !result.error) result.error = std::make_exception_ptr(DeviceError(problems));
}

}  // namespace wattune::cli
