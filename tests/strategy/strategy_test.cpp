#include "strategy/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

SearchSpace small_space() {
  std::vector<Value> values;
  for (int i = 0; i < 30; ++i) values.emplace_back(i);
  return SearchSpace::build({{"a", values}, {"b", values}}, {{"a < b", "here"}});
}

std::vector<Point> all_of(Strategy& strategy, std::size_t at_a_time) {
  std::vector<Point> points;
  while (true) {
    const auto some = strategy.ask(at_a_time);
    if (some.empty()) return points;
    points.insert(points.end(), some.begin(), some.end());
  }
}

TEST(BruteForce, proposes_every_valid_configuration_once_in_the_order_of_the_space) {
  const auto space = small_space();
  const auto strategy = make_strategy("brute_force", space, 0);
  const auto points = all_of(*strategy, 7);
  ASSERT_EQ(points.size(), static_cast<std::size_t>(space.size()));
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i], space.point(i));
}

TEST(RandomSearch, proposes_every_valid_configuration_once) {
  const auto space = small_space();
  const auto strategy = make_strategy("random", space, 3);
  const auto points = all_of(*strategy, 10);
  EXPECT_EQ(points.size(), 435U);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 435U);
}

TEST(RandomSearch, depends_on_the_seed_and_not_on_how_many_are_asked_for_at_a_time) {
  const auto space = small_space();
  const auto one = all_of(*make_strategy("random", space, 1), 1);
  const auto same = all_of(*make_strategy("random", space, 1), 64);
  const auto other = all_of(*make_strategy("random", space, 2), 1);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
}

TEST(MakeStrategy, lists_the_names_there_are_for_one_there_is_not) {
  const auto space = small_space();
  try {
    make_strategy("magic", space, 0);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'magic'"));
    for (const auto& strategy : strategy_descriptions()) EXPECT_THAT(error.what(), HasSubstr(strategy.name));
  }
}

}  // namespace
}  // namespace wattune
