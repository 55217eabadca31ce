#pragma once
// What a run of a method has found.

#include <optional>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// Told the evaluations of a run in their order, says at any time which is the method's answer: the fastest, the most
/// efficient, or, of methods in two steps, the most efficient one of the variant that was best at the settings where the
/// run began. A configuration that is measured again in tier `final` counts by that.
class MethodAnswer {
 public:
  /// @param setup whose objectives and kinds count
  MethodAnswer(const std::string& method, const std::vector<std::string>& parameter_names, const MethodSetup& setup);

  /// @param evaluation must outlive this object
  void add(const Evaluation& evaluation);
  /// The answer; null where nothing has succeeded.
  [[nodiscard]] const Evaluation* best() const;
  /// Of methods in two steps: all that is known of the variant that the first step chose. Else everything.
  [[nodiscard]] std::vector<const Evaluation*> in_question() const;

 private:
  struct Row {
    const Evaluation* evaluation;
    std::string variant;
    std::string settings;
    double speed;  ///< costs: less is better, infinite where it failed
    double efficiency;
  };
  /// The variant that the first step chose; nothing where nothing succeeded.
  [[nodiscard]] std::optional<std::string> chosen_variant() const;

  const MethodDescription& method_;
  Objective speed_;
  Objective efficiency_;
  std::vector<bool> is_setting_;
  std::vector<Row> rows_;
};

}  // namespace wattune
