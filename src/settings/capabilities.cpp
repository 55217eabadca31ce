#include "settings/capabilities.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace wattune {

using nlohmann::json;

bool Capabilities::may_set(Setting setting) const {
  return setting == Setting::sm_clock       ? may_set_sm_clock
         : setting == Setting::memory_clock ? may_set_memory_clock
                                            : may_set_power_limit;
}

namespace {

std::string routes_text(const Capabilities& capabilities) {
  std::string text;
  for (const auto& route : capabilities.routes) {
    if (!route.usable) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", route.name, route.reason);
  }
  return text;
}

}  // namespace

std::string why_not(const Capabilities& capabilities, Setting setting) {
  if (capabilities.may_set(setting)) return {};
  if (!capabilities.refused.empty()) return capabilities.refused;
  if (setting == Setting::memory_clock && capabilities.memory_clocks.size() < 2) {
    return "this board has one memory clock only";
  }
  if (setting == Setting::power_limit && !capabilities.power_limit) return "this board has no power limit to set";
  if (setting != Setting::power_limit && capabilities.sm_clocks.empty()) {
    return "NVML lists no clocks that this board supports";
  }
  if (!capabilities.route.empty()) {
    return fmt::format("{} cannot set it on this board", capabilities.route) +
           (routes_text(capabilities).empty() ? "" : " (" + routes_text(capabilities) + ")");
  }
  return "no permission (" + routes_text(capabilities) + ")";
}

json to_json(const Capabilities& c) {
  json routes = json::array();
  for (const auto& route : c.routes) {
    routes.push_back({{"name", route.name}, {"usable", route.usable}, {"reason", route.reason}});
  }
  json result = {{"uuid", c.uuid},
                 {"name", c.name},
                 {"driver", c.driver},
                 {"simulated", c.simulated},
                 {"sm_clocks", c.sm_clocks},
                 {"default_sm_clock", c.default_sm_clock},
                 {"memory_clocks", c.memory_clocks},
                 {"power_limit_default", c.power_limit_default},
                 {"power_limit_now", c.power_limit_now},
                 {"refused", c.refused},
                 {"may_set", {c.may_set_sm_clock, c.may_set_memory_clock, c.may_set_power_limit}},
                 {"route", c.route},
                 {"routes", routes}};
  if (c.power_limit) result["power_limit"] = {c.power_limit->least, c.power_limit->most};
  return result;
}

Capabilities capabilities_from_json(const json& j) {
  try {
    Capabilities c;
    j.at("uuid").get_to(c.uuid);
    j.at("name").get_to(c.name);
    j.at("driver").get_to(c.driver);
    j.at("simulated").get_to(c.simulated);
    j.at("sm_clocks").get_to(c.sm_clocks);
    c.default_sm_clock = j.value("default_sm_clock", 0.0);  // servers of earlier versions do not tell it
    j.at("memory_clocks").get_to(c.memory_clocks);
    j.at("power_limit_default").get_to(c.power_limit_default);
    j.at("power_limit_now").get_to(c.power_limit_now);
    j.at("refused").get_to(c.refused);
    j.at("may_set").at(0).get_to(c.may_set_sm_clock);
    j.at("may_set").at(1).get_to(c.may_set_memory_clock);
    j.at("may_set").at(2).get_to(c.may_set_power_limit);
    j.at("route").get_to(c.route);
    for (const auto& route : j.at("routes")) {
      c.routes.push_back(
          {route.at("name").get<std::string>(), route.at("usable").get<bool>(), route.at("reason").get<std::string>()});
    }
    if (j.contains("power_limit")) {
      c.power_limit = SettingRange{j.at("power_limit").at(0).get<double>(), j.at("power_limit").at(1).get<double>()};
    }
    return c;
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("what a device may be set to cannot be read: {}", error.what()));
  }
}

json edge_json(const Capabilities& c) {
  auto megahertz = [](const std::vector<double>& clocks) {
    json list = json::array();
    for (const double clock : clocks) list.push_back(std::round(clock * 1e-3) * 1e-3);
    return list;
  };
  json routes = json::array();
  for (const auto& route : c.routes) {
    routes.push_back({{"name", route.name}, {"usable", route.usable}, {"reason", route.reason}});
  }
  json result = {{"sm_clocks_mhz", megahertz(c.sm_clocks)},
                 {"memory_clocks_mhz", megahertz(c.memory_clocks)},
                 {"may_set",
                  {{"sm_clock", c.may_set_sm_clock},
                   {"memory_clock", c.may_set_memory_clock},
                   {"power_limit", c.may_set_power_limit},
                   {"route", c.route.empty() ? json(nullptr) : json(c.route)},
                   {"routes", routes}}}};
  if (!c.refused.empty()) result["may_set"]["refused"] = c.refused;
  if (c.default_sm_clock > 0) result["default_sm_clock_mhz"] = c.default_sm_clock * 1e-6;
  if (c.power_limit) {
    result["power_limit_w"] = {
        {"min", c.power_limit->least}, {"max", c.power_limit->most}, {"default", c.power_limit_default}};
  }
  return result;
}

}  // namespace wattune
