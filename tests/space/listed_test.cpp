// Spaces that are given as a list of points.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.hpp"
#include "space/search_space.hpp"

namespace wattune {
namespace {

std::vector<Parameter> parameters() {
  return {{"a", {1, 2, 3, 4}}, {"b", {"only"}}, {"c", {0, 1, 2}}, {"d", {10, 20, 30, 40, 50}}};
}

TEST(ListedSpace, IsTheSpaceThatRestrictionsWouldMake) {
  const SearchSpace built =
      SearchSpace::build(parameters(), {{"(a + c) % 2 == 0 and d != 30 and a * d < 120", "here"}});
  std::vector<Point> points;
  for (Count i = 0; i < built.size(); ++i) points.push_back(built.point(i));
  std::shuffle(points.begin(), points.end(), std::minstd_rand(1));  // NOLINT(cert-msc51-cpp)
  points.push_back(points.front());
  const SearchSpace listed = SearchSpace::of_points(parameters(), points);
  ASSERT_EQ(listed.size(), built.size());
  EXPECT_EQ(listed.cartesian(), built.cartesian());
  for (Count i = 0; i < built.size(); ++i) {
    const Point point = built.point(i);
    EXPECT_EQ(listed.point(i), point);
    EXPECT_EQ(listed.index(point), i);
    for (const auto kind : {Neighbourhood::hamming, Neighbourhood::adjacent, Neighbourhood::bounded}) {
      EXPECT_EQ(listed.moves(point, kind), built.moves(point, kind));
    }
  }
  EXPECT_FALSE(listed.contains(Point{0, 0, 0, 2}));
  EXPECT_EQ(listed.sample(10, 3), built.sample(10, 3));
  EXPECT_EQ(listed.latin_hypercube_sample(7, 3), built.latin_hypercube_sample(7, 3));
}

TEST(ListedSpace, OfOnePointAndOfNone) {
  const SearchSpace one = SearchSpace::of_points(parameters(), {{1, 0, 2, 4}});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(one.point(0), (Point{1, 0, 2, 4}));
  EXPECT_FALSE(one.contains(Point{0, 0, 2, 4}));
  EXPECT_EQ(SearchSpace::of_points(parameters(), {}).size(), 0U);
}

TEST(ListedSpace, FaultyPointsAreRefused) {
  EXPECT_THROW(SearchSpace::of_points(parameters(), {{1, 0, 2}}), UsageError);
  EXPECT_THROW(SearchSpace::of_points(parameters(), {{1, 0, 3, 0}}), UsageError);
}

}  // namespace
}  // namespace wattune
