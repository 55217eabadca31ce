// The public interface in a program without a Runtime: everything happens in its own process.

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>

#include "../runtime/scale_problem.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

/// Counts, and keeps no state between tests.
class Process final : public Observer {
 public:
  Observations after(const Window&) override { return {{"process", ::getpid()}}; }
};

class LibraryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_observer("process", {{"process", ""}},
                      [](const DeviceDescription&) { return std::make_unique<Process>(); });
    register_reference("six", [](HostArguments& arguments) {
      const auto x = arguments.elements<float>("x");
      const auto y = arguments.elements<float>("y");
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = arguments.scalar<float>("a") * x[i];
    });
    register_reference("misnamed", [](HostArguments& arguments) { static_cast<void>(arguments.elements<float>("z")); });
    register_reference("mistyped",
                       [](HostArguments& arguments) { static_cast<void>(arguments.elements<double>("y")); });
    register_launch_function("copied", [](LaunchRecorder& record) {
      record.launch();
      record.copy("x", "y");
      record.zero("y");
      record.launch({.grid = record.grid(), .block = record.block()});
    });
    register_launch_function("unknown_argument", [](LaunchRecorder& record) { record.zero("q"); });
    register_launch_function("unknown_kernel", [](LaunchRecorder& record) { record.launch({.kernel = "missing"}); });
    register_launch_function("nothing", [](LaunchRecorder&) {});
    register_launch_function("out_of_range", [](LaunchRecorder& record) {
      record.launch({.scalars = {{"n", std::int64_t{1} << 40}}});
    });
  }
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  }
  template <typename Exception>
  std::string message_of(const TuningRequest& request) {
    try {
      tune(request);
    } catch (const Exception& error) {
      return error.what();
    }
    return "no exception";
  }
  std::string failure_of(const std::string& launch_function) {
    const auto result = tune(problem.request(R"("LaunchFunction": ")" + launch_function + "\"", "[1]"));
    return result.evaluations.at(0).outcome + ": " + result.evaluations[0].message;
  }
  ScaleProblem problem;
};

TEST_F(LibraryTest, TunesInItsOwnProcess) {
  auto request = problem.request(R"("Observers": ["process"], "Verification": {"Reference": {"Host": "six"}})");
  std::size_t called = 0;
  request.on_evaluation = [&](const TunedConfiguration& evaluation, const TuningProgress& progress) {
    EXPECT_TRUE(evaluation.ok()) << evaluation.message;
    EXPECT_EQ(progress.evaluated, ++called);
    EXPECT_EQ(progress.planned, 4U);
    return true;
  };
  const auto result = tune(request);
  EXPECT_EQ(called, 4U);
  ASSERT_EQ(result.evaluations.size(), 4U);
  EXPECT_EQ(result.device.id, "opencl:0");
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.journal.empty());
  const auto& best = result.best();
  EXPECT_EQ(best.verification, "verified");
  EXPECT_EQ(best.value("process"), static_cast<double>(::getpid()));
  EXPECT_EQ(best.quantities.at("time").unit, "s");
  EXPECT_GT(best.quantities.at("time").samples, 1);
  EXPECT_TRUE(std::isnan(best.value("energy")));
  EXPECT_THAT(best.configuration.text(), HasSubstr("block_size_x=64 WAY="));
  EXPECT_EQ(best.configuration.integer("block_size_x"), 64);
}

TEST_F(LibraryTest, WithoutAReferenceTheDefaultConfigurationServes) {
  const auto result = tune(problem.request(""));
  for (const auto& evaluation : result.evaluations) EXPECT_EQ(evaluation.verification, "consistent");
}

TEST_F(LibraryTest, AVariantThatDoesNotBuildIsAResult) {
  const auto result = tune(problem.request("", R"([1, "?", 2])"));
  ASSERT_EQ(result.evaluations.size(), 3U);
  EXPECT_EQ(result.evaluations[1].outcome, "compile");
  EXPECT_NE(result.evaluations[1].message, "");
  EXPECT_TRUE(result.evaluations[2].ok());
}

TEST_F(LibraryTest, AJournalIsKeptWhereOneIsWantedAndGoneOnWith) {
  auto request = problem.request("");
  request.output = problem.folder() / "results";
  request.budget = "2";
  const auto first = tune(request);
  EXPECT_TRUE(std::filesystem::exists(first.journal));
  request.budget = "4";
  const auto second = tune(request);
  ASSERT_EQ(second.evaluations.size(), 4U);
  EXPECT_EQ(second.evaluations[0].value("time"), first.evaluations.at(0).value("time"));
}

TEST_F(LibraryTest, TheCallerEndsATuningWithWhatThereIs) {
  auto request = problem.request("");
  request.on_evaluation = [](const TunedConfiguration&, const TuningProgress&) { return false; };
  const auto result = tune(request);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.evaluations.size(), 1U);
  EXPECT_NO_THROW(static_cast<void>(result.best()));
}

TEST_F(LibraryTest, SeveralObjectivesGiveABestEachAndAFront) {
  auto request = problem.request("");
  request.minimize = {"time"};
  request.maximize = {"WAYS"};
  EXPECT_THAT(message_of<UsageError>(request), HasSubstr("objective 'WAYS': there is no such quantity or metric"));
  request = problem.request(R"("Metrics": [{"Name": "ways", "Expression": "WAY"}])");
  request.minimize = {"time"};
  request.maximize = {"ways"};
  const auto result = tune(request);
  EXPECT_EQ(result.best("ways").configuration.integer("WAY"), 4);
  EXPECT_FALSE(result.front.empty());
  EXPECT_THROW(static_cast<void>(result.best("energy")), UsageError);
}

TEST_F(LibraryTest, FaultyRequestsAreToldInOneLine) {
  EXPECT_THAT(message_of<UsageError>({}), HasSubstr("there is no problem; give `file` or `text`"));
  EXPECT_THAT(message_of<UsageError>({.file = "/nowhere/problem.json"}), HasSubstr("/nowhere/problem.json"));
  auto request = problem.request("");
  request.device = "opencl:99";
  EXPECT_THAT(message_of<DeviceError>(request), HasSubstr("opencl:99"));
  request = problem.request("");
  request.budget = "soon";
  EXPECT_THAT(message_of<UsageError>(request), HasSubstr("soon"));
  request = problem.request("");
  request.measure_energy = true;
  EXPECT_THAT(message_of<DeviceError>(request), HasSubstr("energy cannot be measured on opencl:0"));
  EXPECT_THAT(message_of<UsageError>(problem.request(R"("Verification": {"Reference": {"Host": "misnamed"}})")),
              HasSubstr("reference 'misnamed': there is no argument 'z'; there are: y, x, a, n"));
  EXPECT_THAT(message_of<UsageError>(problem.request(R"("Verification": {"Reference": {"Host": "mistyped"}})")),
              HasSubstr("argument 'y' has elements of 4 bytes (float), and is read as ones of 8"));
}

TEST_F(LibraryTest, LaunchFunctionsMoveMemoryBetweenLaunches) {
  auto request = problem.request(R"("LaunchFunction": "copied", "Arguments": {"x": {"Reset": "restore"}})", "[1]");
  // x is written by the copy, so it must not be declared read-only.
  const auto place = request.text.find("ReadOnly");
  request.text.replace(place, 8, "ReadWrite");
  const auto result = tune(request);
  EXPECT_TRUE(result.evaluations.at(0).ok()) << result.evaluations[0].message;
}

TEST_F(LibraryTest, FaultsOfLaunchFunctionsNameThem) {
  EXPECT_EQ(failure_of("unknown_argument"),
            "launch: launch function 'unknown_argument': there is no argument 'q'; there are: y, x, a, n");
  EXPECT_THAT(failure_of("unknown_kernel"), HasSubstr("launch function 'unknown_kernel': "));
  EXPECT_EQ(failure_of("nothing"), "launch: launch function 'nothing': it recorded no launch");
  EXPECT_THAT(failure_of("out_of_range"), HasSubstr("launch function 'out_of_range': "));
}

TEST_F(LibraryTest, RegistrationRefusesWhatCouldNotBeTold) {
  const auto factory = [](const DeviceDescription&) { return std::make_unique<Process>(); };
  EXPECT_THROW(register_observer("process", {{"p", ""}}, factory), UsageError);
  EXPECT_THROW(register_observer("none", {}, factory), UsageError);
  EXPECT_THROW(register_observer("spaced", {{"room temperature", "K"}}, factory), UsageError);
  EXPECT_THROW(register_observer("timer", {{"time", "s"}}, factory), UsageError);
  EXPECT_THROW(register_launch_function("", [](LaunchRecorder&) {}), UsageError);
  EXPECT_THROW(register_launch_function("nothing", [](LaunchRecorder&) {}), UsageError);
  EXPECT_THROW(register_reference("six", [](HostArguments&) {}), UsageError);
}

TEST(ConfigurationTest, GivesNumbersAndSaysWhatIsThere) {
  const Configuration configuration({{"block", 64}, {"half", 2.0}, {"odd", 2.5}, {"layout", "rows"}});
  EXPECT_EQ(configuration.integer("block"), 64);
  EXPECT_EQ(configuration.integer("half"), 2);
  EXPECT_EQ(configuration.number("odd"), 2.5);
  EXPECT_EQ(configuration.at("layout").as_string(), "rows");
  EXPECT_THROW(static_cast<void>(configuration.integer("odd")), UsageError);
  EXPECT_THROW(static_cast<void>(configuration.number("layout")), UsageError);
  try {
    static_cast<void>(configuration.at("tile"));
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no parameter 'tile'; there are: block, half, odd, layout"));
  }
}

}  // namespace
}  // namespace wattune
