// The descriptions in the library, and what a faulty one is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "board/embedded.hpp"
#include "curve.hpp"

namespace wattune::simgpu {
namespace {

using testing::HasSubstr;

TEST(Descriptions, AreSixInAFixedOrder) {
  std::vector<std::string> ids;
  for (const Description& each : descriptions()) ids.push_back(each.id);
  EXPECT_THAT(ids, testing::ElementsAre("a100-pcie-40gb", "rtx-a4000", "rtx-a6000", "titan-rtx", "v100-pcie", "h200"));
  EXPECT_EQ(find_description("rtx-9000"), nullptr);
  EXPECT_EQ(find_workload(descriptions().front(), "unknown"), nullptr);
}

struct Published {
  const char* id;
  unsigned multiprocessors;
  double low, high, step, base, limit_min, limit_max;
};

TEST(Descriptions, HaveThePublishedClocksAndLimits) {
  for (const Published& each : {Published{"a100-pcie-40gb", 108, 210, 1410, 15, 765, 150, 250},
                                Published{"rtx-a4000", 48, 405, 2100, 15, 735, 100, 140},
                                Published{"rtx-a6000", 84, 210, 2100, 15, 1410, 100, 300},
                                Published{"titan-rtx", 72, 300, 2100, 15, 1350, 100, 320},
                                Published{"v100-pcie", 80, 135, 1380, 7.5, 1230, 100, 250},
                                Published{"h200", 132, 345, 1980, 15, 1365, 200, 700}}) {
    const Description& board = board_named(each.id);
    EXPECT_EQ(board.multiprocessors, each.multiprocessors) << each.id;
    EXPECT_DOUBLE_EQ(board.sm_clocks.front(), each.low * mega) << each.id;
    EXPECT_DOUBLE_EQ(board.sm_clocks.back(), each.high * mega) << each.id;
    EXPECT_DOUBLE_EQ(board.sm_clocks[1] - board.sm_clocks[0], each.step * mega) << each.id;
    EXPECT_DOUBLE_EQ(board.base_clock, each.base * mega) << each.id;
    EXPECT_DOUBLE_EQ(board.power_limit_min, each.limit_min) << each.id;
    EXPECT_DOUBLE_EQ(board.power_limit_max, each.limit_max) << each.id;
  }
}

TEST(Descriptions, EachBoardHasTheWorkloadsThatModelsAreFittedWith) {
  for (const Description& each : descriptions()) {
    for (const char* name : {"fma_chain", "gemm", "stream_copy"}) {
      EXPECT_NE(find_workload(each, name), nullptr) << each.id << " " << name;
    }
    EXPECT_EQ(workload_named(each, "fma_chain").core_activity, 1) << each.id;
  }
}

/// What the reader says about the A100's description after a change.
std::string complaint(const std::function<void(nlohmann::json&)>& change) {
  auto json = nlohmann::json::parse(embedded_descriptions().front().text);
  change(json);
  try {
    (void)parse_description(json.dump(), "mine.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(FaultyDescription, NamesFileAndKey) {
  EXPECT_EQ(complaint([](auto&) {}), "nothing");
  EXPECT_THAT(complaint([](auto& json) { json["power"].erase("core_nf"); }),
              testing::AllOf(HasSubstr("mine.json"), HasSubstr("power.core_nf is missing")));
  EXPECT_THAT(complaint([](auto& json) { json["clocks"]["base_mhz"] = "fast"; }),
              testing::AllOf(HasSubstr("clocks.base_mhz"), HasSubstr("\"fast\"")));
  EXPECT_THAT(complaint([](auto& json) { json["thermal"]["die_s"] = 0; }), HasSubstr("thermal.die_s must be above 0"));
  EXPECT_THAT(complaint([](auto& json) { json["power"]["board_w"] = -1; }), HasSubstr("power.board_w"));
  EXPECT_THAT(complaint([](auto& json) { json["workloads"][1].erase("name"); }),
              HasSubstr("workloads[1].name is missing"));
  EXPECT_THAT(complaint([](auto& json) { json["limits"] = 3; }), HasSubstr("limits must be an object"));
  EXPECT_THAT(complaint([](auto& json) { json["sensors"]["average"]["window_ms"] = 150; }),
              HasSubstr("sensors.average.window_ms"));
  EXPECT_THAT(complaint([](auto& json) {
                json["voltage_mhz_mv"] = {{1000, 800}, {900, 900}};
              }),
              HasSubstr("voltage_mhz_mv must be ascending"));
  EXPECT_THAT(complaint([](auto& json) { json["clocks"]["sm_mhz"]["step"] = 0.001; }), HasSubstr("clocks.sm_mhz.to"));
  EXPECT_THAT(complaint([](auto& json) { json["multiprocessors"] = 0; }), HasSubstr("multiprocessors"));
}

TEST(FaultyDescription, TellsAMisspeltKey) {
  EXPECT_THAT(complaint([](auto& json) { json["control"]["setle_ms"] = 3; }),
              HasSubstr("control.setle_ms means nothing; is it misspelt?"));
}

TEST(FaultyDescription, TellsWhatIsNoJson) {
  try {
    (void)parse_description("{", "mine.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("mine.json"), HasSubstr("no JSON")));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace wattune::simgpu
