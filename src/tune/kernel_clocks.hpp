#pragma once
// The own clock of single configurations: many cheap timings, few measurements of power, a prediction, its
// verification.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/kernel_clock.hpp"
#include "problem/problem.hpp"
#include "result/metrics.hpp"
#include "space/search_space.hpp"
#include "store/journal.hpp"
#include "tune/evaluator.hpp"
#include "tune/tuner.hpp"

namespace wattune {

struct KernelClockOptions {
  PowerModel device;          ///< of its voltage and limit; its power is a first guess
  std::size_t timings = 12;   ///< clocks at which time is measured
  ConstraintSet constraints;  ///< a clock at which they are missed is not the configuration's own
  bool compare = false;       ///< measure also at the highest clock, beyond what the search needs
  int wake_fd = -1;
  std::function<bool()> interrupted;
};

/// What was found of one configuration.
struct KernelClock {
  Evaluation best;  ///< of those that meet the conditions the one of least energy, all compared at the same temperature
  double predicted_hz = 0;     ///< by the model, before it was verified
  std::size_t candidates = 0;  ///< clocks that there are
  std::size_t timings = 0;
  std::size_t measurements = 0;       ///< of power
  std::optional<Evaluation> highest;  ///< at the highest clock, where asked for
  std::string problem;                ///< why no clock was found; empty where one was
};

class KernelClockSearch {
 public:
  /// @param space of the problem with all its clocks. What the journal has is not measured again.
  KernelClockSearch(const Problem& problem, const SearchSpace& space, Evaluator& evaluator, Journal& journal,
                    KernelClockOptions options);

  /// Measures a configuration at clocks of its own choice, whatever clock it has; each measurement goes to the journal
  /// (tiers `timing` and `clock`), those of energy also to the result, where they compete. Clocks at which the
  /// configuration is not valid, fails, or is held back by the power limit are left out. Power is measured at six
  /// clocks at most: three around a first guess, and three to verify what these predict.
  /// @return nothing where it was interrupted. @throws Error as Evaluator::next() and Journal::append().
  std::optional<KernelClock> find(const std::vector<Value>& configuration, TuneResult& result);

 private:
  struct Interrupted {};

  [[nodiscard]] std::vector<double> clocks_of(const std::vector<Value>& configuration) const;
  [[nodiscard]] std::vector<Value> at_clock(std::vector<Value> configuration, double clock) const;
  Evaluation measure(const std::vector<Value>& configuration, double clock, const char* tier);
  KernelTimeModel time_model(const std::vector<Value>& configuration, const std::vector<double>& clocks,
                             KernelClock& found);
  void measure_power(const std::vector<Value>& configuration, double clock, KernelClock& found, TuneResult& result);
  [[nodiscard]] std::vector<double> clocks_for(const std::vector<Value>& configuration,
                                               const std::vector<double>& clocks, const KernelClockModel& model,
                                               const TuneResult& result) const;
  [[nodiscard]] std::optional<Evaluation> best_measured(const TuneResult& result) const;
  void search(const std::vector<Value>& configuration, KernelClock& found, TuneResult& result);

  const Problem& problem_;
  const SearchSpace& space_;
  Evaluator& evaluator_;
  Journal& journal_;
  KernelClockOptions options_;
  const MetricSet metrics_;
  std::size_t axis_ = 0;                     ///< of the SM clock among the parameters
  std::map<std::string, Evaluation> known_;  ///< of the journal, by tier and configuration
  // Of the configuration under way:
  std::vector<double> measured_;         ///< requested clocks at which power was measured, Hz
  std::vector<ClockPower> powers_;       ///< what was measured there
  std::vector<Evaluation> evaluations_;  ///< to which these belong
};

/// Up to `count` configurations to find the own clocks of: the best by the objective among those that count, each once
/// whatever its SM clock.
std::vector<std::vector<Value>> clock_candidates(const Problem& problem, const TuneResult& result,
                                                 const Objective& objective, const ConstraintSet& constraints,
                                                 std::size_t count);

}  // namespace wattune
