#include "model/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"
#include "base/kept_file.hpp"

namespace wattune {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr KeptKind kept_calibrations = {"calibration", "WATTUNE_CALIBRATION_DIR", "calibrations", "wattune calibrate"};

/// Far more than there are, so that a damaged file cannot fill the memory of what reads it.
constexpr std::size_t most_samples = 10000;
// Beyond what any board has: a file that says so is damaged, or in other units.
constexpr double highest_clock = 1e11;       // Hz
constexpr double highest_power = 1e5;        // W
constexpr double longest_launch = 1e5;       // s
constexpr double highest_voltage = 10;       // V
constexpr double highest_temperature = 200;  // degC

double number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) throw UsageError(fmt::format("key '{}' must be a number", key));
  const double value = found->get<double>();
  if (!std::isfinite(value)) throw UsageError(fmt::format("key '{}' is not finite", key));
  return value;
}

double positive_of(const json& object, const char* key, double most) {
  const double value = number_of(object, key);
  if (value > 0 && value <= most) return value;
  throw UsageError(fmt::format("key '{}' is {:g}; it must be positive and at most {:g}", key, value, most));
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) throw UsageError(fmt::format("key '{}' must be a text", key));
  return found->get<std::string>();
}

const json& list_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() > most_samples) {
    throw UsageError(fmt::format("key '{}' must be a list of at most {}", key, most_samples));
  }
  return *found;
}

json samples_to_json(const std::vector<CalibrationSample>& samples) {
  json list = json::array();
  for (const auto& sample : samples) {
    json object = {{"clock_hz", sample.power.clock_hz}, {"power_w", sample.power.power_w}, {"time_s", sample.time_s}};
    if (std::isfinite(sample.power.requested_hz)) object["requested_hz"] = sample.power.requested_hz;
    if (std::isfinite(sample.power.voltage)) object["voltage_v"] = sample.power.voltage;
    if (std::isfinite(sample.temperature)) object["temperature_c"] = sample.temperature;
    list.push_back(std::move(object));
  }
  return list;
}

std::vector<CalibrationSample> samples_from_json(const json& object, const char* key) {
  std::vector<CalibrationSample> samples;
  for (const auto& entry : list_of(object, key)) {
    if (!entry.is_object()) throw UsageError(fmt::format("key '{}' must be a list of objects", key));
    CalibrationSample sample;
    sample.power.clock_hz = positive_of(entry, "clock_hz", highest_clock);
    sample.power.power_w = positive_of(entry, "power_w", highest_power);
    sample.time_s = positive_of(entry, "time_s", longest_launch);
    if (entry.contains("requested_hz")) sample.power.requested_hz = positive_of(entry, "requested_hz", highest_clock);
    if (entry.contains("voltage_v")) sample.power.voltage = positive_of(entry, "voltage_v", highest_voltage);
    if (entry.contains("temperature_c")) sample.temperature = number_of(entry, "temperature_c");
    if (std::abs(sample.temperature) > highest_temperature) throw UsageError("key 'temperature_c' is no temperature");
    samples.push_back(sample);
  }
  return samples;
}

/// @throws std::exception where the file holds no calibration from which a model can be made.
Calibration load(const fs::path& file) {
  Calibration calibration = calibration_from_json(read_kept_json(kept_calibrations, file));
  static_cast<void>(calibration.fit());
  return calibration;
}

}  // namespace

PowerFit Calibration::fit(PowerForm form) const {
  std::vector<PowerSample> samples;
  for (const auto& sample : compute) samples.push_back(sample.power);
  return fit_power_model(std::move(samples), form);
}

std::vector<double> Calibration::reachable_clocks() const {
  double highest = 0;
  for (const auto* samples : {&compute, &memory}) {
    for (const auto& sample : *samples) highest = std::max(highest, sample.power.clock_hz);
  }
  constexpr double tolerance = 1e6;  // readings are in whole MHz
  std::vector<double> clocks;
  std::copy_if(supported_clocks.begin(), supported_clocks.end(), std::back_inserter(clocks),
               [&](double clock) { return clock <= highest + tolerance; });
  return clocks;
}

json to_json(const Calibration& calibration) {
  return {{"format", Calibration::known_format},
          {"board", calibration.board},
          {"name", calibration.name},
          {"driver", calibration.driver},
          {"made", calibration.made},
          {"simulated", calibration.simulated},
          {"supported_clocks_hz", calibration.supported_clocks},
          {"compute", samples_to_json(calibration.compute)},
          {"memory", samples_to_json(calibration.memory)}};
}

Calibration calibration_from_json(const json& object) {
  if (!object.is_object()) throw UsageError("a calibration must be a JSON object");
  if (number_of(object, "format") != Calibration::known_format) throw UsageError("key 'format' is of another version");
  Calibration calibration;
  calibration.board = text_of(object, "board");
  calibration.name = text_of(object, "name");
  calibration.driver = text_of(object, "driver");
  calibration.made = text_of(object, "made");
  const auto simulated = object.find("simulated");
  if (simulated == object.end() || !simulated->is_boolean()) throw UsageError("key 'simulated' must be true or false");
  calibration.simulated = simulated->get<bool>();
  for (const auto& clock : list_of(object, "supported_clocks_hz")) {
    const double value = clock.is_number() ? clock.get<double>() : 0;
    const double least = calibration.supported_clocks.empty() ? 0 : calibration.supported_clocks.back();
    if (!(value > least && value < highest_clock))
      throw UsageError("key 'supported_clocks_hz' must hold ascending clocks");
    calibration.supported_clocks.push_back(value);
  }
  calibration.compute = samples_from_json(object, "compute");
  calibration.memory = samples_from_json(object, "memory");
  if (calibration.supported_clocks.empty() || calibration.compute.empty()) throw UsageError("there is no sample");
  return calibration;
}

fs::path calibration_folder() {
  return kept_folder(kept_calibrations);
}

fs::path save_calibration(const Calibration& calibration, const fs::path& folder) {
  return keep_json(kept_calibrations, folder, calibration.board, calibration.driver, to_json(calibration));
}

std::optional<KnownCalibration> find_calibration(const std::string& board, const std::string& driver,
                                                 const std::string& name, bool simulated, const fs::path& folder,
                                                 std::string* problem) {
  std::optional<KnownCalibration> best;
  const auto rank = [&](const Calibration& calibration) {
    return std::tuple(calibration.board == board, calibration.board == board && calibration.driver == driver,
                      calibration.made);
  };
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    try {
      Calibration found = load(entry.path());
      if (found.name != name || found.simulated != simulated) continue;
      if (best && rank(found) <= rank(best->calibration)) continue;
      const bool own = found.board == board;
      best = KnownCalibration{std::move(found), own};
    } catch (const std::exception& damage) {
      // Of whatever driver: backends and NVML do not call it the same.
      const bool is_own = entry.path().filename().string().starts_with(kept_file(folder, board, "").stem().string());
      if (is_own && problem != nullptr) *problem = passed_over_text(kept_calibrations, entry.path(), damage.what());
    }
  }
  return best;
}

}  // namespace wattune
