#pragma once
// Result files for tests: small ones written here, and recorded ones of public projects where they are at hand.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../temporary_folder.hpp"
#include "store/formats/results.hpp"

namespace wattune {

/// A recorded file beside the source tree.
inline std::filesystem::path recorded(const std::string& name) {
  return std::filesystem::path(WATTUNE_SOURCE_DIR) / ".." / "shared" / "data" / name;
}

#define SKIP_WITHOUT(file) \
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "there is no " << (file)

/// A folder of its own for each test, removed after it.
class FormatsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  static Results parse(const std::string& text) {
    const auto source = source_of(text);
    return read_results(*source, "test.json");
  }

  /// Written as a format and read again.
  Results through(const Results& results, ResultFormat format) const {
    const auto file = path("through");
    write_results(results, file, format);
    return read_results(file);
  }

  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
};

/// A cache of two parameters with one success and the failures of all versions, in Kernel Tuner's own layout.
inline const std::string small_cache = R"({
"device_name": "NVIDIA A100",
"kernel_name": "vector_add",
"problem_size": [
4096,
2
],
"tune_params_keys": [
"block_size_x",
"fast"
],
"tune_params": {
"block_size_x": [
32,
64,
128
],
"fast": [
true,
false
]
},
"objective": "time",
"cache": {
"32,True": {"block_size_x": 32, "fast": true, "core_freq": 1410.0, "nvml_energy": 0.25, "time": 2.0, "times": [1.5, 2.5], "compile_time": 400.5, "verification_time": 0, "benchmark_time": 21.5, "GFLOP/s": 100.0, "strategy_time": 0, "framework_time": 1.5, "timestamp": "2023-12-22 09:54:05.502007+00:00"},
"32,False": {"block_size_x": 32, "fast": false, "time": "RuntimeFailedConfig", "compile_time": 400.0},
"64,True": {"block_size_x": 64, "fast": true, "__error__": "CompilationFailedConfig", "compile_time": 10.0},
"64,False": {"block_size_x": 64, "fast": false, "time": 1e20, "times": []},
"128,True": {"block_size_x": 128, "fast": true, "time": "InvalidConfig"},
"128,False": {"block_size_x": 128, "fast": false, "time": NaN, "core_freq": 1400}}
})";

}  // namespace wattune
