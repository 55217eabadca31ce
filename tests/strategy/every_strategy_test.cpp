// What holds for every strategy there is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "spaces.hpp"

namespace wattune {
namespace {

using namespace testing_spaces;

class EveryStrategy : public ::testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Strategy> make(const SearchSpace& space, std::uint64_t seed = 1) {
    return make_strategy(GetParam(), space, seed);
  }
};

void expect_valid_and_distinct(const SearchSpace& space, const Trace& trace) {
  std::set<Point> seen;
  for (const auto& point : trace.points) {
    EXPECT_TRUE(space.contains(point));
    EXPECT_TRUE(seen.insert(point).second) << "proposed twice";
  }
}

TEST_P(EveryStrategy, proposes_every_configuration_of_a_small_space_once_and_then_ends) {
  const auto space = triangle();
  const auto strategy = make(space);
  const auto trace = search(
      *strategy, [](const Point& point) { return point[0] + 0.1 * point[1] + 1; }, 10000, 3);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 435U);
  EXPECT_TRUE(strategy->ask(1).empty());
}

TEST_P(EveryStrategy, goes_on_where_some_configurations_fail) {
  const auto space = triangle();
  const auto trace = search(
      *make(space), [](const Point& point) { return point[0] % 3 == 0 ? fails : point[1] + 1.0; }, 10000, 2);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 435U);
}

TEST_P(EveryStrategy, goes_on_where_all_configurations_fail) {
  const auto space = triangle();
  const auto trace = search(
      *make(space), [](const Point&) { return fails; }, 10000);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 435U);
}

TEST_P(EveryStrategy, goes_on_where_all_costs_are_equal) {
  const auto space = kernel_space();
  const auto trace = search(
      *make(space), [](const Point&) { return 2.0; }, 150);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 150U);
}

TEST_P(EveryStrategy, proposes_the_only_configuration_of_a_space_of_one) {
  const auto space = SearchSpace::build({{"a", {7}}, {"b", {"x"}}}, {});
  const auto trace = search(
      *make(space), [](const Point&) { return 1.0; }, 10, 4);
  EXPECT_EQ(trace.points, (std::vector<Point>{{0, 0}}));
}

TEST_P(EveryStrategy, proposes_nothing_of_an_empty_space) {
  const auto space = SearchSpace::build({{"a", {1, 2}}}, {{"a > 2", "here"}});
  EXPECT_TRUE(make(space)->ask(3).empty());
}

TEST_P(EveryStrategy, searches_a_space_that_is_too_large_to_list) {
  const auto space = sum_space(" <= 105");
  ASSERT_GT(space.size(), Count{1000000000000U});
  const auto trace = search(
      *make(space), [](const Point& point) { return 1.0 + point[0] + point[1]; }, 60, 5);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 60U);
}

TEST_P(EveryStrategy, searches_a_space_in_which_no_parameter_can_change_alone) {
  const auto space = sum_space(" == 105");
  const auto trace = search(
      *make(space), [](const Point& point) { return 1.0 + point[0] + point[1]; }, 60, 5);
  expect_valid_and_distinct(space, trace);
  EXPECT_EQ(trace.points.size(), 60U);
}

TEST_P(EveryStrategy, repeats_itself_with_the_same_seed_and_order_of_ask_and_tell) {
  const auto space = kernel_space();
  const auto once = search(*make(space, 5), kernel_cost, 80, 3);
  EXPECT_EQ(once.points, search(*make(space, 5), kernel_cost, 80, 3).points);
  if (GetParam() == "brute_force") return;
  EXPECT_NE(once.points, search(*make(space, 6), kernel_cost, 80, 3).points);
}

TEST_P(EveryStrategy, sees_only_the_costs_that_it_is_told) {
  const auto space = kernel_space();
  const auto once = search(*make(space), kernel_cost, 80);
  const std::set<Point> visited(once.points.begin(), once.points.end());
  const auto corrupted = [&](const Point& point) { return visited.contains(point) ? kernel_cost(point) : 1e-9; };
  EXPECT_EQ(once.points, search(*make(space), corrupted, 80).points);
}

TEST_P(EveryStrategy, keeps_several_proposals_under_way_whatever_order_they_come_back_in) {
  const auto space = kernel_space();
  const auto strategy = make(space);
  std::set<Point> seen;
  std::vector<Point> under_way;
  for (int round = 0; round < 60; ++round) {
    for (auto& point : strategy->ask(under_way.size() < 6 ? 6 - under_way.size() : 0)) {
      EXPECT_TRUE(space.contains(point));
      EXPECT_TRUE(seen.insert(point).second);
      under_way.push_back(std::move(point));
    }
    ASSERT_FALSE(under_way.empty());
    const std::size_t chosen = static_cast<std::size_t>(round) * 7 % under_way.size();
    strategy->tell(under_way[chosen], evaluation_of(kernel_cost(under_way[chosen])));
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  EXPECT_GE(seen.size(), 60U);
}

TEST_P(EveryStrategy, does_not_propose_what_it_was_told_from_elsewhere) {
  const auto space = triangle();
  const auto strategy = make(space);
  std::set<Point> told;
  for (Count i = 0; i < 400; ++i) {
    const Point point = space.point(i);
    strategy->tell(point, evaluation_of(1.0 + point[0]));
    told.insert(point);
  }
  const auto trace = search(
      *strategy, [](const Point& point) { return 1.0 + point[0]; }, 1000);
  EXPECT_EQ(trace.points.size(), 35U);
  for (const auto& point : trace.points) EXPECT_FALSE(told.contains(point));
}

TEST_P(EveryStrategy, maximises_where_it_is_told_to) {
  const auto space = kernel_space();
  StrategySetup setup;
  setup.objectives = {{"time", Direction::maximize}};
  const auto turned = [](const Point& point) { return -kernel_cost(point); };
  const auto up = search(*make_strategy(GetParam(), space, 3, setup), turned, 60);
  const auto down = search(*make(space, 3), kernel_cost, 60);
  EXPECT_EQ(up.points.size(), 60U);
  EXPECT_EQ(up.points.front(), down.points.front());
}

std::vector<std::string> names_of(bool (*take)(const std::string&)) {
  std::vector<std::string> names;
  for (const auto& strategy : strategy_descriptions()) {
    if (take(strategy.name)) names.push_back(strategy.name);
  }
  return names;
}

bool any(const std::string&) {
  return true;
}
bool learns(const std::string& name) {
  return name != "random" && name != "brute_force" && name != "latin_hypercube";
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, ::testing::ValuesIn(names_of(&any)), name_of);

class LearningStrategy : public EveryStrategy {};

TEST_P(LearningStrategy, finds_the_optimum_of_a_separable_problem_far_sooner_than_random_search) {
  const auto space = kernel_space();
  std::size_t learning = 0;
  std::size_t random = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    learning += search(*make(space, seed), kernel_cost, 2000).until(1.0001);
    random += search(*make_strategy("random", space, seed), kernel_cost, 100000).until(1.0001);
  }
  EXPECT_LT(3 * learning, random);
}

INSTANTIATE_TEST_SUITE_P(Strategies, LearningStrategy, ::testing::ValuesIn(names_of(&learns)), name_of);

}  // namespace
}  // namespace wattune
