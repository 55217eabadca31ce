// What expressions mean. The expected results are those of Python 3.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "expr/expression.hpp"

namespace wattune {
namespace {

const std::map<std::string, Value> scope = {
    {"a", 7}, {"b", -3}, {"zero", 0}, {"f", 2.5}, {"s", "abc"}, {"yes", true}, {"l", Value::List{4, 8, 15}},
};

/// Type and text of the result.
std::string result_of(const std::string& expression) {
  const Value value = Expression::parse(expression).evaluate(scope);
  return std::string(value.type_name()) + " " + value.str();
}

struct Case {
  std::string expression;
  std::string expected;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.expression;
}

class Evaluation : public testing::TestWithParam<Case> {};

TEST_P(Evaluation, GivesWhatPythonGives) {
  EXPECT_EQ(result_of(GetParam().expression), GetParam().expected);
}

const std::vector<Case> arithmetic = {
    {"1 + 2 * 3", "int 7"},
    {"(1 + 2) * 3", "int 9"},
    {"7 / 2", "float 3.5"},
    {"6 / 2", "float 3.0"},
    {"7 // 2", "int 3"},
    {"-7 // 2", "int -4"},
    {"7 // -2", "int -4"},
    {"-7 % 3", "int 2"},
    {"7 % -3", "int -2"},
    {"-8 % 4", "int 0"},
    {"7.5 // 2", "float 3.0"},
    {"-7.5 // 2", "float -4.0"},
    {"-7.5 % 2", "float 0.5"},
    {"7.5 % -2", "float -0.5"},
    {"-8.0 % 4", "float 0.0"},
    {"5.5 % 1.5", "float 1.0"},
    {"2 ** 10", "int 1024"},
    {"2 ** -1", "float 0.5"},
    {"-2 ** 2", "int -4"},
    {"2 ** 3 ** 2", "int 512"},
    {"2.0 ** 3", "float 8.0"},
    {"4 ** 0.5", "float 2.0"},
    {"(-2) ** 63", "int -9223372036854775808"},
    {"- - 3", "int 3"},
    {"+a", "int 7"},
    {"True + True", "int 2"},
    {"-yes", "int -1"},
    {"yes * 3", "int 3"},
    {"a + f", "float 9.5"},
    {"1e16", "float 1e+16"},
    {"1e15", "float 1000000000000000.0"},
    {"0.0001", "float 0.0001"},
    {"0.00001", "float 1e-05"},
    {".5", "float 0.5"},
    {"5.", "float 5.0"},
    {"1_000", "int 1000"},
    {"0x1F", "int 31"},
    {"0b101 + 0o17", "int 20"},
    {"0 / -5", "float -0.0"},
    {"9007199254740993 / 1", "float 9007199254740992.0"},
    {"9223372036854775807 / 9223372036854775806", "float 1.0"},
    {"9007199254740993 / 3", "float 3002399751580331.0"},
};

const std::vector<Case> comparisons = {
    {"1 < 2", "bool True"},
    {"1 == 1.0", "bool True"},
    {"True == 1", "bool True"},
    {"yes == 1.0", "bool True"},
    {"1 == '1'", "bool False"},
    {"1 != '1'", "bool True"},
    {"32 <= a * 8 <= 1024", "bool True"},
    {"1 < 3 < 2", "bool False"},
    {"1 < 3 > 2", "bool True"},
    {"3 > 1 == 1", "bool True"},
    {"9007199254740993 == 9007199254740992.0", "bool False"},
    {"9007199254740993 > 9007199254740992.0", "bool True"},
    {"9223372036854775807 < 9223372036854775808.0", "bool True"},
    {"1e300 > 9223372036854775807", "bool True"},
    {"'abc' < 'abd'", "bool True"},
    {"'ab' < 'abc'", "bool True"},
    {"[1, 2] < [1, 3]", "bool True"},
    {"[1, 2] == [1.0, 2]", "bool True"},
    {"[1] < [1, 0]", "bool True"},
    {"a in [1, 7]", "bool True"},
    {"a in (1, 7)", "bool True"},
    {"7.0 in l", "bool False"},
    {"8.0 in l", "bool True"},
    {"a not in l", "bool True"},
    {"'b' in s", "bool True"},
    {"'' in s", "bool True"},
    {"not a in l", "bool True"},
};

const std::vector<Case> logic = {
    {"a and b", "int -3"},
    {"zero and b", "int 0"},
    {"zero or s", "str abc"},
    {"a or 1 / 0", "int 7"},
    {"zero and 1 / 0", "int 0"},
    {"zero or 0.0 or ''", "str "},
    {"not a", "bool False"},
    {"not []", "bool True"},
    {"not ''", "bool True"},
    {"not 0.0", "bool True"},
    {"not not s", "bool True"},
    {"1 if a > 3 else 1 / 0", "int 1"},
    {"1 / 0 if a < 3 else 2", "int 2"},
    {"1 if zero else 2 if zero else 3", "int 3"},
    {"1 > 2 < 1 / 0", "bool False"},
    {"zero == 0 or 10 % zero == 0", "bool True"},
};

const std::vector<Case> lists = {
    {"[]", "list []"},
    {"[1, 'x', 2.0, True,]", "list [1, 'x', 2.0, True]"},
    {"(1, 2)", "list [1, 2]"},
    {"[1, 2, 4, 8, 16] + list(range(32, 96+1, 32))", "list [1, 2, 4, 8, 16, 32, 64, 96]"},
    {"[2**i for i in range(0, 6)]", "list [1, 2, 4, 8, 16, 32]"},
    {"[i for i in range(10) if i % 3 == 0 if i]", "list [3, 6, 9]"},
    {"[i * j for i in range(1, 3) for j in range(i)]", "list [0, 0, 2]"},
    {"[[j for j in range(i)] for i in range(3)]", "list [[], [0], [0, 1]]"},
    {"[a for a in [1, 2]]", "list [1, 2]"},
    {"[i for i in [i for i in range(3)] if i]", "list [1, 2]"},
    {"range(5, 0, -2)", "list [5, 3, 1]"},
    {"range(0)", "list []"},
    {"range(3, 1)", "list []"},
    {"l[0] + l[-1]", "int 19"},
    {"[[1, 2], [3]][0][1]", "int 2"},
    {"s[1]", "str b"},
    {"s[-1]", "str c"},
    {"'a' + \"b\"", "str ab"},
    {"'it\\'s'", "str it's"},
    {"[\"it's\"]", "list [\"it's\"]"},
};

const std::vector<Case> functions = {
    {"len(l)", "int 3"},
    {"len('h\xc3\xa9')", "int 2"},
    {"max(3, 1, 2)", "int 3"},
    {"min(l)", "int 4"},
    {"max(1, 1.0)", "int 1"},
    {"max(1.0, 1)", "float 1.0"},
    {"min('b', 'a')", "str a"},
    {"sum([])", "int 0"},
    {"sum([1, 2.5, True])", "float 4.5"},
    {"sum(i for i in range(5))", "int 10"},
    {"any(x > 10 for x in l)", "bool True"},
    {"all(x % 2 == 0 for x in l)", "bool False"},
    {"all([])", "bool True"},
    {"abs(b)", "int 3"},
    {"abs(-2.5)", "float 2.5"},
    {"int(-2.7)", "int -2"},
    {"int(' 12 ')", "int 12"},
    {"float(3)", "float 3.0"},
    {"float('1e3')", "float 1000.0"},
    {"round(2.5)", "int 2"},
    {"round(3.5)", "int 4"},
    {"round(-2.5)", "int -2"},
    {"round(2.675, 2)", "float 2.67"},
    {"round(7, 1)", "int 7"},
    {"ceil(2.1)", "int 3"},
    {"floor(-2.1)", "int -3"},
    {"math.ceil(7 / 2)", "int 4"},
    {"ceil(7)", "int 7"},
    {"sqrt(16)", "float 4.0"},
    {"log2(1024)", "float 10.0"},
    {"log(1)", "float 0.0"},
    {"log(8, 2)", "float 3.0"},
    {"list()", "list []"},
};

INSTANTIATE_TEST_SUITE_P(Arithmetic, Evaluation, testing::ValuesIn(arithmetic));
INSTANTIATE_TEST_SUITE_P(Comparisons, Evaluation, testing::ValuesIn(comparisons));
INSTANTIATE_TEST_SUITE_P(Logic, Evaluation, testing::ValuesIn(logic));
INSTANTIATE_TEST_SUITE_P(Lists, Evaluation, testing::ValuesIn(lists));
INSTANTIATE_TEST_SUITE_P(Functions, Evaluation, testing::ValuesIn(functions));

TEST(Expression, ListsItsFreeNamesInOrderOfFirstAppearance) {
  EXPECT_THAT(Expression::parse("y + [i * z for i in range(x) if i in y] [x] + max(x, i)").names(),
              testing::ElementsAre("y", "z", "x", "i"));
  EXPECT_THAT(Expression::parse("2 * 3").names(), testing::IsEmpty());
}

TEST(Expression, ChainedComparisonEvaluatesTheMiddleOnce) {
  // Were the list built twice, the work would be over the limit.
  EXPECT_EQ(result_of("1 < len([i for i in range(200000)]) + len([i for i in range(100000)]) < 3000000"), "bool True");
}

TEST(Program, TakesValuesInTheOrderOfTheNamesItWasCompiledFor) {
  const std::vector<std::string> names = {"x", "unused", "y"};
  const Program program = Expression::parse("y - x").compile(names);
  EXPECT_EQ(program.evaluate(std::vector<Value>{1, "anything", 10}), Value(9));
  EXPECT_EQ(program.evaluate(std::vector<Value>{0.5, 0, 1}), Value(0.5));
}

TEST(Program, TellsFaultsWithoutThrowing) {
  const std::vector<std::string> names = {"x"};
  const Program program = Expression::parse("10 % x == 0").compile(names);
  bool truth = false;
  EXPECT_EQ(program.test(std::vector<Value>{5}, truth), Fault::none);
  EXPECT_TRUE(truth);
  EXPECT_EQ(program.test(std::vector<Value>{0}, truth), Fault::division_by_zero);
  EXPECT_EQ(program.test(std::vector<Value>{"a"}, truth), Fault::type);
  const EvaluationFault fault = program.explain_fault(std::vector<Value>{0});
  EXPECT_EQ(fault.fault, Fault::division_by_zero);
  EXPECT_EQ(fault.column, 4U);
  Value value;
  EXPECT_EQ(program.evaluate(std::vector<Value>{3}, value), Fault::none);
  EXPECT_EQ(value, Value(false));
}

TEST(Program, ConstantPartThatFailsOnlyFailsWhereItIsEvaluated) {
  const std::vector<std::string> names = {"x"};
  const Program program = Expression::parse("x == 0 or 1 / 0 > 2").compile(names);
  EXPECT_EQ(program.evaluate(std::vector<Value>{0}), Value(true));
  EXPECT_THROW(static_cast<void>(program.evaluate(std::vector<Value>{1})), ExpressionError);
}

TEST(Value, IsTruthyAsInPython) {
  for (const Value& value : {Value(false), Value(0), Value(0.0), Value(""), Value(Value::List{})}) {
    EXPECT_FALSE(value.truthy()) << value.str();
  }
  for (const Value& value : {Value(true), Value(-1), Value(0.1), Value("0"), Value(Value::List{0})}) {
    EXPECT_TRUE(value.truthy()) << value.str();
  }
}

TEST(Value, PrintsAsPythonDoes) {
  EXPECT_EQ(Value(true).str(), "True");
  EXPECT_EQ(Value(2.45).str(), "2.45");
  EXPECT_EQ(Value(32).str(), "32");
  EXPECT_EQ(Value(1e20).str(), "1e+20");
  EXPECT_EQ(Value(-0.0).str(), "-0.0");
  EXPECT_EQ(Value("it's").str(), "it's");
  EXPECT_EQ(Value(Value::List{"it's", 1, Value::List{}}).str(), "[\"it's\", 1, []]");
}

}  // namespace
}  // namespace wattune
