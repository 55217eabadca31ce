// A run that was killed goes on as if it had not been: the strategy is asked and told in the recorded order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "tune/tuner.hpp"

namespace wattune {
namespace {

using ::testing::IsEmpty;

/// Holds several proposals and finishes them in an order of its own, which depends on what it holds and nothing else.
/// Can be killed: after so many results it throws.
class DisorderlyEvaluator : public Evaluator {
 public:
  explicit DisorderlyEvaluator(std::size_t capacity) : capacity_(capacity) {}
  std::optional<std::size_t> results_before_kill;
  std::size_t evaluated = 0;

  [[nodiscard]] std::size_t capacity() const override { return capacity_; }
  void submit(Proposal proposal) override { proposals_.push_back(std::move(proposal)); }
  [[nodiscard]] std::size_t held() const override { return proposals_.size(); }
  std::optional<Done> next(double, int) override {
    if (evaluated == results_before_kill) throw DeviceError("killed");
    ++evaluated;
    auto rank = [](const Proposal& p) { return (p.point[0] * 7919 + p.point[1] * 104729) % 1009; };
    const auto first = std::min_element(proposals_.begin(), proposals_.end(),
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    Done done{std::move(*first), {}};
    proposals_.erase(first);
    done.evaluation.configuration = done.proposal.configuration;
    done.evaluation.proposal = done.proposal.number;
    done.evaluation.told = done.proposal.told;
    const double x = static_cast<double>(done.proposal.point[0]);
    const double y = static_cast<double>(done.proposal.point[1]);
    if (done.proposal.point[0] == 3) {
      done.evaluation.outcome = Outcome::compile;
    } else {
      Quantity& time = done.evaluation.quantities["time"];
      time.value = 2 + std::sin(x) + std::cos(2 * y) + 0.01 * x;
      time.unit = "s";
    }
    return done;
  }

 private:
  std::size_t capacity_;
  std::vector<Proposal> proposals_;
};

class ResumeTest : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t budget = 60;
  static constexpr std::size_t capacity = 5;

  ResumeTest() {
    std::vector<Value> values;
    for (int i = 0; i < 16; ++i) values.emplace_back(i);
    problem_.name = "fake";
    problem_.parameters = {{"x", values}, {"y", values}};
    problem_.kinds = {ParameterKind::code, ParameterKind::code};
    space_.emplace(SearchSpace::build(problem_.parameters, {}));
    header_.problem_hash = "0123456789abcdef";
    header_.problem_name = "fake";
    header_.parameter_names = {"x", "y"};
    header_.parameter_values = {values, values};
    header_.parameter_kinds = {"code", "code"};
    header_.device_name = "fake device";
  }
  /// Runs until the budget is used up or the evaluator is killed.
  TuneResult run(const std::string& journal, std::uint64_t seed = 1, std::optional<std::size_t> killed_after = {},
                 std::size_t evaluations = budget) {
    const auto strategy = make_strategy(GetParam(), *space_, seed, objectives_.front());
    return run(journal, *strategy, seed, killed_after, evaluations);
  }

  TuneResult run(const std::string& journal, Strategy& strategy, std::uint64_t seed,
                 std::optional<std::size_t> killed_after, std::size_t evaluations) {
    DisorderlyEvaluator evaluator(capacity);
    evaluator.results_before_kill = killed_after;
    TuneOptions options;
    options.budget.evaluations = evaluations;
    options.run = run_key(GetParam(), seed, objectives_);
    options.on_note = [&](const std::string& note) { notes_.push_back(note); };
    Journal file = Journal::open(folder_ / journal, header_);
    auto result = tune(problem_, *space_, strategy, evaluator, file, options);
    evaluated_ = evaluator.evaluated;
    return result;
  }

  /// What was proposed and in which order results came: "number: x,y after so many results".
  static std::vector<std::string> story(const TuneResult& result) {
    std::vector<std::string> lines;
    for (const auto& evaluation : result.evaluations) {
      lines.push_back(std::to_string(evaluation.proposal) + ": " + evaluation.configuration[0].str() + "," +
                      evaluation.configuration[1].str() + " after " + std::to_string(evaluation.told));
    }
    return lines;
  }

  const std::vector<Objective> objectives_ = {{"time", Direction::minimize}};
  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  Problem problem_;
  std::optional<SearchSpace> space_;
  JournalHeader header_;
  std::vector<std::string> notes_;
  std::size_t evaluated_ = 0;  ///< by the last run itself
};

TEST_P(ResumeTest, killed_after_any_number_of_results_it_goes_on_as_if_it_had_not_been) {
  const auto uninterrupted = story(run("whole"));
  ASSERT_EQ(uninterrupted.size(), budget);
  for (std::size_t kill = 0; kill < budget; kill += 3) {
    const std::string journal = "killed-" + std::to_string(kill);
    ASSERT_TRUE(run(journal, 1, kill).error);
    const auto resumed = run(journal);
    EXPECT_EQ(story(resumed), uninterrupted) << kill;
    EXPECT_EQ(resumed.state.reused, kill);
    EXPECT_EQ(evaluated_, budget - kill);
  }
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, killed_again_and_again_it_goes_on_as_if_it_had_not_been) {
  const auto uninterrupted = story(run("whole"));
  for (const std::size_t step : {2U, 7U}) {
    const std::string journal = "step-" + std::to_string(step);
    while (run(journal, 1, step).error) {
    }
    EXPECT_EQ(story(run(journal)), uninterrupted) << step;
    EXPECT_EQ(evaluated_, 0U);
  }
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, a_larger_budget_goes_on_from_all_that_the_smaller_one_gave) {
  const auto first = story(run("budget", 1, {}, 20));
  const auto all = story(run("budget", 1, {}, 45));
  ASSERT_EQ(all.size(), 45U);
  EXPECT_EQ(std::vector<std::string>(all.begin(), all.begin() + 20), first);
  EXPECT_EQ(evaluated_, 25U);
}

TEST_P(ResumeTest, a_smaller_budget_takes_the_first_of_what_is_there) {
  run("budget", 1, {}, 45);
  EXPECT_EQ(run("budget", 1, {}, 20).evaluations.size(), 20U);
  EXPECT_EQ(evaluated_, 0U);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, results_of_another_seed_in_between_are_reused_where_they_were) {
  run("mixed", 1, 15);
  run("mixed", 2, {}, 150);
  run("mixed", 1, 10);
  run("mixed", 3, {}, 100);
  const auto finished = story(run("mixed", 1));
  EXPECT_EQ(finished.size(), budget);
  // Once all is there, the same is told in the same order, whatever else the journal holds by now.
  run("mixed", 4, {}, 100);
  EXPECT_EQ(story(run("mixed", 1)), finished);
  EXPECT_EQ(evaluated_, 0U);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, a_journal_that_does_not_fit_the_strategy_is_reused_and_said_so) {
  run("other", 1, {}, 30);
  // The same run, as far as the journal tells, of a strategy that proposes something else.
  const auto other = make_strategy("random", *space_, 99);
  const auto result = run("other", *other, 1, {}, 256);
  EXPECT_EQ(result.evaluations.size(), 256U);
  EXPECT_EQ(result.state.reused, 30U);
  EXPECT_EQ(evaluated_, 226U);
  EXPECT_EQ(notes_.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(strategies, ResumeTest, ::testing::Values("random", "brute_force", "local_search"));

}  // namespace
}  // namespace wattune
