#include "sensor/profile.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "fake.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

SensorProfile h200() {
  SensorProfile profile;
  profile.board = "GPU-11111111-2222";
  profile.name = "NVIDIA H200";
  profile.driver = "580.65";
  profile.made = "2026-11-30T00:00:00Z";
  profile.counter = ReadingProfile{0.1, 0.0029, 0.017, 0.1, 1.0, {}, 0.0, 3.0};
  profile.instant = ReadingProfile{0.1, 4e-6, 5e-6, 0.028, 0.28, {}, 0.001, 2.0};
  profile.idle_bare_w = 80;
  profile.counter_over_readings = 1.002;
  return profile;
}

class KeptProfile : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
};

TEST_F(KeptProfile, comes_back_for_its_board_and_driver_only) {
  const auto file = save_profile(h200(), folder_ / "made");
  EXPECT_TRUE(std::filesystem::exists(file));
  const auto back = load_profile("GPU-11111111-2222", "580.65", folder_ / "made");
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(h200()));
  EXPECT_FALSE(load_profile("GPU-11111111-2222", "590.00", folder_ / "made"));
  EXPECT_FALSE(load_profile("GPU-99999999-2222", "580.65", folder_ / "made"));
  EXPECT_FALSE(load_profile("GPU-11111111-2222", "580.65", {}));
}

TEST_F(KeptProfile, is_as_if_it_were_not_there_where_it_is_damaged_or_of_another_version) {
  const auto file = save_profile(h200(), folder_);
  for (const char* change : {"{\"format\": 2}", "{\"format\": 1", "[]", "{\"counter\": {\"period_s\": 0}}",
                             "{\"instant\": {\"window_s\": -1}}"}) {
    auto object = to_json(h200());
    const auto patch = nlohmann::json::parse(change, nullptr, false);
    if (patch.is_object()) object.merge_patch(patch);
    std::ofstream(file) << (patch.is_object() ? object.dump() : std::string(change));
    std::string problem;
    EXPECT_FALSE(load_profile("GPU-11111111-2222", "580.65", folder_, &problem)) << change;
    EXPECT_THAT(problem, testing::AllOf(HasSubstr(file.string()), HasSubstr("'wattune devices --probe' makes it anew")))
        << change;
  }
}

TEST_F(KeptProfile, that_is_whole_or_not_there_is_no_problem) {
  std::string problem;
  EXPECT_FALSE(load_profile("GPU-11111111-2222", "580.65", folder_, &problem));
  save_profile(h200(), folder_);
  EXPECT_TRUE(load_profile("GPU-11111111-2222", "580.65", folder_, &problem));
  EXPECT_EQ(problem, "");
}

TEST_F(KeptProfile, of_another_board_under_this_name_is_told) {
  const auto file = save_profile(h200(), folder_);
  auto object = to_json(h200());
  object["driver"] = "590.00";
  std::ofstream(file) << object.dump();
  std::string problem;
  EXPECT_FALSE(load_profile("GPU-11111111-2222", "580.65", folder_, &problem));
  EXPECT_THAT(problem, HasSubstr("it is of board GPU-11111111-2222 under driver 590.00"));
}

TEST_F(KeptProfile, says_where_it_could_not_be_written_and_what_to_set) {
  std::ofstream(folder_ / "file") << "no folder";
  try {
    save_profile(h200(), folder_ / "file");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("file"), HasSubstr("WATTUNE_SENSOR_DIR")));
  }
}

TEST(ProfileFolder, is_named_by_the_first_of_several_variables) {
  const ScopedEnvironment home("HOME", "/h");
  const ScopedEnvironment sensors("WATTUNE_SENSOR_DIR", nullptr);
  const ScopedEnvironment cache("WATTUNE_CACHE_DIR", nullptr);
  const ScopedEnvironment xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(profile_folder(), "/h/.cache/wattune/sensors");
  const ScopedEnvironment other("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(profile_folder(), "/x/wattune/sensors");
  const ScopedEnvironment named("WATTUNE_CACHE_DIR", "/c");
  EXPECT_EQ(profile_folder(), "/c/sensors");
  const ScopedEnvironment own("WATTUNE_SENSOR_DIR", "/s");
  EXPECT_EQ(profile_folder(), "/s");
}

TEST(EnergyEstimators, have_names) {
  for (const char* name : {"auto", "counter", "samples", "integral", "median"}) {
    EXPECT_EQ(to_string(estimator_from(name)), name);
  }
  EXPECT_THROW(estimator_from("best"), UsageError);
}

TEST(EnergyEstimators, are_chosen_by_what_the_board_has_and_what_its_sensors_see) {
  EXPECT_EQ(choose_estimator(nullptr, true, true, true), EnergyEstimator::counter);
  EXPECT_EQ(choose_estimator(nullptr, false, true, true), EnergyEstimator::samples);
  EXPECT_EQ(choose_estimator(nullptr, false, true, false), EnergyEstimator::integral);
  SensorProfile profile = h200();
  profile.samples = ReadingProfile{0.02, 3e-4, 3e-4, 0.02, 1.0, {}, 0.0, 2.0};
  EXPECT_EQ(choose_estimator(&profile, false, true, true), EnergyEstimator::samples);
  profile.samples->window = 0.005;
  profile.samples->duty = 0.25;
  profile.instant->window = 0.1;
  profile.instant->duty = 1;
  EXPECT_EQ(choose_estimator(&profile, false, true, true), EnergyEstimator::integral);
}

TEST(SensorsInWords, tell_what_is_seen_and_what_is_used) {
  const auto lines = in_words(h200());
  EXPECT_THAT(lines,
              testing::Contains(HasSubstr("energy counter: a new value every 100 ms, which sees all of the time")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("counter and readings agree")));
  EXPECT_THAT(lines, testing::Contains(testing::EndsWith("a call takes 2.9 ms")));
  EXPECT_THAT(lines, testing::Contains(testing::EndsWith("a call takes 4 us")));
  EXPECT_EQ(lines.back(), "this card's instantaneous reading sees 28 % of the time; wattune uses its energy counter");
}

TEST(SensorsInWords, tell_long_times_in_seconds) {
  SensorProfile profile = h200();
  profile.average = ReadingProfile{0.1, 4e-6, 5e-6, 1.0, 1.0, 1.5, 0.0, 2.0};
  EXPECT_THAT(in_words(profile),
              testing::Contains(HasSubstr("every 100 ms, each the mean of 1 s, late by a rise time of 1.5 s")));
}

}  // namespace
}  // namespace wattune
