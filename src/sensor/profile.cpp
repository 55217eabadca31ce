#include "sensor/profile.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/duration.hpp"
#include "base/error.hpp"
#include "base/kept_file.hpp"

namespace wattune {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::array names{std::pair{EnergyEstimator::automatic, std::string_view("auto")},
                           std::pair{EnergyEstimator::counter, std::string_view("counter")},
                           std::pair{EnergyEstimator::samples, std::string_view("samples")},
                           std::pair{EnergyEstimator::integral, std::string_view("integral")},
                           std::pair{EnergyEstimator::median, std::string_view("median")}};

constexpr KeptKind kept_profiles = {"sensor profile", "WATTUNE_SENSOR_DIR", "sensors", "wattune devices --probe"};

/// Counter and readings that differ by more contradict each other.
constexpr double largest_difference = 0.03;

void put(json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
}

std::optional<double> take(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_number()) throw UsageError(fmt::format("key '{}' is no number", key));
  return found->get<double>();
}

double need(const json& object, const char* key) {
  const auto value = take(object, key);
  if (!value || !(*value >= 0) || !std::isfinite(*value)) {
    throw UsageError(fmt::format("key '{}' must be a number that is not negative", key));
  }
  return *value;
}

json reading_to_json(const ReadingProfile& reading) {
  json object = {{"period_s", reading.period}, {"call_s", reading.call}, {"call_slow_s", reading.call_slow}};
  put(object, "window_s", reading.window);
  put(object, "duty", reading.duty);
  put(object, "rise_s", reading.rise);
  put(object, "delay_s", reading.delay);
  put(object, "scatter_w", reading.scatter);
  return object;
}

std::optional<ReadingProfile> reading_from_json(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_object()) throw UsageError(fmt::format("key '{}' is no object", key));
  ReadingProfile reading;
  reading.period = need(*found, "period_s");
  reading.call = need(*found, "call_s");
  reading.call_slow = need(*found, "call_slow_s");
  reading.window = take(*found, "window_s");
  reading.duty = take(*found, "duty");
  reading.rise = take(*found, "rise_s");
  reading.delay = take(*found, "delay_s");
  reading.scatter = take(*found, "scatter_w");
  const bool usable = reading.period > 0 && reading.window.value_or(1) > 0 && reading.duty.value_or(0) >= 0 &&
                      reading.rise.value_or(0) >= 0 && reading.delay.value_or(0) >= 0 &&
                      reading.window.has_value() == reading.duty.has_value();
  if (!usable) throw UsageError(fmt::format("key '{}' holds times that are impossible", key));
  return reading;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) throw UsageError(fmt::format("key '{}' must be a text", key));
  return found->get<std::string>();
}

/// "a quarter", "all", "28 %" of the time.
std::string share(double duty) {
  if (duty > 0.97) return "all";
  for (const auto& [value, words] : {std::pair{0.25, "a quarter"}, {0.5, "half"}, {0.75, "three quarters"}}) {
    if (std::abs(duty - value) < 0.02) return words;
  }
  return fmt::format("{:.0f} %", 100 * duty);
}

std::string describe(const char* what, const ReadingProfile& reading) {
  std::string text = fmt::format("{}: a new value every {}", what, format_interval(reading.period));
  if (reading.window) {
    text += *reading.window > 1.1 * reading.period
                ? fmt::format(", each the mean of {}", format_interval(*reading.window))
                : fmt::format(", which sees {} of the time ({} each)", share(*reading.duty),
                              format_interval(*reading.window));
  } else {
    text += "; what part of the time it sees was not found";
  }
  if (reading.rise) text += fmt::format(", late by a rise time of {}", format_interval(*reading.rise));
  return text + fmt::format("; a call takes {}", format_interval(reading.call));
}

}  // namespace

std::string_view to_string(EnergyEstimator estimator) {
  for (const auto& [known, name] : names) {
    if (known == estimator) return name;
  }
  return "auto";
}

EnergyEstimator estimator_from(const std::string& name) {
  for (const auto& [estimator, known] : names) {
    if (known == name) return estimator;
  }
  throw UsageError(
      fmt::format("there is no energy estimator '{}'; there are auto, counter, samples, integral and median", name));
}

EnergyEstimator choose_estimator(const SensorProfile* profile, bool has_counter, bool has_reading, bool has_samples) {
  if (has_counter) return EnergyEstimator::counter;
  if (!has_samples) return EnergyEstimator::integral;
  if (!has_reading || profile == nullptr || !profile->samples) return EnergyEstimator::samples;
  // The record is worth its slower calls where it sees more, or as much and more often.
  const ReadingProfile& record = *profile->samples;
  const auto better = [&](const std::optional<ReadingProfile>& reading) {
    if (!reading || !reading->duty) return false;
    const double seen = record.duty.value_or(0);
    return *reading->duty > seen + 0.1 || (*reading->duty > seen - 0.1 && reading->period < 0.9 * record.period &&
                                           reading->window.value_or(1) < 2 * reading->period);
  };
  return better(profile->instant) || better(profile->average) ? EnergyEstimator::integral : EnergyEstimator::samples;
}

std::vector<std::string> in_words(const SensorProfile& profile) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const std::optional<ReadingProfile>& reading) {
    if (reading) lines.push_back(describe(what, *reading));
  };
  add("energy counter", profile.counter);
  add("average power", profile.average);
  add("instantaneous power", profile.instant);
  add("driver's record of power", profile.samples);
  std::string idle;
  if (profile.idle_bare_w) idle = fmt::format("{:.1f} W bare", *profile.idle_bare_w);
  if (profile.idle_context_w) {
    idle += fmt::format("{}{:.1f} W with a context", idle.empty() ? "" : ", ", *profile.idle_context_w);
  }
  if (!idle.empty()) lines.push_back("idle: " + idle);
  if (profile.counter_over_readings) {
    const double off = *profile.counter_over_readings - 1;
    lines.push_back(std::abs(off) <= largest_difference
                        ? fmt::format("counter and readings agree within {:.1f} %", 100 * std::abs(off) + 0.05)
                        : fmt::format("the counter says {:.1f} % {} than the readings", 100 * std::abs(off),
                                      off > 0 ? "more" : "less"));
  }
  const auto chosen = choose_estimator(&profile, profile.counter.has_value(), profile.average || profile.instant,
                                       profile.samples.has_value());
  const ReadingProfile* partial = nullptr;
  for (const auto* reading : {&profile.instant, &profile.average}) {
    if (*reading && (*reading)->duty && !(*reading)->sees_everything()) partial = &**reading;
  }
  std::string use =
      partial != nullptr
          ? fmt::format("this card's {} sees {} of the time; wattune uses ",
                        profile.instant && partial == &*profile.instant ? "instantaneous reading" : "power reading",
                        share(*partial->duty))
          : std::string("wattune uses this card's ");
  const bool possessive = partial != nullptr;
  if (chosen == EnergyEstimator::counter) use += possessive ? "its energy counter" : "energy counter";
  if (chosen == EnergyEstimator::samples)
    use += possessive ? "the driver's record of power" : "record of power in the driver";
  if (chosen == EnergyEstimator::integral) use += possessive ? "the mean of its fresh values" : "power reading";
  lines.push_back(use);
  for (const auto& warning : profile.warnings) lines.push_back("warning: " + warning);
  return lines;
}

json to_json(const SensorProfile& profile) {
  json object = {{"format", SensorProfile::known_format},
                 {"board", profile.board},
                 {"name", profile.name},
                 {"driver", profile.driver},
                 {"made", profile.made},
                 {"simulated", profile.simulated},
                 {"warnings", profile.warnings}};
  const auto add = [&](const char* key, const std::optional<ReadingProfile>& reading) {
    if (reading) object[key] = reading_to_json(*reading);
  };
  add("counter", profile.counter);
  add("average", profile.average);
  add("instant", profile.instant);
  add("samples", profile.samples);
  put(object, "idle_bare_w", profile.idle_bare_w);
  put(object, "idle_context_w", profile.idle_context_w);
  put(object, "load_w", profile.load_w);
  put(object, "counter_over_readings", profile.counter_over_readings);
  return object;
}

SensorProfile sensor_profile_from_json(const json& object) {
  if (!object.is_object()) throw UsageError("a sensor profile must be a JSON object");
  if (need(object, "format") != SensorProfile::known_format) throw UsageError("key 'format' is of another version");
  SensorProfile profile;
  profile.board = text_of(object, "board");
  profile.name = text_of(object, "name");
  profile.driver = text_of(object, "driver");
  profile.made = text_of(object, "made");
  const auto simulated = object.find("simulated");
  profile.simulated = simulated != object.end() && simulated->is_boolean() && simulated->get<bool>();
  profile.counter = reading_from_json(object, "counter");
  profile.average = reading_from_json(object, "average");
  profile.instant = reading_from_json(object, "instant");
  profile.samples = reading_from_json(object, "samples");
  profile.idle_bare_w = take(object, "idle_bare_w");
  profile.idle_context_w = take(object, "idle_context_w");
  profile.load_w = take(object, "load_w");
  profile.counter_over_readings = take(object, "counter_over_readings");
  if (const auto warnings = object.find("warnings"); warnings != object.end()) {
    if (!warnings->is_array()) throw UsageError("key 'warnings' is no list");
    for (const auto& warning : *warnings) {
      if (!warning.is_string()) throw UsageError("key 'warnings' is no list of texts");
      profile.warnings.push_back(warning.get<std::string>());
    }
  }
  return profile;
}

fs::path profile_folder() {
  return kept_folder(kept_profiles);
}

fs::path save_profile(const SensorProfile& profile, const fs::path& folder) {
  return keep_json(kept_profiles, folder, profile.board, profile.driver, to_json(profile));
}

std::optional<SensorProfile> load_profile(const std::string& board, const std::string& driver, const fs::path& folder,
                                          std::string* problem) {
  if (folder.empty()) return std::nullopt;
  const fs::path file = kept_file(folder, board, driver);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  std::string why;
  try {
    SensorProfile profile = sensor_profile_from_json(read_kept_json(kept_profiles, file));
    if (profile.board == board && profile.driver == driver) return profile;
    why = fmt::format("it is of board {} under driver {}", profile.board, profile.driver);
  } catch (const std::exception& damage) {
    why = damage.what();
  }
  if (problem != nullptr) *problem = passed_over_text(kept_profiles, file, why);
  return std::nullopt;
}

}  // namespace wattune
