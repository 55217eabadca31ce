#pragma once
// What evaluates configurations for the tuner: a device (LiveEvaluator), or recorded results.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "result/evaluation.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// A configuration that a strategy proposed.
struct Proposal {
  Point point;
  std::vector<Value> configuration;
  std::int64_t number = 0;  ///< how-many-th proposal, from 0
  std::int64_t told = 0;    ///< results the strategy had been told when it proposed this
  /// "final", "clock" and "calibration": to be measured exactly; "timing": only time is wanted.
  std::string tier = "screen";
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many proposals it wants to hold, so that it can work ahead.
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  virtual void submit(Proposal proposal) = 0;
  /// A result is in the journal: one of an earlier run that need not be evaluated, or one of next() that was written.
  virtual void recorded(const Evaluation& evaluation) { static_cast<void>(evaluation); }
  /// Proposals submitted and not yet given back by next().
  [[nodiscard]] virtual std::size_t held() const = 0;

  struct Done {
    Proposal proposal;
    Evaluation evaluation;
  };
  /// The next finished one, waiting for at most `seconds`, or until `wake_fd` (if not -1) becomes readable.
  /// @throws Error for what ends a run: a lost device, a faulty problem.
  virtual std::optional<Done> next(double seconds, int wake_fd) = 0;
};

/// Has one configuration evaluated by an evaluator that holds no other, and waits for it.
/// @return nothing where `interrupted` says so before it is finished. @throws Error as Evaluator::next().
std::optional<Evaluator::Done> evaluate_alone(Evaluator& evaluator, Proposal proposal, int wake_fd,
                                              const std::function<bool()>& interrupted);

}  // namespace wattune
