#include "method/subspace.hpp"

#include <gmock/gmock.h>

namespace wattune {
namespace {

using ::testing::ElementsAre;

std::vector<Parameter> parameters() {
  return {{"x", {1, 2, 3}}, {"nvml_gr_clock", {900, 600, 1200}}, {"nvml_pwr_limit", {100, 200}}};
}

TEST(SettingAxesTest, AxesAreToldApartByNameOrKind) {
  const SettingAxes axes(parameters(), {});
  EXPECT_THAT(axes.places(), ElementsAre(1U, 2U));
  EXPECT_EQ(axes.main(), 0U);
  EXPECT_THAT(axes.ascending(0), ElementsAre(1U, 0U, 2U));
  EXPECT_EQ(axes.combinations(), 6U);
  const SettingAxes none(parameters(), std::vector(3, ParameterKind::code));
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.main());
}

TEST(SettingAxesTest, TheNearestValueIsTakenAndTheOthersAreAtMaximum) {
  const SettingAxes axes(parameters(), {});
  EXPECT_THAT(axes.maximum(), ElementsAre(2U, 1U));
  EXPECT_THAT(axes.at(700), ElementsAre(1U, 1U));
  EXPECT_EQ(axes.text(axes.at(700)), "at 600 MHz, 200 W");
}

TEST(SettingAxesTest, ThePowerLimitSteersWhereThereIsOneClock) {
  EXPECT_EQ(SettingAxes({{"nvml_gr_clock", {900}}, {"nvml_pwr_limit", {100, 200}}}, {}).main(), 1U);
}

TEST(SubspaceTest, RulesHoldInAPartOfTheSpace) {
  const auto whole = SearchSpace::build(parameters(), {{"x < 3 or nvml_gr_clock > 800", "here"}});
  const SettingAxes axes(whole.parameters(), {});
  const auto low = Subspace::at_settings(whole, axes, {axes.at(600)});
  EXPECT_EQ(low.space().size(), 2U);
  const Point point = low.to_whole(low.space().point(1));
  EXPECT_THAT(point, ElementsAre(1U, 1U, 1U));
  EXPECT_EQ(low.from_whole(point), low.space().point(1));
  EXPECT_FALSE(low.from_whole({1, 0, 1}));
}

TEST(SubspaceTest, SpacesOfListedPointsKeepTheirPoints) {
  const auto whole = SearchSpace::of_points(parameters(), {{0, 0, 0}, {1, 1, 1}, {2, 1, 1}, {2, 2, 0}});
  const SettingAxes axes(whole.parameters(), {});
  const auto low = Subspace::at_settings(whole, axes, {axes.at(600)});
  EXPECT_EQ(low.space().size(), 2U);
  EXPECT_FALSE(low.from_whole({0, 1, 1}));
}

TEST(SubspaceTest, SettingsThatAreNoProductAreListed) {
  const auto whole = SearchSpace::build(parameters(), {});
  const SettingAxes axes(whole.parameters(), {});
  const auto part = Subspace::at_settings(whole, axes, {{0, 0}, {1, 1}});
  EXPECT_EQ(part.space().size(), 6U);
  EXPECT_FALSE(part.from_whole({0, 0, 1}));
}

TEST(SubspaceTest, AVariantIsKeptAtAllItsValidSettings) {
  const auto whole = SearchSpace::build(parameters(), {{"x < 3 or nvml_gr_clock > 800", "here"}});
  const SettingAxes axes(whole.parameters(), {});
  const auto part = Subspace::of_variants(whole, axes, {{2, 2, 1}});
  EXPECT_EQ(part.space().size(), 4U);
  for (Count i = 0; i < part.space().size(); ++i) EXPECT_EQ(part.to_whole(part.space().point(i))[0], 2U);
}

TEST(SubspaceTest, EverythingIsAPartOfTheSpaceToo) {
  const auto whole = SearchSpace::build(parameters(), {});
  const auto all = Subspace::all_of(whole);
  EXPECT_EQ(all.space().size(), whole.size());
  EXPECT_EQ(all.to_whole({2, 1, 0}), (Point{2, 1, 0}));
}

}  // namespace
}  // namespace wattune
