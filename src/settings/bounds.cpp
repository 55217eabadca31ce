#include "settings/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace wattune {

using nlohmann::json;

namespace {

/// NVML tells clocks in whole MHz.
constexpr double clock_tolerance = 0.5e6;

[[noreturn]] void fail(const std::string& file, const std::string& key, const std::string& what) {
  throw UsageError(fmt::format("{}: {}: {}", file, key, what));
}

SettingRange range_from(const json& value, Setting setting, const std::string& file, const std::string& key) {
  const bool good = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number() &&
                    value[0].get<double>() > 0 && value[0].get<double>() <= value[1].get<double>();
  if (!good) fail(file, key, fmt::format("must be [least, most] in {}", edge_unit(setting)));
  return {value[0].get<double>() * edge_scale(setting), value[1].get<double>() * edge_scale(setting)};
}

SettingBounds bounds_from(const json& value, const std::string& file, const std::string& key) {
  if (!value.is_object()) fail(file, key, "must be an object");
  SettingBounds bounds;
  for (const auto& [name, range] : value.items()) {
    const std::string place = key + "." + name;
    if (name == "sm_clock_mhz") {
      bounds.sm_clock = range_from(range, Setting::sm_clock, file, place);
    } else if (name == "memory_clock_mhz") {
      bounds.memory_clock = range_from(range, Setting::memory_clock, file, place);
    } else if (name == "power_limit_w") {
      bounds.power_limit = range_from(range, Setting::power_limit, file, place);
    } else {
      fail(file, place, "there is no such bound; there are sm_clock_mhz, memory_clock_mhz and power_limit_w");
    }
  }
  return bounds;
}

std::string out_of_range(Setting setting, double value, const SettingRange& range, const std::string& whose) {
  const double scale = edge_scale(setting);
  return fmt::format("{} {:g} {} is not within {}, {:g} to {:g} {}", to_string(setting), value / scale,
                     edge_unit(setting), whose, range.least / scale, range.most / scale, edge_unit(setting));
}

bool within(double value, const SettingRange& range, double tolerance) {
  return value >= range.least - tolerance && value <= range.most + tolerance;
}

}  // namespace

const std::optional<SettingRange>& SettingBounds::of(Setting setting) const {
  return setting == Setting::sm_clock ? sm_clock : setting == Setting::memory_clock ? memory_clock : power_limit;
}

const SettingBounds& ServerConfig::of(const std::string& uuid) const {
  const auto found = boards.find(uuid);
  return found != boards.end() ? found->second : bounds;
}

ServerConfig parse_server_config(std::string_view text, const std::string& file) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("{}: no JSON: {}", file, error.what()));
  }
  if (!root.is_object()) throw UsageError(file + ": must be an object");
  ServerConfig config;
  for (const auto& [key, value] : root.items()) {
    if (key == "group") {
      if (!value.is_string()) fail(file, key, "must be the name of a group");
      config.group = value.get<std::string>();
    } else if (key == "lease_seconds") {
      if (!value.is_number() || !(value.get<double>() >= 1) || !(value.get<double>() <= 3600)) {
        fail(file, key, "must be a number from 1 to 3600");
      }
      config.lease_seconds = value.get<double>();
    } else if (key == "bounds") {
      config.bounds = bounds_from(value, file, key);
    } else if (key == "boards") {
      if (!value.is_object()) fail(file, key, "must be an object with a key for each board's UUID");
      for (const auto& [uuid, board] : value.items()) config.boards[uuid] = bounds_from(board, file, key + "." + uuid);
    } else {
      fail(file, key, "there is no such key; there are group, lease_seconds, bounds and boards");
    }
  }
  return config;
}

std::string nearest_clocks(const std::vector<double>& clocks, double clock) {
  const auto above = std::lower_bound(clocks.begin(), clocks.end(), clock);
  std::string text;
  if (above != clocks.begin()) text = fmt::format("{:g}", *(above - 1) * 1e-6);
  if (above != clocks.end()) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", *above * 1e-6);
  return text;
}

std::string objection_to(Setting setting, double value, const Capabilities& capabilities, const SettingBounds& bounds) {
  if (!capabilities.may_set(setting)) {
    return fmt::format("the {} cannot be set: {}", to_string(setting), why_not(capabilities, setting));
  }
  if (setting == Setting::power_limit) {
    if (capabilities.power_limit && !within(value, *capabilities.power_limit, 0)) {
      return out_of_range(setting, value, *capabilities.power_limit, "what the board accepts");
    }
  } else {
    const auto& clocks = setting == Setting::sm_clock ? capabilities.sm_clocks : capabilities.memory_clocks;
    const bool supported = std::any_of(clocks.begin(), clocks.end(),
                                       [&](double clock) { return std::fabs(clock - value) <= clock_tolerance; });
    if (!supported) {
      return fmt::format("{} {:g} MHz is not supported; the nearest are {} MHz", to_string(setting), value * 1e-6,
                         nearest_clocks(clocks, value));
    }
  }
  if (const auto& range = bounds.of(setting); range && !within(value, *range, 1e-3)) {
    return out_of_range(setting, value, *range, "what this machine's administrator allows");
  }
  return {};
}

}  // namespace wattune
