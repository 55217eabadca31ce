#include "result/order.hpp"

#include <gmock/gmock.h>

#include <random>

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Objective least_time{"time", Direction::minimize};
const Objective least_energy{"energy", Direction::minimize};
const Objective most_flops{"GFLOP/s", Direction::maximize};

Evaluation measured(int configuration, std::map<std::string, double> values, Outcome outcome = Outcome::ok) {
  Evaluation evaluation;
  evaluation.configuration = {Value(configuration)};
  evaluation.outcome = outcome;
  for (const auto& [name, value] : values) evaluation.quantities[name].value = value;
  return evaluation;
}

TEST(Order, TheBestIsByDirectionAndOfEqualsTheFirst) {
  const std::vector<Evaluation> evaluations = {measured(0, {{"time", 3}, {"GFLOP/s", 10}}),
                                               measured(1, {{"time", 1}, {"GFLOP/s", 30}}),
                                               measured(2, {{"time", 1}, {"GFLOP/s", 30}})};
  EXPECT_EQ(best(evaluations, least_time), 1U);
  EXPECT_EQ(best(evaluations, most_flops), 1U);
  EXPECT_THAT(ranked(evaluations, most_flops), ElementsAre(1, 2, 0));
}

TEST(Order, WhatFailedOrLacksTheQuantityNeverWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Evaluation> evaluations = {measured(0, {{"time", 0.1}}, Outcome::correctness),
                                               measured(1, {{"power", 5}}), measured(2, {{"time", nan}}),
                                               measured(3, {{"time", -infinity}}), measured(4, {{"time", 9}})};
  EXPECT_EQ(best(evaluations, least_time), 4U);
  EXPECT_THAT(ranked(evaluations, least_time), ElementsAre(4));
  EXPECT_FALSE(best(evaluations, most_flops));
  EXPECT_FALSE(best({}, least_time));
  EXPECT_TRUE(better(evaluations[4], evaluations[0], least_time));
  EXPECT_FALSE(better(evaluations[0], evaluations[4], least_time));
  EXPECT_FALSE(better(evaluations[0], evaluations[1], least_time));
}

TEST(ParetoFront, IsSortedByTheFirstObjectiveAndKeepsNoDominatedPoint) {
  const std::vector<Evaluation> evaluations = {
      measured(0, {{"time", 3}, {"energy", 1}}), measured(1, {{"time", 1}, {"energy", 3}}),
      measured(2, {{"time", 2}, {"energy", 2}}), measured(3, {{"time", 2}, {"energy", 3}}),
      measured(4, {{"time", 2}, {"energy", 2}}), measured(5, {{"time", 0.5}})};
  const std::vector<Objective> both = {least_time, least_energy};
  EXPECT_THAT(pareto_front(evaluations, both), ElementsAre(1, 2, 0));
  const std::vector<Objective> one = {least_time};
  EXPECT_THAT(pareto_front(evaluations, one), ElementsAre(5));
  EXPECT_THAT(pareto_front(evaluations, {}), IsEmpty());
}

TEST(ParetoFront, AgreesWithTheDefinitionOnRandomPoints) {
  std::mt19937 random(7);
  for (const std::size_t dimensions : {1U, 2U, 3U, 4U}) {
    std::vector<Objective> objectives;
    for (std::size_t d = 0; d < dimensions; ++d) {
      objectives.push_back({std::to_string(d), d % 2 == 0 ? Direction::minimize : Direction::maximize});
    }
    std::vector<Evaluation> evaluations;
    for (int i = 0; i < 200; ++i) {
      std::map<std::string, double> values;
      for (const auto& objective : objectives) values[objective.name] = static_cast<double>(random() % 12);
      evaluations.push_back(measured(i, values));
    }
    auto value = [&](std::size_t i, std::size_t d) {
      return *objective_value(evaluations[i], objectives[d]) * (d % 2 == 0 ? 1 : -1);
    };
    auto dominates = [&](std::size_t a, std::size_t b) {
      bool less = false;
      for (std::size_t d = 0; d < dimensions; ++d) {
        if (value(a, d) > value(b, d)) return false;
        less = less || value(a, d) < value(b, d);
      }
      return less || a < b;
    };
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
      bool beaten = false;
      for (std::size_t j = 0; j < evaluations.size(); ++j) beaten = beaten || (j != i && dominates(j, i));
      if (!beaten) expected.push_back(i);
    }
    const auto front = pareto_front(evaluations, objectives);
    EXPECT_THAT(front, ::testing::UnorderedElementsAreArray(expected)) << dimensions;
    EXPECT_TRUE(std::is_sorted(front.begin(), front.end(), [&](auto a, auto b) { return value(a, 0) < value(b, 0); }));
  }
}

TEST(Competing, WhatWasMeasuredStandsAgainstWhatWasNotBecauseItCouldNotWin) {
  std::vector<Evaluation> evaluations(2);
  for (auto& evaluation : evaluations) evaluation.configuration = {Value(1)};
  evaluations[0].quantities["energy"] = {1, "J", 0, 2, {}};
  evaluations[1].quantities["energy_bound"] = {2, "J", 0, 2, {}};
  EXPECT_EQ(competing(evaluations), std::vector<std::size_t>{0});
}

TEST(Competing, AConfigurationCountsByItsFinalMeasurement) {
  auto in_tier = [](Evaluation evaluation, const char* tier) {
    evaluation.tier = tier;
    return evaluation;
  };
  const std::vector<Evaluation> evaluations = {
      measured(0, {{"time", 1}}),                            // lucky in the screening
      in_tier(measured(0, {{"time", 2}}), "final"),          //
      measured(1, {{"time", 3}}),                            // never measured again
      measured(2, {{"time", 4}}),                            //
      in_tier(measured(2, {}, Outcome::timeout), "final"),   // a failure does not unseat a success
      in_tier(measured(3, {{"time", 0.1}}), "calibration"),  //
      in_tier(measured(4, {{"time", 0.1}}), "reference"),    //
      measured(5, {}, Outcome::compile),                     //
      measured(1, {{"time", 3.5}}),                          // the later trial
  };
  EXPECT_THAT(competing(evaluations), ElementsAre(1, 3, 7, 8));
}

}  // namespace
}  // namespace wattune
