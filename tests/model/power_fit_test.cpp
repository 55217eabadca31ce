#include "model/power_fit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "model/clock_choice.hpp"
#include "model/recorded_power.hpp"
#include "synthetic_devices.hpp"

namespace wattune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double mhz = 1e6;

double parameter(const PowerFit& fit, const std::string& name) {
  for (const auto& p : fit.parameters) {
    if (p.name == name) return p.value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return 0;
}

std::vector<PowerSample> exact_samples(const PowerModel& model, const std::vector<double>& clocks_mhz) {
  std::vector<PowerSample> samples;
  for (const double clock : clocks_mhz) samples.push_back({clock * mhz, model.power(clock * mhz)});
  return samples;
}

const std::vector<double> ten_clocks = {400, 590, 780, 970, 1160, 1350, 1540, 1730, 1920, 2100};

PowerModel usual_model() {
  PowerModel model;
  model.base_w = 30;
  model.slope_w_per_hz = 0.04 / mhz;
  model.voltage = VoltageCurve::hinge(1300 * mhz, 8e-4 / mhz);
  return model;
}

std::string message_of(const std::vector<PowerSample>& samples, PowerForm form = PowerForm::free) {
  try {
    fit_power_model(samples, form);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// --- Recorded data ---

class RecordedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = WATTUNE_SOURCE_DIR "/../shared/data/a4000_power_clock/cache.json";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no recorded data at " << file;
    recorded_ = recorded_power(read_results(file), {}, file);
  }
  RecordedPower recorded_;
};

TEST_F(RecordedTest, ActualClockAndPowerOfThePowerPhaseAreFound) {
  EXPECT_EQ(recorded_.clock, "core_freq");
  EXPECT_EQ(recorded_.power, "nvml_power");
  EXPECT_EQ(recorded_.samples.size(), 10U);
  EXPECT_EQ(guess_supported_clocks(recorded_.requested_clocks), parse_supported_clocks("405:2100:15"));
}

TEST_F(RecordedTest, FreeFormFindsThePublishedParameters) {
  const PowerFit fit = fit_power_model(recorded_.samples, PowerForm::free);
  EXPECT_NEAR(fit.ridge_hz / mhz, 1364, 1);
  EXPECT_LE(fit.rms_w, 0.42);
  EXPECT_NEAR(parameter(fit, "P_idle"), 29.3, 0.05);
  EXPECT_NEAR(parameter(fit, "alpha"), 0.0377, 5e-5);
  EXPECT_NEAR(parameter(fit, "beta"), 7.93e-4, 5e-7);
  EXPECT_NEAR(parameter(fit, "P_max"), 139, 0.05);
  EXPECT_EQ(fit.capped, 2U);
  EXPECT_LT(fit.ridge_interval.low_hz, fit.ridge_hz);
  EXPECT_GT(fit.ridge_interval.high_hz, fit.ridge_hz);
}

TEST_F(RecordedTest, PaperFormFindsThePublishedParametersToFourDigits) {
  const PowerFit fit = fit_power_model(recorded_.samples, PowerForm::paper);
  EXPECT_NEAR(parameter(fit, "t"), 946.725, 5e-3);
  EXPECT_NEAR(parameter(fit, "s_v"), 0.941259, 5e-6);
  EXPECT_NEAR(parameter(fit, "s_c"), 0.876953, 5e-6);
  EXPECT_NEAR(parameter(fit, "p_max"), 3.164633, 5e-6);
  EXPECT_NEAR(fit.ridge_hz / mhz, 1351.7, 0.05);
}

TEST_F(RecordedTest, ClocksAroundTheOptimumAreThePublishedOnes) {
  const PowerFit fit = fit_power_model(recorded_.samples, PowerForm::paper);
  const auto supported = parse_supported_clocks("405:2100:15");
  EXPECT_EQ(supported.size(), 114U);
  const double optimum = most_efficient_clock(fit.model, supported);
  EXPECT_DOUBLE_EQ(optimum, 1350 * mhz);
  const ClockChoice choice = choose_clocks(supported, optimum, 0.1, 10);
  EXPECT_THAT(choice.clocks,
              ElementsAre(1215e6, 1245e6, 1275e6, 1305e6, 1335e6, 1365e6, 1395e6, 1425e6, 1455e6, 1485e6));
  EXPECT_NEAR(choice.reduction, 0.912, 5e-4);
}

TEST_F(RecordedTest, WithoutKnowingTheRequestedClocksTheLimitIsSeenAllTheSame) {
  for (auto& sample : recorded_.samples) sample.requested_hz = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(fit_power_model(recorded_.samples, PowerForm::free).capped, 2U);
}

// --- Exact data ---

TEST(PowerFitTest, ExactDataGivesItsParametersBack) {
  const PowerFit fit = fit_power_model(exact_samples(usual_model(), ten_clocks), PowerForm::free);
  EXPECT_NEAR(fit.ridge_hz, 1300 * mhz, 1e-3 * mhz);
  EXPECT_NEAR(parameter(fit, "P_idle"), 30, 1e-4);
  EXPECT_NEAR(parameter(fit, "alpha"), 0.04, 1e-7);
  EXPECT_NEAR(parameter(fit, "beta"), 8e-4, 1e-9);
  EXPECT_LT(fit.rms_w, 1e-4);
  EXPECT_NEAR(fit.r_squared, 1, 1e-9);
  EXPECT_EQ(fit.capped, 0U);
  EXPECT_EQ(fit.model.limit_w, std::numeric_limits<double>::infinity());
  EXPECT_THAT(fit.warnings, IsEmpty());
}

TEST(PowerFitTest, TheRidgeMayLieOnASampledClock) {
  PowerModel model = usual_model();
  model.voltage = VoltageCurve::hinge(1350 * mhz, 8e-4 / mhz);
  EXPECT_NEAR(fit_power_model(exact_samples(model, ten_clocks), PowerForm::free).ridge_hz, 1350 * mhz, 0.01 * mhz);
}

TEST(PowerFitTest, ARidgeBelowTwiceTheLeastClockIsFoundByThePaperFormToo) {
  PowerModel model = usual_model();
  model.voltage = VoltageCurve::hinge(700 * mhz, 8e-4 / mhz);
  model.origin_hz = 400 * mhz;
  const auto samples = exact_samples(model, {400, 500, 600, 700, 800, 950, 1100, 1250, 1400});
  EXPECT_NEAR(fit_power_model(samples, PowerForm::paper).ridge_hz, 700 * mhz, 0.1 * mhz);
}

TEST(PowerFitTest, CappedSamplesAtTheirActualClockTellTheLimit) {
  PowerModel model = usual_model();
  model.limit_w = 130;
  auto samples = exact_samples(model, {400, 590, 780, 970, 1160, 1350, 1500, 1600});
  // The clock wanders under the limit.
  for (const double clock : {1735.0, 1741.0, 1748.0}) samples.push_back({clock * mhz, 130});
  const PowerFit fit = fit_power_model(samples, PowerForm::free);
  EXPECT_EQ(fit.capped, 3U);
  EXPECT_NEAR(parameter(fit, "P_max"), 130, 1e-6);
  EXPECT_NEAR(fit.ridge_hz, 1300 * mhz, 0.01 * mhz);
}

TEST(PowerFitTest, ASampleThatWasHeldBackIsAtTheLimit) {
  PowerModel model = usual_model();
  auto samples = exact_samples(model, {400, 590, 780, 970, 1160, 1350, 1500, 1600, 1700});
  EXPECT_EQ(fit_power_model(samples, PowerForm::free).capped, 0U);
  samples.back().requested_hz = 2100 * mhz;
  EXPECT_EQ(fit_power_model(samples, PowerForm::free).capped, 1U);
}

TEST(PowerFitTest, LeakageIsToldApartWhereTheVoltageIsMeasured) {
  PowerModel model = usual_model();
  model.base_w = 12;
  model.leakage_w = 20;
  std::vector<PowerSample> samples = exact_samples(model, ten_clocks);
  for (auto& sample : samples) sample.voltage = 712.5 * model.voltage.at(sample.clock_hz);
  const PowerFit fit = fit_power_model(samples, PowerForm::leakage);
  EXPECT_TRUE(fit.measured_voltage);
  EXPECT_NEAR(parameter(fit, "P_0"), 12, 1e-3);
  EXPECT_NEAR(parameter(fit, "l"), 20, 1e-3);
  EXPECT_NEAR(parameter(fit, "alpha"), 0.04, 1e-6);
  EXPECT_NEAR(fit.ridge_hz, 1300 * mhz, 10 * mhz);
  EXPECT_EQ(fit.ridge_interval.low_hz, 1160 * mhz);
  EXPECT_EQ(fit.ridge_interval.high_hz, 1350 * mhz);
}

TEST(PowerFitTest, WarnsThatLeakageCannotBeToldApartWithoutVoltage) {
  const auto warned = [](const PowerFit& fit) {
    return std::any_of(fit.warnings.begin(), fit.warnings.end(), [](const std::string& warning) {
      return warning.find("P_0 and l cannot be told apart") != std::string::npos;
    });
  };
  auto samples = exact_samples(usual_model(), ten_clocks);
  EXPECT_TRUE(warned(fit_power_model(samples, PowerForm::leakage)));
  EXPECT_FALSE(warned(fit_power_model(samples, PowerForm::free)));
  for (auto& sample : samples) sample.voltage = usual_model().voltage.at(sample.clock_hz);
  EXPECT_FALSE(warned(fit_power_model(samples, PowerForm::leakage)));
}

TEST(PowerFitTest, OneSampleWithoutVoltageMeansThatVoltagesAreNotUsed) {
  auto samples = exact_samples(usual_model(), ten_clocks);
  for (std::size_t i = 1; i < samples.size(); ++i) samples[i].voltage = 1;
  EXPECT_FALSE(fit_power_model(samples, PowerForm::free).measured_voltage);
}

TEST(PowerFitTest, AbsolutePowersScaleTheFitAndNothingElse) {
  auto samples = exact_samples(usual_model(), ten_clocks);
  for (auto& sample : samples) sample.power_w *= 1e-3;
  const PowerFit fit = fit_power_model(samples, PowerForm::free);
  EXPECT_NEAR(fit.ridge_hz, 1300 * mhz, 0.01 * mhz);
  EXPECT_NEAR(parameter(fit, "P_idle"), 0.03, 1e-7);
}

// --- What the data cannot tell ---

TEST(PowerFitTest, WarnsWhereTheLimitComesBeforeTheRidge) {
  PowerModel model = usual_model();
  model.voltage = VoltageCurve::hinge(3000 * mhz, 1e-3 / mhz);
  auto samples = exact_samples(model, {400, 590, 780, 970, 1160, 1350});
  for (const double requested : {1540.0, 1730.0, 1920.0}) {
    samples.push_back({1400 * mhz, model.power(1400 * mhz), std::numeric_limits<double>::quiet_NaN(), requested * mhz});
  }
  std::mt19937_64 random(3);
  for (auto& sample : samples) sample.power_w *= 1 + 0.003 * std::normal_distribution<>()(random);
  const PowerFit fit = fit_power_model(samples, PowerForm::free);
  ASSERT_THAT(fit.warnings, Not(IsEmpty()));
  EXPECT_THAT(fit.warnings.front(), HasSubstr("cannot tell the ridge"));
  EXPECT_THAT(fit.warnings.front(), HasSubstr("power limit"));
  EXPECT_TRUE(fit.ridge_interval.high_open);
}

TEST(PowerFitTest, WarnsOfTooFewClocksOnASide) {
  const PowerFit above =
      fit_power_model(exact_samples(usual_model(), {400, 600, 800, 1000, 1100, 1200, 1800}), PowerForm::free);
  ASSERT_THAT(above.warnings, Not(IsEmpty()));
  const PowerFit below =
      fit_power_model(exact_samples(usual_model(), {1100, 1250, 1500, 1600, 1700, 1800, 1900}), PowerForm::free);
  ASSERT_THAT(below.warnings, Not(IsEmpty()));
  EXPECT_THAT(below.warnings.back(), HasSubstr("below the ridge"));
}

TEST(PowerFitTest, AConstantVoltageHasNoRidge) {
  auto samples = exact_samples(usual_model(), ten_clocks);
  for (auto& sample : samples) sample.voltage = 800;
  const PowerFit fit = fit_power_model(samples, PowerForm::free);
  EXPECT_THAT(fit.warnings, Contains(HasSubstr("voltage does not leave")));
}

TEST(PowerFitTest, TooFewClocksAreAnErrorThatSaysHowManyAreNeeded) {
  EXPECT_THAT(message_of({}), HasSubstr("0 distinct clocks are too few for the form 'free', which needs 6 or more"));
  const std::vector<PowerSample> same(20, PowerSample{1000 * mhz, 50});
  EXPECT_THAT(message_of(same), HasSubstr("1 distinct clock is too few"));
  EXPECT_THAT(message_of(exact_samples(usual_model(), {400, 800, 1200, 1600, 2000}), PowerForm::leakage),
              HasSubstr("needs 7 or more"));
}

TEST(PowerFitTest, SamplesThatAreNoPositiveNumbersAreErrors) {
  for (const double wrong :
       {0.0, -3.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto samples = exact_samples(usual_model(), ten_clocks);
    samples[3].power_w = wrong;
    EXPECT_THAT(message_of(samples), HasSubstr("have to be positive"));
    samples = exact_samples(usual_model(), ten_clocks);
    samples[3].clock_hz = wrong;
    EXPECT_THAT(message_of(samples), HasSubstr("have to be positive"));
  }
}

TEST(PowerFitTest, ConstantAndFallingPowersAreFittedWithWarnings) {
  for (const double change : {0.0, -5.0}) {
    std::vector<PowerSample> samples;
    for (std::size_t i = 0; i < ten_clocks.size(); ++i)
      samples.push_back({ten_clocks[i] * mhz, 100 + change * static_cast<double>(i)});
    for (const PowerForm form : {PowerForm::free, PowerForm::paper, PowerForm::leakage}) {
      const PowerFit fit = fit_power_model(samples, form);
      EXPECT_TRUE(std::isfinite(fit.rms_w));
      EXPECT_THAT(fit.warnings, Not(IsEmpty()));
    }
  }
}

TEST(PowerFitTest, NamesOfFormsAreReadBack) {
  for (const PowerForm form : {PowerForm::free, PowerForm::paper, PowerForm::leakage})
    EXPECT_EQ(power_form_from(to_string(form)), form);
  EXPECT_THROW(power_form_from("cubic"), UsageError);
}

}  // namespace
}  // namespace wattune
