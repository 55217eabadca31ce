#include "analysis/pareto.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Measured {
  double time, energy;
  double time_error = 0, energy_error = 0;
};

const std::vector<Objective> time_and_energy = {{"time", Direction::minimize}, {"energy", Direction::minimize}};

std::vector<Evaluation> evaluations_of(const std::vector<Measured>& points) {
  std::vector<Evaluation> evaluations;
  for (const auto& point : points) {
    Evaluation evaluation;
    evaluation.configuration = {Value(static_cast<int>(evaluations.size()))};
    evaluation.quantities["time"] = {point.time, "s", point.time_error, 3, {}};
    evaluation.quantities["energy"] = {point.energy, "J", point.energy_error, 3, {}};
    evaluations.push_back(std::move(evaluation));
  }
  return evaluations;
}

Front front_of(const std::vector<Evaluation>& evaluations, const std::vector<Objective>& objectives = time_and_energy) {
  std::vector<std::size_t> all(evaluations.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return analyse_front(evaluations, all, objectives);
}

std::vector<std::size_t> indices(const Front& front) {
  std::vector<std::size_t> result;
  for (const auto& member : front.members) result.push_back(member.index);
  return result;
}

TEST(Front, WithoutErrorsEveryMemberIsSure) {
  const Front front = front_of(evaluations_of({{1, 10}, {2, 5}, {3, 4.9}, {3, 6}}));
  EXPECT_THAT(indices(front), ElementsAre(0, 1, 2));
  for (const auto& member : front.members) EXPECT_TRUE(member.sure);
}

TEST(Front, AMemberWhoseRivalIsWorseOnlyWithinTheErrorIsNotSure) {
  // 1 is slower than 0 by less than the error, and certainly cheaper: 0 may well be beaten. 1 can be beaten by none.
  const Front front = front_of(evaluations_of({{1.00, 10, 0.01, 0.1}, {1.01, 8, 0.01, 0.1}, {2, 4, 0.01, 0.1}}));
  EXPECT_THAT(indices(front), ElementsAre(0, 1, 2));
  EXPECT_FALSE(front.members[0].sure);
  EXPECT_EQ(front.members[0].rival, 1U);
  EXPECT_TRUE(front.members[1].sure);
  EXPECT_TRUE(front.members[2].sure);
  EXPECT_FALSE(front.members[2].rival);
}

TEST(Front, ARivalOffTheFrontCountsToo) {
  // 1 is beaten by 0 as measured, by less than the error in both.
  const Front front = front_of(evaluations_of({{1, 10, 0.01, 0.1}, {1.001, 10.01, 0.01, 0.1}}));
  EXPECT_THAT(indices(front), ElementsAre(0));
  EXPECT_FALSE(front.members[0].sure);
  EXPECT_EQ(front.members[0].rival, 1U);
}

TEST(Front, TheErrorOfADifferenceIsOfBoth) {
  // 0.02 apart with errors of 0.01 each: 1.41 standard errors of the difference; 0.03 apart: 2.1.
  EXPECT_FALSE(front_of(evaluations_of({{1, 10, 0.01, 0}, {1.02, 8, 0.01, 0}})).members[0].sure);
  EXPECT_TRUE(front_of(evaluations_of({{1, 10, 0.01, 0}, {1.03, 8, 0.01, 0}})).members[0].sure);
}

TEST(Front, AnErrorThatIsNotKnownCountsAsNoneAndIsTold) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Front front = front_of(evaluations_of({{1, 10, nan, nan}, {1.0001, 8, nan, nan}}));
  EXPECT_TRUE(front.members[0].sure);
  EXPECT_FALSE(front.errors_known);
}

TEST(Front, TheKneeIsFarthestFromTheChord) {
  // Scaled: (0, 1), (0.1, 0.2), (0.5, 0.1), (1, 0); below the chord by 0.7, 0.4.
  const Front front = front_of(evaluations_of({{1, 20}, {1.1, 12}, {1.5, 11}, {2, 10}}));
  EXPECT_EQ(front.knee, 1U);
}

TEST(Front, TheKneeFollowsTheDirections) {
  auto evaluations = evaluations_of({{1, 20}, {1.1, 12}, {1.5, 11}, {2, 10}});
  for (auto& evaluation : evaluations) {
    for (auto& [name, quantity] : evaluation.quantities) quantity.value = 100 - quantity.value;
  }
  const Front front = front_of(evaluations, {{"time", Direction::maximize}, {"energy", Direction::maximize}});
  EXPECT_THAT(indices(front), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(front.knee, 1U);
}

TEST(Front, WithoutAMemberBelowTheChordThereIsNoKnee) {
  EXPECT_FALSE(front_of(evaluations_of({{1, 20}, {1.9, 19}, {2, 10}})).knee);  // bulges the other way
  EXPECT_FALSE(front_of(evaluations_of({{1, 20}, {1.5, 15}, {2, 10}})).knee);  // on the chord
  EXPECT_FALSE(front_of(evaluations_of({{1, 20}, {2, 10}})).knee);
  EXPECT_FALSE(front_of(evaluations_of({{1, 10}})).knee);
  EXPECT_FALSE(front_of({}).knee);
  EXPECT_THAT(indices(front_of({})), IsEmpty());
}

TEST(Front, OfOneOrThreeObjectivesHasNoKnee) {
  auto evaluations = evaluations_of({{1, 20}, {1.1, 12}, {2, 10}});
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    evaluations[i].quantities["power"] = {static_cast<double>(i), "W", 0, 1, {}};
  }
  std::vector<Objective> three = time_and_energy;
  three.push_back({"power", Direction::minimize});
  EXPECT_FALSE(front_of(evaluations, three).knee);
  EXPECT_EQ(front_of(evaluations, three).members.size(), 3U);
  EXPECT_EQ(front_of(evaluations, {time_and_energy[0]}).members.size(), 1U);
}

TEST(Front, LeavesOutWhatFailedOrLacksAnObjective) {
  auto evaluations = evaluations_of({{1, 20}, {0.5, 5}, {0.4, 4}});
  evaluations[1].outcome = Outcome::timeout;
  evaluations[2].quantities.erase("energy");
  EXPECT_THAT(indices(front_of(evaluations)), ElementsAre(0));
}

TEST(ChangeBetween, HasTheErrorOfARatio) {
  const auto evaluations = evaluations_of({{2, 10, 0.02, 0.1}, {3, 8, 0.03, 0.08}});
  const Change change = change_between(evaluations[0], evaluations[1], time_and_energy[0]);
  EXPECT_NEAR(change.relative, 0.5, 1e-12);
  EXPECT_NEAR(change.stderr_value, 1.5 * 0.01 * std::sqrt(2.0), 1e-12);
}

}  // namespace
}  // namespace wattune
