#include "strategy/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.hpp"
#include "spaces.hpp"
#include "strategy/record.hpp"

namespace wattune {
namespace {

using namespace testing_spaces;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<Point> all_of(Strategy& strategy, std::size_t at_a_time) {
  std::vector<Point> points;
  while (true) {
    const auto some = strategy.ask(at_a_time);
    if (some.empty()) return points;
    points.insert(points.end(), some.begin(), some.end());
  }
}

TEST(CostOf, energy_that_was_not_measured_is_what_is_used_at_least) {
  Evaluation hopeless;
  hopeless.quantities["energy_bound"] = {3, "J", 0, 5, {"lower_bound"}};
  hopeless.quantities["time"] = {0.5, "s", 0, 5, {}};
  EXPECT_EQ(cost_of(hopeless, {"energy", Direction::minimize}), 3);
  EXPECT_EQ(cost_of(hopeless, {"time", Direction::minimize}), 0.5);
  EXPECT_TRUE(std::isinf(cost_of(hopeless, {"power", Direction::minimize})));
  hopeless.outcome = Outcome::timeout;
  EXPECT_TRUE(std::isinf(cost_of(hopeless, {"energy", Direction::minimize})));
}

TEST(BruteForce, proposes_every_valid_configuration_once_in_the_order_of_the_space) {
  const auto space = triangle();
  const auto strategy = make_strategy("brute_force", space, 0);
  const auto points = all_of(*strategy, 7);
  ASSERT_EQ(points.size(), static_cast<std::size_t>(space.size()));
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i], space.point(i));
}

TEST(RandomSearch, depends_on_the_seed_and_not_on_how_many_are_asked_for_at_a_time) {
  const auto space = triangle();
  const auto one = all_of(*make_strategy("random", space, 1), 1);
  const auto same = all_of(*make_strategy("random", space, 1), 64);
  const auto other = all_of(*make_strategy("random", space, 2), 1);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
}

TEST(LatinHypercube, takes_every_value_equally_often) {
  const auto space = SearchSpace::build({{"a", {0, 1, 2, 3, 4}}, {"b", {0, 1, 2, 3, 4}}, {"c", {0, 1, 2, 3, 4}}}, {});
  StrategySetup setup;
  setup.options = {{"sample", "10"}};
  const auto points = make_strategy("latin_hypercube", space, 3, setup)->ask(10);
  for (std::size_t parameter = 0; parameter < 3; ++parameter) {
    std::multiset<std::uint32_t> positions;
    for (const auto& point : points) positions.insert(point[parameter]);
    for (std::uint32_t value = 0; value < 5; ++value) EXPECT_EQ(positions.count(value), 2U);
  }
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
  const auto cost = [](const Point& point) { return distance(point, 0); };
  EXPECT_EQ(search(*make_strategy("local_search", space, 1), cost, 3000).best(), 1);
}

TEST(LocalSearch, changes_two_parameters_where_none_can_change_alone) {
  const auto space = sum_space(" == 105");
  ASSERT_EQ(to_string(space.size()), "220633615280");
  // Positions 5 + i are values 6 + i, whose sum is 105.
  const auto cost = [](const Point& point) { return distance(point, 5); };
  const double local = search(*make_strategy("local_search", space, 1), cost, 3000).best();
  EXPECT_LE(local, 11);
  EXPECT_LT(5 * local, search(*make_strategy("random", space, 1), cost, 3000).best());
}

TEST(LocalSearch, waits_to_be_told_before_it_goes_on_from_where_it_is) {
  const auto space = triangle();
  const auto strategy = make_strategy("local_search", space, 4);
  const auto points = strategy->ask(1);
  ASSERT_EQ(points.size(), 1U);
  strategy->tell(points[0], evaluation_of(1));
  for (const auto& neighbour : strategy->ask(10)) {
    EXPECT_EQ((neighbour[0] != points[0][0]) + (neighbour[1] != points[0][1]), 1);
  }
}

TEST(LocalSearch, moves_a_device_setting_to_the_next_value_only) {
  const auto space = kernel_space();
  const auto strategy = make_strategy("local_search", space, 4);
  const auto start = strategy->ask(1).front();
  strategy->tell(start, evaluation_of(1));
  for (const auto& neighbour : strategy->ask(10)) {
    EXPECT_LE(std::abs(static_cast<int>(neighbour[5]) - static_cast<int>(start[5])), 1);
  }
}

TEST(MakeStrategy, lists_the_names_there_are_for_one_there_is_not) {
  const auto space = triangle();
  for (const auto& strategy : strategy_descriptions()) {
    EXPECT_THAT([&] { make_strategy("magic", space, 0); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("'magic'"), HasSubstr(strategy.name))));
  }
}

std::unique_ptr<Strategy> make_with(const std::string& name, const std::string& key, const std::string& value) {
  static const auto space = triangle();
  StrategySetup setup;
  setup.options = {{key, value}};
  return make_strategy(name, space, 0, setup);
}

TEST(StrategyOptions, change_the_search) {
  const auto usual = search(
      *make_with("genetic", "population", "10"), [](const Point& p) { return p[0] + 1.0; }, 60);
  const auto other = search(
      *make_with("genetic", "population", "30"), [](const Point& p) { return p[0] + 1.0; }, 60);
  EXPECT_NE(usual.points, other.points);
}

TEST(StrategyOptions, name_the_options_there_are_for_one_there_is_not) {
  EXPECT_THAT(
      [] { make_with("genetic", "size", "10"); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("'genetic'"), HasSubstr("'size'"), HasSubstr("population=10"))));
  EXPECT_THAT([] { make_with("random", "size", "10"); }, ThrowsMessage<UsageError>(HasSubstr("it has none")));
}

TEST(StrategyOptions, say_what_a_value_must_be) {
  for (const char* text : {"", "x", "1", "2.5", "nan", "1e99", "10 "}) {
    EXPECT_THAT([&] { make_with("genetic", "population", text); },
                ThrowsMessage<UsageError>(HasSubstr("a whole number from 2 to 100000")))
        << text;
  }
  EXPECT_THAT([] { make_with("local_search", "improvement", "worst"); },
              ThrowsMessage<UsageError>(HasSubstr("one of first, best")));
}

TEST(StrategyOptions, are_read_from_key_and_value) {
  StrategyOptions options;
  add_strategy_option(options, "a=b=c");
  EXPECT_EQ(options, (StrategyOptions{{"a", "b=c"}}));
  EXPECT_THAT([&] { add_strategy_option(options, "a"); }, ThrowsMessage<UsageError>(HasSubstr("key=value")));
  EXPECT_THAT([&] { add_strategy_option(options, "=a"); }, ThrowsMessage<UsageError>(HasSubstr("key=value")));
  EXPECT_THAT([&] { add_strategy_option(options, "a=2"); }, ThrowsMessage<UsageError>(HasSubstr("given twice")));
}

TEST(StrategyDescriptions, give_every_option_a_valid_default) {
  const auto space = triangle();
  for (const auto& strategy : strategy_descriptions()) {
    StrategySetup setup;
    for (const auto& option : strategy.options) setup.options[option.name] = option.fallback;
    EXPECT_NO_THROW(make_strategy(strategy.name, space, 0, setup)) << strategy.name;
  }
}

}  // namespace
}  // namespace wattune
