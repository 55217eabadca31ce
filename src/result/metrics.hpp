#pragma once
// Metrics: numbers derived from a configuration and what was measured of it.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// The metrics of a problem, compiled. Const functions may be called by several threads.
class MetricSet {
 public:
  /// Names in a metric's expression stand for a parameter, else an earlier metric, else a measured quantity (SI).
  /// @throws UsageError for a metric that uses its own name.
  MetricSet(std::span<const Metric> metrics, std::vector<std::string> parameter_names);
  explicit MetricSet(const Problem& problem) : MetricSet(problem.metrics, problem.parameter_names()) {}

  /// Sets the metrics of an evaluation among its quantities, replacing those it held under the same names. A metric is
  /// left out where a quantity that it needs is missing, where its value is no finite number (a division by zero), and
  /// where the evaluation failed. Its standard error is that of the measured quantities, propagated to first order as
  /// if they were independent; unknown where that of any of them is. Its n is the least of theirs, its flags are all of
  /// theirs.
  void apply(Evaluation& evaluation) const;

  /// The measured quantities that the metrics refer to, sorted.
  [[nodiscard]] std::vector<std::string> inputs() const;

 private:
  struct Name {
    enum class Kind { parameter, metric, quantity } kind;
    std::size_t index;  ///< of the parameter, metric or input
  };
  struct Compiled {
    std::string name;
    std::string unit;
    Program program;
    std::vector<Name> names;          ///< in the order that the program takes them
    std::vector<std::size_t> inputs;  ///< of it and of the metrics it uses, sorted
  };

  [[nodiscard]] std::vector<double> compute(const Evaluation& evaluation, std::span<const double> inputs) const;

  std::vector<Compiled> metrics_;
  std::vector<std::string> parameter_names_;
  std::vector<std::string> inputs_;  ///< names of the measured quantities in use
};

}  // namespace wattune
