// wattune model: the power-frequency model of recorded results.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/model_report.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "model/recorded_power.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace wattune::cli {

namespace {

constexpr double per_mhz = 1e6;

std::pair<std::string, std::string> parse_condition(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--where: '{}' is no condition; write NAME=VALUE", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

SupportedClocks supported_clocks(const ModelArguments& arguments, const RecordedPower& recorded) {
  if (!arguments.supported.empty()) return {parse_supported_clocks(arguments.supported), "given"};
  if (!recorded.requested_clocks.empty()) {
    return {guess_supported_clocks(recorded.requested_clocks), "guessed from the steps of the requested clocks"};
  }
  std::vector<double> clocks;
  for (const auto& sample : recorded.samples) clocks.push_back(std::round(sample.clock_hz / per_mhz) * per_mhz);
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return {clocks, "the sampled ones; --supported gives others"};
}

std::pair<double, double> sampled_range(const RecordedPower& recorded) {
  const auto [low, high] = std::minmax_element(recorded.samples.begin(), recorded.samples.end(),
                                               [](const auto& a, const auto& b) { return a.clock_hz < b.clock_hz; });
  return {low->clock_hz, high->clock_hz};
}

void print_heading(const ModelReport& report) {
  const auto [low, high] = report.sampled;
  fmt::print("Power model of {} on {}: {} samples, {:.0f} to {:.0f} MHz; clock {}, power {}{}\n",
             report.kernel.empty() ? "a kernel" : printable("'" + report.kernel + "'"),
             report.device.empty() ? "an unnamed device" : printable(report.device), report.fit.samples, low / per_mhz,
             high / per_mhz, printable(report.clock), printable(report.power),
             report.fit.measured_voltage ? ", voltage " + printable(report.voltage) : "");
  if (!report.configuration.empty()) fmt::print("configuration {}\n", printable(report.configuration));
}

}  // namespace

int run_model(const ModelArguments& arguments) {
  const PowerForm form = power_form_from(arguments.form);
  const double width = parse_width(arguments.width, "--width");
  RecordedPowerChoice choice{arguments.clock, arguments.power, arguments.voltage, {}};
  for (const auto& condition : arguments.where) choice.where.push_back(parse_condition(condition));
  const Results results = read_recorded_space(arguments.input);
  const RecordedPower recorded = recorded_power(results, choice, arguments.input);
  for (const auto& note : recorded.notes) say("wattune: {}: {}\n", arguments.input, note);
  ModelReport report;
  report.device = results.header.device_name;
  report.kernel = results.header.problem_name;
  report.configuration = recorded.configuration;
  report.clock = recorded.clock;
  report.power = recorded.power;
  report.voltage = recorded.voltage;
  try {
    report.fit = fit_power_model(recorded.samples, form);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", arguments.input, error.what()));
  }
  report.sampled = sampled_range(recorded);
  report.supported = supported_clocks(arguments, recorded);
  report.width = width;
  conclude(report, arguments.count);
  for (const auto& warning : report.warnings) say("wattune: warning: {}\n", warning);
  if (arguments.json) {
    fmt::print("{}", json_text(to_json(report)));
  } else {
    print_heading(report);
    print_model(report);
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
