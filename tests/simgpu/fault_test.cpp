#include "machine/fault.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "driver/cuda_driver.hpp"
#include "driver/nvml.hpp"

namespace wattune::simgpu {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string error_of(const std::string& text) {
  try {
    parse_faults(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Faults, name_point_number_board_and_action) {
  const auto faults = parse_faults("launch:3=illegal_address; nvml.total_energy:5-7@h200=gpu_is_lost;");
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_STREQ(faults[0].point.data(), "launch");
  EXPECT_EQ(faults[0].first, 3U);
  EXPECT_EQ(faults[0].last, 3U);
  EXPECT_EQ(faults[0].result, static_cast<int>(CudaResult::illegal_address));
  EXPECT_STREQ(faults[0].board.data(), "");
  EXPECT_STREQ(faults[1].board.data(), "h200");
  EXPECT_EQ(faults[1].first, 5U);
  EXPECT_EQ(faults[1].last, 7U);
  EXPECT_EQ(faults[1].result, static_cast<int>(NvmlResult::gpu_is_lost));
}

TEST(Faults, happen_the_first_time_unless_told_otherwise) {
  EXPECT_EQ(parse_faults("load=invalid_image")[0].first, 1U);
  EXPECT_EQ(parse_faults("load=invalid_image")[0].last, 1U);
  EXPECT_EQ(parse_faults("load:4+=invalid_image")[0].last, UINT64_MAX);
  EXPECT_EQ(parse_faults("cuda_uuid=wrong")[0].last, UINT64_MAX);  // who a board is does not change
}

TEST(Faults, may_be_none) {
  EXPECT_THAT(parse_faults(""), IsEmpty());
  EXPECT_THAT(parse_faults(" ; "), IsEmpty());
}

TEST(Faults, of_conditions_have_values) {
  EXPECT_EQ(parse_faults("foreign_lock@a100-pcie-40gb=600")[0].value, 600);
  EXPECT_EQ(parse_faults("foreign_load=0.25")[0].value, 0.25);
  EXPECT_THAT(error_of("foreign_load=2"), HasSubstr("a share from 0 to 1"));
}

TEST(Faults, that_are_none_are_refused_with_what_there_is) {
  EXPECT_THAT(error_of("launch"), HasSubstr("no ="));
  EXPECT_THAT(error_of("start=hang"), HasSubstr("compile"));
  EXPECT_THAT(error_of("launch=still"), HasSubstr("illegal_address"));
  EXPECT_THAT(error_of("energy_counter=unknown"), HasSubstr("still, back, wrap"));
  EXPECT_THAT(error_of("launch:0=hang"), HasSubstr("'0'"));
  EXPECT_THAT(error_of("launch:5-2=hang"), HasSubstr("'5-2'"));
  EXPECT_THAT(error_of("launch:x=hang"), HasSubstr("'x'"));
  EXPECT_THAT(error_of("launch@gtx=hang"), HasSubstr("rtx-a4000"));
  EXPECT_THAT(error_of("nvml.explode=unknown"), HasSubstr("nvml.total_energy"));
}

}  // namespace
}  // namespace wattune::simgpu
