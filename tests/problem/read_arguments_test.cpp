// Arguments: types, memory, sizes, and where their data come from.

#include <cstring>

#include "problem/argument_data.hpp"
#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadArgumentsTest : public ProblemTest {
 protected:
  /// One argument `v`: a vector of 4 floats where the members do not say otherwise.
  Parts one(const std::string& members, const std::string& additions = "{}") const {
    Parts parts = with(&Parts::arguments, "[\n{\"Name\": \"v\"" + (members.empty() ? "" : ", " + members) + "}]");
    parts.wattune = "{\"Arguments\": {\"v\": " + additions + "}}";
    return parts;
  }
  static std::string vector_of(const std::string& members) {
    return R"("Type": "float", "MemoryType": "Vector", "Size": 4)" + (members.empty() ? "" : ", " + members);
  }
  Argument argument(const std::string& members, const std::string& additions = "{}") const {
    return parse(one(members, additions)).arguments[0];
  }
  std::string argument_error(const std::string& members, const std::string& additions = "{}") const {
    return parse_error(one(members, additions));
  }
  std::string sized(const std::string& size) const {
    return argument_error(R"("Type": "double", "MemoryType": "Vector", "Size": )" + size);
  }
};

TEST_F(ReadArgumentsTest, a_vector_has_type_access_and_size) {
  const Argument a = argument(
      R"-("Type": "float2", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0] + max(TILE)")-");
  EXPECT_EQ(to_string(a.type), "float2");
  EXPECT_EQ(a.memory, MemoryKind::vector);
  EXPECT_EQ(a.access, Access::write_only);
  EXPECT_EQ(a.size, 1004U);
}

TEST_F(ReadArgumentsTest, constant_and_symbol_memory_are_told_apart) {
  EXPECT_EQ(argument(vector_of(R"("MemType": "Constant")")).memory, MemoryKind::constant);
  EXPECT_EQ(argument(R"("Type": "float", "MemoryType": "Symbol")").memory, MemoryKind::symbol);
  EXPECT_EQ(argument(R"("Type": "float", "MemoryType": "Symbol", "Size": 8)").size, 8U);
  EXPECT_THAT(argument_error(R"("Type": "float", "MemoryType": "Scalar", "MemType": "Constant")"),
              HasSubstr("MemType: Constant is for vectors"));
  EXPECT_THAT(parse(one(vector_of(R"("MemType": "Vector")"))).warnings,
              Contains(HasSubstr("MemType: 'Vector' ignored")));
}

TEST_F(ReadArgumentsTest, unknown_names_of_enumerations_are_errors) {
  EXPECT_THAT(argument_error(R"("Type": "flaot", "MemoryType": "Vector", "Size": 1)"),
              HasSubstr("p.json:8: KernelSpecification.Arguments[0].Type: unknown type 'flaot'"));
  EXPECT_THAT(argument_error(R"("Type": "float", "MemoryType": "Global", "Size": 1)"),
              HasSubstr("MemoryType: unknown value 'Global'"));
  EXPECT_THAT(argument_error(vector_of(R"("AccessType": "Read")")), HasSubstr("AccessType: unknown value 'Read'"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "random")")),
              HasSubstr("FillType: unknown value 'random'; did you mean 'Random'?"));
  EXPECT_THAT(argument_error(vector_of(""), R"({"Reset": "clear"})"),
              HasSubstr("wattune.Arguments.v.Reset: unknown value 'clear'"));
}

TEST_F(ReadArgumentsTest, custom_types_have_a_size) {
  EXPECT_EQ(argument(R"("Type": "custom", "TypeSize": 12, "MemoryType": "Vector", "Size": 2)").type.bytes, 12U);
  EXPECT_THAT(argument_error(R"("Type": "custom", "MemoryType": "Vector", "Size": 2)"),
              HasSubstr("TypeSize: is missing"));
  EXPECT_THAT(argument_error(R"("Type": "custom", "TypeSize": 0, "MemoryType": "Vector", "Size": 2)"),
              HasSubstr("TypeSize: is not from 1"));
  EXPECT_THAT(argument_error(R"("Type": "float", "TypeSize": 8, "MemoryType": "Vector", "Size": 2)"),
              HasSubstr("is 8, but float has 4 bytes"));
}

TEST_F(ReadArgumentsTest, sizes_that_are_no_positive_integers_are_errors) {
  EXPECT_THAT(sized("-1"), HasSubstr("p.json:8: KernelSpecification.Arguments[0].Size: "));
  EXPECT_THAT(sized("-1"), HasSubstr("the size is -1; it must be a positive integer"));
  EXPECT_THAT(sized("0"), HasSubstr("the size is 0"));
  EXPECT_THAT(sized("2.5"), HasSubstr("the size is 2.5"));
  EXPECT_THAT(sized("\"ProblemSize[0] / 3\""), HasSubstr("it must be a positive integer"));
  EXPECT_THAT(sized("\"ProblemSize[1]\""), HasSubstr("Arguments[0].Size: "));
  EXPECT_THAT(sized("\"n * 2\""), HasSubstr("'n'"));
  EXPECT_THAT(sized("true"), HasSubstr("Size: is a boolean; give a string"));
  EXPECT_THAT(argument_error(R"("Type": "float", "MemoryType": "Vector")"), HasSubstr("Size: is missing"));
}

TEST_F(ReadArgumentsTest, sizes_that_overflow_are_errors) {
  EXPECT_THAT(sized("\"2**62 * 4\""), HasSubstr("too large for a 64-bit number"));
  EXPECT_THAT(sized("\"2**62\""), HasSubstr("4611686018427387904 elements of 8 bytes are too many"));
  EXPECT_THAT(sized("9223372036854775807"), HasSubstr("are too many"));
  EXPECT_THAT(sized("\"1e30\""), HasSubstr("below 2^63"));
  EXPECT_THAT(parse_error(with(&Parts::arguments, R"([{"Type": "int8", "MemoryType": "Vector", "Size": "2**40"},
      {"Type": "int8", "MemoryType": "Vector", "Size": "2**40"}])")),
              HasSubstr("KernelSpecification.Arguments: all arguments together are too large"));
}

TEST_F(ReadArgumentsTest, a_parameter_in_a_size_is_the_list_of_its_values) {
  EXPECT_THAT(sized("\"TILE * 2\""), HasSubstr("in Size a parameter stands for the list of its values: use max(...)"));
}

TEST_F(ReadArgumentsTest, scalars_have_one_element) {
  const std::string scalar = R"("Type": "int32", "MemoryType": "Scalar", "FillValue": 3)";
  EXPECT_EQ(argument(scalar).size, 1U);
  EXPECT_FALSE(argument(scalar).output);
  EXPECT_THAT(argument_error(scalar + R"(, "Size": 2)"), HasSubstr("Size: a scalar has one element, not 2"));
  EXPECT_THAT(argument_error(scalar + R"(, "Output": 1)"), HasSubstr("only memory on the device can be an output"));
  EXPECT_THAT(argument_error(scalar, R"({"Reset": "zero"})"), HasSubstr("only memory on the device can be reset"));
}

TEST_F(ReadArgumentsTest, values_of_scalars_come_from_numbers_and_expressions) {
  const auto scalar = [this](const std::string& members) {
    const Problem problem = parse(one(R"("Type": "int64", "MemoryType": "Scalar", )" + members));
    std::int64_t value = 0;
    std::memcpy(&value, argument_data(problem, problem.arguments[0]).data(), sizeof value);
    return value;
  };
  EXPECT_EQ(scalar(R"("FillValue": 7)"), 7);
  EXPECT_EQ(scalar(R"("FillValue": true)"), 1);
  EXPECT_EQ(scalar(R"("FillValue": 9007199254740993)"), 9007199254740993) << "beyond the integers of a double";
  EXPECT_EQ(scalar(R"("FillValue": -9007199254740993)"), -9007199254740993);
  EXPECT_EQ(scalar(R"-("FillType": "Generator", "DataSource": "ProblemSize[0] * max(TILE)")-"), 4000);
}

TEST_F(ReadArgumentsTest, outputs_are_those_named_or_what_the_kernel_writes) {
  const std::string two =
      R"([{"Name": "r", "Type": "float", "MemoryType": "Vector", "Size": 1, "AccessType": "ReadOnly"},
      {"Name": "w", "Type": "float", "MemoryType": "Vector", "Size": 1, "AccessType": "WriteOnly"},
      {"Name": "rw", "Type": "float", "MemoryType": "Vector", "Size": 1, "AccessType": "ReadWrite")";
  const auto outputs = [](const Problem& problem) {
    std::string names;
    for (const Argument& argument : problem.arguments) names += argument.output ? argument.name + " " : "";
    return names;
  };
  EXPECT_EQ(outputs(parse(with(&Parts::arguments, two + "}]"))), "w rw ");
  EXPECT_EQ(outputs(parse(with(&Parts::arguments, two + R"(, "Output": 1}])"))), "rw ");
  EXPECT_EQ(outputs(parse(with(&Parts::arguments, two + R"(, "Output": false}])"))), "");
  Parts parts = with(&Parts::arguments, two + "}]");
  parts.wattune = R"({"Arguments": {"w": {"Output": true}}})";
  EXPECT_EQ(outputs(parse(parts)), "w ");
  parts.wattune = R"({"Arguments": {"r": {"Output": true}}})";
  const Problem problem = parse(parts);
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("is an output, although AccessType is ReadOnly")));
  EXPECT_THAT(argument_error(vector_of(R"("Output": 2)")), HasSubstr("Output: is 2; give true or false"));
}

TEST_F(ReadArgumentsTest, reset_range_and_offset_belong_to_an_argument) {
  EXPECT_EQ(argument(vector_of(""), R"({"Reset": "restore"})").reset, Reset::restore);
  EXPECT_EQ(argument(vector_of(R"("FillType": "Random")"), R"({"Range": [-1, 1]})").fill.range,
            (std::pair<double, double>{-1, 1}));
  EXPECT_THAT(argument_error(vector_of(""), R"({"Range": [-1, 1]})"),
              HasSubstr("wattune.Arguments.v.Range: is for FillType Random, not Constant"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Random")"), R"({"Range": [1, 1]})"),
              HasSubstr("Range: [1, 1) is empty"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Random")"), R"({"Range": [1]})"),
              HasSubstr("Range: must be a list of two numbers"));
  EXPECT_THAT(argument_error(vector_of(""), R"({"Offset": 4})"), HasSubstr("Offset: is for raw files"));
  EXPECT_THAT(argument_error(vector_of(""), R"({"Rset": "zero"})"),
              HasSubstr("wattune.Arguments.v.Rset: unknown key; did you mean 'Reset'?"));
  Parts parts = one(vector_of(""));
  parts.wattune = R"({"Arguments": {"vv": {}}})";
  EXPECT_THAT(parse_error(parts),
              HasSubstr("wattune.Arguments.vv: the kernel has no argument 'vv'; did you mean 'v'?"));
}

TEST_F(ReadArgumentsTest, seeds_are_given_or_differ_by_position) {
  const Problem problem =
      parse(with(&Parts::arguments, R"([{"Type": "float", "MemoryType": "Vector", "Size": 4, "FillType": "Random"},
      {"Type": "float", "MemoryType": "Vector", "Size": 4, "FillType": "Random"},
      {"Type": "float", "MemoryType": "Vector", "Size": 4, "FillType": "Random", "RandomSeed": 1}])"));
  EXPECT_NE(argument_data(problem, problem.arguments[0]), argument_data(problem, problem.arguments[1]));
  EXPECT_EQ(problem.arguments[2].fill.seed, 1U);
  EXPECT_EQ(problem.arguments[0].name, "argument0");
}

TEST_F(ReadArgumentsTest, data_that_cannot_be_made_are_told_at_their_key) {
  EXPECT_THAT(
      argument_error(R"("Type": "uint8", "MemoryType": "Vector", "Size": 4,)"
                     "\n"
                     R"("FillValue": 300)"),
      HasSubstr("p.json:9: KernelSpecification.Arguments[0].FillValue: the value 300 does not fit the type uint8"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Generator", "DataSource": "j + 1")")),
              HasSubstr("DataSource: "));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Generator", "DataSource": "[i]")")),
              HasSubstr("gives [0] at i = 0"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Generator")")), HasSubstr("DataSource: is missing"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "BinaryRaw", "DataSource": "none.bin")")),
              HasSubstr("DataSource: cannot read"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "Script", "DataSource": "")")),
              HasSubstr("DataSource: is empty"));
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "BinaryHDF", "DataSource": "x.h5")")),
              HasSubstr("FillType: HDF5 files are not supported"));
  EXPECT_THAT(argument_error(R"("Type": "uint64", "MemoryType": "Scalar", "FillValue": 9223372036854775809)"),
              HasSubstr("FillValue: is too large"));
}

TEST_F(ReadArgumentsTest, raw_and_npy_files_are_found_in_the_folder_of_the_problem) {
  write("data/v.bin", "....0123456789abcdef");
  const Argument a = argument(vector_of(R"("FillType": "BinaryRaw", "DataSource": "data/v.bin")"), R"({"Offset": 4})");
  EXPECT_EQ(a.fill.file, folder / "data/v.bin");
  EXPECT_EQ(a.fill.offset, 4U);
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "BinaryRaw", "DataSource": "data/v.bin")"), R"({"Offset": 5})"),
              HasSubstr("it has 20 bytes, 16 from offset 5 on are needed"));
  write("v.npy", "not numpy's, surely");
  EXPECT_THAT(argument_error(vector_of(R"("FillType": "BinaryRaw", "DataSource": "v.npy")")),
              HasSubstr("it is no .npy file"));
}

TEST_F(ReadArgumentsTest, members_without_effect_are_warned_about) {
  const Problem problem = parse(one(vector_of(R"("DataSource": "x", "RandomSeed": 1, "Comment": "y")")));
  EXPECT_THAT(problem.warnings, testing::UnorderedElementsAre(HasSubstr("DataSource: ignored with FillType Constant"),
                                                              HasSubstr("RandomSeed: ignored with FillType Constant"),
                                                              HasSubstr("Comment: unknown key, ignored")));
}

TEST_F(ReadArgumentsTest, two_arguments_of_one_name_are_an_error) {
  EXPECT_THAT(parse_error(with(&Parts::arguments, R"([{"Name": "a", "Type": "float", "MemoryType": "Scalar"},
      {"Name": "a", "Type": "float", "MemoryType": "Scalar"}])")),
              HasSubstr("Arguments[1].Name: there are two arguments 'a'"));
}

TEST_F(ReadArgumentsTest, without_a_kernel_to_run_arguments_are_not_sized) {
  const Parts parts =
      one(R"("Type": "float", "MemoryType": "Vector", "Size": "n", "FillType": "BinaryRaw", "DataSource": "none")");
  EXPECT_EQ(parse(parts, {.problem_size = {}, .language = {}, .space_only = true}).arguments.size(), 1U);
}

}  // namespace
}  // namespace wattune
