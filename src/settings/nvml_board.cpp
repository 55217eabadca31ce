// Boards as NVML has them.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "settings/board.hpp"

namespace wattune {

namespace {

/// Bit 21 of the effective capabilities.
bool has_admin_capability() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "CapEff:" || !(status >> word)) continue;
    constexpr unsigned admin = 21;
    return ((std::strtoull(word.c_str(), nullptr, 16) >> admin) & 1U) != 0;
  }
  return false;
}

/// A list of clocks as NVML gives it: asked for its length first. In Hz, ascending.
template <typename Ask>
std::vector<double> clocks_of(Ask ask) {
  unsigned count = 0;
  const NvmlResult first = ask(&count, nullptr);
  if ((first != NvmlResult::insufficient_size && first != NvmlResult::success) || count == 0) return {};
  std::vector<unsigned> megahertz(count);
  if (ask(&count, megahertz.data()) != NvmlResult::success) return {};
  megahertz.resize(std::min<std::size_t>(count, megahertz.size()));
  std::sort(megahertz.begin(), megahertz.end());
  megahertz.erase(std::unique(megahertz.begin(), megahertz.end()), megahertz.end());
  std::vector<double> clocks;
  for (const unsigned clock : megahertz) clocks.push_back(clock * 1e6);
  return clocks;
}

void read_clocks(const NvmlBoardAccess& access, Capabilities& capabilities) {
  const auto& reader = access.reader;
  if (reader.supported_memory_clocks == nullptr || reader.supported_sm_clocks == nullptr) return;
  capabilities.memory_clocks = clocks_of(
      [&](unsigned* count, unsigned* list) { return reader.supported_memory_clocks(access.device, count, list); });
  if (capabilities.memory_clocks.empty()) return;
  const auto highest = static_cast<unsigned>(std::lround(capabilities.memory_clocks.back() * 1e-6));
  capabilities.sm_clocks = clocks_of(
      [&](unsigned* count, unsigned* list) { return reader.supported_sm_clocks(access.device, highest, count, list); });
  unsigned megahertz = 0;
  if (reader.default_application_clock != nullptr &&
      reader.default_application_clock(access.device, NvmlClock::sm, &megahertz) == NvmlResult::success) {
    capabilities.default_sm_clock = megahertz * 1e6;
  }
}

void read_power_limits(const NvmlBoardAccess& access, Capabilities& capabilities) {
  const auto& reader = access.reader;
  unsigned least = 0;
  unsigned most = 0;
  if (reader.power_limit_range == nullptr ||
      reader.power_limit_range(access.device, &least, &most) != NvmlResult::success) {
    return;
  }
  capabilities.power_limit = SettingRange{least * 1e-3, most * 1e-3};
  capabilities.power_limit_default = most * 1e-3;
  unsigned milliwatts = 0;
  if (reader.default_power_limit != nullptr &&
      reader.default_power_limit(access.device, &milliwatts) == NvmlResult::success) {
    capabilities.power_limit_default = milliwatts * 1e-3;
  }
  capabilities.power_limit_now = access.power_limit().value_or(capabilities.power_limit_default);
}

/// Why nothing may be set: an instance's settings are those of the whole board, which others use too.
std::string refusal_of_divided(const Nvml& nvml, NvmlDevice device) {
  constexpr const char* divided =
      "the board is divided into MIG instances, whose clocks and power limit are those of the whole board, which "
      "others use too";
  return nvml.is_divided(device) ? divided : "";
}

NvmlDevice find_device(const Nvml& nvml, const std::string& uuid, const std::string& pci) {
  NvmlDevice device = nullptr;
  NvmlResult result = NvmlResult::not_found;
  if (!uuid.empty()) result = nvml.device_by_uuid(uuid.c_str(), &device);
  if (result != NvmlResult::success && !pci.empty()) result = nvml.device_by_pci(pci.c_str(), &device);
  if (result == NvmlResult::success) return device;
  throw DeviceError(fmt::format("NVML has no board {}{}{}: {}", uuid, uuid.empty() || pci.empty() ? "" : " or ",
                                pci.empty() ? "" : "pci:" + pci, nvml.describe(result)));
}

template <typename Ask>
std::string text_of(Ask ask) {
  char text[nvml_uuid_bytes] = "";
  return ask(text) == NvmlResult::success ? text : "";
}

class NvmlBoard final : public SettableBoard {
 public:
  NvmlBoard(const std::string& uuid, const std::string& pci, const std::string& library);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] SavedSettings read() override;
  [[nodiscard]] std::string library() const override {
    return access_->reader.simulated ? access_->nvml->library.path() : std::string();
  }
  void prefer_route(const std::vector<Setting>& wanted) override;
  void take_route(const std::string& name, const std::string& details) override;
  [[nodiscard]] std::string route_details() const override { return route_ == nullptr ? "" : route_->details(); }
  SettingResult try_permission() override;
  SettingResult set(Setting setting, double value) override;
  SettingResult restore(Setting setting, const SavedSettings& before) override;

 private:
  void use(SettingRoute* route);
  SettingResult no_route() const;
  SettingResult check_power_limit(double watts);

  std::shared_ptr<NvmlBoardAccess> access_;
  Capabilities capabilities_;
  std::vector<std::unique_ptr<SettingRoute>> routes_;
  SettingRoute* route_ = nullptr;
};

NvmlBoard::NvmlBoard(const std::string& uuid, const std::string& pci, const std::string& library) {
  auto nvml = load_nvml(library);
  const NvmlDevice device = find_device(*nvml, uuid, pci);
  access_ = std::make_shared<NvmlBoardAccess>(
      NvmlBoardAccess{nvml, device, NvmlSettingsReader(nvml->library), NvmlSetters(nvml->library), std::nullopt});
  const auto& reader = access_->reader;
  int major = 0;
  int minor = 0;
  if (reader.compute_capability != nullptr &&
      reader.compute_capability(device, &major, &minor) == NvmlResult::success) {
    access_->compute_capability = 10 * major + minor;
  }
  capabilities_.uuid = text_of([&](char* text) { return nvml->device_uuid(device, text, nvml_uuid_bytes); });
  if (capabilities_.uuid.empty()) throw DeviceError("NVML does not tell the UUID of board " + uuid + pci);
  if (reader.name != nullptr) {
    capabilities_.name = text_of([&](char* text) { return reader.name(device, text, nvml_uuid_bytes); });
  }
  if (reader.driver_version != nullptr) {
    capabilities_.driver = text_of([&](char* text) { return reader.driver_version(text, nvml_uuid_bytes); });
  }
  capabilities_.simulated = access_->reader.simulated;
  read_clocks(*access_, capabilities_);
  read_power_limits(*access_, capabilities_);
  capabilities_.refused = refusal_of_divided(*nvml, device);
  routes_.push_back(make_locked_route(access_, capabilities_));
  routes_.push_back(make_application_route(access_, capabilities_));
  routes_.push_back(make_zeusd_route(access_, capabilities_));
  routes_.push_back(make_command_route(access_, capabilities_, SettingCommands::from_environment()));
  for (const auto& route : routes_) capabilities_.routes.push_back(route->state());
  prefer_route({});
}

void NvmlBoard::prefer_route(const std::vector<Setting>& wanted) {
  if (!capabilities_.refused.empty()) return;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const bool can =
        std::all_of(wanted.begin(), wanted.end(), [&](Setting setting) { return routes_[i]->may_set(setting); });
    if (!can || !capabilities_.routes[i].usable) continue;
    use(routes_[i].get());
    return;
  }
}

void NvmlBoard::use(SettingRoute* route) {
  route_ = route;
  capabilities_.route = route->name();
  capabilities_.may_set_sm_clock = route->may_set(Setting::sm_clock);
  capabilities_.may_set_memory_clock = route->may_set(Setting::memory_clock);
  capabilities_.may_set_power_limit = route->may_set(Setting::power_limit);
}

void NvmlBoard::take_route(const std::string& name, const std::string& details) {
  for (const auto& route : routes_) {
    if (route->name() != name) continue;
    route->adopt(details);
    use(route.get());
  }
}

SavedSettings NvmlBoard::read() {
  return {access_->power_limit(), access_->application_clock(NvmlClock::sm),
          access_->application_clock(NvmlClock::memory), std::nullopt};
}

SettingResult NvmlBoard::no_route() const {
  return SettingError{SettingError::Kind::no_permission, why_not(capabilities_, Setting::sm_clock)};
}

SettingResult NvmlBoard::try_permission() {
  if (route_ == nullptr) return no_route();
  const auto limit = access_->power_limit();
  if (!limit || !capabilities_.may_set_power_limit) return std::nullopt;
  return route_->set(Setting::power_limit, *limit);
}

SettingResult NvmlBoard::check_power_limit(double watts) {
  const auto limit = access_->power_limit();
  constexpr double tolerance = 0.5;
  if (!limit || std::fabs(*limit - watts) < tolerance) return std::nullopt;
  return SettingError{SettingError::Kind::other,
                      fmt::format("the power limit was set to {:g} W, but NVML says that it is {:g} W", watts, *limit)};
}

SettingResult NvmlBoard::set(Setting setting, double value) {
  if (route_ == nullptr) return no_route();
  if (auto error = route_->set(setting, value)) return error;
  return setting == Setting::power_limit ? check_power_limit(value) : std::nullopt;
}

SettingResult NvmlBoard::restore(Setting setting, const SavedSettings& before) {
  if (route_ == nullptr) return no_route();
  if (auto error = route_->restore(setting, before)) return error;
  return setting == Setting::power_limit && before.power_limit_w ? check_power_limit(*before.power_limit_w)
                                                                 : std::nullopt;
}

}  // namespace

// ---- what routes share

bool NvmlBoardAccess::is_root() const {
  // Who may do what on simulated GPUs is part of the simulation.
  if (reader.simulated) return environment("WATTUNE_SIM_USER") != "user";
  return ::geteuid() == 0 || has_admin_capability();
}

std::optional<unsigned> NvmlBoardAccess::index() const {
  unsigned number = 0;
  if (reader.index == nullptr || reader.index(device, &number) != NvmlResult::success) return std::nullopt;
  return number;
}

std::string NvmlBoardAccess::pci() const {
  NvmlPciInfo info{};
  if (reader.pci_info == nullptr || reader.pci_info(device, &info) != NvmlResult::success) return {};
  return {info.bus_id, ::strnlen(info.bus_id, sizeof info.bus_id)};
}

std::optional<double> NvmlBoardAccess::power_limit() const {
  unsigned milliwatts = 0;
  if (reader.power_limit == nullptr || reader.power_limit(device, &milliwatts) != NvmlResult::success) {
    return std::nullopt;
  }
  return milliwatts * 1e-3;
}

std::optional<double> NvmlBoardAccess::application_clock(NvmlClock clock) const {
  unsigned megahertz = 0;
  if (reader.application_clock == nullptr ||
      reader.application_clock(device, clock, &megahertz) != NvmlResult::success || megahertz == 0) {
    return std::nullopt;
  }
  return megahertz * 1e6;
}

SettingResult NvmlBoardAccess::check(NvmlResult result, const std::string& doing) const {
  if (result == NvmlResult::success) return std::nullopt;
  using Kind = SettingError::Kind;
  Kind kind = Kind::other;
  if (result == NvmlResult::no_permission) kind = Kind::no_permission;
  if (result == NvmlResult::not_supported || result == NvmlResult::function_not_found) kind = Kind::not_supported;
  if (result == NvmlResult::gpu_is_lost) kind = Kind::lost_device;
  return SettingError{kind, fmt::format("cannot {}: {}", doing, nvml->describe(result))};
}

std::unique_ptr<SettableBoard> open_nvml_board(const std::string& uuid, const std::string& pci,
                                               const std::string& library) {
  return std::make_unique<NvmlBoard>(uuid, pci, library);
}

// ---- what was set before

nlohmann::json to_json(const SavedSettings& saved) {
  nlohmann::json json = nlohmann::json::object();
  auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("power_limit_w", saved.power_limit_w);
  add("application_sm_clock_hz", saved.application_sm_clock_hz);
  add("application_memory_clock_hz", saved.application_memory_clock_hz);
  add("locked_sm_clock_hz", saved.locked_sm_clock_hz);
  return json;
}

SavedSettings saved_settings_from_json(const nlohmann::json& json) {
  SavedSettings saved;
  auto take = [&](const char* name, std::optional<double>& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (!found->is_number()) throw UsageError(fmt::format("'{}' is no number", name));
    value = found->get<double>();
  };
  if (!json.is_object()) throw UsageError("what was set before is no object");
  take("power_limit_w", saved.power_limit_w);
  take("application_sm_clock_hz", saved.application_sm_clock_hz);
  take("application_memory_clock_hz", saved.application_memory_clock_hz);
  take("locked_sm_clock_hz", saved.locked_sm_clock_hz);
  return saved;
}

}  // namespace wattune
