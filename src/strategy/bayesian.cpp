#include "strategy/acquisition.hpp"
#include "strategy/model_based.hpp"

namespace wattune {

namespace {

/// Bayesian optimisation of one objective.
class Bayesian : public ModelBased {
 public:
  explicit Bayesian(const StrategyInputs& inputs)
      : ModelBased(inputs, {inputs.objectives.front()}),
        acquisition_(acquisition_from(inputs.options.word("acquisition"))) {}

 private:
  void prepare() override { best_ = models_.front().target(record_.best_cost()); }

  [[nodiscard]] double promise(Eigen::Index candidate) const override {
    const Surrogate& model = models_.front();
    return score(acquisition_, model.mean(candidate), stretch() * model.deviation(candidate), best_);
  }

  Acquisition acquisition_;
  double best_ = 0;
};

}  // namespace

StrategyEntry bayesian_entry() {
  auto options = model_options();
  options.push_back(word_option("acquisition", acquisition_names(), "what promising means"));
  return {{"bayesian", "what promises most by a Gaussian process and a model of failures", std::move(options)},
          &make_of<Bayesian>};
}

}  // namespace wattune
