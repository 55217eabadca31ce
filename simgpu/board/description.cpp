#include "board/description.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "board/embedded.hpp"

namespace wattune::simgpu {

namespace {

using Json = nlohmann::json;

constexpr double mega = 1e6;
constexpr double milli = 1e-3;
constexpr double micro = 1e-6;
constexpr double nano = 1e-9;

/// A JSON object within a file; errors say where. Keys that nobody asked for are errors too: they are misspelt.
class Reader {
 public:
  Reader(const Json& json, std::string file, std::string path)
      : json_(json), file_(std::move(file)), path_(std::move(path)) {
    if (!json.is_object()) fail("", "must be an object");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw UsageError("Reading the simulated GPU " + file_ + ": " + where(key) + " " + what + ".");
  }

  [[nodiscard]] bool has(const std::string& key) const { return json_.contains(key); }
  Reader object(const std::string& key) { return {get(key), file_, where(key)}; }
  /// In SI units: the value times `unit`. Never negative.
  double number(const std::string& key, double unit = 1) {
    const Json& value = get(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
      fail(key, "must be a number of at least 0, not " + value.dump());
    }
    return value.get<double>() * unit;
  }
  double number_or(const std::string& key, double otherwise, double unit = 1) {
    return has(key) ? number(key, unit) : otherwise;
  }
  double positive(const std::string& key, double unit = 1) {
    const double value = number(key, unit);
    if (value <= 0) fail(key, "must be above 0");
    return value;
  }
  std::uint64_t whole(const std::string& key) {
    const Json& value = get(key);
    if (!value.is_number_unsigned()) fail(key, "must be a whole number of at least 0, not " + value.dump());
    return value.get<std::uint64_t>();
  }
  unsigned count(const std::string& key) {
    const std::uint64_t value = whole(key);
    constexpr std::uint64_t most = 1U << 30;
    if (value > most) fail(key, "is too large");
    return static_cast<unsigned>(value);
  }
  std::string text(const std::string& key) {
    const Json& value = get(key);
    if (!value.is_string() || value.get<std::string>().empty()) fail(key, "must be a text, not " + value.dump());
    return value.get<std::string>();
  }
  bool flag(const std::string& key) {
    const Json& value = get(key);
    if (!value.is_boolean()) fail(key, "must be true or false, not " + value.dump());
    return value.get<bool>();
  }
  const Json& array(const std::string& key) {
    const Json& value = get(key);
    if (!value.is_array() || value.empty()) fail(key, "must be an array that is not empty");
    return value;
  }
  void finish() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) fail(key, "means nothing; is it misspelt?");
    }
  }

 private:
  [[nodiscard]] std::string where(const std::string& key) const {
    if (path_.empty()) return key.empty() ? "the file" : key;
    return key.empty() ? path_ : path_ + "." + key;
  }
  const Json& get(const std::string& key) {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "is missing");
    asked_.push_back(key);
    return *found;
  }

  const Json& json_;
  std::string file_;
  std::string path_;
  std::vector<std::string> asked_;
};

DeviceLimits read_limits(Reader json) {
  DeviceLimits limits;
  limits.compute_major = json.count("compute_major");
  limits.compute_minor = json.count("compute_minor");
  limits.max_threads_per_block = json.count("max_threads_per_block");
  limits.max_threads_per_multiprocessor = json.count("max_threads_per_multiprocessor");
  limits.max_blocks_per_multiprocessor = json.count("max_blocks_per_multiprocessor");
  limits.registers_per_multiprocessor = json.count("registers_per_multiprocessor");
  limits.registers_per_block = json.count("registers_per_block");
  limits.shared_bytes_per_multiprocessor = json.whole("shared_bytes_per_multiprocessor");
  limits.shared_bytes_per_block = json.whole("shared_bytes_per_block");
  limits.shared_bytes_per_block_optin = json.whole("shared_bytes_per_block_optin");
  limits.reserved_shared_bytes_per_block = json.whole("reserved_shared_bytes_per_block");
  limits.l2_bytes = json.whole("l2_bytes");
  limits.memory_bytes = json.whole("memory_bytes");
  limits.memory_bus_bits = json.count("memory_bus_bits");
  limits.flop_per_cycle = json.positive("flop_per_cycle");
  limits.memory_bandwidth = json.positive("memory_gb_per_s", 1e9);
  json.finish();
  return limits;
}

std::vector<double> read_clocks(Reader& json, const std::string& key) {
  std::vector<double> clocks;
  const Json& value = json.array(key);
  for (const Json& clock : value) {
    if (!clock.is_number() || clock.get<double>() <= 0) json.fail(key, "must hold clocks in MHz");
    clocks.push_back(clock.get<double>() * mega);
  }
  if (!std::is_sorted(clocks.begin(), clocks.end())) json.fail(key, "must be ascending");
  return clocks;
}

std::vector<double> read_clock_range(Reader json) {
  const double low = json.positive("from", mega);
  const double high = json.positive("to", mega);
  const double step = json.positive("step", mega);
  json.finish();
  constexpr double most_clocks = 1000;
  if (high < low || (high - low) / step > most_clocks) json.fail("to", "must be above from, at most 1000 steps");
  std::vector<double> clocks;
  const auto steps = static_cast<unsigned>(std::lround((high - low) / step));
  for (unsigned i = 0; i <= steps; ++i) clocks.push_back(low + i * step);
  return clocks;
}

void read_clocks(Reader json, Description& description) {
  description.sm_clocks = read_clock_range(json.object("sm_mhz"));
  description.memory_clocks = read_clocks(json, "memory_mhz");
  description.base_clock = json.positive("base_mhz", mega);
  description.default_clock = json.positive("default_mhz", mega);
  description.top_clock = json.number_or("top_mhz", description.sm_clocks.back(), mega);
  description.fabric_clock = json.number("fabric_mhz", mega);
  description.may_lock_memory_clock = json.flag("may_lock_memory");
  json.finish();
  if (description.top_clock < description.sm_clocks.front()) json.fail("top_mhz", "must be a supported clock");
}

std::vector<VoltagePoint> read_voltage(Reader& json, const std::string& key) {
  std::vector<VoltagePoint> curve;
  for (const Json& point : json.array(key)) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number() ||
        point[1].get<double>() <= 0) {
      json.fail(key, "must hold pairs of MHz and mV");
    }
    curve.push_back({point[0].get<double>() * mega, point[1].get<double>() * milli});
  }
  const auto ascending = [](const VoltagePoint& a, const VoltagePoint& b) { return a.clock_hz < b.clock_hz; };
  if (!std::is_sorted(curve.begin(), curve.end(), ascending)) json.fail(key, "must be ascending");
  return curve;
}

PowerModel read_power(Reader json) {
  PowerModel power;
  power.board = json.number("board_w");
  power.leakage = json.number("leakage_a");
  power.leakage_temperature = json.number("leakage_at_c");
  power.leakage_growth = json.number("leakage_growth_per_k");
  power.gated = json.number("gated");
  if (power.gated > 1) json.fail("gated", "must be from 0 to 1");
  power.clock_capacitance = json.number("clock_nf", nano);
  power.core_capacitance = json.number("core_nf", nano);
  power.memory_idle = json.number("memory_idle_w");
  power.memory_active = json.number("memory_active_w");
  power.supply_resistance = json.number("supply_mohm", milli);
  power.fan = json.number("fan_w");
  json.finish();
  return power;
}

ThermalModel read_thermal(Reader json) {
  ThermalModel thermal;
  thermal.ambient = json.number("ambient_c");
  thermal.die_resistance = json.positive("die_k_per_w");
  thermal.die_seconds = json.positive("die_s");
  thermal.cooler_resistance = json.positive("cooler_k_per_w");
  thermal.cooler_seconds = json.positive("cooler_s");
  thermal.slowdown = json.positive("slowdown_c");
  thermal.hardware_slowdown = json.positive("hardware_slowdown_c");
  json.finish();
  return thermal;
}

ClockControl read_control(Reader json) {
  ClockControl control;
  control.settle_seconds = json.number("settle_ms", milli);
  control.control_period = json.positive("period_ms", milli);
  control.ramp_steps = std::max(1U, json.count("ramp_steps"));
  control.power_filter = json.positive("power_filter_ms", milli);
  control.hysteresis = json.number("hysteresis");
  control.raise_after = json.count("raise_after");
  control.idle_clock = json.positive("idle_sm_mhz", mega);
  control.idle_memory_clock = json.positive("idle_memory_mhz", mega);
  control.idle_keeps_clock = json.flag("idle_keeps_clock");
  control.idle_seconds = json.number("idle_s");
  json.finish();
  return control;
}

SensorDescription read_sensor(Reader json) {
  SensorDescription sensor;
  sensor.period = json.positive("period_ms", milli);
  sensor.window = json.positive("window_ms", milli);
  sensor.rise = json.number_or("rise_ms", 0, milli);
  sensor.noise = json.number("noise");
  json.finish();
  const double periods = sensor.window / sensor.period;
  constexpr double close = 1e-6;
  if (periods > max_window_periods || (periods > 1 && std::abs(periods - std::round(periods)) > close)) {
    json.fail("window_ms", "must be up to one period, or 2 to 32 whole ones");
  }
  return sensor;
}

void read_sensors(Reader json, SensorSet& sensors) {
  sensors.gain_spread = json.number("gain_spread");
  sensors.counter.period = 0;
  sensors.instant.period = 0;
  sensors.samples.period = 0;
  if (json.has("counter")) {
    Reader counter = json.object("counter");
    sensors.counter.period = counter.positive("period_ms", milli);
    sensors.counter.resolution = counter.positive("resolution_mj", milli);
    sensors.counter.jitter = counter.number("jitter_ms", milli);
    counter.finish();
  }
  sensors.average = read_sensor(json.object("average"));
  if (json.has("instant")) sensors.instant = read_sensor(json.object("instant"));
  if (json.has("samples")) {
    sensors.samples = read_sensor(json.object("samples"));
    sensors.sample_count = json.count("sample_count");
    if (sensors.sample_count > max_samples) json.fail("sample_count", "must be at most " + std::to_string(max_samples));
  }
  json.finish();
}

CallCosts read_calls(Reader json) {
  CallCosts calls;
  calls.counter = json.number("counter_us", micro);
  calls.counter_tail = json.number("counter_tail_us", micro);
  calls.power = json.number("power_us", micro);
  calls.field = json.number("field_us", micro);
  calls.samples = json.number("samples_us", micro);
  calls.state = json.number("state_us", micro);
  calls.setting = json.number("setting_us", micro);
  json.finish();
  return calls;
}

std::vector<ReferenceWorkload> read_workloads(Reader& file, const std::string& key, const std::string& name) {
  std::vector<ReferenceWorkload> workloads;
  for (const Json& value : file.array(key)) {
    Reader json(value, name, key + "[" + std::to_string(workloads.size()) + "]");
    ReferenceWorkload workload;
    workload.name = json.text("name");
    workload.work.sm_cycles = json.number("sm_megacycles", mega);
    workload.work.memory_seconds = json.number("memory_ms", milli);
    workload.work.core_activity = json.number("core_activity");
    workload.work.memory_activity = json.number("memory_activity");
    json.finish();
    workloads.push_back(workload);
  }
  return workloads;
}

}  // namespace

Description parse_description(std::string_view text, const std::string& file) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UsageError("Reading the simulated GPU " + file + ": no JSON: " + error.what() + ".");
  }
  Reader json(document, file, "");
  Description description;
  description.name = json.text("name");
  description.id = json.text("id");
  description.architecture = json.text("architecture");
  description.multiprocessors = json.count("multiprocessors");
  if (description.multiprocessors == 0) json.fail("multiprocessors", "must be above 0");
  description.limits = read_limits(json.object("limits"));
  read_clocks(json.object("clocks"), description);
  Reader limit = json.object("power_limit");
  description.power_limit_min = limit.positive("min_w");
  description.power_limit_max = limit.positive("max_w");
  description.power_limit_default = limit.positive("default_w");
  limit.finish();
  description.voltage = read_voltage(json, "voltage_mhz_mv");
  description.has_voltage_readout = json.flag("voltage_readout");
  description.power = read_power(json.object("power"));
  description.thermal = read_thermal(json.object("thermal"));
  description.control = read_control(json.object("control"));
  read_sensors(json.object("sensors"), description.sensors);
  description.calls = read_calls(json.object("calls"));
  description.workloads = read_workloads(json, "workloads", file);
  if (json.has("notes")) json.array("notes");
  json.finish();
  return description;
}

const std::vector<Description>& descriptions() {
  static const std::vector<Description> all = [] {
    std::vector<Description> result;
    for (const EmbeddedFile& file : embedded_descriptions()) {
      result.push_back(parse_description(file.text, std::string(file.name)));
    }
    return result;
  }();
  return all;
}

const Description* find_description(const std::string& id) {
  const auto& all = descriptions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Description& each) { return each.id == id; });
  return found == all.end() ? nullptr : &*found;
}

const Work* find_workload(const Description& description, std::string_view name) {
  const auto& all = description.workloads;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  return found == all.end() ? nullptr : &found->work;
}

}  // namespace wattune::simgpu
