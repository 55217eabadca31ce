#pragma once
// A problem for the tests of the public interface: y = a * x and steps after it, on any OpenCL device.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "wattune/wattune.hpp"

namespace wattune {

/// Parameters: block_size_x (launch), WAY (code).
constexpr const char* scale_kernel = R"(
kernel void scale(global float* y, global const float* x, float a, int n) {
  const int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] * (WAY > 0 ? 1.0f : 0.0f);
}
kernel void add(global float* y, float a) { y[get_global_id(0)] += a; }
)";

/// A folder of its own with the kernel, removed at the end.
class ScaleProblem {
 public:
  ScaleProblem() : folder_(std::filesystem::temp_directory_path() / ("wattune-public-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "scale.cl") << scale_kernel;
  }
  ~ScaleProblem() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  ScaleProblem(const ScaleProblem&) = delete;
  ScaleProblem& operator=(const ScaleProblem&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  /// @param additions what stands in the `wattune` object. @param ways the values of WAY.
  [[nodiscard]] TuningRequest request(const std::string& additions, const std::string& ways = "[1, 2, 3, 4]") const {
    TuningRequest request;
    request.device = "opencl:0";
    request.strategy = "brute_force";
    request.file = folder_ / "scale.json";
    request.text = R"({"ConfigurationSpace": {"TuningParameters": [
        {"Name": "block_size_x", "Values": [64]},
        {"Name": "WAY", "Values": )" +
                   ways + R"(}]},
      "KernelSpecification": {"Language": "OpenCL", "KernelName": "scale", "KernelFile": "scale.cl",
        "ProblemSize": [4096], "LocalSize": {"X": "block_size_x"},
        "Arguments": [
          {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": "ProblemSize[0]"},
          {"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Constant",
           "FillValue": 3, "Size": "ProblemSize[0]"},
          {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillValue": 2},
          {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4096}]},
      "wattune": {)" +
                   additions + "}}";
    return request;
  }

 private:
  std::filesystem::path folder_;
};

inline bool has_opencl() {
  for (const auto& device : devices()) {
    if (device.id == "opencl:0") return true;
  }
  return false;
}

/// The evaluation of a value of WAY.
inline const TunedConfiguration& of_way(const TuningResult& result, std::int64_t way) {
  for (const auto& evaluation : result.evaluations) {
    if (evaluation.configuration.integer("WAY") == way) return evaluation;
  }
  throw RunError("WAY=" + std::to_string(way) + " was not evaluated");
}

}  // namespace wattune
