#include "result/constraint.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> known = {"time", "power", "energy", "GFLOP/s", "quality"};
const std::vector<Objective> least_energy = {{"energy", Direction::minimize}};

Problem problem() {
  Problem result;
  result.parameters = {{"block", {Value(32), Value(64)}}, {"layout", {Value("row"), Value("column")}}};
  result.metrics = {{"GFLOP/s", Expression::parse("1 / time"), "GFLOP/s", Direction::maximize},
                    {"quality", Expression::parse("time"), "", std::nullopt}};
  return result;
}

ConstraintSet constraints(const std::vector<std::string>& conditions) {
  return {conditions, problem(), known, least_energy};
}

Evaluation measured(double time, double energy, int block = 32, const char* layout = "row") {
  Evaluation evaluation;
  evaluation.configuration = {Value(block), Value(layout)};
  evaluation.quantities["time"] = {time, "s", 0, 1, {}};
  evaluation.quantities["energy"] = {energy, "J", 0, 1, {}};
  evaluation.quantities["GFLOP/s"] = {1 / time, "GFLOP/s", 0, 1, {}};
  return evaluation;
}

Evaluation failed() {
  Evaluation evaluation;
  evaluation.configuration = {Value(64), Value("row")};
  evaluation.outcome = Outcome::compile;
  return evaluation;
}

std::vector<std::size_t> feasible(const std::vector<std::string>& conditions,
                                  const std::vector<Evaluation>& evaluations) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < evaluations.size(); ++i) all.push_back(i);
  return constraints(conditions).feasible(evaluations, all);
}

double violation(const std::string& condition, const Evaluation& evaluation) {
  const auto set = constraints({condition});
  auto bests = set.none_yet();
  set.update(bests, evaluation);
  return set.violation(evaluation, bests);
}

std::string message_of(const std::string& condition) {
  try {
    constraints({condition});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Constraints, BestIsTakenOverAllResults) {
  const std::vector<Evaluation> evaluations = {measured(2, 5), measured(1, 9), failed(), measured(1.04, 7),
                                               measured(1.06, 6)};
  EXPECT_THAT(feasible({"time <= 1.05*best(time)"}, evaluations), ElementsAre(1, 3));
  EXPECT_THAT(feasible({"time <= 1.05 * best( time )", "energy < 8"}, evaluations), ElementsAre(3));
  EXPECT_THAT(feasible({"energy <= best(energy)"}, evaluations), ElementsAre(0));
}

TEST(Constraints, BestOfAMetricIsTheGreatestWhereMoreIsBetter) {
  const std::vector<Evaluation> evaluations = {measured(2, 5), measured(1, 9)};
  EXPECT_THAT(feasible({"1 / time >= 0.4 * best(GFLOP/s)"}, evaluations), ElementsAre(0, 1));
  EXPECT_THAT(feasible({"1 / time >= 0.6 * best(GFLOP/s)"}, evaluations), ElementsAre(1));
}

TEST(Constraints, ParametersAndLogicMayBeUsed) {
  const std::vector<Evaluation> evaluations = {measured(2, 5), measured(1, 9, 64), measured(3, 1, 64, "column")};
  EXPECT_THAT(feasible({"block == 64 and time < 2.5"}, evaluations), ElementsAre(1));
  EXPECT_THAT(feasible({"layout == 'column' or energy < 6"}, evaluations), ElementsAre(0, 2));
  EXPECT_THAT(feasible({"1.5 < time <= 2"}, evaluations), ElementsAre(0));
  EXPECT_THAT(feasible({"not block == 64"}, evaluations), ElementsAre(0));
  EXPECT_THAT(feasible({"layout in ['column']"}, evaluations), ElementsAre(2));
}

TEST(Constraints, ViolationIsRelativeToTheRightSide) {
  EXPECT_DOUBLE_EQ(violation("time <= 0.8", measured(1, 1)), 0.25);
  EXPECT_DOUBLE_EQ(violation("time <= 1", measured(1, 1)), 0);
  EXPECT_GT(violation("time < 1", measured(1, 1)), 0);
  EXPECT_DOUBLE_EQ(violation("time >= 2", measured(1, 1)), 0.5);
  EXPECT_DOUBLE_EQ(violation("time <= 0.8 or time <= 0.5", measured(1, 1)), 0.25);
  EXPECT_DOUBLE_EQ(violation("time <= 0.8 and time <= 0.5", measured(1, 1)), 1);
  EXPECT_DOUBLE_EQ(violation("block == 64", measured(1, 1)), 0.5);
  EXPECT_DOUBLE_EQ(violation("layout == 'column'", measured(1, 1)), 1);
}

TEST(Constraints, WhatIsNotMeasuredIsNotMet) {
  EXPECT_TRUE(std::isinf(violation("power < 300", measured(1, 1))));
  EXPECT_TRUE(std::isinf(violation("time < 1 / (block - 32)", measured(1, 1))));
  EXPECT_THAT(feasible({"power < 300"}, {measured(1, 1)}), IsEmpty());
}

TEST(Constraints, StrategiesAreToldWorseObjectives) {
  const auto set = constraints({"time <= 0.8"});
  const auto bests = set.none_yet();
  const Evaluation evaluation = measured(1, 4);
  EXPECT_DOUBLE_EQ(set.penalised(evaluation, bests, least_energy).quantities.at("energy").value, 4 + 10 * 0.25 * 4);
  EXPECT_DOUBLE_EQ(set.penalised(evaluation, bests, least_energy).quantities.at("time").value, 1);
  EXPECT_TRUE(ConstraintSet::is_penalised(set.penalised(evaluation, bests, least_energy), least_energy.front()));
  EXPECT_FALSE(
      ConstraintSet::is_penalised(set.penalised(evaluation, bests, least_energy), {"time", Direction::minimize}));
  EXPECT_FALSE(ConstraintSet::is_penalised(set.penalised(measured(0.5, 4), bests, least_energy), least_energy.front()));
  const std::vector<Objective> most = {{"GFLOP/s", Direction::maximize}};
  EXPECT_LT(set.penalised(evaluation, bests, most).quantities.at("GFLOP/s").value, 0);
  EXPECT_DOUBLE_EQ(set.penalised(measured(0.5, 4), bests, least_energy).quantities.at("energy").value, 4);
  EXPECT_EQ(constraints({"power < 3"}).penalised(evaluation, bests, least_energy).outcome, Outcome::constraints);
}

TEST(Constraints, FaultsNameTheConditionAndWhatToDo) {
  EXPECT_THAT(message_of("time <="), HasSubstr("condition 'time <=': column "));
  EXPECT_THAT(message_of("tiem < 1"), HasSubstr("there is no quantity or metric 'tiem'; did you mean 'time'?"));
  EXPECT_THAT(message_of("time < best(tiem)"), HasSubstr("'tiem'; did you mean 'time'?"));
  EXPECT_THAT(message_of("time < best(quality)"), HasSubstr("make it an objective"));
  EXPECT_THAT(message_of("time < best(time"), HasSubstr("there is a '(' without its ')'"));
  EXPECT_THAT(message_of("time < 2*best(time) +"), HasSubstr("column 2"));
}

TEST(Constraints, NoneAreAlwaysMet) {
  const ConstraintSet none;
  EXPECT_TRUE(none.empty());
  const std::vector<Evaluation> evaluations = {measured(1, 1), failed()};
  EXPECT_THAT(none.feasible(evaluations, std::vector<std::size_t>{0, 1}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace wattune
