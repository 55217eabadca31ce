#pragma once
// Whether a board's energy drifts while a run lasts: a reference configuration is measured again now and then.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "result/evaluation.hpp"
#include "tune/evaluator.hpp"

namespace wattune {

/// What became of the reference's energy over a run.
struct Drift {
  std::size_t again = 0;  ///< times that the reference was measured after the first
  double lowest = 0;      ///< relative to the first measurement: -0.002 is 0.2 % less
  double highest = 0;
  double last = 0;
  double error = 0;  ///< standard error of one of these, relative
};

/// A line for the report.
std::string to_string(const Drift& drift);

/// The first configuration whose energy is measured becomes the reference, and is due again every so many seconds. Its
/// later measurements are evaluations of tier `reference`, which compete with none.
class DriftWatch {
 public:
  static constexpr const char* tier = "reference";

  /// @param every_seconds nothing: never.
  explicit DriftWatch(std::optional<double> every_seconds) : every_seconds_(every_seconds) {}

  /// An evaluation of the search. @param now seconds of the run.
  void see(const Proposal& proposal, const Evaluation& evaluation, double now);
  /// What to evaluate now for the watch, if anything. One at a time.
  std::optional<Proposal> due(double now);
  /// The evaluation of what due() gave.
  void add(const Evaluation& evaluation, double now);

  /// Nothing where the reference was not measured again.
  [[nodiscard]] std::optional<Drift> drift() const;

 private:
  std::optional<double> every_seconds_;
  std::optional<Proposal> reference_;
  Quantity first_;
  std::vector<double> later_;  ///< energies
  double last_seconds_ = 0;
  bool under_way_ = false;
};

}  // namespace wattune
