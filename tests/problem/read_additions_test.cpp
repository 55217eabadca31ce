// Verification, metrics and objectives.

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadAdditionsTest : public ProblemTest {
 protected:
  Problem additions(const std::string& members) const { return parse(with(&Parts::wattune, "{" + members + "}")); }
  std::string additions_error(const std::string& members) const {
    return parse_error(with(&Parts::wattune, "{" + members + "}"));
  }
  Problem verified(const std::string& members) const { return additions("\"Verification\": {" + members + "}"); }
  std::string verified_error(const std::string& members) const {
    return additions_error("\"Verification\": {" + members + "}");
  }
};

TEST_F(ReadAdditionsTest, without_verification_there_is_no_reference) {
  const Problem problem = parse({});
  EXPECT_EQ(problem.verification.reference, Verification::Reference::none);
  EXPECT_FALSE(problem.verification.absolute_tolerance);
}

TEST_F(ReadAdditionsTest, a_reference_on_the_host_is_named) {
  const Problem problem =
      verified(R"("Reference": {"Host": "saxpy"}, "AbsoluteTolerance": 1e-6, "RelativeTolerance": 0)");
  EXPECT_EQ(problem.verification.reference, Verification::Reference::host);
  EXPECT_EQ(problem.verification.host_function, "saxpy");
  EXPECT_EQ(problem.verification.absolute_tolerance, 1e-6);
  EXPECT_EQ(problem.verification.relative_tolerance, 0);
}

TEST_F(ReadAdditionsTest, a_reference_kernel_lies_in_the_tuned_file_or_its_own) {
  const auto kernel = [this](const std::string& members) {
    return *verified(R"("Reference": {"Kernel": {"KernelName": "naive", )" + members + "}}").verification.kernel;
  };
  const std::string sizes = R"("GridSize": ["ProblemSize[0] // 10", 2], "LocalSize": [10])";
  Verification::Kernel own = kernel(sizes);
  EXPECT_EQ(own.name, "naive");
  EXPECT_THAT(own.source, HasSubstr("saxpy"));
  EXPECT_EQ(own.grid[0].text(), "ProblemSize[0] // 10");
  EXPECT_EQ(own.grid[1].text(), "2");
  EXPECT_EQ(own.block[2].text(), "1");
  write("ref/naive.cu", "#include \"x.h\"\nnaive");
  write("inc/x.h", "");
  own = kernel(sizes + R"(, "KernelFile": "ref/naive.cu", "CompilerOptions": ["-O1", "-Iinc"])");
  EXPECT_EQ(own.file, folder / "ref/naive.cu");
  EXPECT_THAT(own.source, HasSubstr("naive"));
  EXPECT_THAT(own.options, ElementsAre("-O1", "-I" + (folder / "ref").string(), "-I" + (folder / "inc").string()));
}

TEST_F(ReadAdditionsTest, faulty_reference_kernels_are_errors) {
  const auto error = [this](const std::string& members) {
    return verified_error(R"("Reference": {"Kernel": {)" + members + "}}");
  };
  EXPECT_THAT(error(R"("GridSize": [1], "LocalSize": [1])"), HasSubstr("Kernel.KernelName: is missing"));
  EXPECT_THAT(error(R"("KernelName": "n", "GridSize": [1])"), HasSubstr("Kernel.LocalSize: is missing"));
  EXPECT_THAT(error(R"("KernelName": "n", "GridSize": [], "LocalSize": [1])"),
              HasSubstr("GridSize: must be a list of one to three"));
  EXPECT_THAT(error(R"("KernelName": "n", "GridSize": ["TILE"], "LocalSize": [1])"), HasSubstr("GridSize[0]: "));
  EXPECT_THAT(error(R"("KernelName": "n", "KernelFile": "none.cu", "GridSize": [1], "LocalSize": [1])"),
              HasSubstr("KernelFile: cannot read"));
}

TEST_F(ReadAdditionsTest, reference_data_are_given_for_outputs) {
  const Problem problem = verified(R"("Reference": {"Data": {"y": {"FillType": "Generator", "DataSource": "i * 2"}}})");
  EXPECT_EQ(problem.verification.reference, Verification::Reference::data);
  EXPECT_EQ(problem.verification.data.at("y").expression, "i * 2");
  EXPECT_THAT(verified_error(R"("Reference": {"Data": {"x": {"FillType": "Constant"}}})"),
              HasSubstr("wattune.Verification.Reference.Data.x: there is no output argument 'x'; give one of: y"));
  EXPECT_THAT(verified_error(R"("Reference": {"Data": {"y": {"FillType": "BinaryRaw", "DataSource": "none.bin"}}})"),
              HasSubstr("Data.y.DataSource: cannot read"));
  EXPECT_THAT(verified_error(R"("Reference": {"Data": {"y": {"Filltype": "Constant"}}})"),
              HasSubstr("did you mean 'FillType'?"));
}

TEST_F(ReadAdditionsTest, there_is_one_reference) {
  EXPECT_THAT(verified_error(R"("Reference": {"Host": "a", "Data": {}})"),
              HasSubstr("Reference: must hold exactly one of Host, Kernel and Data"));
  EXPECT_THAT(verified_error(R"("Reference": {})"), HasSubstr("must hold exactly one"));
  EXPECT_THAT(verified_error(R"("Reference": {"Hots": "a"})"), HasSubstr("did you mean 'Host'?"));
  EXPECT_THAT(verified_error(R"("Reference": {"Host": ""})"), HasSubstr("Host: is empty"));
}

TEST_F(ReadAdditionsTest, tolerances_are_not_negative) {
  EXPECT_THAT(verified_error(R"("AbsoluteTolerance": -1)"),
              HasSubstr("AbsoluteTolerance: is -1; give a number that is not negative"));
  EXPECT_THAT(verified_error(R"("Tolerance": 1)"), HasSubstr("Verification.Tolerance: unknown key"));
}

TEST_F(ReadAdditionsTest, reference_arguments_of_t1_give_data_and_tolerance) {
  const auto reference = [](const std::string& members) {
    return R"(, "ReferenceArguments": [{"Name": "r", "TargetName": "y", "FillType": "Constant", "FillValue": 3)" +
           members + "}]";
  };
  Problem problem =
      parse(with(&Parts::specification,
                 reference(R"(, "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 0.25)")));
  EXPECT_EQ(problem.verification.reference, Verification::Reference::data);
  EXPECT_EQ(problem.verification.data.at("y").value, 3);
  EXPECT_EQ(problem.verification.absolute_tolerance, 0.25);
  EXPECT_EQ(problem.verification.relative_tolerance, 0);
  problem =
      parse(with(&Parts::specification,
                 reference(R"(, "ValidationMethod": "SideBySideRelativeComparison", "ValidationThreshold": 0.25)")));
  EXPECT_EQ(problem.verification.absolute_tolerance, 0);
  EXPECT_EQ(problem.verification.relative_tolerance, 0.25);
  problem = parse(with(&Parts::specification,
                       reference(R"(, "ValidationMethod": "AbsoluteDifference", "ValidationThreshold": 0.25)")));
  EXPECT_THAT(problem.warnings, ElementsAre(HasSubstr("the difference of each element is compared")));
  EXPECT_FALSE(parse(with(&Parts::specification, reference(""))).verification.absolute_tolerance);
  EXPECT_THAT(parse_error(with(&Parts::specification, reference(R"(, "ValidationThreshold": 1)"))),
              HasSubstr("ValidationMethod is missing"));
  EXPECT_THAT(parse_error(with(&Parts::specification, reference(R"(, "ValidationMethod": "Sum")"))),
              HasSubstr("unknown value 'Sum'"));
}

TEST_F(ReadAdditionsTest, reference_arguments_name_outputs_once_and_agree) {
  EXPECT_THAT(
      parse_error(with(&Parts::specification,
                       R"(, "ReferenceArguments": [{"Name": "r", "TargetName": "z", "FillType": "Constant"}])")),
      HasSubstr("ReferenceArguments[0].TargetName: there is no output argument 'z'"));
  EXPECT_THAT(parse_error(with(&Parts::specification,
                               R"(, "ReferenceArguments": [{"Name": "r", "TargetName": "y", "FillType": "Constant"},
      {"Name": "r", "TargetName": "y", "FillType": "Constant"}])")),
              HasSubstr("there are two references for 'y'"));
  Parts parts = with(&Parts::specification,
                     R"(, "ReferenceArguments": [{"Name": "r", "TargetName": "y", "FillType": "Constant"}])");
  parts.wattune = R"({"Verification": {"Reference": {"Host": "h"}}})";
  EXPECT_THAT(parse(parts).warnings,
              ElementsAre(HasSubstr("ReferenceArguments: ignored, for wattune.Verification gives the reference")));
}

TEST_F(ReadAdditionsTest, workload_gives_rates) {
  const Problem problem = additions(R"("Workload": {"Flop": "2 * ProblemSize[0] * TILE", "Bytes": 8000})");
  ASSERT_EQ(problem.metrics.size(), 3U);
  EXPECT_EQ(problem.metrics[0].name, "GFLOP/s");
  EXPECT_EQ(problem.metrics[1].name, "GFLOP/J");
  EXPECT_EQ(problem.metrics[2].name, "GB/s");
  EXPECT_EQ(problem.metrics[2].unit, "GB/s");
  EXPECT_EQ(problem.metrics[0].better, Direction::maximize);
  EXPECT_EQ(problem.metrics[0].expression.evaluate({{"TILE", Value(4)}, {"time", Value(1e-6)}}).as_double(),
            8000 / 1e-6 / 1e9);
  EXPECT_EQ(problem.metrics[1].expression.evaluate({{"TILE", Value(4)}, {"energy", Value(0.5)}}).as_double(),
            8000 / 0.5 / 1e9);
}

TEST_F(ReadAdditionsTest, faulty_workloads_are_errors) {
  EXPECT_THAT(additions_error(R"("Workload": {"Flop": "n"})"), HasSubstr("wattune.Workload.Flop: "));
  EXPECT_THAT(additions_error(R"("Workload": {"Flop": "time"})"), HasSubstr("'time'"));
  EXPECT_THAT(additions_error(R"("Workload": {"Flop": "0 - TILE"})"), HasSubstr("is -2 for the default configuration"));
  EXPECT_THAT(additions_error(R"-("Workload": {"Flop": "1 // (TILE - 2)"})-"), HasSubstr("Workload.Flop: "));
  EXPECT_THAT(additions_error(R"("Workload": {"Flops": 1})"),
              HasSubstr("Workload.Flops: unknown key; did you mean 'Flop'?"));
}

TEST_F(ReadAdditionsTest, metrics_are_expressions_without_problem_size) {
  const Problem problem = additions(
      R"-("Metrics": [{"Name": "per_item", "Expression": "time / ProblemSize[0] * len('ProblemSize')", "Unit": "s"},
      {"Name": "EDP", "Expression": "time * energy"}])-");
  EXPECT_EQ(problem.metrics[0].expression.text(), "time / [1000][0] * len('ProblemSize')");
  EXPECT_EQ(problem.metrics[0].unit, "s");
  EXPECT_EQ(problem.metrics[1].unit, "");
  EXPECT_FALSE(problem.metrics[1].better);
}

TEST_F(ReadAdditionsTest, faulty_metrics_are_errors) {
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "time", "Expression": "1"}])"),
              HasSubstr("there are two metrics or quantities 'time'"));
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "a", "Expression": "1"}, {"Name": "a", "Expression": "1"}])"),
              HasSubstr("Metrics[1].Name: there are two"));
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "a", "Expression": "1 +"}])"),
              HasSubstr("Metrics[0].Expression: "));
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "", "Expression": "1"}])"), HasSubstr("is empty"));
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "a", "Expresion": "1"}])"),
              HasSubstr("did you mean 'Expression'?"));
}

TEST_F(ReadAdditionsTest, objectives_have_a_direction_of_their_own_or_a_known_one) {
  const Problem problem =
      additions(R"("Workload": {"Flop": 1}, "Metrics": [{"Name": "EDP", "Expression": "time * energy"}],
      "Objectives": [{"Name": "energy"}, {"Name": "GFLOP/s"}, {"Name": "EDP", "Direction": "minimize"}, {"Name": "time", "Direction": "maximize"}])");
  ASSERT_EQ(problem.objectives.size(), 4U);
  EXPECT_EQ(problem.objectives[0].direction, Direction::minimize);
  EXPECT_EQ(problem.objectives[1].direction, Direction::maximize);
  EXPECT_EQ(problem.objectives[2].direction, Direction::minimize);
  EXPECT_EQ(problem.objectives[3].direction, Direction::maximize);
  EXPECT_THAT(parse({}).objectives, IsEmpty());
}

TEST_F(ReadAdditionsTest, faulty_objectives_are_errors) {
  EXPECT_THAT(additions_error(R"("Objectives": [{"Name": "enrgy"}])"),
              HasSubstr("wattune.Objectives[0].Name: there is no quantity or metric 'enrgy'; did you mean 'energy'?"));
  EXPECT_THAT(additions_error(R"("Metrics": [{"Name": "a", "Expression": "1"}], "Objectives": [{"Name": "a"}])"),
              HasSubstr("Objectives[0].Direction: is missing"));
  EXPECT_THAT(additions_error(R"("Objectives": [{"Name": "time", "Direction": "min"}])"),
              HasSubstr("unknown value 'min'"));
  EXPECT_THAT(additions_error(R"("Objectives": [{"Name": "time"}, {"Name": "time"}])"),
              HasSubstr("there are two objectives 'time'"));
}

}  // namespace
}  // namespace wattune
