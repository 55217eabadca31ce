#include "cuda/recorded.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "../temporary_folder.hpp"

namespace wattune::simgpu {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = RecordedKernel::Answer::Kind;

/// A Kernel Tuner cache of two parameters, of which one is a block size, and of the clock.
constexpr const char* cache = R"({
"device_name": "NVIDIA RTX A4000", "kernel_name": "k", "problem_size": [64],
"tune_params_keys": ["block_size_x", "TILE", "nvml_gr_clock"],
"tune_params": {"block_size_x": [32, 64], "TILE": [1, 2], "nvml_gr_clock": [600, 1200]},
"cache": {
"32,1,600": {"block_size_x": 32, "TILE": 1, "nvml_gr_clock": 600, "time": 4.0, "nvml_power": 60.0},
"32,1,1200": {"block_size_x": 32, "TILE": 1, "nvml_gr_clock": 1200, "time": 2.0, "nvml_power": 100.0,
  "core_freq": 1100.0},
"64,1,600": {"block_size_x": 64, "TILE": 1, "nvml_gr_clock": 600, "time": 3.0, "nvml_energy": 0.3},
"32,2,600": {"block_size_x": 32, "TILE": 2, "nvml_gr_clock": 600, "time": "RuntimeFailedConfig"}
}})";

class Recorded : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(const std::string& text) const {
    const auto file = folder_.path() / "recorded.json";
    std::ofstream(file) << text;
    return file;
  }
  static Variant with(std::vector<Variant::Define> defines) { return {1, 2, std::move(defines)}; }

  const TemporaryFolder folder_;
  RecordedKernel kernel{write(cache)};
};

TEST_F(Recorded, launch_is_found_by_its_defines_and_its_block) {
  const auto answer = kernel.find(with({{"TILE", 1}, {"something_else", 7}}), {32, 1, 1});
  ASSERT_EQ(answer.kind, Kind::found);
  ASSERT_THAT(answer.records, SizeIs(2));
  EXPECT_DOUBLE_EQ(answer.records[0].seconds, 4e-3);
  EXPECT_DOUBLE_EQ(answer.records[0].watts, 60);
  EXPECT_DOUBLE_EQ(answer.records[0].sm_clock, 600e6);
  EXPECT_DOUBLE_EQ(answer.records[1].sm_clock, 1100e6) << "what was measured, not what was set";
}

TEST_F(Recorded, power_follows_from_energy_where_only_that_is_recorded) {
  const auto answer = kernel.find(with({{"TILE", 1}}), {64, 1, 1});
  ASSERT_EQ(answer.kind, Kind::found);
  EXPECT_NEAR(answer.records.at(0).watts, 100, 1e-9);
}

TEST_F(Recorded, define_counts_more_than_the_block) {
  EXPECT_EQ(kernel.find(with({{"TILE", 1}, {"block_size_x", 32}}), {512, 1, 1}).kind, Kind::found);
}

TEST_F(Recorded, configuration_that_is_not_in_the_file_is_missing) {
  EXPECT_EQ(kernel.find(with({{"TILE", 3}}), {32, 1, 1}).kind, Kind::missing);
  EXPECT_EQ(kernel.find(with({{"TILE", 1}}), {96, 1, 1}).kind, Kind::missing);
}

TEST_F(Recorded, configuration_that_did_not_run_has_failed) {
  EXPECT_EQ(kernel.find(with({{"TILE", 2}}), {32, 1, 1}).kind, Kind::failed);
}

TEST_F(Recorded, code_without_any_of_the_parameters_is_another_kernel) {
  EXPECT_EQ(kernel.find(with({{"other", 2}}), {32, 1, 1}).kind, Kind::another_kernel);
  EXPECT_FALSE(kernel.is_of(with({})));
}

TEST_F(Recorded, file_of_block_sizes_alone_is_matched_by_the_block) {
  const RecordedKernel plain(write(R"({"device_name": "d", "kernel_name": "k", "problem_size": [1],
    "tune_params_keys": ["block_size_x"], "tune_params": {"block_size_x": [32]},
    "cache": {"32": {"block_size_x": 32, "time": 4.0}}})"));
  EXPECT_EQ(plain.find(with({}), {32, 1, 1}).kind, Kind::found);
  EXPECT_EQ(plain.find(with({}), {32, 1, 1}).records.at(0).sm_clock, 0);
  EXPECT_EQ(plain.find(with({}), {33, 1, 1}).kind, Kind::another_kernel);
}

std::string refusal(const std::filesystem::path& file) {
  try {
    const RecordedKernel kernel(file);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(RecordedFile, that_is_no_such_file_is_refused_by_name) {
  EXPECT_THAT(refusal("/no/such/file.json"),
              testing::AllOf(HasSubstr("WATTUNE_SIM_RECORDED"), HasSubstr("/no/such/file.json")));
}

TEST(RecordedFile, without_any_time_is_refused) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "empty.json";
  std::ofstream(file) << R"({"device_name": "d", "kernel_name": "k", "problem_size": [1], "tune_params_keys": ["a"],
    "tune_params": {"a": [1]}, "cache": {}})";
  EXPECT_THAT(refusal(file), HasSubstr("no configuration with a time"));
}

}  // namespace
}  // namespace wattune::simgpu
