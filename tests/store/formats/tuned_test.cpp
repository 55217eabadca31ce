// Using results: export, header, lookup.

#include "store/formats/tuned.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "recorded.hpp"

namespace wattune {
namespace {

using ::testing::HasSubstr;

Tuned tuned(const std::string& device, std::vector<std::int64_t> size, int block) {
  Tuned result;
  result.problem = "gemm-1";
  result.device = device;
  result.problem_size = std::move(size);
  result.objective = {"time", Direction::minimize};
  result.parameter_names = {"block", "fast", "default", "layout", "2x"};
  result.configuration = {block, true, 2.5, "row \"major\"", std::int64_t{-1}};
  result.quantities["time"] = {1e-3, "s", 1e-6, 5, {}};
  return result;
}

const std::vector<Tuned> entries = {tuned("NVIDIA A100-PCIE-40GB", {1024, 1024}, 1),
                                    tuned("NVIDIA A100-PCIE-40GB", {4096, 4096}, 2),
                                    tuned("NVIDIA H200", {4096, 4096}, 3), tuned("NVIDIA RTX A4000", {2048, 2048}, 4)};

int block_of(const TunedMatch& match) {
  return static_cast<int>(match.tuned->configuration[0].as_int());
}

TEST(Lookup, PrefersTheModelThenTheArchitectureThenTheSize) {
  const auto find = [](const char* device, std::vector<std::int64_t> size) {
    return *find_tuned(entries, device, size);
  };
  auto match = find("NVIDIA A100-PCIE-40GB", {4096, 4096});
  EXPECT_EQ(block_of(match), 2);
  EXPECT_EQ(match.device, DeviceMatch::model);
  EXPECT_EQ(match.size, SizeMatch::exact);
  match = find("NVIDIA A100-PCIE-40GB", {1500, 1500});
  EXPECT_EQ(block_of(match), 1);
  EXPECT_EQ(match.size, SizeMatch::nearest);
  EXPECT_GT(match.size_distance, 0);
  match = find("NVIDIA H100 PCIe", {4096, 4096});
  EXPECT_EQ(block_of(match), 3);
  EXPECT_EQ(match.device, DeviceMatch::architecture);
  match = find("NVIDIA RTX A6000", {2048, 2048});
  EXPECT_EQ(block_of(match), 4);
  EXPECT_EQ(match.device, DeviceMatch::architecture);
  match = find("Tesla V100", {1024, 1024});
  EXPECT_EQ(block_of(match), 1);
  EXPECT_EQ(match.device, DeviceMatch::other);
  match = find("NVIDIA H200", {64});
  EXPECT_EQ(block_of(match), 3);
  EXPECT_EQ(match.size, SizeMatch::unknown);
  EXPECT_FALSE(find_tuned({}, "NVIDIA H200", {}));
}

TEST(Lookup, KnowsArchitecturesByModel) {
  EXPECT_EQ(architecture_of("NVIDIA RTX 4000 Ada Generation"), "Ada");
  EXPECT_EQ(architecture_of("NVIDIA RTX A4000"), "Ampere");
  EXPECT_EQ(architecture_of("TITAN RTX"), "Turing");
  EXPECT_EQ(architecture_of("NVIDIA GH200 480GB"), "Hopper");
  EXPECT_EQ(architecture_of("NVIDIA GeForce RTX 4090"), "Ada");
  EXPECT_EQ(architecture_of("cpu-haswell"), "");
}

class Export : public FormatsTest {};

TEST_F(Export, IsReadAgain) {
  std::ofstream(path("t.json")) << to_json(entries).dump();
  const auto again = read_tuned(path("t.json"));
  EXPECT_EQ(to_json(again), to_json(entries));
}

TEST_F(Export, OfAnotherFileIsRefusedByName) {
  std::ofstream(path("t.json")) << R"({"wattune_tuned": 1, "entries": [{"problem": "x"}]})";
  try {
    read_tuned(path("t.json"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("t.json': entry 0: "));
    EXPECT_THAT(error.what(), HasSubstr("'device'"));
  }
}

/// The header stands for itself: a program that includes nothing else looks up what find_tuned() finds.
TEST_F(Export, HeaderCompilesAndFinds) {
  auto all = entries;
  all[0].device += "\"\\?\?/\n";  // whatever a device is called
  std::ofstream(path("tuned.hpp")) << tuned_header(all);
  std::ofstream(path("main.cpp")) << R"(#include "tuned.hpp"
namespace t = wattune_tuned::gemm_1;
static_assert(t::find("NVIDIA A100-PCIE-40GB", {4096, 4096}).match == t::Match::exact);
static_assert(t::find("NVIDIA A100-PCIE-40GB", {4096, 4096}).entry->configuration.block == 2);
static_assert(t::find("NVIDIA H200", {1, 1}).match == t::Match::nearest_size);
static_assert(t::find("NVIDIA H100", {4096, 4096}, "Hopper").entry->configuration.block == 3);
static_assert(t::find("NVIDIA H100", {4096, 4096}, "Hopper").match == t::Match::architecture);
static_assert(t::find("NVIDIA H100", {4000, 4096}).match == t::Match::other);
static_assert(t::entries[0].configuration.fast && t::entries[0].configuration.default_ == 2.5);
static_assert(t::entries[0].configuration.layout == "row \"major\"" && t::entries[0].configuration._2x == -1);
int main() {}
)";
  const std::string command = std::string(WATTUNE_CXX_COMPILER) +
                              " -std=c++17 -Wall -Wextra -Wconversion -Werror -fsyntax-only " +
                              path("main.cpp").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace wattune
