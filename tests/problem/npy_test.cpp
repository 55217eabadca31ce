#include "problem/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A file as numpy.save writes it.
std::string npy(std::string header, std::string_view data, int version = 1) {
  header += '\n';
  std::string content = "\x93NUMPY";
  content += static_cast<char>(version);
  content += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) content += static_cast<char>(header.size() >> (8 * i));
  return content + header + std::string(data);
}

std::string dictionary(std::string_view descr, std::string_view shape, std::string_view fortran = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran) +
         ", 'shape': " + std::string(shape) + ", }   ";
}

std::string error_of(std::string_view content, std::string_view type, std::uint64_t size) {
  try {
    static_cast<void>(npy_data(content, *element_type(type, 6), size));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

const std::string eight = "abcdefgh";

TEST(NpyTest, all_versions_of_the_format_are_read) {
  for (const int version : {1, 2, 3}) {
    const std::string content = npy(dictionary("<f4", "(2,)"), eight, version);
    EXPECT_EQ(npy_data(content, *element_type("float"), 2), eight) << version;
    EXPECT_THAT(parse_npy_header(content).shape, ElementsAre(2U));
  }
}

TEST(NpyTest, shapes_of_any_dimension_count_by_their_product) {
  EXPECT_EQ(error_of(npy(dictionary("<i2", "(2, 2)"), eight), "int16", 4), "no error");
  EXPECT_EQ(error_of(npy(dictionary("<u8", "()"), eight), "uint64", 1), "no error");
  EXPECT_EQ(error_of(npy(dictionary("<i2", "(2, 0, 3)"), ""), "int16", 0), "no error");
  EXPECT_THAT(error_of(npy(dictionary("<i2", "(2, 2)"), eight), "int16", 8),
              HasSubstr("its shape (2, 2) holds 4 numbers, the argument 8 elements of int16"));
}

TEST(NpyTest, complex_numbers_are_pairs_and_vectors_have_a_last_dimension) {
  EXPECT_EQ(error_of(npy(dictionary("<c8", "(1,)"), eight), "float2", 1), "no error");
  EXPECT_EQ(error_of(npy(dictionary("<f4", "(1, 2)"), eight), "float2", 1), "no error");
  EXPECT_THAT(error_of(npy(dictionary("<c8", "(1,)"), eight), "float", 2), HasSubstr("of type '<c8'"));
}

TEST(NpyTest, types_of_one_byte_and_custom_ones_have_no_order) {
  EXPECT_EQ(error_of(npy(dictionary("|b1", "(8,)"), eight), "bool", 8), "no error");
  EXPECT_EQ(error_of(npy(dictionary("|u1", "(8,)"), eight), "uint8", 8), "no error");
  EXPECT_EQ(error_of(npy(dictionary("|V6", "(1,)"), "abcdef"), "custom", 1), "no error");
  EXPECT_THAT(error_of(npy(dictionary("|f4", "(2,)"), eight), "float", 2), HasSubstr("of type '|f4'"));
}

TEST(NpyTest, another_type_order_or_layout_is_refused_with_advice) {
  EXPECT_EQ(error_of(npy(dictionary("<f8", "(1,)"), eight), "float", 1),
            "its numbers are of type '<f8', the argument's type float is 'f4'; store them with astype");
  EXPECT_THAT(error_of(npy(dictionary("<i4", "(2,)"), eight), "uint32", 2), HasSubstr("'<i4'"));
  EXPECT_THAT(error_of(npy(dictionary(">f4", "(2,)"), eight), "float", 2), HasSubstr("big-endian"));
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(1, 2)", "True"), eight), "float", 2), HasSubstr("Fortran order"));
  EXPECT_EQ(error_of(npy(dictionary("<f4", "(2,)", "True"), eight), "float", 2), "no error");
  EXPECT_THAT(error_of(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", eight), "float", 2),
              HasSubstr("records"));
}

TEST(NpyTest, data_must_be_there_exactly) {
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(2,)"), "abcd"), "float", 2), HasSubstr("4 bytes of data instead of 8"));
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(2,)"), "abcdefghi"), "float", 2), HasSubstr("9 bytes of data"));
}

TEST(NpyTest, broken_headers_are_refused) {
  EXPECT_THAT(error_of("", "float", 1), HasSubstr("no .npy file"));
  EXPECT_THAT(error_of("PK\x03\x04 and more bytes", "float", 1), HasSubstr("no .npy file"));
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(2,)"), eight, 4), "float", 2), HasSubstr("version 4 is unknown"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "float", 2), HasSubstr("cut off"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x02\x00\xff\xff", 10), "float", 2), HasSubstr("cut off"));
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr' '<f4'}", "{'other': 1}",
        "{'descr': '<f4', 'fortran_order': No, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "{'descr': '<f4', 'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "{'descr': '<f4"}) {
    EXPECT_THAT(error_of(npy(header, eight), "float", 2), HasSubstr("header is broken")) << header;
  }
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(4294967296, 4294967296)"), eight), "float", 2), HasSubstr("too large"));
  EXPECT_THAT(error_of(npy(dictionary("", "(2,)"), eight), "float", 2), HasSubstr("of type ''"));
}

}  // namespace
}  // namespace wattune
