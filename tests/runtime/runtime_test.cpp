// A program's own observers, references and launch functions inside its workers, across their crashes.

#include <gmock/gmock.h>
#include <unistd.h>

#include "scale_problem.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  }
  ScaleProblem problem;
};

TEST_F(RuntimeTest, ObserversWatchInAWorkerAndTheirQuantitiesServeMetricsAndObjectives) {
  auto request = problem.request(R"("Observers": ["counting", "batches", "singles"],
    "Verification": {"Reference": {"Host": "six"}},
    "Metrics": [{"Name": "twice", "Expression": "2 * single_launches"}],
    "Objectives": [{"Name": "loop_launches", "Direction": "maximize"}])");
  const auto result = tune(request);
  ASSERT_EQ(result.evaluations.size(), 4U);
  for (const auto& evaluation : result.evaluations) {
    ASSERT_TRUE(evaluation.ok()) << evaluation.message;
    EXPECT_EQ(evaluation.verification, "verified");
    EXPECT_NE(evaluation.value("process"), static_cast<double>(::getpid()));
    EXPECT_EQ(evaluation.value("ordered"), 1);
    EXPECT_EQ(evaluation.quantities.at("process").samples, 1);
    EXPECT_GE(evaluation.value("loop_launches"), evaluation.value("batch_launches"));
    EXPECT_GT(evaluation.quantities.at("batch_launches").samples, 1);
    EXPECT_EQ(evaluation.value("single_launches"), 1);
    EXPECT_EQ(evaluation.value("twice"), 2);
  }
  EXPECT_EQ(result.objectives, std::vector<std::string>{"loop_launches"});
  EXPECT_GT(result.best().value("loop_launches"), 0);
}

TEST_F(RuntimeTest, ALaunchFunctionRunsSeveralKernelsThatAreVerifiedAndTimedAsOne) {
  const auto plain = tune(problem.request(R"("Verification": {"Reference": {"Host": "six"}})", "[1]"));
  // Repeating it adds on and on, so that the result is right only when y is what it was.
  const auto result = tune(
      problem.request(R"("LaunchFunction": "with_additions", "Verification": {"Reference": {"Host": "nine"}})", "[1]"));
  ASSERT_TRUE(result.evaluations.at(0).ok()) << result.evaluations[0].message;
  EXPECT_EQ(result.evaluations[0].verification, "verified");
  EXPECT_GT(result.best().value("time"), plain.best().value("time"));
}

TEST_F(RuntimeTest, AnAbortInALaunchFunctionCostsItsConfigurationOnly) {
  std::vector<std::string> notes;
  auto request = problem.request(R"("LaunchFunction": "aborting", "Verification": {"Reference": {"Host": "six"}})");
  request.on_note = [&](const std::string& note) { notes.push_back(note); };
  const auto result = tune(request);
  ASSERT_EQ(result.evaluations.size(), 4U);
  EXPECT_EQ(of_way(result, 2).outcome, "crash");
  EXPECT_THAT(of_way(result, 2).message, HasSubstr("launch_function"));
  EXPECT_EQ(of_way(result, 3).outcome, "launch");
  EXPECT_EQ(of_way(result, 3).message, "launch function 'aborting': three will not do");
  EXPECT_TRUE(of_way(result, 1).ok()) << of_way(result, 1).message;
  EXPECT_TRUE(of_way(result, 4).ok()) << of_way(result, 4).message;
  EXPECT_EQ(of_way(result, 4).verification, "verified");
  EXPECT_THAT(notes, ::testing::Contains(HasSubstr("the worker")));
}

TEST_F(RuntimeTest, AnObserverThatThrowsOrCrashesCostsItsConfigurationOnly) {
  const auto result = tune(problem.request(R"("Observers": ["failing"])"));
  ASSERT_EQ(result.evaluations.size(), 4U);
  EXPECT_EQ(of_way(result, 2).outcome, "measurement");
  EXPECT_EQ(of_way(result, 2).message, "observer 'failing': the instrument is unplugged");
  EXPECT_EQ(of_way(result, 3).outcome, "crash");
  EXPECT_THAT(of_way(result, 3).message, HasSubstr("observe"));
  EXPECT_EQ(of_way(result, 1).value("reading"), 10);
  EXPECT_EQ(of_way(result, 4).value("reading"), 40);
  EXPECT_EQ(of_way(result, 4).quantities.at("reading").unit, "K");
}

TEST_F(RuntimeTest, NamesThatAreNotRegisteredAreToldWithThoseThatAre) {
  const auto message = [&](const std::string& additions) {
    try {
      tune(problem.request(additions));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(
      message(R"("Observers": ["thermometer"])"),
      HasSubstr("wattune.Observers: there is no observer 'thermometer' in this program; registered are: batches, "
                "counting, failing, singles"));
  EXPECT_THAT(message(R"("LaunchFunction": "twice")"),
              HasSubstr("wattune.LaunchFunction: there is no launch function 'twice' in this program; registered are: "
                        "aborting, with_additions"));
  EXPECT_THAT(message(R"("Observers": ["failing"], "Metrics": [{"Name": "m", "Expression": "readin"}])"),
              HasSubstr("a metric uses 'readin'"));
  EXPECT_THAT(message(R"("Observers": ["failing"], "Objectives": [{"Name": "readin", "Direction": "minimize"}])"),
              HasSubstr("objective 'readin': there is no such quantity or metric"));
}

TEST(RuntimeRegistrationTest, NothingIsRegisteredOnceARuntimeExists) {
  try {
    register_launch_function("late", [](LaunchRecorder& record) { record.launch(); });
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("before wattune::Runtime is made"));
  }
}

}  // namespace
}  // namespace wattune
