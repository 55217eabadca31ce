#include "model/recorded_power.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.hpp"

namespace wattune {

namespace {

constexpr double hz_per_mhz = 1e6;
/// No core runs below or above.
constexpr double lowest_volts = 0.2;
constexpr double highest_volts = 5;
/// No board has such clocks.
constexpr double beyond_clocks_hz = 1e11;
constexpr const char* requested_clock = "nvml_gr_clock";
/// Stands for energy / time, where no power is recorded.
constexpr const char* derived_power = "energy / time";

bool is_clock(double hz) {
  return std::isfinite(hz) && hz > 0 && hz < beyond_clocks_hz;
}

class PowerReader {
 public:
  PowerReader(const Results& results, const RecordedPowerChoice& choice, const std::string& file)
      : results_(results),
        names_(results.header.parameter_names),
        quantities_(quantity_names(results)),
        choice_(choice),
        file_(file) {}

  RecordedPower read() {
    const bool any_ok =
        std::any_of(results_.evaluations.begin(), results_.evaluations.end(), [](const auto& e) { return e.ok(); });
    if (!any_ok) fail(why_none_has(results_, choice_.power.empty() ? "power" : choice_.power));
    choose_clock();
    choose_power();
    choose_voltage();
    check_where();
    collect();
    take_best();
    const auto at = position(requested_clock);
    if (at && *at < results_.header.parameter_values.size()) {
      for (const Value& value : results_.header.parameter_values[*at]) {
        if (value.is_number() && is_clock(value.as_double() * hz_per_mhz))
          out_.requested_clocks.push_back(value.as_double() * hz_per_mhz);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw UsageError(fmt::format("'{}': {}", file_, what)); }

  [[nodiscard]] std::string what_there_is() const {
    if (quantities_.empty()) return fmt::format("no quantities; parameters: {}", fmt::join(names_, ", "));
    return fmt::format("quantities: {}; parameters: {}", fmt::join(quantities_, ", "), fmt::join(names_, ", "));
  }

  [[nodiscard]] bool has_quantity(const std::string& name) const {
    return std::binary_search(quantities_.begin(), quantities_.end(), name);
  }

  [[nodiscard]] std::optional<std::size_t> position(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names_.begin()));
  }

  /// A quantity by our name or others', or a parameter.
  [[nodiscard]] std::optional<std::string> recorded(const std::string& name) const {
    if (has_quantity(name)) return name;
    if (position(name)) return name;
    try {
      return quantity_named(results_, name);
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<std::string> first_of(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (recorded(name)) return name;
    }
    return std::nullopt;
  }

  std::string named_by_user(const std::string& option, const std::string& name) const {
    const auto found = recorded(name);
    if (!found) fail(fmt::format("{} '{}' is not recorded; there are {}", option, name, what_there_is()));
    return *found;
  }

  void choose_clock() {
    if (!choice_.clock.empty()) {
      out_.clock = named_by_user("--clock", choice_.clock);
    } else if (const auto actual = recorded("sm_clock")) {
      out_.clock = *actual;
    } else if (const auto other = first_of({"core_freq", "clock", requested_clock})) {
      out_.clock = *other;
    } else {
      fail("no clock is recorded (sm_clock, core_freq, clock or nvml_gr_clock); name it with --clock; there are " +
           what_there_is());
    }
    if (out_.clock == requested_clock) {
      out_.notes.push_back(
          "the clocks are requested ones: where a power limit holds the device back, they are too high, and the fit is "
          "wrong");
    }
  }

  void choose_power() {
    if (!choice_.power.empty()) {
      out_.power = named_by_user("--power", choice_.power);
    } else if (const auto power = recorded("power")) {
      out_.power = *power;
    } else if (position("nvml_power")) {
      out_.power = "nvml_power";
    } else if (recorded("energy") && has_quantity("time")) {
      out_.power = derived_power;
    } else {
      fail("no power is recorded (power, nvml_power, ps_power), nor energy and time; name it with --power; there are " +
           what_there_is());
    }
    const std::string unit = unit_of(out_.power);
    if (!unit.empty() && unit != "W") fail(fmt::format("--power '{}' is in {}; power is in W", out_.power, unit));
    const std::string clock_unit = unit_of(out_.clock);
    if (!clock_unit.empty() && clock_unit != "Hz" && clock_unit != "MHz") {
      fail(fmt::format("--clock '{}' is in {}; a clock is in Hz or MHz", out_.clock, clock_unit));
    }
  }

  void choose_voltage() {
    if (choice_.voltage == "none") return;
    const bool named = !choice_.voltage.empty();
    out_.voltage = named ? named_by_user("--voltage", choice_.voltage)
                         : first_of({"gr_voltage", "core_voltage", "voltage"}).value_or("");
    if (out_.voltage.empty()) return;
    const std::string problem = problem_with_voltage(out_.voltage);
    if (problem.empty()) return;
    if (named) fail(fmt::format("--voltage '{}': {}; name another quantity, or 'none'", out_.voltage, problem));
    out_.notes.push_back(fmt::format("'{}' is not used as the voltage: {}", out_.voltage, problem));
    out_.voltage.clear();
  }

  /// By the unit, and the size in volts or, without a unit, in millivolts.
  [[nodiscard]] std::string problem_with_voltage(const std::string& name) const {
    const std::string unit = unit_of(name);
    if (!unit.empty() && unit != "V" && unit != "mV") return fmt::format("it is in {}, and a voltage in V or mV", unit);
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const auto& evaluation : results_.evaluations) {
      const double value = evaluation.ok() ? value_of(evaluation, name) : std::numeric_limits<double>::quiet_NaN();
      if (!(std::isfinite(value) && value > 0)) continue;  // not measured
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const bool as_volts = unit != "mV" && most <= highest_volts;
    const bool as_millivolts = unit != "V" && least >= 1e3 * lowest_volts && most <= 1e3 * highest_volts;
    if (most == 0 || as_volts || as_millivolts) return "";
    return fmt::format("{:g} to {:g}{} are no voltages of a GPU's core", least, most,
                       unit.empty() ? ", in V or mV," : " " + unit);
  }

  void check_where() const {
    for (const auto& [name, value] : choice_.where) {
      const auto at = position(name);
      if (!at) fail(fmt::format("--where: there is no parameter '{}'; there are {}", name, fmt::join(names_, ", ")));
    }
  }

  [[nodiscard]] std::string unit_of(const std::string& name) const {
    for (const auto& evaluation : results_.evaluations) {
      const auto found = evaluation.quantities.find(name);
      if (found != evaluation.quantities.end()) return found->second.unit;
    }
    return "";
  }

  /// NaN where the evaluation does not have it.
  [[nodiscard]] double value_of(const Evaluation& evaluation, const std::string& name) const {
    if (const auto found = evaluation.quantities.find(name); found != evaluation.quantities.end())
      return found->second.value;
    const auto at = position(name);
    if (!at || *at >= evaluation.configuration.size() || !evaluation.configuration[*at].is_number())
      return std::numeric_limits<double>::quiet_NaN();
    return evaluation.configuration[*at].as_double();
  }

  [[nodiscard]] double power_of(const Evaluation& evaluation) const {
    if (out_.power != derived_power) return value_of(evaluation, out_.power);
    return value_of(evaluation, *recorded("energy")) / value_of(evaluation, "time");
  }

  /// In Hz. Parameters, and quantities without a unit, are in MHz as everywhere at the edges.
  [[nodiscard]] double clock_of(const Evaluation& evaluation, const std::string& name) const {
    const auto found = evaluation.quantities.find(name);
    const bool in_hz = found != evaluation.quantities.end() && found->second.unit == "Hz";
    return value_of(evaluation, name) * (in_hz ? 1 : hz_per_mhz);
  }

  [[nodiscard]] bool is_wanted(const Evaluation& evaluation) const {
    return std::all_of(choice_.where.begin(), choice_.where.end(), [&](const auto& condition) {
      return evaluation.configuration[*position(condition.first)].str() == condition.second;
    });
  }

  /// The parameters that tell one kernel from another: not those that are the samples' axes.
  [[nodiscard]] std::string kernel_of(const Evaluation& evaluation) const {
    std::string text;
    for (std::size_t i = 0; i < names_.size() && i < evaluation.configuration.size(); ++i) {
      if (names_[i] == requested_clock || names_[i] == out_.clock || names_[i] == out_.power ||
          names_[i] == out_.voltage)
        continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", names_[i], evaluation.configuration[i].str());
    }
    return text;
  }

  void collect() {
    std::size_t failed = 0;
    std::size_t unusable = 0;
    for (const auto& evaluation : results_.evaluations) {
      if (!is_wanted(evaluation)) continue;
      if (!evaluation.ok()) {
        ++failed;
        continue;
      }
      PowerSample sample;
      sample.clock_hz = clock_of(evaluation, out_.clock);
      sample.power_w = power_of(evaluation);
      if (!out_.voltage.empty()) sample.voltage = value_of(evaluation, out_.voltage);
      const double requested_hz = clock_of(evaluation, requested_clock);
      if (is_clock(requested_hz)) sample.requested_hz = requested_hz;
      if (!is_clock(sample.clock_hz) || !(std::isfinite(sample.power_w) && sample.power_w > 0)) {
        ++unusable;
        continue;
      }
      kernels_[kernel_of(evaluation)].push_back(sample);
    }
    if (failed > 0)
      out_.notes.push_back(fmt::format("{} failed evaluation{} left out", failed, failed == 1 ? "" : "s"));
    if (unusable > 0) {
      out_.notes.push_back(
          fmt::format("{} evaluation{} left out, for {} or {} is missing, no number, zero, negative "
                      "or beyond what boards have",
                      unusable, unusable == 1 ? "" : "s", out_.clock, out_.power));
    }
    if (kernels_.empty()) {
      fail(
          choice_.where.empty() || failed + unusable > 0
              ? fmt::format("no evaluation has both {} and {} ({} failed, {} in which one is missing, no number, zero, "
                            "negative or beyond what boards have)",
                            out_.clock, out_.power, failed, unusable)
              : fmt::format("no evaluation with {} and {} is as --where asks", out_.clock, out_.power));
    }
  }

  void take_best() {
    const auto clocks = [](const std::vector<PowerSample>& samples) {
      std::set<long> distinct;
      for (const auto& s : samples)
        distinct.insert(std::lround((std::isfinite(s.requested_hz) ? s.requested_hz : s.clock_hz) / hz_per_mhz));
      return distinct.size();
    };
    const auto power = [](const std::vector<PowerSample>& samples) {
      double most = 0;
      for (const auto& s : samples) most = std::max(most, s.power_w);
      return most;
    };
    const auto best = std::max_element(kernels_.begin(), kernels_.end(), [&](const auto& a, const auto& b) {
      return std::pair(clocks(a.second), power(a.second)) < std::pair(clocks(b.second), power(b.second));
    });
    if (kernels_.size() > 1) {
      out_.notes.push_back(fmt::format(
          "{} configurations are recorded; taken is the one with the most clocks, and of such the one of highest "
          "power: {}; --where NAME=VALUE chooses another",
          kernels_.size(), best->first));
    }
    out_.configuration = best->first;
    out_.samples = best->second;
  }

  const Results& results_;
  const std::vector<std::string>& names_;
  std::vector<std::string> quantities_;
  const RecordedPowerChoice& choice_;
  std::string file_;
  std::map<std::string, std::vector<PowerSample>> kernels_;
  RecordedPower out_;
};

double positive_number(const std::string& part, const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(part.data(), part.data() + part.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != part.data() + part.size() || !std::isfinite(value) || value <= 0) {
    throw UsageError(fmt::format(
        "--supported: '{}' in '{}' is no positive number of MHz; write LO:HI:STEP, like 405:2100:15, or a list, "
        "like 405,420,435",
        part, text));
  }
  return value;
}

std::vector<double> numbers(const std::string& text, char separator) {
  std::vector<double> values;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    values.push_back(positive_number(text.substr(begin, end == std::string::npos ? end : end - begin), text));
    if (end == std::string::npos) return values;
    begin = end + 1;
  }
}

}  // namespace

RecordedPower recorded_power(const Results& results, const RecordedPowerChoice& choice, const std::string& file) {
  return PowerReader(results, choice, file).read();
}

std::vector<double> guess_supported_clocks(std::vector<double> requested) {
  constexpr long least_step = 5;  // MHz; finer steps are accidents of rounded clocks
  std::sort(requested.begin(), requested.end());
  requested.erase(std::unique(requested.begin(), requested.end()), requested.end());
  long step = 0;
  for (std::size_t i = 1; i < requested.size(); ++i)
    step = std::gcd(step, std::lround((requested[i] - requested[i - 1]) / hz_per_mhz));
  const bool whole = std::all_of(requested.begin(), requested.end(), [](double clock) {
    return std::fabs(clock / hz_per_mhz - std::round(clock / hz_per_mhz)) < 1e-6;
  });
  if (!whole || step < least_step) return requested;
  std::vector<double> clocks;
  const long count = std::lround((requested.back() - requested.front()) / hz_per_mhz) / step;
  for (long i = 0; i <= count; ++i) clocks.push_back(requested.front() + static_cast<double>(i * step) * hz_per_mhz);
  return clocks;
}

std::vector<double> parse_supported_clocks(const std::string& text) {
  constexpr double most_clocks = 100000;
  std::vector<double> clocks;
  if (text.find(':') == std::string::npos) {
    clocks = numbers(text, ',');
  } else {
    const auto parts = numbers(text, ':');
    if (parts.size() != 3 || parts[0] > parts[1] || (parts[1] - parts[0]) / parts[2] > most_clocks) {
      throw UsageError(
          fmt::format("--supported: '{}' is no range of clocks; write LO:HI:STEP in MHz, like 405:2100:15", text));
    }
    // The end is inside, however the steps were rounded.
    const auto count = static_cast<long>(std::floor((parts[1] - parts[0]) / parts[2] + 1e-9));
    for (long i = 0; i <= count; ++i) clocks.push_back(parts[0] + static_cast<double>(i) * parts[2]);
  }
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  for (double& clock : clocks) clock *= hz_per_mhz;
  return clocks;
}

}  // namespace wattune
