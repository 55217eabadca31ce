#include "result/trials.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace wattune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Evaluation measured(int configuration, const std::string& tier, double energy, std::int64_t trial = 0) {
  Evaluation evaluation;
  evaluation.configuration = {Value(configuration)};
  evaluation.tier = tier;
  evaluation.trial = trial;
  evaluation.board = "GPU-1";
  evaluation.quantities["energy"] = {energy, "J", 0.01, 1, {}};
  return evaluation;
}

TEST(MeanOfTrials, HasTheSpreadBetweenTrialsAsErrorAndTheFlagsOfAny) {
  std::vector<Evaluation> trials = {measured(1, "final", 1), measured(1, "final", 3, 1)};
  trials[1].quantities["energy"].flags = {"thermal"};
  trials[1].quantities["voltage"].value = 0.8;  // the other lacks it
  const Evaluation mean = mean_of_trials(trials);
  ASSERT_EQ(mean.quantities.size(), 1U);
  const Quantity& energy = mean.quantities.at("energy");
  EXPECT_DOUBLE_EQ(energy.value, 2);
  EXPECT_DOUBLE_EQ(energy.stderr_value, 1);  // sqrt(2) / sqrt(2)
  EXPECT_EQ(energy.n, 2);
  EXPECT_EQ(energy.unit, "J");
  EXPECT_THAT(energy.flags, ElementsAre("thermal"));
}

TEST(MeanOfTrials, HasTheTrialsOwnErrorWhereThatIsLarger) {
  const std::vector<Evaluation> trials = {measured(1, "final", 2), measured(1, "final", 2, 1)};
  EXPECT_DOUBLE_EQ(mean_of_trials(trials).quantities.at("energy").stderr_value, 0.01 / std::sqrt(2));
}

TEST(FinalTrials, BecomeOneEvaluationForEachConfigurationAndBoard) {
  std::vector<Evaluation> evaluations = {measured(1, "screen", 9),   measured(1, "screen", 8, 1),
                                         measured(1, "final", 1),    measured(2, "final", 5),
                                         measured(1, "final", 3, 1), measured(1, "final", 7, 2)};
  evaluations.back().board = "GPU-2";
  EXPECT_EQ(replace_final_trials(evaluations), 1U);
  std::vector<double> energies;
  for (const auto& evaluation : evaluations) energies.push_back(evaluation.quantities.at("energy").value);
  EXPECT_THAT(energies, ElementsAre(9, 8, 5, 2, 7));
  EXPECT_EQ(evaluations[3].trial, 0);
  EXPECT_EQ(evaluations[4].trial, 2);
  EXPECT_EQ(replace_final_trials(evaluations), 0U);
}

TEST(FinalTrials, ThatFailedStayAsTheyAre) {
  std::vector<Evaluation> evaluations = {measured(1, "final", 1), measured(1, "final", 100, 1),
                                         measured(1, "final", 2, 2)};
  evaluations[1].outcome = Outcome::timeout;
  EXPECT_EQ(replace_final_trials(evaluations), 1U);
  ASSERT_EQ(evaluations.size(), 2U);
  EXPECT_EQ(evaluations[0].outcome, Outcome::timeout);
  EXPECT_DOUBLE_EQ(evaluations[1].quantities.at("energy").value, 1.5);
  std::vector<Evaluation> none;
  EXPECT_EQ(replace_final_trials(none), 0U);
  EXPECT_THAT(none, IsEmpty());
}

}  // namespace
}  // namespace wattune
