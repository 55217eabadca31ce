#include "strategy/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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

/// Tells a strategy of everything it proposes, one at a time, and returns the costs in order.
std::vector<double> search(Strategy& strategy, const std::function<double(const Point&)>& cost, std::size_t budget) {
  std::vector<double> costs;
  while (costs.size() < budget) {
    const auto points = strategy.ask(3);
    if (points.empty()) break;
    for (const auto& point : points) {
      Evaluation evaluation;
      const double value = cost(point);
      if (std::isinf(value)) {
        evaluation.outcome = Outcome::crash;
      } else {
        evaluation.quantities["time"].value = value;
      }
      strategy.tell(point, evaluation);
      costs.push_back(value);
    }
  }
  return costs;
}

/// Ten parameters 1..20 whose sum stands in a relation to 105.
SearchSpace sum_space(const std::string& relation) {
  std::vector<Parameter> parameters;
  std::string sum;
  for (int i = 0; i < 10; ++i) {
    Parameter parameter{"p" + std::to_string(i), {}};
    for (int value = 1; value <= 20; ++value) parameter.values.emplace_back(value);
    sum += (i > 0 ? " + " : "") + parameter.name;
    parameters.push_back(parameter);
  }
  return SearchSpace::build(parameters, {{sum + relation, "here"}});
}

/// 1 where the i-th parameter has its i-th value plus `shift`.
double distance(const Point& point, double shift) {
  double total = 1;
  for (std::size_t i = 0; i < point.size(); ++i) {
    total += std::pow(static_cast<double>(point[i]) - static_cast<double>(i) - shift, 2);
  }
  return total;
}

TEST(LocalSearch, finds_the_minimum_of_a_smooth_space_of_which_it_sees_a_small_part) {
  const auto space = sum_space(" <= 105");
  ASSERT_GT(space.size(), 1000000000U);  // far too many to list
  const auto strategy = make_strategy("local_search", space, 1);
  const auto costs = search(*strategy, [](const Point& point) { return distance(point, 0); }, 3000);
  EXPECT_EQ(*std::min_element(costs.begin(), costs.end()), 1);
}

TEST(LocalSearch, changes_two_parameters_where_none_can_change_alone) {
  const auto space = sum_space(" == 105");
  ASSERT_EQ(to_string(space.size()), "220633615280");
  // Positions 5 + i are values 6 + i, whose sum is 105.
  const auto cost = [](const Point& point) { return distance(point, 5); };
  const auto local = search(*make_strategy("local_search", space, 1), cost, 3000);
  const auto random = search(*make_strategy("random", space, 1), cost, 3000);
  const double best = *std::min_element(local.begin(), local.end());
  EXPECT_LE(best, 11);
  EXPECT_LT(5 * best, *std::min_element(random.begin(), random.end()));
}

TEST(LocalSearch, proposes_every_configuration_once_in_the_end_also_where_most_fail) {
  const auto space = small_space();
  const auto strategy = make_strategy("local_search", space, 4);
  std::set<Point> seen;
  const auto costs = search(
      *strategy,
      [&](const Point& point) {
        EXPECT_TRUE(seen.insert(point).second);
        EXPECT_TRUE(space.contains(point));
        return point[0] % 3 == 0 ? std::numeric_limits<double>::infinity() : point[1] + 1.0;
      },
      10000);
  EXPECT_EQ(costs.size(), 435U);
}

TEST(LocalSearch, waits_to_be_told_before_it_goes_on_from_a_start) {
  const auto space = small_space();
  const auto strategy = make_strategy("local_search", space, 4);
  const auto first = strategy->ask(10);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(strategy->ask(10).empty());
  Evaluation evaluation;
  evaluation.quantities["time"].value = 1;
  strategy->tell(first[0], evaluation);
  EXPECT_EQ(strategy->ask(10).size(), 10U);
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
