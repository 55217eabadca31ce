#include "evaluate/voltage_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "virtual_device.hpp"

namespace wattune {
namespace {

using testing::HasSubstr;

class VoltageReaderTest : public testing::Test {
 protected:
  VoltageReader reader(std::vector<std::string> command) {
    return VoltageReader(std::move(command), [this](const std::string& text) { warnings.push_back(text); });
  }

  VirtualClock clock;
  VirtualBatch batch{clock, 0.01, 1};
  VirtualMeter meter{clock, [](double) { return 100.0; }};
  std::vector<std::string> warnings;
  DeviceSettings slow{600e6, std::nullopt, std::nullopt};
  DeviceSettings fast{1200e6, std::nullopt, std::nullopt};
};

TEST_F(VoltageReaderTest, RunsTheCommandOnceForEachSettingWhileTheDeviceIsBusy) {
  auto voltage = reader({"echo", "800 mV"});
  EXPECT_TRUE(voltage.wants(slow));
  EXPECT_FALSE(voltage.read(batch, meter, slow));
  EXPECT_FALSE(voltage.wants(slow));
  EXPECT_TRUE(voltage.wants(fast));
  ASSERT_TRUE(voltage.at(slow));
  EXPECT_EQ(voltage.at(slow)->value, 0.8);
  EXPECT_EQ(voltage.at(slow)->unit, "V");
  EXPECT_FALSE(voltage.at(fast));
  EXPECT_GT(batch.most_outstanding, 1U);
  EXPECT_EQ(batch.outstanding(), 0U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(VoltageReaderTest, BoardWithoutVoltageIsAskedOnceAndNoError) {
  auto voltage = reader({"echo", "N/A"});
  EXPECT_FALSE(voltage.read(batch, meter, slow));
  EXPECT_FALSE(voltage.wants(slow));
  EXPECT_FALSE(voltage.at(slow));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(VoltageReaderTest, CommandThatFailsIsNotRunAgain) {
  auto voltage = reader({"sh", "-c", "echo no driver >&2; exit 9"});
  EXPECT_FALSE(voltage.read(batch, meter, slow));
  EXPECT_FALSE(voltage.wants(fast));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("exited with code 9: no driver"));
}

TEST_F(VoltageReaderTest, WithoutACommandNothingIsWanted) {
  EXPECT_FALSE(reader({}).wants(slow));
}

TEST_F(VoltageReaderTest, KernelThatFailsMeanwhileIsAFailure) {
  batch.fail_after = 1;
  auto voltage = reader({"echo", "800 mV"});
  const auto failure = voltage.read(batch, meter, slow);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("an illegal address"));
}

}  // namespace
}  // namespace wattune
