// Spaces of the literature, from recorded data beside the repository; skipped where that is missing.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "expr/expression.hpp"
#include "space/search_space.hpp"

namespace wattune {
namespace {

const std::filesystem::path data = std::filesystem::path(WATTUNE_SOURCE_DIR) / ".." / "shared" / "data";

struct Definition {
  std::vector<Parameter> parameters;
  std::vector<Restriction> restrictions;
};

Definition read(const std::filesystem::path& file) {
  const auto json = nlohmann::json::parse(std::ifstream(file));
  Definition result;
  for (const auto& parameter : json["ConfigurationSpace"]["TuningParameters"]) {
    const Value values = Expression::parse(parameter["Values"].get<std::string>()).evaluate();
    result.parameters.push_back({parameter["Name"], values.as_list()});
  }
  for (const auto& condition : json["ConfigurationSpace"]["Conditions"]) {
    result.restrictions.push_back({condition["Expression"], file.filename().string()});
  }
  return result;
}

SearchSpace build(const Definition& definition) {
  return SearchSpace::build(definition.parameters, definition.restrictions);
}

class RecordedSpaces : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data)) GTEST_SKIP() << "no recorded data in " << data;
  }
};

TEST_F(RecordedSpaces, HaveTheKnownSizes) {
  const auto counts = nlohmann::json::parse(std::ifstream(data / "spaces" / "counts.json"));
  for (const auto& [name, expected] : counts.items()) {
    const SearchSpace space = build(read(data / "spaces" / (name + ".json")));
    EXPECT_EQ(space.parameters().size(), expected["parameters"].get<std::size_t>()) << name;
    EXPECT_EQ(to_string(space.cartesian()), expected["cartesian"].dump()) << name;
    EXPECT_EQ(to_string(space.size()), expected["valid"].dump()) << name;
    EXPECT_TRUE(space.is_lexicographic()) << name;
    for (const Count index : space.sample(1000, 1)) EXPECT_EQ(space.index(space.point(index)), index) << name;
  }
}

TEST_F(RecordedSpaces, OfTheBenchmarkHubHaveTheKnownSizes) {
  const std::vector<std::pair<std::string, Count>> sizes = {
      {"gemm", 116928}, {"convolution", 4362}, {"dedispersion", 11130}, {"hotspot", 82984}};
  for (const auto& [name, size] : sizes) {
    EXPECT_EQ(build(read(data / "hub" / (name + "_milo.json"))).size(), size) << name;
  }
}

TEST_F(RecordedSpaces, GemmWithoutItsLastRule) {
  Definition gemm = read(data / "spaces" / "gemm_paper.json");
  gemm.restrictions.pop_back();
  EXPECT_EQ(build(gemm).size(), Count{17956});
}

TEST_F(RecordedSpaces, PrlWith64InPlaceOf8IsCountedExactly) {
  Definition prl = read(data / "spaces" / "prl_8x8.json");
  for (Parameter& parameter : prl.parameters) {
    if (parameter.values == std::vector<Value>{8}) parameter.values = {64};
    if (parameter.values.size() == 8) parameter.values = Expression::parse("list(range(1, 65))").evaluate().as_list();
  }
  EXPECT_EQ(build(prl).size(), Count{48 * 210 * 133});
}

}  // namespace
}  // namespace wattune
