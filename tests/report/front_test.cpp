#include "report/front.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <numeric>

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Objective> speed_and_efficiency = {{"GFLOP/s", Direction::maximize},
                                                     {"GFLOP/J", Direction::maximize}};

std::vector<Evaluation> measured(const std::vector<std::pair<double, double>>& points, double error) {
  std::vector<Evaluation> evaluations;
  for (const auto& [speed, efficiency] : points) {
    Evaluation evaluation;
    evaluation.configuration = {Value(static_cast<int>(evaluations.size()))};
    evaluation.quantities["GFLOP/s"] = {speed, "GFLOP/s", error * speed, 3, {}};
    evaluation.quantities["GFLOP/J"] = {efficiency, "GFLOP/J", error * efficiency, 3, {}};
    evaluations.push_back(std::move(evaluation));
  }
  return evaluations;
}

Front front_of(const std::vector<Evaluation>& evaluations) {
  std::vector<std::size_t> all(evaluations.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return analyse_front(evaluations, all, speed_and_efficiency);
}

TEST(FrontText, TellsTheTradeOffInWordsOfSpeedAndEfficiency) {
  const auto evaluations = measured({{1000, 50}, {716, 52.9}}, 0.001);
  EXPECT_EQ(front_remarks(front_of(evaluations), evaluations),
            "From the best GFLOP/s to the best GFLOP/J: 28.40 +- 0.10 % slower for 5.80 +- 0.15 % more efficient\n");
}

TEST(FrontText, NamesTheKneeAndExplainsWhatIsNotSure) {
  const auto evaluations = measured({{1000, 50}, {999, 70}, {990, 80}, {700, 82}}, 0.002);
  const Front front = front_of(evaluations);
  EXPECT_EQ(front_title(front), "Pareto front of GFLOP/s, GFLOP/J: 4 configurations, 1 of them not sure");
  EXPECT_EQ(front_mark(front, 0), "not sure");
  EXPECT_EQ(front_mark(front, 2), "sure, knee");
  EXPECT_THAT(front_remarks(front, evaluations),
              AllOf(HasSubstr("At the knee, farthest from the line between the ends: 1.0 +- 0.3 % slower for"),
                    HasSubstr("Not sure:")));
  const auto exact = measured({{1000, 50}, {999, 70}}, 0);
  EXPECT_THAT(front_remarks(front_of(exact), exact), AllOf(HasSubstr("0.1000 % slower for 40.00 % more efficient"),
                                                           Not(HasSubstr("+-")), Not(HasSubstr("Not sure"))));
}

TEST(FrontText, AFewRowsOfALongFrontHoldItsEndsAndItsKnee) {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 100; ++i) points.emplace_back(1000 - i, i < 93 ? i * 1e-3 : 10 + i * 1e-3);
  const Front front = front_of(measured(points, 0));
  ASSERT_EQ(front.knee, 93U);
  for (const std::size_t most : {3U, 5U, 20U}) {
    const auto places = front_places(front, most);
    EXPECT_EQ(places.size(), most);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    EXPECT_THAT(places, AllOf(Contains(0U), Contains(93U), Contains(99U)));
  }
  EXPECT_EQ(front_places(front, 2), (std::vector<std::size_t>{0, 99}));
  EXPECT_EQ(front_places(front, 1000).size(), 100U);
  EXPECT_TRUE(front_places(front_of({}), 20).empty());
}

TEST(FrontJson, HasMembersKneeAndTradeOff) {
  const auto evaluations = measured({{900, 1}, {1000, 50}, {999, 70}, {990, 80}, {700, 82}}, 0.002);
  const auto object = front_to_json(front_of(evaluations), evaluations);
  ASSERT_EQ(object["members"].size(), 4U);
  EXPECT_EQ(object["members"][0], (nlohmann::json{{"index", 1}, {"sure", false}, {"rival", 2}}));
  EXPECT_EQ(object["knee"], 3);
  EXPECT_NEAR(object["trade_off"]["GFLOP/s"]["relative"].get<double>(), -0.3, 1e-12);
  EXPECT_NEAR(object["knee_trade_off"]["GFLOP/J"]["relative"].get<double>(), 0.6, 1e-12);
  EXPECT_EQ(object["objectives"][0], (nlohmann::json{{"name", "GFLOP/s"}, {"direction", "maximize"}}));
}

}  // namespace
}  // namespace wattune
