// A run that was killed goes on as if it had not been: the strategy is asked and told in the recorded order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "method/method.hpp"
#include "tune/tuner.hpp"

namespace wattune {
namespace {

using ::testing::IsEmpty;

/// Holds several proposals and finishes them in an order of its own, which depends on what it holds and nothing else.
/// Can be killed: after so many results it throws.
class DisorderlyEvaluator : public Evaluator {
 public:
  /// @param salt gives another order
  DisorderlyEvaluator(std::size_t capacity, std::uint64_t salt) : capacity_(capacity), salt_(salt) {}
  std::optional<std::size_t> results_before_kill;
  std::size_t evaluated = 0;

  [[nodiscard]] std::size_t capacity() const override { return capacity_; }
  void submit(Proposal proposal) override { proposals_.push_back(std::move(proposal)); }
  [[nodiscard]] std::size_t held() const override { return proposals_.size(); }
  std::optional<Done> next(double, int) override {
    if (evaluated == results_before_kill) throw DeviceError("killed");
    ++evaluated;
    const auto rank = [&](const Proposal& p) { return (p.point[0] * 7919 + p.point[1] * 104729 + salt_ * 31) % 1009; };
    const auto first = std::min_element(proposals_.begin(), proposals_.end(),
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    Done done{std::move(*first), {}};
    proposals_.erase(first);
    done.evaluation.configuration = done.proposal.configuration;
    done.evaluation.proposal = done.proposal.number;
    done.evaluation.told = done.proposal.told;
    measure(done.evaluation);
    return done;
  }

 private:
  /// A made-up kernel, whose energy has its least inside the range of clocks.
  static void measure(Evaluation& evaluation) {
    const double x = evaluation.configuration[0].as_double();
    const double clock = evaluation.configuration[1].as_double() / 1000;
    if (x == 3) {
      evaluation.outcome = Outcome::compile;
      return;
    }
    const double volt = 1 + std::max(0.0, clock - 0.9) * 0.9;
    const double time = (2 + std::sin(x) + 0.01 * x) / clock;
    const double power = 30 + (60 + x) * clock * volt * volt;
    evaluation.quantities["time"] = {time, "s", 0, 1, {}};
    evaluation.quantities["power"] = {power, "W", 0, 1, {}};
    evaluation.quantities["energy"] = {time * power, "J", 0, 1, {}};
  }

  std::size_t capacity_;
  std::uint64_t salt_;
  std::vector<Proposal> proposals_;
};

class ResumeTest : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t budget = 60;
  static constexpr std::size_t capacity = 5;

  ResumeTest() {
    std::vector<Value> values;
    std::vector<Value> clocks;
    for (int i = 0; i < 16; ++i) {
      values.emplace_back(i);
      clocks.emplace_back(300 + 75 * i);
    }
    problem_.name = "fake";
    problem_.parameters = {{"x", values}, {"nvml_gr_clock", clocks}};
    problem_.kinds = {ParameterKind::code, ParameterKind::device_setting};
    space_.emplace(SearchSpace::build(problem_.parameters, {}));
    header_.problem_hash = "0123456789abcdef";
    header_.problem_name = "fake";
    header_.parameter_names = {"x", "nvml_gr_clock"};
    header_.parameter_values = {values, clocks};
    header_.parameter_kinds = {"code", "device_setting"};
    header_.device_name = "fake device";
  }
  /// Runs until the budget is used up or the evaluator is killed.
  TuneResult run(const std::string& journal, std::uint64_t seed = 1, std::optional<std::size_t> killed_after = {},
                 std::size_t evaluations = budget) {
    const auto strategy = make(seed);
    return run(journal, *strategy, seed, killed_after, evaluations);
  }

  /// A strategy, a method, or `auto` that goes over to its second strategy early.
  [[nodiscard]] std::unique_ptr<Strategy> make(std::uint64_t seed) const {
    const std::string name = GetParam();
    const auto& methods = method_descriptions();
    if (std::ranges::find(methods, name, &MethodDescription::name) != methods.end()) {
      MethodSetup setup;
      setup.evaluations = budget;
      setup.base_clock = 900;
      setup.strategy = "genetic";
      return make_method(name, *space_, seed, setup);
    }
    StrategySetup setup;
    setup.objectives = objectives_;
    if (name == "auto") setup.options = {{"model_until", "25"}};
    return make_strategy(name, *space_, seed, setup);
  }

  TuneResult run(const std::string& journal, Strategy& strategy, std::uint64_t seed,
                 std::optional<std::size_t> killed_after, std::size_t evaluations) {
    DisorderlyEvaluator evaluator(capacity, seed);
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
  const std::size_t all = uninterrupted.size();  // some methods end before the budget does
  ASSERT_GT(all, 15U);
  for (std::size_t kill = 0; kill < all; kill += 3) {
    const std::string journal = "killed-" + std::to_string(kill);
    ASSERT_TRUE(run(journal, 1, kill).error);
    const auto resumed = run(journal);
    EXPECT_EQ(story(resumed), uninterrupted) << kill;
    EXPECT_EQ(resumed.state.reused, kill);
    EXPECT_EQ(evaluated_, all - kill);
  }
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, a_run_repeated_takes_all_from_the_journal_whatever_order_results_came_in) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto once = story(run(std::to_string(seed), seed));
    const auto again = run(std::to_string(seed), seed);
    EXPECT_EQ(story(again), once) << "seed " << seed;
    EXPECT_EQ(again.state.reused, once.size()) << "seed " << seed;
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
  const auto first = story(run("budget", 1, {}, 15));
  const auto all = story(run("budget", 1, {}, 45));
  ASSERT_GT(all.size(), 15U);
  EXPECT_EQ(std::vector<std::string>(all.begin(), all.begin() + 15), first);
  EXPECT_EQ(evaluated_, all.size() - 15U);
}

TEST_P(ResumeTest, a_smaller_budget_takes_the_first_of_what_is_there) {
  run("budget", 1, {}, 45);
  EXPECT_EQ(run("budget", 1, {}, 15).evaluations.size(), 15U);
  EXPECT_EQ(evaluated_, 0U);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, results_of_another_seed_in_between_are_reused_where_they_were) {
  run("mixed", 1, 15);
  run("mixed", 2, {}, 150);
  run("mixed", 1, 10);
  run("mixed", 3, {}, 100);
  const auto finished = story(run("mixed", 1));
  // Once all is there, the same is told in the same order, whatever else the journal holds by now.
  run("mixed", 4, {}, 100);
  EXPECT_EQ(story(run("mixed", 1)), finished);
  EXPECT_EQ(evaluated_, 0U);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_P(ResumeTest, a_journal_that_does_not_fit_the_strategy_is_reused_and_said_so) {
  const auto reusable = run("other", 1, {}, 30).evaluations.size();
  // The same run, as far as the journal tells, of a strategy that proposes something else.
  const auto other = make_strategy("random", *space_, 99);
  const auto result = run("other", *other, 1, {}, 256);
  EXPECT_EQ(result.evaluations.size(), 256U);
  EXPECT_EQ(result.state.reused, reusable);
  EXPECT_EQ(evaluated_, 256U - reusable);
  EXPECT_EQ(notes_.size(), 1U);
}

std::vector<std::string> all_strategies_and_methods() {
  std::vector<std::string> names;
  for (const auto& description : strategy_descriptions()) names.push_back(description.name);
  for (const auto& description : method_descriptions()) names.push_back(description.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(all, ResumeTest, ::testing::ValuesIn(all_strategies_and_methods()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace wattune
