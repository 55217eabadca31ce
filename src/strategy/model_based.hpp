#pragma once
// The frame of strategies that choose by models: first a Latin-hypercube sample, then the open candidate that promises
// most.

#include "strategy/entry.hpp"
#include "strategy/failure_model.hpp"
#include "strategy/surrogate.hpp"

namespace wattune {

class ModelBased : public Strategy {
 public:
  std::vector<Point> ask(std::size_t n) final;
  void tell(const Point& point, const Evaluation& evaluation) final;

 protected:
  /// @param objectives those that are modelled; a configuration that lacks one of them counts as failed.
  ModelBased(const StrategyInputs& inputs, std::vector<Objective> objectives);

  /// Called when the models are up to date, before promise().
  virtual void prepare() = 0;
  /// Logarithm of what a candidate promises should it not fail.
  [[nodiscard]] virtual double promise(Eigen::Index candidate) const = 0;

  /// How much surer of itself a model is than it should be, where nothing better was found for long.
  [[nodiscard]] double stretch() const;

  Random random_;
  Record record_;                                       ///< costs of the first objective
  std::vector<Surrogate> models_;                       ///< one per objective
  std::vector<std::vector<Observation>> observations_;  ///< the same, without failures

 private:
  Point choose();
  void refresh_candidates();
  /// Whether it is time to look around the best configuration, as the model has led to nothing better for long.
  [[nodiscard]] bool wants_surroundings() const;
  [[nodiscard]] std::optional<Eigen::Index> best_candidate();
  /// @param centre not null: only of those that differ from it in few parameters
  [[nodiscard]] std::optional<Eigen::Index> best_candidate(const Point* centre) const;

  const SearchSpace& space_;
  std::vector<Objective> objectives_;
  Moves moves_;
  Geometry geometry_;
  Candidates candidates_;
  FailureModel failures_;
  std::size_t patience_;
  std::vector<Point> initial_;  ///< still to propose, the next one last
  std::vector<Point> awaited_;
  std::size_t stalled_ = 0;  ///< evaluations since the best was found
};

/// The options of the frame.
std::vector<OptionDescription> model_options();

}  // namespace wattune
