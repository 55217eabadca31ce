#include "evaluate/compare.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "problem/half.hpp"
#include "problems.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <typename T>
Comparison compare_values(const std::string& type, const std::vector<T>& output, const std::vector<T>& reference,
                          Tolerance tolerance = {}) {
  return compare(*element_type(type), bytes_of(output), bytes_of(reference), tolerance);
}

TEST(Compare, EqualOutputsAgree) {
  const auto result = compare_values<float>("float", {1, 2, 3}, {1, 2, 3});
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_EQ(result.max_error, 0);
}

TEST(Compare, ADifferenceWithinTheAbsoluteToleranceAgrees) {
  EXPECT_EQ(compare_values<float>("float", {0.5F}, {0}, {0.5, 0}).wrong, 0u);
  EXPECT_EQ(compare_values<float>("float", {0.75F}, {0}, {0.5, 0}).wrong, 1u);
}

TEST(Compare, ADifferenceWithinTheRelativeToleranceAgrees) {
  EXPECT_EQ(compare_values<double>("double", {-101}, {-100}, {0, 0.01}).wrong, 0u);
  EXPECT_EQ(compare_values<double>("double", {-101.1}, {-100}, {0, 0.01}).wrong, 1u);
}

TEST(Compare, TheErrorIsRelativeAboveOneAndAbsoluteBelow) {
  EXPECT_DOUBLE_EQ(compare_values<double>("double", {110, 0.5}, {100, 0.75}, {1e9, 0}).max_error, 0.25);
  EXPECT_DOUBLE_EQ(compare_values<double>("double", {150, 0.5}, {100, 0.75}, {1e9, 0}).max_error, 0.5);
}

TEST(Compare, ANanIsWrongUnlessTheReferenceHasOne) {
  EXPECT_EQ(compare_values<float>("float", {nan}, {1}, {infinity, infinity}).wrong, 1u);
  EXPECT_EQ(compare_values<float>("float", {1}, {nan}, {1, 1}).wrong, 1u);
  EXPECT_EQ(compare_values<float>("float", {-nan, 1}, {nan, 2}, {5, 0}).wrong, 0u);
}

TEST(Compare, InfinitiesAgreeOnlyWithTheirEqual) {
  EXPECT_EQ(compare_values<float>("float", {infinity, 0}, {infinity, 1}, {1, 1}).wrong, 0u);
  EXPECT_EQ(compare_values<float>("float", {-infinity}, {infinity}, {1, 1}).wrong, 1u);
  EXPECT_EQ(compare_values<float>("float", {1}, {infinity}, {1, 1}).wrong, 1u);
}

TEST(Compare, IntegersAreExactUpToTheirLimits) {
  EXPECT_EQ(compare_values<std::int64_t>("int64", {INT64_MAX}, {INT64_MAX - 1}).wrong, 1u);
  EXPECT_EQ(compare_values<std::int64_t>("int64", {INT64_MIN}, {INT64_MAX}).wrong, 1u);
  EXPECT_EQ(compare_values<std::uint64_t>("uint64", {UINT64_MAX}, {UINT64_MAX - 1}).wrong, 1u);
  EXPECT_EQ(compare_values<std::int8_t>("int8", {-128}, {127}).wrong, 1u);
  EXPECT_EQ(compare_values<std::uint16_t>("uint16", {7}, {9}, {2, 0}).wrong, 0u);
  EXPECT_EQ(compare_values<std::uint8_t>("bool", {0}, {1}).wrong, 1u);
}

TEST(Compare, HalvesAreComparedAsNumbers) {
  const std::vector<std::uint16_t> one = {half_from_double(1.0)};
  const std::vector<std::uint16_t> near = {half_from_double(1.01)};
  EXPECT_EQ(compare_values("half", near, one, {0, 0.02}).wrong, 0u);
  EXPECT_EQ(compare_values("half", near, one, {0, 0.001}).wrong, 1u);
  EXPECT_EQ(compare_values<std::uint16_t>("half", {0x8000, 0x7E00}, {0x0000, 0xFE01}).wrong, 0u);
}

TEST(Compare, CustomElementsAgreeByTheirBytes) {
  const ElementType type = *element_type("custom", 3);
  const auto reference = bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6});
  const auto output = bytes_of<std::uint8_t>({1, 2, 3, 4, 0, 6});
  const auto result = compare(type, output, reference, {1, 1});
  EXPECT_EQ(result.wrong, 1u);
  EXPECT_THAT(describe(result, "c", type, output, reference, {}, std::nullopt),
              HasSubstr("argument c: 1 of 2 values are wrong; first at element 1; worst at element 1: got 0x040006, "
                        "expected 0x040506"));
}

TEST(Compare, TheMessageNamesFirstAndWorst) {
  const auto reference = bytes_of<float>({1, 1, 1, 1});
  const auto output = bytes_of<float>({1, 1.5F, 9, 1.5F});
  const ElementType type = *element_type("float");
  const Tolerance tolerance{0.1, 0.01};
  EXPECT_EQ(
      describe(compare(type, output, reference, tolerance), "out", type, output, reference, tolerance, std::nullopt),
      "argument out: 3 of 4 values are wrong; first at element 1; worst at element 2: got 9, expected 1 (allowed: "
      "0.1 + 0.01 * |expected|)");
}

TEST(Compare, TheMessageGivesTheComponentOfAVector) {
  const auto reference = bytes_of<float>({1, 2, 3, 4, 5, 6, 7, 8});
  const auto output = bytes_of<float>({1, 2, 3, 4, 5, 6, 0, 8});
  const ElementType type = *element_type("float4");
  const auto text = describe(compare(type, output, reference, {}), "v", type, output, reference, {}, std::nullopt);
  EXPECT_THAT(text, HasSubstr("1 of 8 values are wrong; first at element 1 component 2"));
  EXPECT_THAT(text, Not(HasSubstr("allowed")));
}

TEST(Compare, TheMessageCountsWhatWasNotWritten) {
  const auto reference = bytes_of<std::int32_t>({1, 2, 3});
  auto output = reference;
  std::fill(output.begin() + 4, output.end(), std::byte{0xA5});
  const ElementType type = *element_type("int32");
  EXPECT_THAT(describe(compare(type, output, reference, {}), "v", type, output, reference, {}, std::byte{0xA5}),
              HasSubstr("; 2 were not written at all"));
}

TEST(Compare, FiniteIsAskedOfFloatingPointOnly) {
  EXPECT_TRUE(all_finite(*element_type("float"), bytes_of<float>({1, 2})));
  EXPECT_FALSE(all_finite(*element_type("float"), bytes_of<float>({1, infinity})));
  EXPECT_FALSE(all_finite(*element_type("half"), bytes_of<std::uint16_t>({0x7C00})));
  EXPECT_TRUE(all_finite(*element_type("int32"), bytes_of<std::uint32_t>({0x7F800000})));
}

}  // namespace
}  // namespace wattune
