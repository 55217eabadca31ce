// What the messages say: the expression, the column, the reason, and a way out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expr/expression.hpp"
#include "expr/nearest_name.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Failure {
  std::string expression;
  std::size_t column;
  std::string reason;  ///< part of it
  Fault fault = Fault::syntax;
};
void PrintTo(const Failure& failure, std::ostream* out) {
  *out << failure.expression;
}

class FaultyExpression : public testing::TestWithParam<Failure> {};

TEST_P(FaultyExpression, NamesColumnAndReason) {
  const std::vector<std::string> names = {"block_size_x", "block_size_y", "x", "zero", "text"};
  const std::vector<Value> values = {32, 4, 7, 0, "abc"};
  const Failure& expected = GetParam();
  try {
    const Value value = Expression::parse(expected.expression).compile(names).evaluate(values);
    FAIL() << "no error, but " << value.str();
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.column(), expected.column);
    EXPECT_THAT(error.reason(), HasSubstr(expected.reason));
    EXPECT_EQ(error.fault(), expected.fault);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, FaultyExpression,
    testing::Values(Failure{"", 1, "empty"}, Failure{"x +", 4, "ends too early"}, Failure{"x y", 3, "unexpected 'y'"},
                    Failure{"(x + 1", 1, "'(' is not closed"}, Failure{"[1, 2", 1, "'[' is not closed"},
                    Failure{"x = 3", 3, "a comparison is written =="}, Failure{"x && 1", 3, "use 'and'"},
                    Failure{"x || 1", 3, "use 'or'"}, Failure{"!x", 1, "use 'not'"}, Failure{"x ^ 2", 3, "**"},
                    Failure{"x ? 1 : 2", 3, "if"}, Failure{"x << 2", 3, "2**n"}, Failure{"x is 2", 3, "use =="},
                    Failure{"'abc", 1, "not closed"}, Failure{"12abc", 3, "followed by a letter"},
                    Failure{"012", 1, "must not start with 0"}, Failure{"99999999999999999999", 1, "64 bits"},
                    Failure{"x.real", 2, "attributes"}, Failure{"text[0:1]", 7, "slices"},
                    Failure{"x if x", 7, "'else'"}, Failure{"[i for 3 in x]", 8, "name of a variable"},
                    Failure{"lambda: 1", 1, "lambda"}, Failure{"max()", 1, "at least 1 argument", Fault::type},
                    Failure{"x @ 2", 3, "'@' is not part"}));

INSTANTIATE_TEST_SUITE_P(
    Names, FaultyExpression,
    testing::Values(Failure{"1 + blok_size_x", 5, "unknown name 'blok_size_x'; did you mean 'block_size_x'?",
                            Fault::name},
                    Failure{"BLOCK_SIZE_Y > 1", 1, "did you mean 'block_size_y'?", Fault::name},
                    Failure{"nothing_like_it", 1, "unknown name 'nothing_like_it'", Fault::name},
                    Failure{"2 * mx(1, 2)", 5, "there is no function 'mx'; did you mean 'max'?", Fault::name},
                    Failure{"eval('1')", 1, "there is no function 'eval'", Fault::name},
                    Failure{"math.sin(x)", 6, "math.sin is not known"}));

INSTANTIATE_TEST_SUITE_P(Evaluation, FaultyExpression,
                         testing::Values(Failure{"x / zero", 3, "division by zero", Fault::division_by_zero},
                                         Failure{"x // 0", 3, "division by zero", Fault::division_by_zero},
                                         Failure{"x % 0.0", 3, "division by zero", Fault::division_by_zero},
                                         Failure{"0 ** -1", 3, "division by zero", Fault::division_by_zero},
                                         Failure{"9223372036854775807 + x", 21, "64-bit", Fault::overflow},
                                         Failure{"x ** 100", 3, "64-bit", Fault::overflow},
                                         Failure{"int(1e30)", 1, "64-bit", Fault::overflow},
                                         Failure{"(-8) ** 0.5", 6, "not a real number", Fault::domain},
                                         Failure{"sqrt(-x)", 1, "sqrt() of -7", Fault::domain},
                                         Failure{"log(0)", 1, "log() of 0", Fault::domain},
                                         Failure{"[1, 2][x]", 7, "index 7 is outside a list of 2", Fault::domain},
                                         Failure{"max([])", 1, "max() of an empty list", Fault::domain},
                                         Failure{"int('1.5')", 1, "int() of '1.5'", Fault::domain},
                                         Failure{"range(1, 2, 0)", 1, "step", Fault::domain},
                                         Failure{"text * 2", 6, "* has no meaning for str and int", Fault::type},
                                         Failure{"x < text", 3, "< has no meaning for int and str", Fault::type},
                                         Failure{"max(1, text)", 1, "max has no meaning for str and int", Fault::type},
                                         Failure{"-text", 1, "- has no meaning for str", Fault::type},
                                         Failure{"x[0]", 2, "int cannot be indexed", Fault::type},
                                         Failure{"x in 3", 3, "'in' has no meaning for int and int", Fault::type},
                                         Failure{"len(3)", 1, "a list is needed here, not int", Fault::type},
                                         Failure{"sqrt(text)", 1, "sqrt() takes a number, not str", Fault::type}));

INSTANTIATE_TEST_SUITE_P(
    Limits, FaultyExpression,
    testing::Values(Failure{"range(10000000)", 1, "a range of more than", Fault::work},
                    Failure{"[j for i in range(1000) for j in range(100000)]", 2, "more than", Fault::work},
                    Failure{"len([[j for j in range(1000)] for i in range(10000)])", 6, "more than", Fault::work},
                    Failure{std::string(1000, '(') + "1" + std::string(1000, ')'), 201, "levels deep"},
                    Failure{std::string(1000, '-') + "1", 201, "levels deep"}));

TEST(ExpressionErrors, LongChainOfOperationsIsRefusedNotOverflown) {
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_THROW(static_cast<void>(Expression::parse(sum)), ExpressionError);
}

TEST(ExpressionErrors, ManyTimesSharedListIsNotWrittenOut) {
  // Each level repeats the one below a thousand times without copying it; comparing would take 10^9 steps.
  const std::string nested = "[[[1 for i in range(1000)]] [0] for i in range(1000)]";
  const std::string shared = "[x for x in [" + nested + "] for j in range(900)]";
  EXPECT_THROW(static_cast<void>(Expression::parse(shared + " == " + shared).evaluate()), ExpressionError);
}

TEST(ExpressionErrors, MessageShowsTheExpressionAndTheColumn) {
  try {
    static_cast<void>(Expression::parse("32 <= a *").names());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "expression \"32 <= a *\", column 10: the expression ends too early");
  }
}

TEST(ExpressionErrors, LongExpressionIsShownAroundTheColumn) {
  const std::string text = std::string(500, ' ') + "x $ y" + std::string(500, ' ');
  try {
    static_cast<void>(Expression::parse(text));
    FAIL();
  } catch (const ExpressionError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("x $ y"), HasSubstr("...")));
    EXPECT_LT(std::string(error.what()).size(), 350U);
  }
}

TEST(NearestName, FindsSlipsAndLeavesWhatIsTooFar) {
  const std::vector<std::string> names = {"tile_size_x", "tile_size_y", "MWG", "NWG"};
  EXPECT_EQ(nearest_name("tile_sise_x", names), "tile_size_x");
  EXPECT_EQ(nearest_name("TILE_SIZE_Y", names), "tile_size_y");
  EXPECT_EQ(nearest_name("MGW", names), "MWG");
  EXPECT_EQ(nearest_name("mwg", names), "MWG");
  EXPECT_EQ(nearest_name("unrelated", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(did_you_mean("unrelated", names), "");
}

}  // namespace
}  // namespace wattune
