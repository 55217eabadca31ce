#include "settings/bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_board.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

std::string config_error(const std::string& text) {
  return error_of([&] { static_cast<void>(parse_server_config(text, "wattuned.json")); });
}

TEST(ServerConfig, BoundsOfABoardReplaceTheGeneralOnes) {
  const auto config = parse_server_config(
      R"({"group": "gpu", "lease_seconds": 5, "bounds": {"sm_clock_mhz": [600, 1410]},
          "boards": {"GPU-1": {"power_limit_w": [150, 200]}}})",
      "wattuned.json");
  EXPECT_EQ(config.group, "gpu");
  EXPECT_EQ(config.lease_seconds, 5);
  EXPECT_EQ(config.of("GPU-2").sm_clock, (SettingRange{600e6, 1410e6}));
  EXPECT_EQ(config.of("GPU-1").sm_clock, std::nullopt);
  EXPECT_EQ(config.of("GPU-1").power_limit, (SettingRange{150, 200}));
}

TEST(ServerConfig, ErrorsNameFileAndKey) {
  EXPECT_THAT(config_error("{"), HasSubstr("wattuned.json: no JSON"));
  EXPECT_THAT(config_error(R"({"groups": "gpu"})"), HasSubstr("wattuned.json: groups: there is no such key"));
  EXPECT_THAT(config_error(R"({"bounds": {"sm_clock": [1, 2]}})"),
              HasSubstr("bounds.sm_clock: there is no such bound"));
  EXPECT_THAT(config_error(R"({"bounds": {"sm_clock_mhz": [2, 1]}})"), HasSubstr("must be [least, most] in MHz"));
  EXPECT_THAT(config_error(R"({"boards": {"GPU-1": {"power_limit_w": 200}}})"),
              HasSubstr("boards.GPU-1.power_limit_w"));
  EXPECT_THAT(config_error(R"({"lease_seconds": 0})"), HasSubstr("from 1 to 3600"));
}

TEST(Objection, SaysWhatIsSupportedAndWhatIsAllowed) {
  FakeSettableBoard board(std::make_shared<FakeSettings>(), "GPU-1");
  Capabilities capabilities = board.capabilities();
  SettingBounds bounds;
  bounds.sm_clock = SettingRange{600e6, 1200e6};
  EXPECT_EQ(objection_to(Setting::sm_clock, 900e6, capabilities, bounds), "");
  EXPECT_EQ(objection_to(Setting::sm_clock, 1410e6, capabilities, bounds),
            "SM clock 1410 MHz is not within what this machine's administrator allows, 600 to 1200 MHz");
  EXPECT_EQ(objection_to(Setting::sm_clock, 901e6, capabilities, bounds),
            "SM clock 901 MHz is not supported; the nearest are 900, 915 MHz");
  EXPECT_EQ(objection_to(Setting::power_limit, 301, capabilities, {}),
            "power limit 301 W is not within what the board accepts, 150 to 300 W");
  capabilities.may_set_power_limit = false;
  capabilities.route.clear();
  capabilities.routes = {{"locked clocks", false, "needs root"}};
  EXPECT_EQ(objection_to(Setting::power_limit, 200, capabilities, {}),
            "the power limit cannot be set: no permission (locked clocks: needs root)");
}

}  // namespace
}  // namespace wattune
