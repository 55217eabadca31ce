#include "settings/voltage.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace wattune {
namespace {

TEST(Voltage, IsReadFromWhatNvidiaSmiPrints) {
  EXPECT_EQ(
      parse_voltage("\n==============NVSMI LOG==============\n\nTimestamp                                 : Mon\n"
                    "Driver Version                            : 580.00\n\nAttached GPUs : 1\n"
                    "GPU 00000000:01:00.0\n    Voltage\n        Graphics                          : 712.500 mV\n\n"),
      0.7125);
}

TEST(Voltage, OfABoardThatHasNoneIsNothing) {
  EXPECT_EQ(parse_voltage("GPU 0\n    Voltage\n        Graphics                          : N/A\n"), std::nullopt);
  EXPECT_EQ(parse_voltage("N/A\n"), std::nullopt);
}

TEST(Voltage, MayBeANumberWithItsUnitAlone) {
  EXPECT_EQ(parse_voltage("800 mV\n"), 0.8);
  EXPECT_EQ(parse_voltage(" 0.95V "), 0.95);
}

TEST(Voltage, OfAnythingElseIsAnError) {
  for (const char* text : {"", "hello", "712.5", "712.5 A", "-1 V", "1.2.3 V", "9000 V", "0 V", "nan V", "1e3 mV",
                           "Graphics :\n", "Graphics : 700 mV\nGraphics : 800 mV\n"}) {
    EXPECT_THROW(parse_voltage(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace wattune
