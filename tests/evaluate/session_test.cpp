// The procedure of a measurement, on a device that does what the test says.

#include "evaluate/session.hpp"

#include <gmock/gmock.h>

#include "fake_device.hpp"
#include "problems.hpp"
#include "virtual_device.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t count = 256;

/// y = 2 x, argument by argument.
void twice(const FakeLaunch& launch) {
  for (std::uint64_t i = 0; i < count; ++i) launch.pointer<float>(1)[i] = 2 * launch.pointer<float>(0)[i];
}

Problem twice_problem(Access output_access = Access::write_only) {
  Problem problem = make_problem({vector_argument("x", "float", count, Access::read_only, 3),
                                  output_argument("y", "float", count, output_access, 1)});
  problem.verification.reference = Verification::Reference::host;
  problem.verification.host_function = "test_twice";
  register_host_reference("test_twice", [](const Problem&, std::vector<std::vector<std::byte>>& arguments) {
    auto x = values_of<float>(arguments[0]);
    for (float& value : x) value *= 2;
    arguments[1] = bytes_of(x);
  });
  return problem;
}

class SessionTest : public ::testing::Test {
 protected:
  Session::Result evaluate(const Problem& problem, const CompileResult& binary,
                           const std::vector<Value>& configuration = {16}) {
    Session session(problem, device, nullptr, options);
    return session.evaluate(binary, configuration);
  }

  void expect_failure(const Session::Result& result, Outcome outcome, const std::string& text) {
    EXPECT_EQ(result.evaluation.outcome, outcome) << result.evaluation.message;
    EXPECT_THAT(result.evaluation.message, HasSubstr(text));
    EXPECT_THAT(result.evaluation.quantities, Not(Contains(::testing::Key("time"))));
  }

  FakeDevice device;
  MeasureOptions options;
};

TEST_F(SessionTest, ARightKernelIsVerifiedAndTimed) {
  const auto result = evaluate(twice_problem(), device.add("k", twice, [](unsigned) { return 2e-3; }));
  const Evaluation& evaluation = result.evaluation;
  ASSERT_TRUE(evaluation.ok()) << evaluation.message;
  EXPECT_FALSE(result.poisoned);
  EXPECT_EQ(evaluation.verification, "verified");
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("time").value, 2e-3);
  EXPECT_EQ(evaluation.quantities.at("time").unit, "s");
  EXPECT_EQ(evaluation.quantities.at("time").stderr_value, 0);
  EXPECT_GE(evaluation.quantities.at("time").n, options.min_batches);
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("time_min").value, 2e-3);
  EXPECT_EQ(evaluation.quantities.at("max_error").value, 0);
  EXPECT_EQ(evaluation.resources.at("registers"), 32);
  EXPECT_EQ(evaluation.resources.at("spill_bytes"), 4);
  EXPECT_EQ(evaluation.configuration, std::vector<Value>{16});
}

TEST_F(SessionTest, PhasesAreAnnouncedInOrder) {
  std::vector<std::string> phases;
  options.on_phase = [&](std::string_view phase) { phases.emplace_back(phase); };
  const auto result = evaluate(twice_problem(), device.add("k", twice));
  EXPECT_THAT(phases, ElementsAre("load", "verify", "warm_up", "time", "done"));
  for (const char* phase : {"load", "verify", "warm_up", "time"})
    EXPECT_GE(result.evaluation.phases.at(phase), 0) << phase;
}

TEST_F(SessionTest, AWrongKernelFailsAndIsNotTimed) {
  const auto wrong = [](const FakeLaunch& launch) {
    twice(launch);
    launch.pointer<float>(1)[7] = 100;
  };
  const auto result = evaluate(twice_problem(), device.add("k", wrong));
  expect_failure(result, Outcome::correctness,
                 "argument y: 1 of 256 values are wrong; first at element 7; worst at element 7: got 100, expected 6");
  EXPECT_FALSE(result.poisoned);
  EXPECT_EQ(device.launched, 0u);
}

TEST_F(SessionTest, TheProblemsToleranceReplacesTheTypes) {
  const auto near = [](const FakeLaunch& launch) {
    for (std::uint64_t i = 0; i < count; ++i) launch.pointer<float>(1)[i] = 6.01F;
  };
  Problem problem = twice_problem();
  const auto binary = device.add("k", near);
  EXPECT_EQ(evaluate(problem, binary).evaluation.outcome, Outcome::correctness);
  problem.verification.relative_tolerance = 0.01;
  const auto result = evaluate(problem, binary);
  EXPECT_TRUE(result.evaluation.ok());
  EXPECT_NEAR(result.evaluation.quantities.at("max_error").value, 0.01 / 6, 1e-6);
}

TEST_F(SessionTest, AWriteAfterAnArgumentIsCaught) {
  const auto beyond = [](const FakeLaunch& launch) {
    twice(launch);
    launch.pointer<float>(1)[count] = 0;
  };
  expect_failure(evaluate(twice_problem(), device.add("k", beyond)), Outcome::correctness,
                 "wrote out of bounds, after argument y: first at byte 1024, the argument has 1024");
}

TEST_F(SessionTest, AWriteBeforeAnArgumentIsCaught) {
  const auto before = [](const FakeLaunch& launch) {
    twice(launch);
    launch.pointer<float>(0)[-1] = 0;
  };
  expect_failure(evaluate(twice_problem(), device.add("k", before)), Outcome::correctness,
                 "wrote out of bounds, before argument x: first at byte -4 from its beginning");
}

TEST_F(SessionTest, WhatAWriteOutOfBoundsSpoiltIsPutRight) {
  const Problem problem = twice_problem();
  Session session(problem, device, nullptr, options);
  const auto beyond = device.add("beyond", [](const FakeLaunch& launch) {
    twice(launch);
    launch.pointer<float>(1)[count + 5] = 0;
    launch.pointer<float>(0)[0] = 99;
  });
  const auto good = device.add("good", twice);
  EXPECT_EQ(session.evaluate(beyond, {16}).evaluation.outcome, Outcome::correctness);
  const auto result = session.evaluate(good, {16});
  EXPECT_TRUE(result.evaluation.ok()) << result.evaluation.message;
}

TEST_F(SessionTest, AWriteToAnInputIsCaught) {
  const auto spoil = [](const FakeLaunch& launch) {
    twice(launch);
    launch.pointer<float>(0)[3] = 0;
  };
  expect_failure(evaluate(twice_problem(), device.add("k", spoil)), Outcome::correctness,
                 "the kernel wrote to argument x, which is read-only in the problem: first at byte 1");
}

TEST_F(SessionTest, OutputsThatAreNotWrittenAreCaught) {
  const auto half_done = [](const FakeLaunch& launch) {
    for (std::uint64_t i = 0; i < count / 2; ++i) launch.pointer<float>(1)[i] = 6;
  };
  const Problem problem = twice_problem();
  Session session(problem, device, nullptr, options);
  // The buffer holds the right values from the first evaluation.
  ASSERT_TRUE(session.evaluate(device.add("whole", twice), {16}).evaluation.ok());
  expect_failure(session.evaluate(device.add("half", half_done), {16}), Outcome::correctness,
                 "128 of 256 values are wrong; first at element 128; worst at element 128: got nan, expected 6");
  expect_failure(session.evaluate(device.add("half", half_done), {32}), Outcome::correctness,
                 "128 were not written at all");
}

TEST_F(SessionTest, ArgumentsThatAreReadAndWrittenStartFromTheirInitialContent) {
  Problem problem = twice_problem(Access::read_write);
  register_host_reference("test_add", [](const Problem&, std::vector<std::vector<std::byte>>& arguments) {
    auto y = values_of<float>(arguments[1]);
    for (float& value : y) value += 3;
    arguments[1] = bytes_of(y);
  });
  problem.verification.host_function = "test_add";
  const auto add = [](const FakeLaunch& launch) {
    for (std::uint64_t i = 0; i < count; ++i) launch.pointer<float>(1)[i] += launch.pointer<float>(0)[i];
  };
  Session session(problem, device, nullptr, options);
  for (int i = 0; i < 2; ++i) {
    const auto result = session.evaluate(device.add("k" + std::to_string(i), add), {16});
    EXPECT_TRUE(result.evaluation.ok()) << result.evaluation.message;
    EXPECT_THAT(result.evaluation.quantities.at("time").flags, IsEmpty());
  }
}

TEST_F(SessionTest, WithoutOutputsNothingIsVerified) {
  Problem problem = twice_problem();
  problem.arguments[1].output = false;
  problem.verification = {};
  Session session(problem, device, nullptr, options);
  EXPECT_EQ(session.needs(), Session::Needs::nothing);
  const auto result = session.evaluate(device.add("k", twice), {16});
  EXPECT_TRUE(result.evaluation.ok());
  EXPECT_EQ(result.evaluation.verification, "unverified");
  EXPECT_THAT(result.evaluation.quantities, Not(Contains(::testing::Key("max_error"))));
}

TEST_F(SessionTest, WithoutReferenceConfigurationsAreHeldAgainstTheDefault) {
  Problem problem = twice_problem();
  problem.verification = {};
  Session session(problem, device, nullptr, options);
  EXPECT_EQ(session.needs(), Session::Needs::default_configuration);
  const auto good = device.add("k", twice);
  EXPECT_EQ(session.evaluate(good, {16}).evaluation.verification, "unverified");
  ASSERT_FALSE(session.set_reference(good, {16}));
  EXPECT_EQ(session.needs(), Session::Needs::nothing);
  EXPECT_EQ(session.evaluate(good, {32}).evaluation.verification, "consistent");
  const auto wrong = device.add("w", [](const FakeLaunch& launch) { launch.pointer<float>(1)[0] = 0; });
  expect_failure(session.evaluate(wrong, {16}), Outcome::correctness, "argument y: 256 of 256");
}

TEST_F(SessionTest, AReferenceKernelRunsInItsOwnShape) {
  Problem problem = twice_problem();
  problem.verification = {};
  problem.verification.reference = Verification::Reference::kernel;
  const auto one = Expression::parse("1");
  problem.verification.kernel.emplace(Verification::Kernel{"reference",
                                                           "",
                                                           "",
                                                           {},
                                                           {Expression::parse("ProblemSize[0] // 64"), one, one},
                                                           {Expression::parse("64"), one, one}});
  Session session(problem, device, nullptr, options);
  EXPECT_EQ(session.needs(), Session::Needs::reference_kernel);
  LaunchShape shape;
  const auto reference = device.add("reference", [&](const FakeLaunch& launch) {
    shape = launch.launch.shape;
    twice(launch);
  });
  ASSERT_FALSE(session.set_reference(reference, {}));
  EXPECT_EQ(shape.grid[0], 4u);
  EXPECT_EQ(shape.block[0], 64u);
  EXPECT_EQ(session.evaluate(device.add("k", twice), {16}).evaluation.verification, "verified");
}

TEST_F(SessionTest, AReferenceThatWritesOutOfBoundsIsRefused) {
  Problem problem = twice_problem();
  problem.verification = {};
  Session session(problem, device, nullptr, options);
  const auto failed = session.set_reference(
      device.add("k", [](const FakeLaunch& launch) { launch.pointer<float>(1)[count] = 1; }), {16});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->outcome, Outcome::correctness);
  EXPECT_EQ(session.needs(), Session::Needs::default_configuration);
}

TEST_F(SessionTest, AnUnknownHostFunctionIsAUsageError) {
  Problem problem = twice_problem();
  problem.verification.host_function = "no_such";
  try {
    const Session session(problem, device, nullptr, options);
    FAIL() << "made a session";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("/problems/test.json: Verification: there is no host function no_such; there are: "));
    EXPECT_THAT(error.what(), HasSubstr("test_twice"));
  }
}

TEST_F(SessionTest, ReferenceDataAreHeldAgainstTheirOutput) {
  Problem problem = twice_problem();
  problem.verification = {};
  problem.verification.reference = Verification::Reference::data;
  problem.verification.data["y"].value = 6;
  EXPECT_EQ(evaluate(problem, device.add("k", twice)).evaluation.verification, "verified");
  problem.verification.data["y"].value = 7;
  expect_failure(evaluate(problem, device.add("k", twice)), Outcome::correctness, "got 6, expected 7");
  problem.verification.data.clear();
  EXPECT_THROW(Session(problem, device, nullptr, options), UsageError);
}

TEST_F(SessionTest, ALaunchThatDoesNotFitIsAResourceFailureAndDoesNotRun) {
  Problem problem = twice_problem();
  problem.global_size[0] = Expression::parse("1");
  expect_failure(evaluate(problem, device.add("k", twice), {4096}), Outcome::resources, "too large");
  EXPECT_EQ(device.runs, 0);
}

TEST_F(SessionTest, ASizeThatCannotBeComputedIsALaunchFailure) {
  Problem problem = twice_problem();
  problem.global_size[0] = Expression::parse("1 // (block - 16)");
  expect_failure(evaluate(problem, device.add("k", twice)), Outcome::launch, "1 // (block - 16)");
}

TEST_F(SessionTest, ACrashPoisonsTheProcess) {
  device.run_failure = Failure{Outcome::crash, "illegal address"};
  const auto result = evaluate(twice_problem(), device.add("k", twice));
  expect_failure(result, Outcome::crash, "illegal address");
  EXPECT_TRUE(result.poisoned);
}

TEST_F(SessionTest, MemoryThatCannotBeReadAfterALaunchIsACrash) {
  const auto result = evaluate(twice_problem(), device.add("k", [&](const FakeLaunch&) { device.lost = true; }));
  expect_failure(result, Outcome::crash, "the device is gone");
  EXPECT_TRUE(result.poisoned);
}

TEST_F(SessionTest, OneBinaryIsLoadedOnceAndEachOfItsLaunchesIsVerifiedOnce) {
  const Problem problem = twice_problem();
  Session session(problem, device, nullptr, options);
  const auto binary = device.add("k", twice);
  for (const int block : {16, 32, 16, 32})
    EXPECT_EQ(session.evaluate(binary, {block}).evaluation.verification, "verified");
  EXPECT_EQ(device.loads, 1);
  EXPECT_EQ(device.runs, 2);
  EXPECT_TRUE(session.evaluate(device.add("other", twice), {16}).evaluation.ok());
  EXPECT_EQ(device.loads, 2);
  EXPECT_EQ(device.runs, 3);
}

TEST_F(SessionTest, ConstantArgumentsAreSymbolsWhereTheDeviceSaysSo) {
  Problem problem = twice_problem();
  problem.arguments.push_back(vector_argument("filter", "float", 2, Access::read_only, 5));
  problem.arguments.back().memory = MemoryKind::constant;
  std::size_t parameters = 0;
  const auto binary = device.add("k", [&](const FakeLaunch& launch) {
    parameters = launch.launch.arguments.size();
    twice(launch);
  });
  EXPECT_TRUE(evaluate(problem, binary).evaluation.ok());
  EXPECT_EQ(parameters, 3u);
  EXPECT_THAT(device.symbols, IsEmpty());
  device.constants_are_symbols = true;
  EXPECT_TRUE(evaluate(problem, binary).evaluation.ok());
  EXPECT_EQ(parameters, 2u);
  EXPECT_THAT(values_of<float>(device.symbols.at("filter")), ElementsAre(5, 5));
}

TEST_F(SessionTest, LocalMemoryFollowsTheConfiguration) {
  Problem problem = twice_problem();
  Argument local = vector_argument("tile", "float", 0, Access::read_write);
  local.memory = MemoryKind::local;
  local.local_size = Expression::parse("2 * block");
  problem.arguments.push_back(local);
  std::size_t bytes = 0;
  const auto binary = device.add("k", [&](const FakeLaunch& launch) {
    bytes = std::get<LocalArgument>(launch.launch.arguments[2]).bytes;
    twice(launch);
  });
  EXPECT_TRUE(evaluate(problem, binary, {32}).evaluation.ok());
  EXPECT_EQ(bytes, 256u);
}

// ---- timing

TEST_F(SessionTest, ShortKernelsAreTimedInBatchesOfMilliseconds) {
  const auto result = evaluate(twice_problem(), device.add("k", twice, [](unsigned) { return 1e-5; }));
  EXPECT_NEAR(result.evaluation.quantities.at("time").value, 1e-5, 1e-12);
  EXPECT_GE(device.launched, options.min_batches * 400);
  EXPECT_LE(device.launched, 10000u);
}

TEST_F(SessionTest, KernelsOfSecondsRunJustAFewTimes) {
  const auto result = evaluate(twice_problem(), device.add("k", twice, [](unsigned) { return 3.0; }));
  EXPECT_DOUBLE_EQ(result.evaluation.quantities.at("time").value, 3.0);
  EXPECT_EQ(result.evaluation.quantities.at("time").n, 2);
  EXPECT_EQ(device.launched, 2u);
}

TEST_F(SessionTest, KernelsOfMinutesAreTimedOnce) {
  const auto result = evaluate(twice_problem(), device.add("k", twice, [](unsigned) { return 60.0; }));
  EXPECT_EQ(result.evaluation.quantities.at("time").n, 1);
  EXPECT_EQ(device.launched, 1u);
}

TEST_F(SessionTest, TheFirstLaunchesDoNotCount) {
  const auto slow_start = [](unsigned launch) { return launch < 3 ? 4e-3 : 1e-3; };
  const auto result = evaluate(twice_problem(), device.add("k", twice, slow_start));
  EXPECT_NEAR(result.evaluation.quantities.at("time").value, 1e-3, 1e-12);
  EXPECT_NEAR(result.evaluation.quantities.at("time_spread").value, 0, 1e-12);
}

TEST_F(SessionTest, NoiseIsTimedLongerUntilTheTimeIsUp) {
  const auto noisy = [](unsigned launch) { return launch % 2 == 0 ? 5e-3 : 1e-2; };
  const auto result = evaluate(twice_problem(), device.add("k", twice, noisy));
  const Quantity& time = result.evaluation.quantities.at("time");
  EXPECT_THAT(time.flags, Contains("noisy"));
  EXPECT_GT(time.stderr_value, options.time_noise * time.value);
  EXPECT_GT(time.n, 40);
  EXPECT_LT(device.launched, 150u);
}

TEST_F(SessionTest, ALaunchAboveTheLimitIsNotTimedFurther) {
  const Problem problem = twice_problem();
  Session session(problem, device, nullptr, options);
  const auto binary = device.add("k", twice, [](unsigned) { return 0.06; });
  const auto abandoned = session.evaluate(binary, {16}, {.abandon_above = 0.05}).evaluation;
  EXPECT_TRUE(abandoned.ok());
  EXPECT_THAT(abandoned.quantities.at("time").flags, ElementsAre("abandoned_early"));
  EXPECT_EQ(device.launched, 1u);
  const auto timed = session.evaluate(binary, {16}, {.abandon_above = 0.07}).evaluation;
  EXPECT_THAT(timed.quantities.at("time").flags, IsEmpty());
  EXPECT_GE(timed.quantities.at("time").n, options.min_batches);
}

// ---- repeated work

Problem counting_problem(Reset reset) {
  Problem problem = make_problem({output_argument("y", "float", count, Access::read_write, 1)});
  problem.arguments[0].reset = reset;
  return problem;
}

/// A dozen launches overflow.
void grow(const FakeLaunch& launch) {
  for (std::uint64_t i = 0; i < count; ++i) launch.pointer<float>(0)[i] *= 1e4F;
}

TEST_F(SessionTest, ValuesThatOverflowOnRepetitionAreFlagged) {
  const auto result = evaluate(counting_problem(Reset::none), device.add("k", grow));
  EXPECT_TRUE(result.evaluation.ok());
  EXPECT_THAT(result.evaluation.quantities.at("time").flags, Contains("work_changes_on_repetition"));
}

TEST_F(SessionTest, ATimeThatDriftsIsFlaggedWhereWorkMayChange) {
  const auto still = [](const FakeLaunch&) {};
  const auto slower = [](unsigned launch) { return 5e-3 * (1 + 0.02 * launch); };
  const auto result = evaluate(counting_problem(Reset::none), device.add("k", still, slower));
  EXPECT_THAT(result.evaluation.quantities.at("time").flags, Contains("work_changes_on_repetition"));
}

TEST_F(SessionTest, AResetKeepsTheWorkTheSameAndItsCostIsNotTheKernels) {
  for (const Reset reset : {Reset::zero, Reset::restore}) {
    std::vector<float> seen;
    const auto binary = device.add("k", [&](const FakeLaunch& launch) {
      seen.push_back(launch.pointer<float>(0)[0]);
      grow(launch);
      launch.pointer<float>(0)[0] += 1;
    });
    const auto result = evaluate(counting_problem(reset), binary);
    ASSERT_TRUE(result.evaluation.ok()) << result.evaluation.message;
    EXPECT_THAT(seen, ::testing::Each(reset == Reset::zero ? 0.0F : 1.0F));
    EXPECT_NEAR(result.evaluation.quantities.at("time").value, 1e-3, 1e-12);
    EXPECT_NEAR(result.evaluation.quantities.at("time_min").value, 1e-3, 1e-12);
    EXPECT_NEAR(result.evaluation.quantities.at("reset_time").value, 1e-4, 1e-12);
    EXPECT_THAT(result.evaluation.quantities.at("time").flags, IsEmpty());
  }
}

// ---- energy

class SessionWithMeter : public SessionTest {
 protected:
  SessionWithMeter() {
    device.clock = &clock;
    options.clock = &clock;
  }

  Session::Result evaluate(const Problem& problem, const CompileResult& binary) {
    Session session(problem, device, &meter, options);
    return session.evaluate(binary, {16});
  }

  VirtualClock clock;
  VirtualMeter meter{clock, [this](double now) { return device.busy_until > now ? 400.0 : 100.0; }};
};

TEST_F(SessionWithMeter, EnergyAndTimeComeFromOneLoop) {
  std::vector<std::string> phases;
  options.on_phase = [&](std::string_view phase) { phases.emplace_back(phase); };
  const auto result = evaluate(twice_problem(), device.add("k", twice));
  ASSERT_TRUE(result.evaluation.ok()) << result.evaluation.message;
  EXPECT_THAT(phases, ElementsAre("load", "verify", "warm_up", "energy", "done"));
  EXPECT_NEAR(result.evaluation.quantities.at("energy").value, 0.4, 0.004);
  EXPECT_NEAR(result.evaluation.quantities.at("power").value, 400, 4);
  EXPECT_NEAR(result.evaluation.quantities.at("time").value, 1e-3, 1e-9);
  EXPECT_GE(result.evaluation.phases.at("energy"), 0);
}

TEST_F(SessionWithMeter, OutputsAreJudgedAllTheSame) {
  const auto result = evaluate(twice_problem(), device.add("k", [](const FakeLaunch&) {}));
  EXPECT_EQ(result.evaluation.outcome, Outcome::correctness);
  EXPECT_THAT(result.evaluation.quantities, Not(Contains(::testing::Key("energy"))));
}

TEST_F(SessionWithMeter, AFinalistsWindowIsLonger) {
  const Problem problem = twice_problem();
  Session session(problem, device, &meter, options);
  const auto binary = device.add("k", twice);
  const auto quick = session.evaluate(binary, {16}).evaluation;
  const auto exact = session.evaluate(binary, {16}, {.exact = true}).evaluation;
  EXPECT_EQ(quick.quantities.at("energy").n, 2);
  EXPECT_GE(exact.quantities.at("energy").n, 12);
}

TEST_F(SessionWithMeter, WhatIdlePowerAloneMakesHopelessIsNotMeasured) {
  const Problem problem = twice_problem();
  Session session(problem, device, &meter, options);
  const auto result = session.evaluate(device.add("k", twice), {16}, {.hopeless_energy = 0.05}).evaluation;
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_THAT(result.quantities, Not(Contains(::testing::Key("energy"))));
  EXPECT_NEAR(result.quantities.at("energy_bound").value, 0.09, 0.002);
  EXPECT_THAT(result.quantities.at("energy_bound").flags, ElementsAre("lower_bound"));
  EXPECT_NEAR(result.quantities.at("time").value, 1e-3, 1e-9);
}

TEST_F(SessionWithMeter, WhatIdlePowerAndTheLeastBeyondItMakeHopelessIsNotMeasured) {
  const Problem problem = twice_problem();
  Session session(problem, device, &meter, options);
  const auto binary = device.add("k", twice);
  const auto may_win = session.evaluate(binary, {16}, {.hopeless_energy = 0.5, .least_beyond_idle = 0.4}).evaluation;
  EXPECT_THAT(may_win.quantities, Contains(::testing::Key("energy")));
  const auto cannot = session.evaluate(binary, {16}, {.hopeless_energy = 0.5, .least_beyond_idle = 0.42}).evaluation;
  ASSERT_TRUE(cannot.ok()) << cannot.message;
  EXPECT_THAT(cannot.quantities, Not(Contains(::testing::Key("energy"))));
  EXPECT_NEAR(cannot.quantities.at("energy_bound").value, 0.51, 0.002);
}

TEST_F(SessionWithMeter, TheEnergyOfResetsMakesNoKernelHopeless) {
  Problem problem = make_problem({output_argument("y", "float", count, Access::read_write, 1)});
  problem.arguments[0].reset = Reset::restore;
  Session session(problem, device, &meter, options);
  const auto binary = device.add("k", [](const FakeLaunch&) {});
  const auto result = session.evaluate(binary, {16}, {.hopeless_energy = 0.41}).evaluation;
  ASSERT_TRUE(result.ok()) << result.message;
  ASSERT_THAT(result.quantities, Contains(::testing::Key("energy")));
  EXPECT_NEAR(result.quantities.at("energy").value, 0.4, 0.005);
  EXPECT_TRUE(result.quantities.at("energy").flags.empty());
}

TEST_F(SessionWithMeter, TheEnergyOfResetsIsNotTheKernels) {
  Problem problem = make_problem({output_argument("y", "float", count, Access::read_write, 1)});
  problem.arguments[0].reset = Reset::restore;
  const auto result = evaluate(problem, device.add("k", [](const FakeLaunch&) {}));
  ASSERT_TRUE(result.evaluation.ok()) << result.evaluation.message;
  EXPECT_NEAR(result.evaluation.quantities.at("time").value, 1e-3, 1e-9);
  EXPECT_NEAR(result.evaluation.quantities.at("energy").value, 0.4, 0.005);
  EXPECT_NEAR(result.evaluation.quantities.at("power").value, 400, 5);
}

TEST_F(SessionWithMeter, ACounterThatStandsStillIsAMeasurementFailureThatKeepsTheTime) {
  meter.moves = false;
  const auto result = evaluate(twice_problem(), device.add("k", twice));
  EXPECT_EQ(result.evaluation.outcome, Outcome::measurement);
  EXPECT_FALSE(result.poisoned);
  EXPECT_THAT(result.evaluation.quantities, Contains(::testing::Key("time")));
  EXPECT_THAT(result.evaluation.quantities, Not(Contains(::testing::Key("energy"))));
}

TEST_F(SessionTest, AKernelThatVanishesBesideItsResetsCannotBeTimed) {
  const auto binary = device.add("k", grow, [](unsigned) { return 0.0; });
  expect_failure(evaluate(counting_problem(Reset::zero), binary), Outcome::measurement,
                 "resetting its arguments takes 0.0001 s");
}

TEST_F(SessionTest, AKernelThatTakesNoTimeCannotBeTimed) {
  const auto binary = device.add("k", twice, [](unsigned) { return 0.0; });
  expect_failure(evaluate(twice_problem(), binary), Outcome::measurement, "took no time");
}

}  // namespace
}  // namespace wattune
