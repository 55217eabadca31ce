// Through zeusd, the daemon of the Zeus project: it sets for users what NVML lets only root set.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "settings/board.hpp"
#include "settings/http.hpp"

namespace wattune {

using nlohmann::json;

namespace {

constexpr double discover_seconds = 2;
constexpr double set_seconds = 10;
constexpr const char* usual_socket = "/var/run/zeusd.sock";

/// A real zeusd knows real boards only, by their number: it is never asked to set a simulated one.
std::string socket_of(const NvmlBoardAccess& access) {
  if (access.reader.simulated) return environment("WATTUNE_SIM_ZEUSD");
  const std::string named = environment("ZEUSD_SOCK_PATH");
  return named.empty() ? usual_socket : named;
}

/// "00000000:3B:00.0" and "0000:3b:00.0" are the same board.
bool same_pci(std::string a, std::string b) {
  const auto shorten = [](std::string& text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  };
  shorten(a);
  shorten(b);
  return a == b;
}

class ZeusdRoute final : public SettingRoute {
 public:
  ZeusdRoute(std::shared_ptr<const NvmlBoardAccess> access, std::unique_ptr<SettingRoute> locked)
      : access_(std::move(access)), locked_(std::move(locked)), socket_(socket_of(*access_)) {}

  [[nodiscard]] std::string name() const override { return "zeusd"; }
  [[nodiscard]] std::string details() const override { return socket_; }
  void adopt(const std::string& details) override {
    socket_ = details;
    number_.reset();
  }

  [[nodiscard]] RouteState state() override {
    if (socket_.empty()) return {name(), false, "it sets no simulated boards"};
    try {
      find();
      return {name(), true, ""};
    } catch (const DeviceError& error) {
      return {name(), false,
              fmt::format("{}: {}; an administrator can run zeusd as root (ZEUSD_SOCK_PATH names its socket)", socket_,
                          error.what())};
    }
  }

  /// It makes the same calls as root does.
  [[nodiscard]] bool may_set(Setting setting) const override { return locked_->may_set(setting); }

  SettingResult set(Setting setting, double value) override {
    if (setting == Setting::power_limit) {
      return post("set_power_limit", fmt::format("&power_limit_mw={}", std::lround(value * 1e3)));
    }
    const std::string clock = std::to_string(std::lround(value * 1e-6));
    return post(setting == Setting::sm_clock ? "set_gpu_locked_clocks" : "set_mem_locked_clocks",
                "&min_clock_mhz=" + clock + "&max_clock_mhz=" + clock);
  }

  SettingResult restore(Setting setting, const SavedSettings& before) override {
    switch (setting) {
      case Setting::sm_clock:
        if (before.locked_sm_clock_hz) return set(setting, *before.locked_sm_clock_hz);
        return post("reset_gpu_locked_clocks", "");
      case Setting::memory_clock:
        return post("reset_mem_locked_clocks", "");
      default:
        return before.power_limit_w ? set(setting, *before.power_limit_w) : std::nullopt;
    }
  }

 private:
  HttpReply ask(const std::string& method, const std::string& target, double seconds) const {
    return ask_http(socket_, method, target, environment("ZEUSD_TOKEN"), seconds);
  }

  /// The number by which it knows the board. @throws DeviceError where it cannot set it.
  unsigned find() {
    if (number_) return *number_;
    const HttpReply reply = ask("GET", "/discover", discover_seconds);
    if (reply.status == 404) throw DeviceError("this zeusd is older than 0.3, which is not supported");
    const json found = json::parse(reply.body, nullptr, false);
    if (reply.status != 200 || !found.is_object()) {
      throw DeviceError(fmt::format("its answer about what it can do is not understood (status {})", reply.status));
    }
    const auto groups = found.find("enabled_api_groups");
    if (groups != found.end() && groups->is_array() &&
        std::find(groups->begin(), groups->end(), "gpu-control") == groups->end()) {
      throw DeviceError("it was started without gpu-control");
    }
    number_ = number_in(found);
    return *number_;
  }

  /// Later versions tell PCI ids; before, numbers are NVML's.
  [[nodiscard]] unsigned number_in(const json& found) const {
    const auto index = access_->index();
    const std::string pci = access_->pci();
    for (const auto& board : found.value("gpus", json::array())) {
      if (!board.is_object() || !board.value("id", json()).is_number_unsigned()) continue;
      const json address = board.value("pci_address", json());
      if (address.is_string() && same_pci(address, pci)) return board.at("id");
    }
    const json numbers = found.value("gpu_ids", json::array());
    const bool listed = index && std::find(numbers.begin(), numbers.end(), *index) != numbers.end();
    if (listed) return *index;
    throw DeviceError("it does not have this board");
  }

  SettingResult post(const std::string& call, const std::string& parameters) {
    refuse_if_read_only("set a device through zeusd");
    try {
      const HttpReply reply =
          ask("POST", fmt::format("/gpu/{}?gpu_ids={}{}&block=true", call, find(), parameters), set_seconds);
      if (reply.status == 200) return std::nullopt;
      const bool forbidden = reply.status == 401 || reply.status == 403 || reply.status == 404;
      constexpr std::size_t longest = 200;
      return SettingError{forbidden ? SettingError::Kind::no_permission : SettingError::Kind::other,
                          fmt::format("zeusd refused {} (status {}){}{}", call, reply.status,
                                      reply.body.empty() ? "" : ": ", reply.body.substr(0, longest))};
    } catch (const DeviceError& error) {
      return SettingError{SettingError::Kind::other, fmt::format("zeusd at {}: {}", socket_, error.what())};
    }
  }

  std::shared_ptr<const NvmlBoardAccess> access_;
  std::unique_ptr<SettingRoute> locked_;
  std::string socket_;
  std::optional<unsigned> number_;
};

}  // namespace

std::unique_ptr<SettingRoute> make_zeusd_route(std::shared_ptr<const NvmlBoardAccess> access,
                                               const Capabilities& capabilities) {
  auto locked = make_locked_route(access, capabilities);
  return std::make_unique<ZeusdRoute>(std::move(access), std::move(locked));
}

}  // namespace wattune
