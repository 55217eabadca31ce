// ConfigurationSpace, Budget, General and Search, and the errors in them.

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ReadSpaceTest : public ProblemTest {
 protected:
  /// Reads one parameter: the members after its name.
  Problem one(const std::string& members, const std::string& name = "P") const {
    return parse(parts_with(members, name), {.problem_size = {}, .language = {}, .space_only = true});
  }
  std::string one_error(const std::string& members, const std::string& name = "P") const {
    return parse_error(parts_with(members, name));
  }
  static Parts parts_with(const std::string& members, const std::string& name) {
    return with(&Parts::parameters, R"([{"Name": "block_size_x", "Type": "int", "Values": "[32]"},)"
                                    "\n{\"Name\": \"" +
                                        name + "\",\n" + members + "}]");
  }
  std::vector<Value> values(const std::string& members) const { return one(members).parameters[1].values; }
};

TEST_F(ReadSpaceTest, values_are_an_expression_or_a_list) {
  EXPECT_THAT(values(R"("Type": "int", "Values": "[2**i for i in range(3)] + [9]")"),
              ElementsAre(Value(1), Value(2), Value(4), Value(9)));
  EXPECT_THAT(values(R"("Type": "string", "Values": ["a", "b"])"), ElementsAre(Value("a"), Value("b")));
  EXPECT_THAT(values(R"("Values": [1, 2.5, false, "x"])").size(), 4U) << "without Type values stay as they are";
}

TEST_F(ReadSpaceTest, type_decides_what_values_are) {
  EXPECT_TRUE(values(R"("Type": "float", "Values": [1, 2.5])")[0].is_float());
  EXPECT_TRUE(values(R"("Type": "int", "Values": [1.0, 2])")[0].is_int());
  EXPECT_TRUE(values(R"("Type": "int", "Values": [true, 2])")[0].is_int());
  EXPECT_TRUE(values(R"("Type": "bool", "Values": [0, 1])")[0].is_bool());
  EXPECT_TRUE(values(R"("Type": "bool", "Values": "[False, True]")")[1].as_bool());
  EXPECT_EQ(values(R"("Type": "string", "Values": [1, 2.5])")[1].as_string(), "2.5");
}

TEST_F(ReadSpaceTest, values_that_are_not_of_the_type_are_errors_with_line_and_key) {
  EXPECT_EQ(one_error(R"("Type": "int", "Values": [1, 2.5])"),
            "p.json:3: ConfigurationSpace.TuningParameters[1].Values: 2.5 is no int; change the value or Type");
  EXPECT_THAT(one_error(R"("Type": "uint", "Values": [1, -1])"), HasSubstr("-1 is no uint"));
  EXPECT_THAT(one_error(R"("Type": "bool", "Values": [1, 2])"), HasSubstr("2 is no bool"));
  EXPECT_THAT(one_error(R"("Type": "float", "Values": ["x"])"), HasSubstr("x is no float"));
  EXPECT_THAT(one_error(R"("Values": "[[1], [2]]")"), HasSubstr("[1] is a list"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [9223372036854775808])"), HasSubstr("is too large"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [null])"), HasSubstr("Values[0]: is null; give a string"));
}

TEST_F(ReadSpaceTest, values_that_are_no_list_or_faulty_are_errors) {
  EXPECT_THAT(one_error(R"("Type": "int", "Values": "[]")"), HasSubstr("Values: is empty; give one value or more"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [])"), HasSubstr("is empty"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": "3")"), HasSubstr("'3' is no list; write \"[3]\""));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": 3)"), HasSubstr("must be a list or a string"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": "[1, 2")"),
              StartsWith("p.json:3: ConfigurationSpace.TuningParameters[1].Values: "));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": "[n]")"), HasSubstr("'n'"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": "[1 // 0]")"), StartsWith("p.json:3: "));
  EXPECT_THAT(one_error(R"("Type": "int")"), HasSubstr("TuningParameters[1].Values: is missing; add it"));
}

TEST_F(ReadSpaceTest, names_and_values_given_twice_are_errors) {
  EXPECT_EQ(one_error(R"("Type": "int", "Values": [1])", "block_size_x"),
            "p.json:2: ConfigurationSpace.TuningParameters[1].Name: there are two parameters 'block_size_x'; rename or "
            "remove one");
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1, 2, 1])"), HasSubstr("1 is given twice"));
  EXPECT_THAT(one_error(R"("Values": "[1, 1.0]")"), HasSubstr("is given twice"));
  EXPECT_THAT(one_error(R"("Values": "[1, True]")"), HasSubstr("is given twice"));
  EXPECT_EQ(values(R"("Values": [1, "1"])").size(), 2U) << "a number is no string";
}

TEST_F(ReadSpaceTest, names_are_identifiers) {
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1])", "block size"), HasSubstr("'block size' is no identifier"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1])", ""), HasSubstr("is no identifier"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1])", "2x"), HasSubstr("is no identifier"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1])", "ProblemSize"), HasSubstr("use another name"));
}

TEST_F(ReadSpaceTest, an_unknown_type_is_an_error_that_lists_those_there_are) {
  EXPECT_THAT(one_error(R"("Type": "integer", "Values": [1])"),
              HasSubstr("TuningParameters[1].Type: unknown value 'integer'"));
  EXPECT_THAT(one_error(R"("Type": "integer", "Values": [1])"),
              HasSubstr("give one of: int, uint, float, bool, string"));
}

TEST_F(ReadSpaceTest, a_default_is_a_value_or_a_list_of_one) {
  EXPECT_EQ(one(R"("Type": "int", "Values": [1, 2], "Default": 2)").defaults[1], Value(2));
  EXPECT_EQ(one(R"("Type": "int", "Values": [1, 2], "Default": [2])").defaults[1], Value(2));
  EXPECT_EQ(one(R"("Type": "int", "Values": [1, 2])").defaults[1], Value(1)) << "the first where none is given";
  EXPECT_TRUE(one(R"("Type": "bool", "Values": [false, true], "Default": 1)").defaults[1].is_bool());
}

TEST_F(ReadSpaceTest, a_default_that_is_not_among_the_values_is_an_error) {
  EXPECT_EQ(one_error(R"("Type": "int", "Values": [1, 2],)"
                      "\n"
                      R"("Default": 3)"),
            "p.json:4: ConfigurationSpace.TuningParameters[1].Default: 3 is not among Values; give one of them");
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1, 2], "Default": [1, 2])"),
              HasSubstr("is a list; give one of Values"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1, 2], "Default": "x")"), HasSubstr("x is no int"));
}

TEST_F(ReadSpaceTest, a_wrong_default_of_the_only_value_is_a_warning) {
  const Problem problem = one(R"("Type": "int", "Values": [10], "Default": 1)");
  EXPECT_EQ(problem.defaults[1], Value(10));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("1 is not among Values; ignored, for there is only 10")));
}

TEST_F(ReadSpaceTest, restrictions_keep_their_text_and_place) {
  const Problem problem = parse(with(&Parts::conditions, R"([{"Expression": "TILE > 1", "Parameters": ["TILE"]},
      {"Expression": "block_size_x * TILE <= 128"}])"));
  ASSERT_EQ(problem.restrictions.size(), 2U);
  EXPECT_EQ(problem.restrictions[1].expression, "block_size_x * TILE <= 128");
  EXPECT_THAT(problem.restrictions[1].place,
              testing::EndsWith("p.json:4: ConfigurationSpace.Conditions[1].Expression"));
}

TEST_F(ReadSpaceTest, an_unknown_parameter_in_a_restriction_is_told_with_line_and_column) {
  const std::string error = parse_error(with(&Parts::conditions, "[\n{\"Expression\": \"TILE > 1 and TILES < 3\"}]"));
  EXPECT_THAT(error, StartsWith("p.json:4: ConfigurationSpace.Conditions[0].Expression: "));
  EXPECT_THAT(error, HasSubstr("14"));
  EXPECT_THAT(error, HasSubstr("'TILES'"));
  EXPECT_THAT(error, HasSubstr("did you mean 'TILE'?"));
}

TEST_F(ReadSpaceTest, a_restriction_that_does_not_parse_is_an_error) {
  EXPECT_THAT(parse_error(with(&Parts::conditions, R"([{"Expression": "TILE >"}])")),
              StartsWith("p.json:3: ConfigurationSpace.Conditions[0].Expression: "));
  EXPECT_THAT(parse_error(with(&Parts::conditions, R"(["TILE > 1"])")),
              HasSubstr("Conditions[0]: is a string; give an object"));
  EXPECT_THAT(parse_error(with(&Parts::conditions, R"([{}])")), HasSubstr("Conditions[0].Expression: is missing"));
}

TEST_F(ReadSpaceTest, foreign_names_and_keys_of_a_condition_are_warned_about) {
  const Problem problem =
      parse(with(&Parts::conditions, R"([{"Expression": "TILE > 1", "Parameters": ["max_threads"], "Comment": ""}])"));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("Parameters[0]: there is no parameter 'max_threads'; ignored")));
  EXPECT_THAT(problem.warnings, Contains(HasSubstr("Conditions[0].Comment: unknown key, ignored")));
}

TEST_F(ReadSpaceTest, device_settings_are_known_by_name) {
  EXPECT_EQ(one(R"("Type": "int", "Values": [1000, 1200])", "nvml_gr_clock").kinds[1], ParameterKind::device_setting);
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [1000])", "nvml_gr_clok"),
              HasSubstr("there is no device setting 'nvml_gr_clok'"));
  EXPECT_THAT(one_error(R"("Type": "int", "Values": [0])", "nvml_gr_clock"), HasSubstr("0 is no clock in MHz"));
  EXPECT_THAT(one_error(R"("Type": "string", "Values": ["x"])", "nvml_pwr_limit"), HasSubstr("x is no power in W"));
}

TEST_F(ReadSpaceTest, budgets_are_read) {
  const Problem problem = parse(with(&Parts::root, R"(, "Budget": [{"Type": "TuningDuration", "BudgetValue": 0.5},
      {"Type": "ConfigurationCount", "BudgetValue": 200}, {"Type": "ConfigurationFraction", "BudgetValue": 0.25}])"));
  EXPECT_EQ(problem.budget.seconds, 0.5);
  EXPECT_EQ(problem.budget.evaluations, 200U);
  EXPECT_EQ(problem.budget.fraction, 0.25);
}

TEST_F(ReadSpaceTest, faulty_budgets_are_errors) {
  const auto budget = [this](const std::string& list) {
    return parse_error(with(&Parts::root, ",\n\"Budget\": " + list));
  };
  EXPECT_THAT(budget(R"([{"Type": "Duration", "BudgetValue": 1}])"),
              HasSubstr("Budget[0].Type: unknown value 'Duration'"));
  EXPECT_THAT(budget(R"([{"Type": "TuningDuration", "BudgetValue": 0}])"), HasSubstr("is 0; give a positive number"));
  EXPECT_THAT(budget(R"([{"Type": "ConfigurationCount", "BudgetValue": 1.5}])"), HasSubstr("must be an integer"));
  EXPECT_THAT(budget(R"([{"Type": "ConfigurationFraction", "BudgetValue": 2}])"), HasSubstr("give a fraction"));
  EXPECT_THAT(budget(R"([{"Type": "TuningDuration", "BudgetValue": 1}, {"Type": "TuningDuration", "BudgetValue": 2}])"),
              HasSubstr("there are two budgets of type TuningDuration"));
  EXPECT_THAT(budget(R"({})"), HasSubstr("Budget: is an object; give a list"));
}

TEST_F(ReadSpaceTest, the_name_comes_from_the_benchmark_the_kernel_or_the_file) {
  EXPECT_EQ(parse({}).name, "saxpy");
  EXPECT_EQ(parse(with(&Parts::root, R"(, "General": {"BenchmarkName": "b"})")).name, "b");
  EXPECT_EQ(parse_text(R"({"ConfigurationSpace": {"TuningParameters": []}})",
                       {.problem_size = {}, .language = {}, .space_only = true})
                .name,
            "p");
}

TEST_F(ReadSpaceTest, general_settings_of_other_tools_are_warned_about_and_checked) {
  const Problem problem = parse(with(&Parts::root, R"(, "General": {"FormatVersion": 2, "LoggingLevel": "Info",
      "TimeUnit": "Seconds", "OutputFile": "x", "OutputFormat": "JSON", "BenchmarkNam": "y"}, "Search": {"Name": "MCMC"})"));
  for (const char* key :
       {"FormatVersion: format version 2", "LoggingLevel: ignored", "TimeUnit: ignored", "OutputFile: ignored",
        "Search: ignored", "BenchmarkNam: unknown key, ignored; did you mean 'BenchmarkName'?"}) {
    EXPECT_THAT(problem.warnings, Contains(HasSubstr(key)));
  }
  EXPECT_THAT(parse_error(with(&Parts::root, R"(, "General": {"OutputFormat": "XML"})")),
              HasSubstr("XML is not supported"));
  EXPECT_THAT(parse_error(with(&Parts::root, R"(, "General": {"TimeUnit": "Hours"})")),
              HasSubstr("unknown value 'Hours'"));
  EXPECT_THAT(parse_error(with(&Parts::root, R"(, "Search": {})")), HasSubstr("Search.Name: is missing"));
}

TEST_F(ReadSpaceTest, unknown_keys_of_the_root_are_warned_about_but_null_is_absent) {
  const Problem problem = parse(with(&Parts::root, R"(, "BenchmarkConfig": {"MAX_THREADS": 1024}, "Other": null)"));
  EXPECT_THAT(problem.warnings, ElementsAre(HasSubstr("BenchmarkConfig: unknown key, ignored")));
}

TEST_F(ReadSpaceTest, a_problem_without_faults_has_no_warnings) {
  EXPECT_THAT(parse({}).warnings, IsEmpty());
}

TEST_F(ReadSpaceTest, what_is_no_problem_file_at_all_is_an_error) {
  const auto error = [this](std::string_view text) { return error_of([&] { parse_text(text); }); };
  EXPECT_THAT(error("[]"), StartsWith("p.json:1: the file: is a list; give an object"));
  EXPECT_THAT(error("{}"), StartsWith("p.json:1: ConfigurationSpace: is missing; add it"));
  EXPECT_THAT(error("{\"ConfigurationSpace\": {\"TuningParameters\": []}}"),
              HasSubstr("KernelSpecification: is missing"));
  EXPECT_THAT(error("{\"ConfigurationSpace\": 1}"), HasSubstr("ConfigurationSpace: is a number; give an object"));
  EXPECT_THAT(error("{,}"), StartsWith("p.json:1: column 2: not valid JSON: "));
}

TEST_F(ReadSpaceTest, a_problem_file_that_is_missing_is_told_with_its_name) {
  EXPECT_THAT(error_of([&] { read_problem(folder / "none.json"); }), HasSubstr("cannot read problem file"));
}

}  // namespace
}  // namespace wattune
