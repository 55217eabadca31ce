#include "tune/setting_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattune {
namespace {

using testing::ElementsAre;

DeviceSettings at(double megahertz) {
  return {megahertz * 1e6, std::nullopt, std::nullopt};
}

TEST(SettingOrder, GroupsBySettingInTheOrderOfTheProposals) {
  const std::vector<DeviceSettings> held = {at(1), at(2), at(1), at(3), at(2)};
  EXPECT_THAT(SettingOrder().order(held, 0), ElementsAre(0, 2, 1, 4, 3));
}

TEST(SettingOrder, GoesOnAtTheSettingThatTheDeviceHas) {
  SettingOrder order;
  order.begin(at(2), 0);
  EXPECT_THAT(order.order(std::vector{at(1), at(2), at(1), at(3), at(2)}, 100), ElementsAre(1, 4, 0, 2, 3));
}

TEST(SettingOrder, GoesToTheSettingThatHasWaitedLongestWhenOneIsDone) {
  SettingOrder order;
  order.begin(at(9), 0);
  EXPECT_THAT(order.order(std::vector{at(3), at(1), at(3)}, 0), ElementsAre(0, 2, 1));
}

TEST(SettingOrder, LeavesASettingAfterItsShareOfTheTimeWhileOthersWait) {
  SettingOrder order(10);
  order.begin(at(1), 0);
  const std::vector held = {at(1), at(2), at(1)};
  EXPECT_THAT(order.order(held, 9), ElementsAre(0, 2, 1));
  EXPECT_THAT(order.order(held, 11), ElementsAre(1, 0, 2));
  EXPECT_THAT(order.order(std::vector{at(1), at(1)}, 11), ElementsAre(0, 1));
}

TEST(SettingOrder, VisitsEachSettingOnceWhereEverythingIsHeld) {
  std::vector<DeviceSettings> held;
  for (int i = 0; i < 100; ++i) held.push_back(at(i * 7 % 5));
  SettingOrder order;
  int changes = 0;
  DeviceSettings last;
  while (!held.empty()) {
    const std::size_t next = order.order(held, 0).front();
    if (held[next] != last) ++changes;
    last = held[next];
    order.begin(last, 0);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(next));
  }
  EXPECT_EQ(changes, 5);
}

}  // namespace
}  // namespace wattune
