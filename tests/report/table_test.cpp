#include "report/table.hpp"

#include <gmock/gmock.h>

namespace wattune {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs ±"), 4U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width("\xff\xc3"), 2U);
}

TEST(Shorten, CutsTheMiddleToTheWidth) {
  EXPECT_EQ(shorten("NVIDIA", 6), "NVIDIA");
  EXPECT_EQ(shorten("NVIDIA H200 80GB", 9), "NVID..0GB");
  EXPECT_EQ(shorten("abcdef", 3), "abc");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(Shorten, NeverExceedsTheWidthNorSplitsACharacter) {
  const std::string text = "aµ日本e\u0301😀xyz日本日本";
  for (std::size_t width = 0; width <= display_width(text) + 1; ++width) {
    const std::string cut = shorten(text, width);
    EXPECT_LE(display_width(cut), width);
    EXPECT_EQ(cut.find('\xff'), std::string::npos);
    std::size_t place = 0;
    while (place < cut.size()) {  // each lead byte is followed by its continuation bytes
      const auto lead = static_cast<unsigned char>(cut[place]);
      const std::size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
      EXPECT_TRUE(lead < 0x80 || lead >= 0xc2) << width;
      place += bytes;
    }
    EXPECT_EQ(place, cut.size());
  }
}

TEST(Printable, KeepsATerminalSafe) {
  EXPECT_EQ(printable("a\x1b[2J\nb\tµ\x7f"), "a [2J b µ ");
}

TEST(TableText, ColumnsAreAligned) {
  Table table({{"device"}, {"units", Table::Align::right}, "name"});
  table.add_row({"cuda:0", "132", "NVIDIA H200"});
  table.add_row({"opencl:0", "4", "µ"});
  table.add_row({"x"});
  table.add_row({"a", "b", "c", "beyond"});
  EXPECT_EQ(table.text(),
            "device    units  name\n"
            "cuda:0      132  NVIDIA H200\n"
            "opencl:0      4  µ\n"
            "x\n"
            "a             b  c\n");
  EXPECT_EQ(table.rows(), 4U);
}

TEST(TableText, WhatIsTooWideIsShortenedInItsWidestColumn) {
  Table table({"a", "message"});
  table.add_row({"1", "the beginning of a long message and its end"});
  EXPECT_EQ(table.text(20),
            "a  message\n"
            "1  the begi..its end\n");
}

TEST(TableText, AScreenThatIsFarTooNarrowStillShowsEveryColumn) {
  Table table({"first column", "second column", "third column"});
  table.add_row({"1", "2", "3"});
  EXPECT_EQ(table.text(10),
            "fir..umn  sec..umn  thi..umn\n"
            "1         2         3\n");
}

TEST(TableText, OfTwoTitlesIsATable) {
  Table table({{"a"}, {"b"}});
  table.add_row({"1", "2"});
  EXPECT_EQ(table.text(), "a  b\n1  2\n");
}

}  // namespace
}  // namespace wattune
