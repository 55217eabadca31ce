#include "problem/element_type.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "problem/half.hpp"

namespace wattune {
namespace {

TEST(ElementTypeTest, every_name_of_t1_is_known_with_its_size) {
  const std::pair<const char*, std::size_t> sizes[] = {
      {"bool", 1},     {"int8", 1},    {"uint8", 1},    {"int16", 2},    {"uint16", 2},   {"int32", 4},
      {"uint32", 4},   {"int64", 8},   {"uint64", 8},   {"half", 2},     {"half2", 4},    {"half4", 8},
      {"half8", 16},   {"half16", 32}, {"float", 4},    {"float2", 8},   {"float4", 16},  {"float8", 32},
      {"float16", 64}, {"double", 8},  {"double2", 16}, {"double4", 32}, {"double8", 64}, {"double16", 128}};
  for (const auto& [name, bytes] : sizes) {
    const auto type = element_type(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type->bytes, bytes) << name;
    EXPECT_EQ(to_string(*type), name);
  }
}

TEST(ElementTypeTest, int8_and_int16_are_scalars_but_float16_is_a_vector) {
  EXPECT_EQ(element_type("int8")->components, 1U);
  EXPECT_EQ(element_type("int16")->components, 1U);
  EXPECT_EQ(element_type("float16")->components, 16U);
  EXPECT_EQ(element_type("float16")->scalar_bytes(), 4U);
}

TEST(ElementTypeTest, c_names_of_integers_are_aliases) {
  EXPECT_EQ(to_string(*element_type("int")), "int32");
  EXPECT_EQ(to_string(*element_type("uint")), "uint32");
}

TEST(ElementTypeTest, unknown_names_and_widths_are_refused) {
  for (const char* name :
       {"", "floaty", "float3", "float02", "float-2", "float2x", "int2", "Float", "float 2", "char"}) {
    EXPECT_FALSE(element_type(name)) << name;
  }
}

TEST(ElementTypeTest, custom_needs_its_size) {
  EXPECT_FALSE(element_type("custom"));
  EXPECT_EQ(element_type("custom", 12)->bytes, 12U);
  EXPECT_EQ(to_string(*element_type("custom", 12)), "custom");
}

TEST(ElementTypeTest, integers_must_be_equal_and_wider_floats_agree_more_closely) {
  EXPECT_EQ(default_tolerance(*element_type("int32")).absolute, 0);
  EXPECT_EQ(default_tolerance(*element_type("bool")).relative, 0);
  EXPECT_EQ(default_tolerance(*element_type("custom", 4)).absolute, 0);
  EXPECT_LT(default_tolerance(*element_type("double")).relative, default_tolerance(*element_type("float")).relative);
  EXPECT_LT(default_tolerance(*element_type("float4")).relative, default_tolerance(*element_type("half2")).relative);
}

TEST(HalfTest, every_half_survives_the_way_to_double_and_back) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double value = double_from_half(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(half_from_double(value), bits);
  }
}

TEST(HalfTest, known_numbers_have_their_bits) {
  EXPECT_EQ(half_from_double(1.0), 0x3c00);
  EXPECT_EQ(half_from_double(-2.0), 0xc000);
  EXPECT_EQ(half_from_double(65504.0), 0x7bff);
  EXPECT_EQ(half_from_double(0x1p-14), 0x0400);
  EXPECT_EQ(half_from_double(0x1p-24), 0x0001);
  EXPECT_EQ(half_from_double(0.0), 0x0000);
  EXPECT_EQ(half_from_double(-0.0), 0x8000);
  EXPECT_EQ(half_from_double(1.0 / 3), 0x3555);
}

TEST(HalfTest, ties_go_to_the_even_neighbour) {
  EXPECT_EQ(half_from_double(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(half_from_double(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(half_from_double(0x1p-25), 0x0000);
  EXPECT_EQ(half_from_double(3 * 0x1p-25), 0x0002);
  EXPECT_EQ(half_from_double(1 + 0x1p-11 + 0x1p-40), 0x3c01) << "rounded once, not by way of float";
}

TEST(HalfTest, rounding_up_carries_into_the_exponent) {
  EXPECT_EQ(half_from_double(2 - 0x1p-12), 0x4000);
  EXPECT_EQ(half_from_double(0x1p-14 - 0x1p-26), 0x0400) << "the largest subnormal rounds to the smallest normal";
}

TEST(HalfTest, what_is_too_large_becomes_infinite_and_nan_stays) {
  EXPECT_EQ(half_from_double(65519.99), 0x7bff);
  EXPECT_EQ(half_from_double(65520.0), 0x7c00);
  EXPECT_EQ(half_from_double(-1e300), 0xfc00);
  EXPECT_EQ(half_from_double(std::numeric_limits<double>::infinity()), 0x7c00);
  EXPECT_TRUE(std::isnan(double_from_half(half_from_double(std::nan("")))));
  EXPECT_EQ(half_from_double(1e-300), 0);
}

}  // namespace
}  // namespace wattune
