#pragma once
// A folder of its own for each test, with a small kernel and a problem file that tests change piece by piece.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "problem/problem.hpp"

namespace wattune {

class ProblemTest : public testing::Test {
 protected:
  void SetUp() override {
    write("saxpy.cu",
          "__global__ void saxpy(float* y, const float* x, float a, int n) { int t = TILE + block_size_x; }\n");
  }

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    const auto path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  /// A problem file around the parts that tests vary. Each part is a JSON text.
  struct Parts {
    std::string parameters = R"([{"Name": "block_size_x", "Type": "int", "Values": "[32, 64]"},
                                 {"Name": "TILE", "Type": "int", "Values": [1, 2, 4], "Default": 2}])";
    std::string conditions = "[]";
    std::string specification;  ///< further members of KernelSpecification, each with a comma before it
    std::string launch = R"("LocalSize": {"X": "block_size_x"}, "ProblemSize": [1000], "GridDivX": ["block_size_x"])";
    std::string arguments = R"([{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite",
                                 "FillType": "Constant", "FillValue": 0, "Size": "ProblemSize[0]"}])";
    std::string wattune = "{}";
    std::string root;  ///< further members of the root, each with a comma before it
  };

  static Parts with(std::string Parts::*part, std::string value) {
    Parts parts;
    parts.*part = std::move(value);
    return parts;
  }

  static std::string text(const Parts& parts) {
    return "{\"ConfigurationSpace\": {\"TuningParameters\": " + parts.parameters +
           ",\n\"Conditions\": " + parts.conditions +
           "},\n\"KernelSpecification\": {\"Language\": \"CUDA\", \"KernelName\": \"saxpy\",\n"
           "\"KernelFile\": \"saxpy.cu\",\n" +
           parts.launch + ",\n\"Arguments\": " + parts.arguments + parts.specification +
           "},\n\"wattune\": " + parts.wattune + parts.root + "}";
  }

  Problem parse(const Parts& parts, const ReadOptions& options = {}) const {
    return parse_problem(text(parts), folder / "p.json", options);
  }
  Problem parse_text(std::string_view json, const ReadOptions& options = {}) const {
    return parse_problem(json, folder / "p.json", options);
  }

  /// The message without the folder in front: "p.json:3: KEY: ...".
  template <typename Action>
  std::string error_of(Action&& action) const {
    try {
      action();
    } catch (const UsageError& error) {
      std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      const std::string prefix = folder.string() + "/";
      if (message.starts_with(prefix)) message.erase(0, prefix.size());
      return message;
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  std::string parse_error(const Parts& parts, const ReadOptions& options = {}) const {
    return error_of([&] { parse(parts, options); });
  }

  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
};

}  // namespace wattune
