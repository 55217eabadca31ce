// Observers and launch functions around a measurement, on a device that does what the test says.

#include "evaluate/extensions.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <limits>
#include <stdexcept>

#include "base/error.hpp"
#include "evaluate/session.hpp"
#include "fake_device.hpp"
#include "problems.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

constexpr std::uint64_t count = 256;

/// What the observers of a test do; by name of the test's quantities.
struct Script {
  std::function<Observer::Observations(const Window&)> after;
  WindowKind window = WindowKind::loop;
  double seconds = 0;
  std::vector<std::string> calls;
};
Script& script() {
  static Script instance;
  return instance;
}

class Scripted final : public Observer {
 public:
  [[nodiscard]] WindowKind window() const override { return script().window; }
  [[nodiscard]] double seconds() const override { return script().seconds; }
  void before(const Window& window) override { script().calls.emplace_back(window.launches == 0 ? "before" : "late"); }
  void during(const Window&) override {
    if (script().calls.back() != "during") script().calls.emplace_back("during");
  }
  Observations after(const Window& window) override {
    script().calls.emplace_back("after");
    return script().after(window);
  }
};

Problem count_problem() {
  return make_problem({output_argument("y", "float", count, Access::read_write, 0)});
}

/// y += 1.
void increment(const FakeLaunch& launch) {
  for (std::uint64_t i = 0; i < count; ++i) launch.pointer<float>(0)[i] += 1;
}

class ExtensionsTest : public ::testing::Test {
 protected:
  ExtensionsTest() {
    script() = {};
    static const bool once = [] {
      register_observer("scripted", {{"seen", "K"}, {"more", ""}},
                        [](const DeviceDescription&) { return std::make_unique<Scripted>(); });
      register_observer("broken", {{"other", ""}}, [](const DeviceDescription&) -> std::unique_ptr<Observer> {
        throw std::runtime_error("it is not plugged in");
      });
      register_observer("same", {{"seen", "K"}}, [](const DeviceDescription&) { return std::make_unique<Scripted>(); });
      return true;
    }();
    static_cast<void>(once);
  }

  Evaluation evaluate(const Problem& problem) {
    const auto binary = device.add("k", increment);
    Session session(problem, device, nullptr, options);
    EXPECT_FALSE(session.set_reference(binary, {16}));
    return session.evaluate(binary, {16}).evaluation;
  }

  Evaluation observe(std::function<Observer::Observations(const Window&)> after) {
    script().after = std::move(after);
    Problem problem = count_problem();
    problem.observers = {"scripted"};
    return evaluate(problem);
  }

  FakeDevice device;
  MeasureOptions options;
};

TEST_F(ExtensionsTest, AnObserverWatchesTheLoopOnceForAConfiguration) {
  std::uint64_t launches = 0;
  double seconds = 0;
  const auto evaluation = observe([&](const Window& window) {
    launches = window.launches;
    seconds = window.seconds;
    EXPECT_EQ(window.configuration.integer("block"), 16);
    EXPECT_GT(window.measured.at("time"), 0);
    return Observer::Observations{{"seen", 300}};
  });
  ASSERT_TRUE(evaluation.ok()) << evaluation.message;
  EXPECT_THAT(script().calls, ElementsAre("before", "after"));
  const Quantity& seen = evaluation.quantities.at("seen");
  EXPECT_EQ(seen.value, 300);
  EXPECT_EQ(seen.unit, "K");
  EXPECT_EQ(seen.n, 1);
  EXPECT_TRUE(std::isnan(seen.stderr_value));
  EXPECT_THAT(evaluation.quantities, Not(Contains(Key("more"))));
  EXPECT_NEAR(seconds, 1e-3 * static_cast<double>(launches), 1e-9);
  EXPECT_THAT(evaluation.phases, Contains(Key("observe")));
}

TEST_F(ExtensionsTest, WindowsOfOneLaunchAreAveragedWithTheirSpread) {
  script().window = WindowKind::launch;
  std::deque<double> values = {1, 2, 3};
  const auto evaluation = observe([&](const Window& window) {
    EXPECT_EQ(window.launches, 1U);
    if (values.empty()) return Observer::Observations{{"more", 1}};
    const double value = values.front();
    values.pop_front();
    return Observer::Observations{{"seen", value}};
  });
  const Quantity& seen = evaluation.quantities.at("seen");
  EXPECT_EQ(seen.value, 2);
  EXPECT_EQ(seen.n, 3);
  EXPECT_NEAR(seen.stderr_value, 1 / std::sqrt(3.0), 1e-12);
}

TEST_F(ExtensionsTest, WindowsOfABatchAreAsLongAsThoseOfTiming) {
  script().window = WindowKind::batch;
  const auto evaluation = observe([&](const Window& window) {
    return Observer::Observations{{"seen", static_cast<double>(window.launches)}};
  });
  EXPECT_NEAR(evaluation.quantities.at("seen").value, 4, 1e-9);  // 4 ms of launches of 1 ms
  EXPECT_GE(evaluation.quantities.at("seen").n, options.min_batches);
}

TEST_F(ExtensionsTest, WhatAnObserverDoesWrongFailsTheMeasurementByItsName) {
  auto evaluation = observe([](const Window&) -> Observer::Observations { throw std::runtime_error("no answer"); });
  EXPECT_EQ(evaluation.outcome, Outcome::measurement);
  EXPECT_EQ(evaluation.message, "observer 'scripted': no answer");
  evaluation = observe([](const Window&) -> Observer::Observations { throw 7; });
  EXPECT_EQ(evaluation.message, "observer 'scripted': it threw something that is no std::exception");
  evaluation = observe([](const Window&) { return Observer::Observations{{"unheard", 1}}; });
  EXPECT_EQ(evaluation.message, "observer 'scripted': it gives 'unheard', with which it was not registered");
  evaluation = observe([](const Window&) {
    return Observer::Observations{{"seen", std::numeric_limits<double>::quiet_NaN()}};
  });
  EXPECT_EQ(evaluation.outcome, Outcome::measurement);
  EXPECT_THAT(evaluation.message, HasSubstr("it gives nan for 'seen'"));
}

TEST_F(ExtensionsTest, NothingIsObservedWhereNothingIsMeasured) {
  options.verify_only = true;
  const auto evaluation = observe([](const Window&) { return Observer::Observations{{"seen", 1}}; });
  EXPECT_TRUE(evaluation.ok());
  EXPECT_TRUE(script().calls.empty());
}

TEST_F(ExtensionsTest, ObserversThatCannotServeEndTheRunBeforeItBegins) {
  Problem problem = count_problem();
  problem.observers = {"broken"};
  EXPECT_THROW(Session(problem, device, nullptr, options), RunError);
  problem.observers = {"scripted", "same"};
  try {
    check_extensions(problem);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("observer 'same' gives 'seen', as does observer 'scripted'"));
  }
}

TEST_F(ExtensionsTest, ALaunchFunctionsStepsAreRunInOrderAndTimedTogether) {
  register_launch_function("thrice", [](LaunchRecorder& record) {
    record.zero("y");
    for (int i = 0; i < 3; ++i) record.launch({.grid = {{2, 1, 1}}});
  });
  Problem problem = count_problem();
  problem.launch_function = "thrice";
  const auto evaluation = evaluate(problem);
  ASSERT_TRUE(evaluation.ok()) << evaluation.message;
  EXPECT_EQ(evaluation.verification, "consistent");
  EXPECT_NEAR(evaluation.quantities.at("time").value, 3e-3 + device.reset_seconds, 1e-9);
  EXPECT_EQ(device.runs, 6);  // for the reference and to verify
}

TEST_F(ExtensionsTest, EachLaunchOfALaunchFunctionHasToFit) {
  register_launch_function("too_large", [](LaunchRecorder& record) {
    record.launch();
    record.launch({.block = {{4096, 1, 1}}});
  });
  Problem problem = count_problem();
  problem.launch_function = "too_large";
  const auto binary = device.add("k", increment);
  Session session(problem, device, nullptr, options);
  EXPECT_EQ(session.evaluate(binary, {16}).evaluation.outcome, Outcome::resources);
}

TEST_F(ExtensionsTest, ScalarsMayDifferBetweenLaunches) {
  register_launch_function("two_scalars", [](LaunchRecorder& record) {
    record.launch();
    record.launch({.scalars = {{"n", std::int64_t{9007199254740993}}}});
  });
  std::vector<std::int64_t> passed;
  Problem problem =
      make_problem({output_argument("y", "float", count, Access::read_write, 0), scalar_argument("n", "int64", 5)});
  problem.launch_function = "two_scalars";
  const auto binary =
      device.add("k", [&](const FakeLaunch& launch) { passed.push_back(launch.scalar<std::int64_t>(1)); });
  Session session(problem, device, nullptr, options);
  EXPECT_FALSE(session.set_reference(binary, {16}));
  EXPECT_THAT(passed, ElementsAre(5, 9007199254740993));
}

TEST_F(ExtensionsTest, ResourcesAreQuantitiesWhereTheDeviceTells) {
  device.occupied = 0.75;
  const auto evaluation = evaluate(count_problem());
  EXPECT_EQ(evaluation.quantities.at("registers").value, 32);
  EXPECT_EQ(evaluation.quantities.at("occupancy").value, 0.75);
  EXPECT_EQ(evaluation.quantities.at("occupancy").stderr_value, 0);
  EXPECT_THAT(evaluation.quantities, Not(Contains(Key("shared_memory"))));
}

}  // namespace
}  // namespace wattune
