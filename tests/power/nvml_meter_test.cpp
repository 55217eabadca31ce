#include "power/nvml/nvml_meter.hpp"

#include <gmock/gmock.h>

#include "fake.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NvmlMeter : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = {};
    fake_.boards.push_back({"GPU-11111111-1111-1111-1111-111111111111", "0000:01:00.0"});
    fake_.boards.push_back({"GPU-22222222-2222-2222-2222-222222222222", "0000:02:00.0"});
    FakeBoard& board = fake_.boards[1];
    board.millijoules = 123456789;
    board.milliwatts = 641600;
    board.sm_megahertz = 1980;
    board.memory_megahertz = 3201;
    board.celsius = 61;
  }
  std::unique_ptr<PowerMeter> open(const std::string& uuid, const std::string& pci) {
    why_not_.clear();
    return open_nvml_meter(uuid, pci, &why_not_, fake_library("fake_nvml").string());
  }

  FakeNvml& fake_ = fake_state<FakeNvml>(fake_library("fake_nvml"));
  std::string why_not_;
};

TEST_F(NvmlMeter, finds_the_board_by_its_uuid_whatever_its_number) {
  const auto meter = open("GPU-22222222-2222-2222-2222-222222222222", "");
  ASSERT_TRUE(meter) << why_not_;
  EXPECT_DOUBLE_EQ(meter->energy_joules().value(), 123456.789);
}

TEST_F(NvmlMeter, finds_the_board_by_its_pci_id_where_the_uuid_is_not_known) {
  ASSERT_TRUE(open("", "0000:02:00.0"));
  const auto meter = open("GPU-99999999-0000-0000-0000-000000000000", "0000:02:00.0");
  ASSERT_TRUE(meter) << why_not_;
  EXPECT_DOUBLE_EQ(meter->energy_joules().value(), 123456.789);
}

TEST_F(NvmlMeter, gives_everything_in_si_units) {
  const auto meter = open("GPU-22222222-2222-2222-2222-222222222222", "");
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->name(), "nvml");
  EXPECT_DOUBLE_EQ(meter->power_watts().value(), 641.6);
  EXPECT_DOUBLE_EQ(meter->sm_clock_hz().value(), 1.98e9);
  EXPECT_DOUBLE_EQ(meter->memory_clock_hz().value(), 3.201e9);
  EXPECT_DOUBLE_EQ(meter->temperature_celsius().value(), 61);
  EXPECT_THAT(meter->throttle_reasons(), IsEmpty());
}

TEST_F(NvmlMeter, gives_nothing_and_not_zero_for_what_the_board_does_not_offer) {
  const auto meter = open("GPU-22222222-2222-2222-2222-222222222222", "");
  ASSERT_TRUE(meter);
  for (const char* symbol : {"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo",
                             "nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    fake_.failures[symbol] = NvmlResult::not_supported;
  }
  EXPECT_FALSE(meter->energy_joules());
  EXPECT_FALSE(meter->power_watts());
  EXPECT_FALSE(meter->sm_clock_hz());
  EXPECT_FALSE(meter->memory_clock_hz());
  EXPECT_FALSE(meter->temperature_celsius());
  EXPECT_THAT(meter->throttle_reasons(), IsEmpty());
}

NvmlFieldValue field(unsigned id, unsigned scope, NvmlValueType type, NvmlResult result = NvmlResult::success) {
  NvmlFieldValue value{};
  value.field = id;
  value.scope = scope;
  value.type = type;
  value.result = result;
  return value;
}

TEST_F(NvmlMeter, reads_fields_by_their_own_type_and_result) {
  FakeBoard& board = fake_.boards[1];
  board.fields = {field(186, 0, NvmlValueType::unsigned_int), field(185, 2, NvmlValueType::real),
                  field(74, 0, NvmlValueType::unsigned_long_long), field(269, 0, NvmlValueType::unsigned_long_long),
                  field(270, 0, NvmlValueType::unsigned_long_long, NvmlResult::unknown)};
  board.fields[0].value.unsigned_int = 353700;
  board.fields[1].value.real = 81500;
  board.fields[2].value.unsigned_long_long = 5'000'000'000;
  board.fields[3].value.unsigned_long_long = 250'000'000;
  board.fields[4].value.unsigned_long_long = 1;
  const auto meter = open("", "0000:02:00.0");
  ASSERT_TRUE(meter);
  EXPECT_DOUBLE_EQ(meter->instant_power_watts().value(), 353.7);
  EXPECT_DOUBLE_EQ(meter->memory_power_watts().value(), 81.5);
  EXPECT_THAT(meter->throttle_seconds(),
              ElementsAre(testing::Pair("power_capped", 5.0), testing::Pair("thermal", 0.25)));
  board.fields.clear();
  EXPECT_FALSE(meter->instant_power_watts());
  EXPECT_FALSE(meter->memory_power_watts());
  EXPECT_THAT(meter->throttle_seconds(), IsEmpty());
}

TEST_F(NvmlMeter, gives_what_the_driver_has_recorded_after_a_stamp) {
  FakeBoard& board = fake_.boards[1];
  for (const unsigned watts : {100U, 200U, 300U}) {
    NvmlSample sample{};
    sample.timestamp = watts * 10'000;
    sample.value.unsigned_int = watts * 1000;
    board.samples.push_back(sample);
  }
  const auto meter = open("", "0000:02:00.0");
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->recorded_power(0).size(), 3U);
  const auto later = meter->recorded_power(1.5);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_DOUBLE_EQ(later[0].stamp, 2);
  EXPECT_DOUBLE_EQ(later[0].watts, 200);
  EXPECT_THAT(meter->recorded_power(3), IsEmpty());
}

TEST_F(NvmlMeter, needs_no_counter_where_there_is_a_power_reading) {
  fake_.failures["nvmlDeviceGetTotalEnergyConsumption"] = NvmlResult::not_supported;
  const auto meter = open("", "0000:02:00.0");
  ASSERT_TRUE(meter) << why_not_;
  EXPECT_FALSE(meter->energy_joules());
  EXPECT_DOUBLE_EQ(meter->power_watts().value(), 641.6);
}

TEST_F(NvmlMeter, names_the_reasons_that_hold_a_clock_back) {
  EXPECT_THAT(throttle_reason_names(0x0), IsEmpty());
  EXPECT_THAT(throttle_reason_names(0x1 | 0x2 | 0x10), IsEmpty());
  EXPECT_THAT(throttle_reason_names(0x4), ElementsAre("power_capped"));
  EXPECT_THAT(throttle_reason_names(0x8), ElementsAre("hardware_slowdown"));
  EXPECT_THAT(throttle_reason_names(0x20), ElementsAre("thermal"));
  EXPECT_THAT(throttle_reason_names(0x8 | 0x40), ElementsAre("thermal"));
  EXPECT_THAT(throttle_reason_names(0x4 | 0x8 | 0x80), ElementsAre("power_capped", "power_brake"));
}

TEST_F(NvmlMeter, refuses_an_instance_of_a_divided_board) {
  EXPECT_FALSE(open("MIG-33333333-3333-3333-3333-333333333333", "0000:02:00.0"));
  EXPECT_THAT(why_not_, HasSubstr("MIG"));
  fake_.boards[1].divided = true;
  EXPECT_FALSE(open("", "0000:02:00.0"));
  EXPECT_THAT(why_not_, HasSubstr("whole board"));
  fake_.boards[1].divided = false;
  fake_.boards[1].instance = true;
  EXPECT_FALSE(open("", "0000:02:00.0"));
  EXPECT_THAT(why_not_, HasSubstr("whole board"));
}

TEST_F(NvmlMeter, says_why_there_is_none) {
  EXPECT_FALSE(open("GPU-99999999-0000-0000-0000-000000000000", "0000:99:00.0"));
  EXPECT_THAT(why_not_,
              testing::AllOf(HasSubstr("GPU-99999999"), HasSubstr("pci:0000:99:00.0"), HasSubstr("Not Found")));
  EXPECT_FALSE(open("", ""));
  EXPECT_THAT(why_not_, HasSubstr("neither UUID nor PCI"));
  fake_.failures["nvmlDeviceGetTotalEnergyConsumption"] = NvmlResult::not_supported;
  fake_.failures["nvmlDeviceGetPowerUsage"] = NvmlResult::not_supported;
  EXPECT_FALSE(open("", "0000:02:00.0"));
  EXPECT_THAT(why_not_, HasSubstr("neither power nor energy"));
  EXPECT_FALSE(open_nvml_meter("", "0000:02:00.0", &why_not_, "/nowhere/libnvidia-ml.so.1"));
  EXPECT_THAT(why_not_, HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_FALSE(open_nvml_meter("", "", nullptr, "/nowhere/libnvidia-ml.so.1"));
}

TEST_F(NvmlMeter, shuts_nvml_down_when_it_is_gone) {
  auto meter = open("", "0000:02:00.0");
  EXPECT_EQ(fake_.initialised, 1);
  meter.reset();
  EXPECT_EQ(fake_.initialised, 0);
}

}  // namespace
}  // namespace wattune
