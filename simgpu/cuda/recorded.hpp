#pragma once
// Launches whose time and power come from a file of recorded results.

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "board/workload.hpp"

namespace wattune::simgpu {

/// A kernel as it was measured: time, power and clock of its configurations.
class RecordedKernel {
 public:
  /// The one that WATTUNE_SIM_RECORDED names, read once; null where it is not set.
  /// @throws std::invalid_argument with one line that says what is wrong with the file.
  static const RecordedKernel* instance();

  /// @param file results in any format that wattune reads. @throws as instance().
  explicit RecordedKernel(const std::filesystem::path& file);

  struct Answer {
    enum class Kind {
      another_kernel,  ///< the code has none of the file's parameters
      missing,         ///< the file has no such configuration
      failed,          ///< it has, and that did not run
      found,
    };
    Kind kind;
    std::vector<Record> records;  ///< where found; an SM clock that was not recorded is 0
  };
  /// What is recorded of a launch. Its configuration is what the code's defines and the block's size tell; parameters
  /// that neither tells make no difference.
  [[nodiscard]] Answer find(const Variant& variant, const std::array<unsigned, 3>& block) const;

  /// Whether the code is that of the recorded kernel, as far as its defines tell.
  [[nodiscard]] bool is_of(const Variant& variant) const;

 private:
  struct Row {
    std::vector<double> values;  ///< of names_; not a number: no number
    bool ok;
    Record record;
  };
  /// A parameter of the file and the value that a launch has of it.
  struct Told {
    std::size_t parameter;
    double value;
  };
  [[nodiscard]] std::vector<Told> told_by(const Variant& variant) const;

  std::vector<std::string> names_;  ///< parameters of code and launch
  std::vector<Row> rows_;
};

}  // namespace wattune::simgpu
