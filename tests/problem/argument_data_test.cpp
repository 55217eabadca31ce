#include "problem/argument_data.hpp"

#include <cstring>
#include <numeric>

#include "problem/half.hpp"
#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;

class ArgumentDataTest : public ProblemTest {
 protected:
  template <typename T>
  std::vector<T> data(const std::string& type, const Fill& fill, std::uint64_t size) {
    Problem problem = parse({});
    const auto bytes = fill_data(problem, fill, *element_type(type), size, "x");
    EXPECT_EQ(bytes.size(), size * element_type(type)->bytes);
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  std::string fill_error(const std::string& type, const Fill& fill, std::uint64_t size) {
    const Problem problem = parse({});
    return error_of([&] { fill_data(problem, fill, *element_type(type, 12), size, "x"); });
  }
  static Fill constant(double value) {
    Fill fill;
    fill.value = value;
    return fill;
  }
  static Fill random(double scale, std::optional<std::pair<double, double>> range = {}, std::uint64_t seed = 1) {
    Fill fill;
    fill.kind = Fill::Kind::random;
    fill.value = scale;
    fill.range = range;
    fill.seed = seed;
    return fill;
  }
  static Fill generator(std::string expression) {
    Fill fill;
    fill.kind = Fill::Kind::generator;
    fill.expression = std::move(expression);
    return fill;
  }
  static Fill script(std::string command) {
    Fill fill;
    fill.kind = Fill::Kind::script;
    fill.command = std::move(command);
    return fill;
  }
  Fill file(Fill::Kind kind, const std::string& name, std::uint64_t offset = 0) const {
    Fill fill;
    fill.kind = kind;
    fill.file = folder / name;
    fill.offset = offset;
    return fill;
  }
};

TEST_F(ArgumentDataTest, a_constant_fills_every_component) {
  EXPECT_THAT(data<float>("float2", constant(1.5), 2), ElementsAre(1.5F, 1.5F, 1.5F, 1.5F));
  EXPECT_THAT(data<std::int16_t>("int16", constant(-3), 2), ElementsAre(-3, -3));
  EXPECT_THAT(data<std::uint8_t>("bool", constant(1), 2), ElementsAre(1, 1));
  EXPECT_THAT(data<std::uint16_t>("half", constant(0.5), 1), ElementsAre(0x3800));
  EXPECT_THAT(data<double>("double", constant(0), 2), ElementsAre(0.0, 0.0));
}

TEST_F(ArgumentDataTest, a_constant_that_does_not_fit_is_refused) {
  EXPECT_THAT(fill_error("uint8", constant(256), 1),
              HasSubstr("argument 'x': the value 256 does not fit the type uint8"));
  EXPECT_THAT(fill_error("uint32", constant(-1), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("int32", constant(1.5), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("int64", constant(9223372036854775808.0), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("float", constant(1e39), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("half", constant(7e4), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("bool", constant(2), 1), HasSubstr("does not fit"));
  EXPECT_THAT(fill_error("custom", constant(1), 1), HasSubstr("custom type"));
}

TEST_F(ArgumentDataTest, random_floats_lie_in_the_unit_interval_by_default) {
  const auto values = data<float>("float", random(0), 10000);
  EXPECT_THAT(values, Each(AllOf(Ge(0.0F), Lt(1.0F))));
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 10000, 0.5, 0.02);
}

TEST_F(ArgumentDataTest, random_floats_are_scaled_by_the_value_or_lie_in_the_range) {
  EXPECT_THAT(data<double>("double", random(324), 1000), Each(AllOf(Ge(0.0), Lt(324.0))));
  EXPECT_THAT(data<double>("double", random(-2), 1000), Each(AllOf(Ge(-2.0), Lt(0.0))));
  EXPECT_THAT(data<float>("float", random(0, std::pair{-1.0, 1.0}), 1000), Each(AllOf(Ge(-1.0F), Lt(1.0F))));
}

TEST_F(ArgumentDataTest, rounding_never_reaches_the_end_of_the_range) {
  for (const std::uint16_t bits : data<std::uint16_t>("half", random(0, std::pair{0.0, 1.0}), 100000)) {
    ASSERT_LT(double_from_half(bits), 1.0);
  }
  for (const std::uint16_t bits : data<std::uint16_t>("half", random(0, std::pair{-1.0, 0.0}), 100000)) {
    ASSERT_LT(double_from_half(bits), 0.0);
  }
  const double above_one = 1 + 0x1p-23;
  EXPECT_THAT(data<float>("float", random(0, std::pair{1.0, above_one}), 1000), Each(1.0F));
}

TEST_F(ArgumentDataTest, random_integers_cover_their_range_without_its_end) {
  const auto values = data<std::int32_t>("int32", random(0, std::pair{-2.0, 3.0}), 1000);
  EXPECT_THAT(std::set(values.begin(), values.end()), ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_THAT(data<std::int8_t>("int8", random(0), 1000), Each(AllOf(Ge(0), Lt(100))));
  const auto bits = data<std::uint8_t>("bool", random(0), 100);
  EXPECT_THAT(std::set(bits.begin(), bits.end()), ElementsAre(0, 1));
  const auto bytes = data<std::uint8_t>("uint8", random(256), 10000);
  EXPECT_EQ(std::set(bytes.begin(), bytes.end()).size(), 256U);
}

TEST_F(ArgumentDataTest, random_ranges_that_do_not_fit_the_type_are_refused) {
  EXPECT_THAT(fill_error("int8", random(0, std::pair{0.0, 129.0}), 1), HasSubstr("are not of the type"));
  EXPECT_THAT(fill_error("uint32", random(0, std::pair{-1.0, 1.0}), 1), HasSubstr("are not of the type"));
  EXPECT_THAT(fill_error("int32", random(0.5), 1), HasSubstr("are not of the type"));
  EXPECT_THAT(fill_error("float", random(1e39), 1), HasSubstr("do not fit"));
  EXPECT_THAT(fill_error("float", random(0, std::pair{1.0, 1.0}), 1), HasSubstr("is empty"));
}

TEST_F(ArgumentDataTest, random_numbers_depend_on_seed_and_index_alone) {
  const auto values = data<float>("float", random(0, {}, 7), 100);
  const auto more = data<float>("float", random(0, {}, 7), 200);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), more.begin()));
  EXPECT_NE(values, data<float>("float", random(0, {}, 8), 100));
  // The generator is documented: another program can make the same numbers.
  EXPECT_THAT(data<double>("double", random(0, {}, 1), 3),
              ElementsAre(0.7497482413580301, 0.37239342287916577, 0.4382839062845528));
}

TEST_F(ArgumentDataTest, large_random_vectors_are_filled) {
  EXPECT_EQ(data<float>("float", random(1), 16U << 20).size(), 16U << 20);
}

TEST_F(ArgumentDataTest, a_generator_is_an_expression_of_the_index) {
  EXPECT_THAT(data<float>("float", generator("i / 2"), 3), ElementsAre(0.0F, 0.5F, 1.0F));
  EXPECT_THAT(data<std::int32_t>("int32", generator("ProblemSize[0] + max(TILE) * i"), 2), ElementsAre(1000, 1004));
  EXPECT_THAT(data<float>("float2", generator("i"), 2), ElementsAre(0.0F, 1.0F, 2.0F, 3.0F)) << "i counts components";
  EXPECT_THAT(data<std::uint8_t>("bool", generator("i % 2 == 1"), 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(data<std::int64_t>("int64", generator("9007199254740993"), 1), ElementsAre(9007199254740993));
}

TEST_F(ArgumentDataTest, a_generator_that_gives_no_number_of_the_type_is_refused) {
  EXPECT_THAT(fill_error("int32", generator("i / 2"), 3), HasSubstr("'i / 2' gives 0.5 at i = 1, which is no int32"));
  EXPECT_THAT(fill_error("uint8", generator("i - 1"), 3), HasSubstr("gives -1 at i = 0"));
  EXPECT_THAT(fill_error("float", generator("[i]"), 1), HasSubstr("gives [0] at i = 0"));
  EXPECT_THAT(fill_error("float", generator("1 / i"), 1), HasSubstr("argument 'x': "));
  EXPECT_THAT(fill_error("float", generator("j"), 1), HasSubstr("'j'"));
}

TEST_F(ArgumentDataTest, a_script_writes_the_bytes_in_the_folder_of_the_problem) {
  write("four", "abcd");
  EXPECT_THAT(data<char>("int8", script("cat four"), 4), ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_EQ(data<float>("float", script("head -c 4000000 /dev/zero"), 1000000).size(), 1000000U);
}

TEST_F(ArgumentDataTest, a_script_that_fails_is_told_with_its_command) {
  EXPECT_THAT(fill_error("int8", script("exit 3"), 4), HasSubstr("the command 'exit 3' failed with exit code 3"));
  EXPECT_THAT(fill_error("int8", script("printf abc"), 4), HasSubstr("writes 3 bytes, 4 are needed"));
  EXPECT_THAT(fill_error("int8", script("printf abcde"), 4), HasSubstr("writes more than the 4 bytes"));
  EXPECT_THAT(fill_error("int8", script("yes"), 4), HasSubstr("writes more than"));
  EXPECT_THAT(fill_error("int8", script("kill -9 $$"), 4), HasSubstr("killed by signal 9"));
  EXPECT_THAT(fill_error("int8", script("no_such_command_here 2>/dev/null"), 4), HasSubstr("exit code 127"));
}

TEST_F(ArgumentDataTest, raw_files_are_read_from_an_offset) {
  write("raw", "..abcdefgh");
  EXPECT_THAT(data<char>("int8", file(Fill::Kind::raw_file, "raw", 2), 4), ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(fill_error("float", file(Fill::Kind::raw_file, "raw", 4), 2),
              HasSubstr("it has 10 bytes, 8 from offset 4 on are needed"));
  EXPECT_THAT(fill_error("int8", file(Fill::Kind::raw_file, "raw", 11), 1), HasSubstr("from offset 11"));
  EXPECT_THAT(fill_error("int8", file(Fill::Kind::raw_file, "none"), 1), HasSubstr("No such file"));
  EXPECT_THAT(fill_error("int8", file(Fill::Kind::raw_file, "."), 1), HasSubstr("no regular file"));
  EXPECT_THAT(fill_error("int8", file(Fill::Kind::raw_file, "raw"), std::uint64_t{1} << 40),
              HasSubstr("it has 10 bytes"))
      << "before memory is taken";
}

TEST_F(ArgumentDataTest, npy_files_are_checked_and_read) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const float numbers[] = {1.5F, -2};
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(header.size());
  content += '\0';
  content += header;
  content.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  write("a.npy", content);
  EXPECT_THAT(data<float>("float", file(Fill::Kind::npy_file, "a.npy"), 2), ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(fill_error("int32", file(Fill::Kind::npy_file, "a.npy"), 2),
              HasSubstr("a.npy': its numbers are of type"));
  EXPECT_THAT(fill_error("float", file(Fill::Kind::npy_file, "none.npy"), 2), HasSubstr("No such file"));
}

TEST_F(ArgumentDataTest, sizes_that_overflow_or_fit_no_device_are_refused) {
  EXPECT_THAT(fill_error("double", constant(1), std::uint64_t{1} << 61), HasSubstr("too many"));
  EXPECT_THAT(fill_error("double", constant(1), std::uint64_t{1} << 40), HasSubstr("too many"));
}

TEST_F(ArgumentDataTest, local_memory_has_no_content) {
  const Problem problem =
      parse(with(&Parts::arguments, R"([{"Name": "l", "Type": "float", "MemoryType": "Local", "Size": 4}])"));
  EXPECT_TRUE(argument_data(problem, problem.arguments[0]).empty());
}

}  // namespace
}  // namespace wattune
