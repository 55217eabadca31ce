#include "tune/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <set>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "result/order.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

/// Evaluates at once: time is a function of the configuration.
class FakeEvaluator : public Evaluator {
 public:
  std::function<Evaluation(const Proposal&)> evaluate = [](const Proposal& proposal) {
    Evaluation evaluation;
    Quantity& time = evaluation.quantities["time"];
    time.value = 1e-3 * static_cast<double>(1 + proposal.configuration[0].as_int());
    time.unit = "s";
    return evaluation;
  };
  std::vector<Proposal> seen;

  [[nodiscard]] std::size_t capacity() const override { return 4; }
  void submit(Proposal proposal) override {
    seen.push_back(proposal);
    queue_.push_back(std::move(proposal));
  }
  [[nodiscard]] std::size_t held() const override { return queue_.size(); }
  std::optional<Done> next(double, int) override {
    Proposal proposal = std::move(queue_.front());
    queue_.pop_front();
    Evaluation evaluation = evaluate(proposal);
    evaluation.configuration = proposal.configuration;
    evaluation.proposal = proposal.number;
    evaluation.told = proposal.told;
    return Done{std::move(proposal), std::move(evaluation)};
  }

 private:
  std::deque<Proposal> queue_;
};

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    std::vector<Value> values;
    for (int i = 0; i < 50; ++i) values.emplace_back(i);
    problem_.name = "fake";
    problem_.parameters = {{"x", values}};
    problem_.kinds = {ParameterKind::code};
    problem_.kernel.file = "fake.cl";
    problem_.kernel.kernel_name = "fake";
    problem_.metrics.push_back({"rate", Expression::parse("1 / time"), "1/s", Direction::maximize});
    space_.emplace(SearchSpace::build(problem_.parameters, {}));
    header_.problem_hash = "0123456789abcdef";
    header_.problem_name = "fake";
    header_.parameter_names = {"x"};
    header_.parameter_values = {values};
    header_.parameter_kinds = {"code"};
    header_.device_name = "fake device";
  }
  TuneResult run(const TuneOptions& options, std::uint64_t seed = 1) {
    Journal journal = Journal::open(folder_, header_);
    const auto strategy = make_strategy("random", *space_, seed);
    return tune(problem_, *space_, *strategy, evaluator_, journal, options);
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  Problem problem_;
  std::optional<SearchSpace> space_;
  JournalHeader header_;
  FakeEvaluator evaluator_;
};

TEST_F(TunerTest, evaluates_as_many_as_the_budget_allows) {
  TuneOptions options;
  options.budget.evaluations = 12;
  const auto result = run(options);
  EXPECT_EQ(result.evaluations.size(), 12U);
  EXPECT_EQ(result.state.planned, 12U);
  EXPECT_FALSE(result.interrupted);
  EXPECT_FALSE(result.error);
}

TEST_F(TunerTest, evaluates_the_whole_space_where_the_budget_allows_more) {
  TuneOptions options;
  options.budget.evaluations = 1000;
  EXPECT_EQ(run(options).evaluations.size(), 50U);
}

TEST_F(TunerTest, a_share_of_the_space_is_rounded_up) {
  TuneOptions options;
  options.budget.fraction = 0.09;
  EXPECT_EQ(run(options).evaluations.size(), 5U);
}

TEST_F(TunerTest, adds_metrics) {
  TuneOptions options;
  options.budget.evaluations = 1;
  const auto result = run(options);
  const auto& quantities = result.evaluations.at(0).quantities;
  EXPECT_DOUBLE_EQ(quantities.at("rate").value, 1 / quantities.at("time").value);
}

TEST_F(TunerTest, a_second_run_measures_nothing_again_and_goes_on_where_the_first_ended) {
  TuneOptions options;
  options.budget.evaluations = 10;
  const auto first = run(options);
  evaluator_.seen.clear();
  options.budget.evaluations = 25;
  const auto second = run(options);
  EXPECT_EQ(second.evaluations.size(), 25U);
  EXPECT_EQ(second.state.reused, 10U);
  EXPECT_EQ(evaluator_.seen.size(), 15U);
  std::set<std::int64_t> values;
  for (const auto& evaluation : second.evaluations) values.insert(evaluation.configuration[0].as_int());
  EXPECT_EQ(values.size(), 25U);
}

TEST_F(TunerTest, what_a_run_for_time_left_out_is_measured_by_a_run_for_energy) {
  TuneOptions options;
  options.budget.evaluations = 10;
  options.objectives = {{"time", Direction::minimize}};
  options.run = "of time";
  run(options);
  evaluator_.seen.clear();
  const auto of_time = evaluator_.evaluate;
  evaluator_.evaluate = [&](const Proposal& proposal) {
    Evaluation evaluation = of_time(proposal);
    const bool hopeless = proposal.configuration[0].as_int() % 2 == 0;
    evaluation.quantities[hopeless ? "energy_bound" : "energy"] = {1, "J", 0.1, 1, {}};
    return evaluation;
  };
  options.objectives = {{"energy", Direction::minimize}};
  options.run = "of energy";
  EXPECT_EQ(run(options).state.reused, 0U);
  EXPECT_EQ(evaluator_.seen.size(), 10U);
  options.run = "of energy, too";
  options.given_up_suffices = true;
  EXPECT_EQ(run(options).state.reused, 10U);
  options.run = "of all energies";
  options.given_up_suffices = false;
  const auto all = run(options);
  const auto measured =
      std::ranges::count_if(all.evaluations, [](const Evaluation& e) { return e.quantities.contains("energy"); });
  EXPECT_GT(measured, 0);
  EXPECT_LT(measured, 10);
  EXPECT_EQ(all.state.reused, static_cast<std::size_t>(measured));
}

TEST_F(TunerTest, failures_are_results_that_are_not_tried_again) {
  evaluator_.evaluate = [](const Proposal& proposal) {
    Evaluation evaluation;
    if (proposal.configuration[0].as_int() % 2 == 0) {
      evaluation.outcome = Outcome::crash;
      evaluation.message = "bang";
    }
    return evaluation;
  };
  TuneOptions options;
  const auto first = run(options);
  EXPECT_EQ(first.state.failed, 25U);
  evaluator_.seen.clear();
  EXPECT_EQ(run(options).state.failed, 25U);
  EXPECT_TRUE(evaluator_.seen.empty());
}

TEST_F(TunerTest, a_kernel_that_never_builds_ends_the_run_with_the_compilers_message_once) {
  evaluator_.evaluate = [](const Proposal&) {
    Evaluation evaluation;
    evaluation.outcome = Outcome::compile;
    evaluation.message = "fake.cl:1: no such thing";
    return evaluation;
  };
  TuneOptions options;
  const auto result = run(options);
  EXPECT_EQ(result.evaluations.size(), 20U);
  ASSERT_TRUE(result.error);
  try {
    std::rethrow_exception(result.error);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fake.cl"));
    EXPECT_THAT(error.what(), HasSubstr("no such thing"));
  }
}

TEST_F(TunerTest, keep_going_tries_all_the_same) {
  evaluator_.evaluate = [](const Proposal& proposal) {
    Evaluation evaluation;
    if (proposal.number < 30) evaluation.outcome = Outcome::compile;
    return evaluation;
  };
  TuneOptions options;
  options.keep_going = true;
  const auto result = run(options);
  EXPECT_EQ(result.evaluations.size(), 50U);
  EXPECT_FALSE(result.error);
}

TEST_F(TunerTest, an_interrupt_keeps_what_there_is) {
  TuneOptions options;
  int evaluated = 0;
  options.on_evaluation = [&](const Evaluation&, const TuneState&) { ++evaluated; };
  options.interrupted = [&] { return evaluated == 3; };
  const auto result = run(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.evaluations.size(), 3U);
  EXPECT_EQ(Journal::open(folder_, header_).before().evaluations.size(), 3U);
}

TEST_F(TunerTest, an_error_keeps_what_there_is) {
  evaluator_.evaluate = [](const Proposal& proposal) {
    if (proposal.number == 5) throw DeviceError("the device went away");
    return Evaluation{};
  };
  const auto result = run(TuneOptions{});
  EXPECT_EQ(result.evaluations.size(), 5U);
  EXPECT_TRUE(result.error);
  EXPECT_EQ(Journal::open(folder_, header_).before().evaluations.size(), 5U);
}

TEST_F(TunerTest, verification_without_measurement_does_not_count_as_measured) {
  evaluator_.evaluate = [](const Proposal&) {
    Evaluation evaluation;
    evaluation.tier = "verify";
    return evaluation;
  };
  TuneOptions options;
  options.tier = "verify";
  run(options);
  evaluator_.seen.clear();
  run(options);
  EXPECT_EQ(evaluator_.seen.size(), 0U);
  options.tier = "screen";
  run(options);
  EXPECT_EQ(evaluator_.seen.size(), 50U);
}

TEST_F(TunerTest, ReferenceIsMeasuredAgainAndItsDriftTold) {
  double energy = 2;
  evaluator_.evaluate = [&](const Proposal& proposal) {
    Evaluation evaluation;
    evaluation.quantities["time"] = {1e-3, "s", 0, 1, {}};
    evaluation.quantities["energy"] = {proposal.tier == "reference" ? energy *= 1.01 : energy, "J", 0.002, 2, {}};
    return evaluation;
  };
  TuneOptions options;
  options.budget.evaluations = 10;
  options.reference_every_seconds = 0;
  const auto result = run(options);
  ASSERT_TRUE(result.drift);
  EXPECT_GT(result.drift->again, 1U);
  EXPECT_NEAR(result.drift->lowest, 0.01, 1e-12);
  EXPECT_GE(result.drift->highest, result.drift->lowest);
  EXPECT_EQ(result.evaluations.size(), 10U);  // they are none of the search
  std::set<std::int64_t> configurations;
  for (const auto& proposal : evaluator_.seen) {
    if (proposal.tier == "reference") configurations.insert(proposal.configuration[0].as_int());
  }
  EXPECT_EQ(configurations, std::set<std::int64_t>{result.evaluations.front().configuration[0].as_int()});
  // They are in the journal, and a run that goes on takes none of them for a result.
  Journal journal = Journal::open(folder_, header_);
  const auto lines = journal.before().evaluations;
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.tier == "reference"; }),
            static_cast<std::ptrdiff_t>(result.drift->again));
  EXPECT_EQ(competing(lines).size(), 10U);
}

TEST_F(TunerTest, StrategyIsToldWorseOfWhatMissesTheConditions) {
  TuneOptions options;
  options.budget.evaluations = 200;
  options.objectives = {{"time", Direction::minimize}};
  const std::vector<std::string> conditions = {"x >= 20"};
  const std::vector<std::string> known = {"time"};
  options.constraints = ConstraintSet(conditions, problem_, known, options.objectives);
  Journal journal = Journal::open(folder_, header_);
  const auto strategy = make_strategy("local_search", *space_, 1);
  const auto result = tune(problem_, *space_, *strategy, evaluator_, journal, options);
  const auto rivals = options.constraints.feasible(result.evaluations, competing(result.evaluations));
  const auto winner = best(result.evaluations, rivals, options.objectives.front());
  ASSERT_TRUE(winner);
  EXPECT_EQ(result.evaluations[*winner].configuration[0].as_int(), 20);
  // What is kept is what was measured.
  EXPECT_DOUBLE_EQ(result.evaluations[*winner].quantities.at("time").value, 21e-3);
}

}  // namespace
}  // namespace wattune
