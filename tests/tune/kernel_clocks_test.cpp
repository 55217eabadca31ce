#include "tune/kernel_clocks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>

#include "../temporary_folder.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

/// A kernel on a board whose voltage rises from 1 GHz on, and which may warm up from one measurement to the next.
class FakeBoard : public Evaluator {
 public:
  KernelTimeModel time{1e6, 0, 3};
  PowerModel power{30, 0, 4e-8, 0, std::numeric_limits<double>::infinity(), VoltageCurve::hinge(1e9, 1e-9)};
  double warming = 0;        ///< K a measurement of power
  double reached_hz = 1e12;  ///< the power limit holds the board back above
  std::function<bool(const Proposal&)> fails = [](const Proposal&) { return false; };
  std::vector<Proposal> seen;

  [[nodiscard]] std::size_t capacity() const override { return 4; }
  void submit(Proposal proposal) override { queue_.push_back(std::move(proposal)); }
  [[nodiscard]] std::size_t held() const override { return queue_.size(); }
  std::optional<Done> next(double, int) override {
    Proposal proposal = std::move(queue_.front());
    queue_.pop_front();
    seen.push_back(proposal);
    Evaluation evaluation;
    evaluation.configuration = proposal.configuration;
    if (fails(proposal)) {
      evaluation.outcome = Outcome::launch;
      evaluation.message = "too many resources";
      return Done{std::move(proposal), std::move(evaluation)};
    }
    const double clock = std::min(proposal.configuration[1].as_double() * 1e6, reached_hz);
    const auto add = [&](const char* name, double value) { evaluation.quantities[name].value = value; };
    add("sm_clock", clock);
    add("time", time.time(clock));
    if (proposal.tier != "timing") {
      temperature_ += warming;
      const double watts = power.power(clock) * (1 + 0.006 * (temperature_ - 40));
      add("temperature", temperature_);
      add("power", watts);
      add("energy", watts * time.time(clock));
    }
    return Done{std::move(proposal), std::move(evaluation)};
  }
  [[nodiscard]] long count(const std::string& tier) const {
    return std::count_if(seen.begin(), seen.end(), [&](const Proposal& proposal) { return proposal.tier == tier; });
  }

 private:
  std::deque<Proposal> queue_;
  double temperature_ = 40;
};

class KernelClockSearchTest : public ::testing::Test {
 protected:
  KernelClockSearchTest() {
    std::vector<Value> clocks;
    for (int clock = 300; clock <= 1500; clock += 15) clocks.emplace_back(clock);
    problem_.name = "fake";
    problem_.parameters = {{"x", {Value(1), Value(2), Value(3)}}, {"nvml_gr_clock", clocks}};
    problem_.kinds = {ParameterKind::code, ParameterKind::device_setting};
    space_.emplace(SearchSpace::build(problem_.parameters, {}));
    header_.problem_hash = "0123456789abcdef";
    header_.problem_name = "fake";
    header_.parameter_names = problem_.parameter_names();
    for (const auto& parameter : problem_.parameters) header_.parameter_values.push_back(parameter.values);
    header_.parameter_kinds = {"code", "setting"};
    header_.device_name = "fake device";
    options_.device = board_.power;
  }
  std::optional<KernelClock> find(int x = 1) {
    Journal journal = Journal::open(folder_, header_);
    return KernelClockSearch(problem_, *space_, board_, journal, options_).find({Value(x), Value(1500)}, result_);
  }

  /// Energy lost at the clock found, against the best of all at one temperature.
  [[nodiscard]] double loss(const KernelClock& found) const {
    const KernelClockModel truth{board_.time, board_.power};
    std::vector<double> clocks;
    for (const auto& value : problem_.parameters[1].values) clocks.push_back(value.as_double() * 1e6);
    return truth.energy(found.best.configuration[1].as_double() * 1e6) /
               truth.energy(most_efficient_clock(truth, clocks)) -
           1;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  Problem problem_;
  std::optional<SearchSpace> space_;
  JournalHeader header_;
  FakeBoard board_;
  KernelClockOptions options_;
  TuneResult result_;
};

TEST_F(KernelClockSearchTest, SixMeasurementsOfPowerAreEnoughWhateverTheKernelWaitsFor) {
  for (const double floor : {0.0, 1e-3, 4e-3}) {
    board_.time.floor_s = floor;
    board_.seen.clear();
    const auto found = find(floor == 0.0 ? 1 : floor < 2e-3 ? 2 : 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->problem, "");
    EXPECT_LE(board_.count("clock"), 6);
    EXPECT_EQ(board_.count("timing"), 12);
    EXPECT_LT(loss(*found), 0.002) << "floor " << floor;
  }
}

TEST_F(KernelClockSearchTest, ABoardThatWarmsUpDoesNotMakeTheFirstMeasurementTheBest) {
  board_.warming = 3;  // nearly 2 % more power each time
  board_.power.slope_w_per_hz = 6e-8;
  options_.device.base_w = 90;  // the first guess is too high
  EXPECT_LT(loss(*find()), 0.01);
}

TEST_F(KernelClockSearchTest, WhatTheJournalHasIsNotMeasuredAgain) {
  const auto first = find();
  board_.seen.clear();
  const auto second = find();
  EXPECT_TRUE(board_.seen.empty());
  EXPECT_EQ(second->best.configuration, first->best.configuration);
  EXPECT_EQ(second->measurements, first->measurements);
}

TEST_F(KernelClockSearchTest, GoesOnWhereItWasInterrupted) {
  options_.interrupted = [this] { return board_.seen.size() >= 14; };
  EXPECT_FALSE(find());
  EXPECT_TRUE(result_.interrupted);
  const auto before = board_.seen.size();
  options_.interrupted = nullptr;
  ASSERT_TRUE(find());
  EXPECT_LE(board_.seen.size(), 18U);
  EXPECT_GT(board_.seen.size(), before);
}

TEST_F(KernelClockSearchTest, MeasurementsCompeteAndTimingsDoNot) {
  const auto found = find();
  EXPECT_EQ(result_.evaluations.size(), found->measurements);
  for (const auto& evaluation : result_.evaluations) EXPECT_EQ(evaluation.tier, "clock");
}

TEST_F(KernelClockSearchTest, ClocksThatThePowerLimitHoldsBackDoNotCount) {
  board_.reached_hz = 1.1e9;
  const auto found = find();
  ASSERT_EQ(found->problem, "");
  EXPECT_LT(loss(*found), 0.005);
}

TEST_F(KernelClockSearchTest, AConfigurationThatFailsHasNoClockAndSaysWhy) {
  board_.fails = [](const Proposal&) { return true; };
  EXPECT_THAT(find()->problem, HasSubstr("too many resources"));
  EXPECT_FALSE(result_.interrupted);
}

TEST_F(KernelClockSearchTest, IsComparedWithTheHighestClockWhereThatIsAskedFor) {
  options_.compare = true;
  const auto found = find();
  ASSERT_TRUE(found->highest);
  EXPECT_EQ(found->highest->configuration[1].as_int(), 1500);
  EXPECT_LE(found->measurements, 6U);
}

TEST_F(KernelClockSearchTest, CandidatesAreTheBestEachOnceWhateverTheirClock) {
  const auto add = [&](int x, int clock, double joules) {
    Evaluation evaluation;
    evaluation.configuration = {Value(x), Value(clock)};
    evaluation.quantities["energy"].value = joules;
    result_.evaluations.push_back(evaluation);
  };
  add(1, 900, 3.0);
  add(2, 900, 2.0);
  add(2, 1200, 1.9);
  add(3, 900, 4.0);
  const auto candidates = clock_candidates(problem_, result_, {"energy", Direction::minimize}, {}, 2);
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0], (std::vector<Value>{Value(2), Value(1200)}));
  EXPECT_EQ(candidates[1][0], Value(1));
}

}  // namespace
}  // namespace wattune
