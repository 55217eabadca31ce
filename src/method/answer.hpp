#pragma once
// What a run of a method has found.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// Told the evaluations of a run in their order, says at any time which is the method's answer: the fastest, the most
/// efficient, or, of methods in two steps, the most efficient one of the variant that was best at the settings where the
/// run began.
class MethodAnswer {
 public:
  /// @param kinds one per parameter @param setup whose objectives and kinds count
  MethodAnswer(const std::string& method, const std::vector<std::string>& parameter_names, const MethodSetup& setup);

  /// @return its number, from 0.
  std::size_t add(const Evaluation& evaluation);
  /// The number of the answer; nothing where nothing has succeeded.
  [[nodiscard]] std::optional<std::size_t> best() const;

 private:
  struct Row {
    std::string variant;
    std::string settings;
    double speed;  ///< costs: less is better, infinite where it failed
    double efficiency;
  };
  const MethodDescription& method_;
  Objective speed_;
  Objective efficiency_;
  std::vector<bool> is_setting_;
  std::vector<Row> rows_;
};

}  // namespace wattune
