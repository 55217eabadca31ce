#include "cli/model_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "report/format.hpp"
#include "report/table.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double per_mhz = 1e6;

/// Share of energy that the optimum saves against the highest clock that was reached.
double saving(const ModelReport& report) {
  const double highest = report.sampled.second;
  const PowerModel& model = report.fit.model;
  return 1 - model.power(report.optimum) / report.optimum * highest / model.power(highest);
}

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
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

/// What the fit cannot answer for, beyond its own warnings.
void add_warnings(ModelReport& report) {
  const auto [low, high] = report.sampled;
  if (report.optimum > high * 1.001 || report.optimum < low * 0.999) {
    report.warnings.push_back(
        fmt::format("the predicted optimum, {:g} MHz, lies outside the sampled clocks, {:.0f} to {:.0f} MHz",
                    report.optimum / per_mhz, low / per_mhz, high / per_mhz));
  } else if (report.optimum <= std::min(low * 1.001, report.supported.clocks.front() * 1.001)) {
    report.warnings.push_back(fmt::format(
        "the predicted optimum is the lowest clock, {:g} MHz: lower ones may be better", report.optimum / per_mhz));
  }
}

}  // namespace

double parse_width(const std::string& text, const std::string& option) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || std::string_view(parsed.ptr) != "%" || !(value > 0 && value < 100)) {
    throw UsageError(fmt::format("{}: '{}' is no percentage above 0 and below 100; write it like 10%", option, text));
  }
  return value / 100;
}

void conclude(ModelReport& report, std::size_t count) {
  report.optimum = most_efficient_clock(report.fit.model, report.supported.clocks);
  report.choice = choose_clocks(report.supported.clocks, report.optimum, report.width, count);
  report.warnings.insert(report.warnings.end(), report.fit.warnings.begin(), report.fit.warnings.end());
  add_warnings(report);
}

json to_json(const ModelReport& report) {
  const PowerFit& fit = report.fit;
  json parameters = json::object();
  for (const auto& p : fit.parameters) {
    parameters[p.name] = {{"value", p.value}, {"stderr", number_or_null(p.standard_error)}, {"unit", p.unit}};
  }
  std::vector<double> selected;
  for (const double clock : report.choice.clocks) selected.push_back(clock / per_mhz);
  const auto& interval = fit.ridge_interval;
  const auto [low, high] = report.sampled;
  return {{"form", to_string(fit.form)},
          {"device", report.device},
          {"kernel", report.kernel},
          {"configuration", report.configuration},
          {"clock", report.clock},
          {"power", report.power},
          {"voltage", report.voltage.empty() ? json(nullptr) : json(report.voltage)},
          {"measured_voltage", fit.measured_voltage},
          {"samples", fit.samples},
          {"capped_samples", fit.capped},
          {"sampled_mhz", {low / per_mhz, high / per_mhz}},
          {"parameters", parameters},
          {"ridge_mhz", fit.ridge_hz / per_mhz},
          {"ridge_interval_mhz",
           {interval.low_open ? json(nullptr) : json(interval.low_hz / per_mhz),
            interval.high_open ? json(nullptr) : json(interval.high_hz / per_mhz)}},
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

void print_model(const ModelReport& report) {
  const PowerFit& fit = report.fit;
  const double high = report.sampled.second;
  fmt::print("\nForm {}: {}\n", to_string(fit.form), formula(fit));
  // With more digits than the errors leave, for comparison with other programs.
  Table table({"parameter", {"value", Table::Align::right}, {"+-", Table::Align::right}, "unit"});
  for (const auto& p : fit.parameters) {
    table.add_row({p.name, fmt::format("{:.7g}", p.value),
                   std::isfinite(p.standard_error) ? fmt::format("{:.2g}", p.standard_error) : "?", p.unit});
  }
  fmt::print("{}", table.text());
  fmt::print("rms {} W, R^2 {:.5f}{}\n\n", format_number(fit.rms_w, {1, "W"}), fit.r_squared,
             fit.capped > 0 ? fmt::format("; {} samples at the power limit", fit.capped) : "");
  fmt::print("Ridge: {:.0f} MHz, {}\n", fit.ridge_hz / per_mhz, interval_text(fit));
  fmt::print("Predicted optimum of a compute-bound kernel: {:g} MHz, {:.1f} % less energy than at {:.0f} MHz\n",
             report.optimum / per_mhz, 100 * saving(report), high / per_mhz);
  std::vector<std::string> clocks;
  for (const double clock : report.choice.clocks) clocks.push_back(fmt::format("{:g}", clock / per_mhz));
  fmt::print("Clocks to search, within +-{:g} % of it: {} MHz\n", 100 * report.width, fmt::join(clocks, ", "));
  fmt::print("{} of {} supported clocks ({}): {:.1f} % fewer\n", clocks.size(), report.supported.clocks.size(),
             report.supported.source, 100 * report.choice.reduction);
}

}  // namespace wattune::cli
