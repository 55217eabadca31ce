#pragma once
// The frame of strategies that advance in steps: a step needs the costs of a few points, learns them, and decides on
// the next. The frame deals with what all have in common: several proposals under way, points that are known already,
// steps that lead nowhere new, and the end of the space.

#include <deque>

#include "strategy/entry.hpp"
#include "strategy/moves.hpp"
#include "strategy/record.hpp"

namespace wattune {

class StepStrategy : public Strategy {
 public:
  std::vector<Point> ask(std::size_t n) final;
  void tell(const Point& point, const Evaluation& evaluation) final;

 protected:
  explicit StepStrategy(const StrategyInputs& inputs);

  /// The valid points whose costs the next step needs, at least one. Those that are known cost no evaluation.
  virtual std::vector<Point> next_step() = 0;
  /// The costs of the points of the step; infinite for those that failed.
  virtual void learn(const std::vector<Point>& points, const std::vector<double>& costs) = 0;
  /// Steps have led to nothing new for long: this configuration, new and drawn at random, is where to go on from.
  virtual void restart(const Point& point, double cost) = 0;
  /// A point that may be of use and can be evaluated while the step is awaited. It need not be new.
  virtual std::optional<Point> speculate() = 0;
  /// Everything that is told, for strategies that need more of it than the cost of the first objective.
  virtual void note(const Point& /*point*/, const Evaluation& /*evaluation*/) {}

  const SearchSpace& space_;
  Random random_;
  Record record_;
  Moves moves_;

 private:
  /// Starts steps until one needs an evaluation. @return false where there is nothing to propose now.
  bool begin_step();
  void finish_step();
  [[nodiscard]] bool step_is_known() const;

  Objective objective_;
  std::vector<Point> step_;  ///< empty: none begun
  std::deque<Point> to_propose_;
  bool is_restart_ = false;
  std::size_t idle_points_ = 0;
};

}  // namespace wattune
