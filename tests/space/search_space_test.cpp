#include "space/search_space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "brute_force.hpp"
#include "space/counting.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Value> integers(std::int64_t first, std::int64_t last) {
  std::vector<Value> result;
  for (std::int64_t i = first; i <= last; ++i) result.emplace_back(i);
  return result;
}

/// Restrictions with the places that a problem file would give them.
std::vector<Restriction> restrictions(std::initializer_list<const char*> expressions) {
  std::vector<Restriction> result;
  for (const char* expression : expressions) {
    result.push_back({expression, "problem.json: Conditions[" + std::to_string(result.size()) + "].Expression"});
  }
  return result;
}

std::string error_of(std::vector<Parameter> parameters, std::initializer_list<const char*> expressions) {
  try {
    static_cast<void>(SearchSpace::build(std::move(parameters), restrictions(expressions)));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

/// x in {1, 1.5, 2, 3}, y in {4, 5.5}, two strings.
SearchSpace mixed_space() {
  return SearchSpace::build({{"x", {1, 1.5, 2, 3}}, {"y", {4, 5.5}}, {"z", {"string_1", "string_2"}}},
                            restrictions({"y % x == 1"}));
}

/// `count` parameters 1 .. most whose sum is `sum`.
SearchSpace sum_space(int count, int most, int sum) {
  std::vector<Parameter> parameters;
  std::string total;
  for (int i = 0; i < count; ++i) {
    parameters.push_back({"p" + std::to_string(i), integers(1, most)});
    total += (i == 0 ? "" : " + ") + parameters.back().name;
  }
  return SearchSpace::build(parameters, {{total + " == " + std::to_string(sum), "sum"}});
}

TEST(SearchSpace, CountsValuesOfAnyType) {
  const SearchSpace space = mixed_space();
  EXPECT_EQ(space.cartesian(), Count{16});
  EXPECT_EQ(space.size(), Count{6});
}

TEST(SearchSpace, FindsHammingNeighboursOfMixedValues) {
  const SearchSpace space = mixed_space();
  const auto point = space.find(std::vector<Value>{1, 4, "string_1"});
  ASSERT_TRUE(point);
  EXPECT_FALSE(space.contains(*point));
  std::vector<std::vector<Value>> neighbours;
  for (const Count index : space.neighbours(*point, Neighbourhood::hamming)) {
    neighbours.push_back(space.values(space.point(index)));
  }
  EXPECT_THAT(neighbours, ElementsAre(std::vector<Value>{1.5, 4, "string_1"}, std::vector<Value>{3, 4, "string_1"}));
}

TEST(SearchSpace, ListsConfigurationsInLexicographicOrder) {
  const SearchSpace space = SearchSpace::build({{"a", {1, 2, 3}}, {"free", {0, 1}}, {"b", {1, 2, 3}}},
                                               restrictions({"a * b == 3 or a == b"}));
  std::vector<Point> points;
  for (Count i = 0; i < space.size(); ++i) points.push_back(space.point(i));
  EXPECT_THAT(points, ElementsAre(Point{0, 0, 0}, Point{0, 0, 2}, Point{0, 1, 0}, Point{0, 1, 2}, Point{1, 0, 1},
                                  Point{1, 1, 1}, Point{2, 0, 0}, Point{2, 0, 2}, Point{2, 1, 0}, Point{2, 1, 2}));
  EXPECT_TRUE(space.is_lexicographic());
}

TEST(SearchSpace, CountsWhatCannotBeListed) {
  EXPECT_EQ(sum_space(4, 42, 42).size(), Count{10660});
  const SearchSpace space = sum_space(10, 20, 105);
  EXPECT_EQ(to_string(space.size()), "220633615280");
  for (const Count index : space.sample(200, 1)) {
    const Point point = space.point(index);
    EXPECT_EQ(std::accumulate(point.begin(), point.end(), 10U), 105U);
    EXPECT_EQ(space.index(point), index);
  }
}

TEST(SearchSpace, HandlesCountsBeyond64Bits) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 20; ++i) parameters.push_back({"p" + std::to_string(i), integers(1, 64)});
  const SearchSpace space = SearchSpace::build(parameters, restrictions({"p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + "
                                                                         "p9 + p10 + p11 + p12 + p13 <= 700"}));
  EXPECT_EQ(space.cartesian(), Count{1} << 120);
  EXPECT_GT(space.size(), Count{1} << 119);
  EXPECT_LT(space.size(), Count{1} << 120);
  for (const Count index : space.sample(100, 3)) EXPECT_EQ(space.index(space.point(index)), index);
  EXPECT_EQ(space.index(space.point(space.size() - 1)), space.size() - 1);
  EXPECT_EQ(to_string(Count{1} << 120), "1329227995784915872903807060280344576");
}

TEST(SearchSpace, RefusesMoreThan2To128Points) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 129; ++i) parameters.push_back({"p" + std::to_string(i), {0, 1}});
  EXPECT_THAT(error_of(parameters, {}), HasSubstr("more than 2^128 points"));
  parameters.resize(127);
  EXPECT_EQ(SearchSpace::build(parameters, {}).size(), Count{1} << 127);
}

TEST(SearchSpace, FindsAnotherOrderWhereTheGivenOneIsTooMuchWork) {
  // Known one after the other, the x would have to be remembered all until the y come.
  std::vector<Parameter> parameters;
  std::vector<Restriction> rules;
  for (const char* letter : {"x", "y"}) {
    for (int i = 0; i < 7; ++i) parameters.push_back({letter + std::to_string(i), integers(1, 12)});
  }
  std::string sum;
  for (int i = 0; i < 7; ++i) {
    rules.push_back({fmt::format("x{} % y{} == 0", i, i), "pair"});
    sum += fmt::format("{}x{}", i == 0 ? "" : " + ", i);
  }
  rules.push_back({sum + " <= 40", "sum"});
  const SearchSpace space = SearchSpace::build(parameters, rules);
  EXPECT_FALSE(space.is_lexicographic());

  // Counted by hand: sequences of seven x, each with as many y as it has divisors.
  std::vector<std::uint64_t> ways(41, 0);
  ways[0] = 1;
  for (int i = 0; i < 7; ++i) {
    std::vector<std::uint64_t> next(41, 0);
    for (std::size_t total = 0; total <= 40; ++total) {
      for (std::size_t x = 1; x <= 12 && total + x <= 40; ++x) {
        std::uint64_t divisors = 0;
        for (std::size_t y = 1; y <= x; ++y) divisors += x % y == 0 ? 1 : 0;
        next[total + x] += ways[total] * divisors;
      }
    }
    ways = next;
  }
  EXPECT_EQ(space.size(), Count{std::accumulate(ways.begin(), ways.end(), std::uint64_t{0})});
  for (const Count index : space.sample(200, 5)) EXPECT_EQ(space.index(space.point(index)), index);
}

TEST(SearchSpace, FreeParametersMultiply) {
  const auto build = [](std::vector<Parameter> more) {
    std::vector<Parameter> parameters = {{"x", integers(1, 32)}, {"y", integers(1, 32)}};
    parameters.insert(parameters.end(), more.begin(), more.end());
    return SearchSpace::build(parameters, restrictions({"x * y <= 64"}));
  };
  const Count code = build({}).size();
  const SearchSpace space = build({{"nvml_gr_clock", integers(210, 2000)}, {"nvml_pwr_limit", integers(100, 700)}});
  EXPECT_EQ(space.size(), code * 1791 * 601);
  EXPECT_EQ(space.index(space.point(space.size() / 3)), space.size() / 3);
}

TEST(SearchSpace, EmptySpaceIsNoError) {
  const SearchSpace space = SearchSpace::build({{"x", {1, 2}}, {"y", {1, 2}}}, restrictions({"x > y", "y > x"}));
  EXPECT_EQ(space.size(), Count{0});
  EXPECT_FALSE(space.contains(Point{0, 0}));
  EXPECT_EQ(space.index(Point{0, 1}), std::nullopt);
  EXPECT_THAT(space.moves(Point{0, 0}, Neighbourhood::hamming), IsEmpty());
  EXPECT_THAT(space.sample(10, 1), IsEmpty());
  EXPECT_THAT(space.stratified_sample(10, 1), IsEmpty());
  EXPECT_THAT(space.latin_hypercube_sample(10, 1), IsEmpty());
}

TEST(SearchSpace, WithoutParametersHoldsTheEmptyConfiguration) {
  EXPECT_EQ(SearchSpace::build({}, {}).size(), Count{1});
  EXPECT_EQ(SearchSpace::build({}, restrictions({"1 > 2"})).size(), Count{0});
}

TEST(SearchSpace, PositionsOutsideTheListsAreNotContained) {
  const SearchSpace space = SearchSpace::build({{"x", {1, 2}}, {"one", {5}}}, {});
  EXPECT_TRUE(space.contains(Point{1, 0}));
  EXPECT_FALSE(space.contains(Point{2, 0}));
  EXPECT_FALSE(space.contains(Point{1, 1}));
}

TEST(SearchSpace, FindTellsEqualNumbersOfDifferentTypesAlike) {
  const SearchSpace space = mixed_space();
  EXPECT_EQ(space.find(std::vector<Value>{2.0, 4.0, "string_2"}), (Point{2, 0, 1}));
  EXPECT_EQ(space.find(std::vector<Value>{true, 5.5, "string_2"}), (Point{0, 1, 1}));
  EXPECT_EQ(space.find(std::vector<Value>{7, 4, "string_2"}), std::nullopt);
  EXPECT_EQ(space.find(std::vector<Value>{1, 4}), std::nullopt);
}

TEST(SearchSpace, AdjacentSkipsInvalidValuesAndBoundedDoesNot) {
  const SearchSpace space = SearchSpace::build({{"x", integers(0, 9)}}, restrictions({"x in [0, 1, 4, 5, 9]"}));
  const auto positions = [&](std::uint32_t x, Neighbourhood kind) {
    std::vector<std::uint32_t> result;
    for (const Move& move : space.moves(Point{x}, kind)) result.push_back(move.position);
    return result;
  };
  EXPECT_THAT(positions(4, Neighbourhood::adjacent), ElementsAre(1, 5));
  EXPECT_THAT(positions(4, Neighbourhood::bounded), ElementsAre(5));
  EXPECT_THAT(positions(0, Neighbourhood::adjacent), ElementsAre(1));
  EXPECT_THAT(positions(9, Neighbourhood::bounded), IsEmpty());
  EXPECT_THAT(positions(4, Neighbourhood::hamming), ElementsAre(0, 1, 5, 9));
}

TEST(SearchSpace, FaultyRestrictionsAreToldWithTheirPlace) {
  const std::vector<Parameter> parameters = {{"block_size_x", {16, 32}}, {"mode", {"a", "b"}}};
  EXPECT_EQ(error_of(parameters, {"block_size_x > 1", "blok_size_x <= 32"}),
            "problem.json: Conditions[1].Expression: expression \"blok_size_x <= 32\", column 1: unknown name "
            "'blok_size_x'; did you mean 'block_size_x'?");
  EXPECT_EQ(error_of(parameters, {"block_size_x >"}),
            "problem.json: Conditions[0].Expression: expression \"block_size_x >\", column 15: the expression ends too "
            "early");
  EXPECT_EQ(
      error_of(parameters, {"mode < block_size_x"}),
      "problem.json: Conditions[0].Expression: expression \"mode < block_size_x\", column 6: < has no meaning for "
      "str and int (at block_size_x = 16, mode = a)");
}

TEST(SearchSpace, WrongTypesBehindAGuardAreNoError) {
  const std::vector<Parameter> parameters = {{"size", {"auto", 8, 16}}, {"y", {1, 2, 3}}};
  EXPECT_EQ(SearchSpace::build(parameters, restrictions({"size == 'auto' or size * y <= 16"})).size(), Count{6});
  EXPECT_EQ(SearchSpace::build(parameters, restrictions({"size != 'auto'", "size * y <= 16"})).size(), Count{3});
  EXPECT_THAT(error_of(parameters, {"size * y <= 16"}), HasSubstr("(at size = auto, y = 1)"));
}

TEST(SearchSpace, ParametersAreChecked) {
  EXPECT_EQ(error_of({{"x", {}}}, {}), "parameter 'x' has no values; give it one at least");
  EXPECT_EQ(error_of({{"x", {1}}, {"x", {2}}}, {}), "parameter 'x' is given twice; give each parameter once");
}

TEST(SearchSpace, DivisionByZeroMakesPointsInvalidAndIsCounted) {
  const std::vector<Parameter> parameters = {{"x", {0, 1, 2, 3}}, {"y", {2, 4}}, {"z", {1, 2, 3, 4, 5}}};
  const SearchSpace space = SearchSpace::build(parameters, restrictions({"z > 1", "y % x == 0"}));
  EXPECT_EQ(space.size(), Count{16});
  const std::vector<RestrictionFault> faults = space.faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].restriction, 1U);
  EXPECT_TRUE(faults[0].division_by_zero);
  EXPECT_EQ(faults[0].points.exact, std::optional<Count>(8));  // x = 0, any y, the four z above 1

  const SearchSpace guarded = SearchSpace::build(parameters, restrictions({"x == 0 or y % x == 0"}));
  EXPECT_EQ(guarded.size(), Count{30});
  EXPECT_THAT(guarded.faults(), IsEmpty());
}

TEST(SearchSpace, OverflowMakesPointsInvalidAndIsCounted) {
  const SearchSpace space =
      SearchSpace::build({{"x", {1, std::int64_t{1} << 62}}, {"y", {1, 4}}}, restrictions({"x * y > 0"}));
  EXPECT_EQ(space.size(), Count{3});
  ASSERT_EQ(space.faults().size(), 1U);
  EXPECT_FALSE(space.faults()[0].division_by_zero);
  EXPECT_EQ(space.faults()[0].points.exact, std::optional<Count>(1));
}

TEST(SearchSpace, ExplainsWhichRestrictionEmptiesIt) {
  const SearchSpace space = SearchSpace::build({{"x", integers(1, 10)}, {"y", integers(1, 10)}},
                                               restrictions({"x * y >= 50", "x + y <= 10", "x != y"}));
  EXPECT_EQ(space.size(), Count{0});
  const std::vector<RestrictionEffect> effects = space.explain();
  const test::BruteForce expected(space.parameters(), space.restrictions());
  ASSERT_EQ(effects.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(effects[i].removed_alone.exact, std::optional<Count>(expected.removed_alone[i]));
    EXPECT_EQ(effects[i].valid_without.exact, std::optional<Count>(expected.valid_without[i]));
  }
  EXPECT_GT(effects[0].valid_without.points, 0);
  EXPECT_EQ(effects[2].valid_without.points, 0);
}

TEST(SearchSpace, RestrictionThatTiesEverythingTogetherIsRefusedWithAdvice) {
  std::vector<Parameter> parameters;
  std::string scrambled = "(";
  for (int i = 0; i < 6; ++i) {
    parameters.push_back({"p" + std::to_string(i), integers(1, 32)});
    scrambled += fmt::format("{}p{} * p{} % {}", i == 0 ? "" : " + ", i, (i + 3) % 6, 1009 + 2 * i);
  }
  const auto definition = Definition::parse(parameters, {{scrambled + ") % 7 == 3", "here"}});
  try {
    static_cast<void>(count_valid(definition, 100'000));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "counting the search space: the restrictions tie 6 parameters together (p0, p1, p2, p3, p4, p5) in more "
        "ways than can be counted; give them fewer values, or restrictions on fewer parameters each");
  }
}

TEST(SearchSpace, EstimatesWhatIsTooMuchToCount) {
  const auto definition =
      Definition::parse({{"x", integers(1, 400)}, {"y", integers(1, 400)}}, {{"x * 7 % y < y / 2", ""}});
  const Question question{{0}, std::nullopt, Fault::none};
  const PointCount exact = estimate_points(definition, question, 1'000'000);
  const PointCount estimated = estimate_points(definition, question, 1000);
  ASSERT_TRUE(exact.exact);
  EXPECT_FALSE(estimated.exact);
  EXPECT_NEAR(estimated.points, exact.points, 0.02 * exact.points);
}

}  // namespace
}  // namespace wattune
