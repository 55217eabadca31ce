// wattune model: the power-frequency model of recorded results.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "model/clock_choice.hpp"
#include "model/recorded_power.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double per_mhz = 1e6;

/// "10%" as 0.1.
double parse_width(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || std::string_view(parsed.ptr) != "%" || !(value > 0 && value < 100)) {
    throw UsageError(fmt::format("--width: '{}' is no percentage above 0 and below 100; write it like 10%", text));
  }
  return value / 100;
}

std::pair<std::string, std::string> parse_condition(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--where: '{}' is no condition; write NAME=VALUE", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The clocks that may be recommended, and where they come from.
struct Supported {
  std::vector<double> clocks;
  std::string source;
};

Supported supported_clocks(const ModelArguments& arguments, const RecordedPower& recorded) {
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

struct Report {
  const Results& results;
  const RecordedPower& recorded;
  const PowerFit& fit;
  Supported supported;
  double width = 0.1;
  double optimum = 0;  ///< Hz
  ClockChoice choice;
  std::vector<std::string> warnings;
};

std::pair<double, double> sampled_range(const RecordedPower& recorded) {
  const auto [low, high] = std::minmax_element(recorded.samples.begin(), recorded.samples.end(),
                                               [](const auto& a, const auto& b) { return a.clock_hz < b.clock_hz; });
  return {low->clock_hz, high->clock_hz};
}

/// Share of energy that the optimum saves against the highest clock that was reached.
double saving(const Report& report) {
  const double highest = sampled_range(report.recorded).second;
  const PowerModel& model = report.fit.model;
  return 1 - model.power(report.optimum) / report.optimum * highest / model.power(highest);
}

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json to_json(const Report& report) {
  const PowerFit& fit = report.fit;
  json parameters = json::object();
  for (const auto& p : fit.parameters) {
    parameters[p.name] = {{"value", p.value}, {"stderr", number_or_null(p.standard_error)}, {"unit", p.unit}};
  }
  std::vector<double> selected;
  for (const double clock : report.choice.clocks) selected.push_back(clock / per_mhz);
  const auto& interval = fit.ridge_interval;
  const auto [low, high] = sampled_range(report.recorded);
  return {{"form", to_string(fit.form)},
          {"device", report.results.header.device_name},
          {"kernel", report.results.header.problem_name},
          {"configuration", report.recorded.configuration},
          {"clock", report.recorded.clock},
          {"power", report.recorded.power},
          {"voltage", report.recorded.voltage.empty() ? json(nullptr) : json(report.recorded.voltage)},
          {"measured_voltage", fit.measured_voltage},
          {"samples", fit.samples},
          {"capped_samples", fit.capped},
          {"sampled_mhz", {low / per_mhz, high / per_mhz}},
          {"parameters", parameters},
          {"ridge_mhz", fit.ridge_hz / per_mhz},
          {"ridge_interval_mhz",
           {interval.low_open ? json(nullptr) : json(interval.low_hz / per_mhz), interval.high_open ? json(nullptr) : json(interval.high_hz / per_mhz)}},
          {"rms_w", fit.rms_w},
          {"r_squared", fit.r_squared},
          {"optimum_mhz", report.optimum / per_mhz},
          {"saving", saving(report)},
          {"supported_clocks", report.supported.clocks.size()},
          {"supported_source", report.supported.source},
          {"selected_clocks_mhz", selected},
          {"reduction", report.choice.reduction},
          {"warnings", report.warnings}};
}

std::string formula(const PowerFit& fit) {
  const char* power = "P = min(P_max, P_idle + alpha f v^2)";
  if (fit.form == PowerForm::leakage) power = "P = min(P_max, P_0 + l v + alpha f v^2)";
  if (fit.form == PowerForm::paper) power = "P = P_least min(p_max, 1 + s_c x v^2), x = f - f_least";
  const char* voltage = fit.form == PowerForm::paper ? "v = 1 + s_v max(0, x - t)" : "v = 1 + beta max(0, f - ridge)";
  return fmt::format("{}, {}", power, fit.measured_voltage ? "v as measured" : voltage);
}

std::string interval_text(const PowerFit& fit) {
  const auto& interval = fit.ridge_interval;
  const std::string low = interval.low_open ? "unknown" : fmt::format("{:.0f}", interval.low_hz / per_mhz);
  const std::string high = interval.high_open ? "unknown" : fmt::format("{:.0f}", interval.high_hz / per_mhz);
  return fmt::format("{} {} to {} MHz", fit.measured_voltage ? "between sampled clocks" : "95 % interval", low, high);
}

void print(const Report& report) {
  const PowerFit& fit = report.fit;
  const auto& header = report.results.header;
  const auto [low, high] = sampled_range(report.recorded);
  fmt::print("Power model of {} on {}: {} samples, {:.0f} to {:.0f} MHz; clock {}, power {}{}\n",
             header.problem_name.empty() ? "a kernel" : printable("'" + header.problem_name + "'"),
             header.device_name.empty() ? "an unnamed device" : printable(header.device_name), fit.samples, low / per_mhz, high / per_mhz,
             printable(report.recorded.clock), printable(report.recorded.power),
             fit.measured_voltage ? ", voltage " + printable(report.recorded.voltage) : "");
  if (!report.recorded.configuration.empty()) fmt::print("configuration {}\n", printable(report.recorded.configuration));
  fmt::print("\nForm {}: {}\n", to_string(fit.form), formula(fit));
  // With more digits than the errors leave, for comparison with other programs.
  Table table({"parameter", {"value", Table::Align::right}, {"+-", Table::Align::right}, "unit"});
  for (const auto& p : fit.parameters) {
    table.add_row({p.name, fmt::format("{:.7g}", p.value), std::isfinite(p.standard_error) ? fmt::format("{:.2g}", p.standard_error) : "?", p.unit});
  }
  fmt::print("{}", table.text());
  fmt::print("rms {} W, R^2 {:.5f}{}\n\n", format_number(fit.rms_w, {1, "W"}), fit.r_squared,
             fit.capped > 0 ? fmt::format("; {} samples at the power limit", fit.capped) : "");
  fmt::print("Ridge: {:.0f} MHz, {}\n", fit.ridge_hz / per_mhz, interval_text(fit));
  fmt::print("Predicted optimum of a compute-bound kernel: {:g} MHz, {:.1f} % less energy than at {:.0f} MHz\n", report.optimum / per_mhz,
             100 * saving(report), high / per_mhz);
  std::vector<std::string> clocks;
  for (const double clock : report.choice.clocks) clocks.push_back(fmt::format("{:g}", clock / per_mhz));
  fmt::print("Clocks to search, within +-{:g} % of it: {} MHz\n", 100 * report.width, fmt::join(clocks, ", "));
  fmt::print("{} of {} supported clocks ({}): {:.1f} % fewer\n", clocks.size(), report.supported.clocks.size(), report.supported.source,
             100 * report.choice.reduction);
}

/// What the fit cannot answer for, beyond its own warnings.
void add_warnings(Report& report) {
  const auto [low, high] = sampled_range(report.recorded);
  if (report.optimum > high * 1.001 || report.optimum < low * 0.999) {
    report.warnings.push_back(fmt::format("the predicted optimum, {:g} MHz, lies outside the sampled clocks, {:.0f} to {:.0f} MHz",
                                          report.optimum / per_mhz, low / per_mhz, high / per_mhz));
  } else if (report.optimum <= std::min(low * 1.001, report.supported.clocks.front() * 1.001)) {
    report.warnings.push_back(fmt::format("the predicted optimum is the lowest clock, {:g} MHz: lower ones may be better", report.optimum / per_mhz));
  }
}

}  // namespace

int run_model(const ModelArguments& arguments) {
  const PowerForm form = power_form_from(arguments.form);
  const double width = parse_width(arguments.width);
  RecordedPowerChoice choice{arguments.clock, arguments.power, arguments.voltage, {}};
  for (const auto& condition : arguments.where) choice.where.push_back(parse_condition(condition));
  const Results results = read_results(arguments.input);
  const RecordedPower recorded = recorded_power(results, choice, arguments.input);
  const Supported supported = supported_clocks(arguments, recorded);
  for (const auto& note : results.notes) say("wattune: warning: {}: {}\n", arguments.input, note);
  for (const auto& note : recorded.notes) say("wattune: {}: {}\n", arguments.input, note);
  const PowerFit fit = fit_power_model(recorded.samples, form);
  const double optimum = most_efficient_clock(fit.model, supported.clocks);
  Report report{results, recorded, fit, supported, width, optimum, choose_clocks(supported.clocks, optimum, width, arguments.count), fit.warnings};
  add_warnings(report);
  for (const auto& warning : report.warnings) say("wattune: warning: {}\n", warning);
  if (arguments.json) {
    fmt::print("{}", json_text(to_json(report)));
  } else {
    print(report);
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
