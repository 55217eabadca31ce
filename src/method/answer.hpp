#pragma once
// What a run of a method has found.

#include <optional>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "result/constraint.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// Told the evaluations of a run in their order, says at any time which is the method's answer: the fastest, the most
/// efficient, or, of methods in two steps, the most efficient one of the variant that was best at the settings where
/// the first step ran; each of those that meet the conditions. A configuration that is measured again in tier `final`
/// counts by that.
class MethodAnswer {
 public:
  /// @param setup whose objectives and kinds count
  MethodAnswer(const std::string& method, const std::vector<std::string>& parameter_names, const MethodSetup& setup,
               ConstraintSet constraints = {});

  /// @param evaluation must outlive this object
  void add(const Evaluation& evaluation);
  /// The answer; null where nothing that may be it has succeeded and meets the conditions.
  [[nodiscard]] const Evaluation* best() const;
  /// Whether something that may be the answer has succeeded, conditions aside.
  [[nodiscard]] bool any_succeeded() const;
  /// Of methods in two steps: all that is known of the variant that the first step chose. Else everything.
  [[nodiscard]] std::vector<const Evaluation*> in_question() const;

 private:
  struct Row {
    const Evaluation* evaluation;  ///< of final quality where there is one
    const Evaluation* searched;    ///< what the method was told
    std::string variant;
    std::string settings;
    double speed;  ///< costs: less is better, infinite where it failed
    double efficiency;
  };
  [[nodiscard]] double final_cost(const Row& row) const { return method_.for_time ? row.speed : row.efficiency; }
  [[nodiscard]] ConstraintSet::Bests bests() const;
  [[nodiscard]] std::vector<const Row*> rows_in_question() const;
  /// The variant that the first step chose, which had been told what the search had found; nothing where nothing
  /// succeeded.
  [[nodiscard]] std::optional<std::string> chosen_variant() const;
  /// Whether one of the first so many rows shows that the device works at these settings.
  [[nodiscard]] bool is_reached(const std::string& settings, std::size_t among) const;
  /// The variant that the first step would choose at these settings.
  [[nodiscard]] std::optional<std::string> best_variant_at(const std::string& settings) const;

  const MethodDescription& method_;
  Objective speed_;
  Objective efficiency_;
  ConstraintSet constraints_;
  std::vector<bool> is_setting_;
  std::vector<Row> rows_;
};

}  // namespace wattune
