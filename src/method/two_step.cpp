#include "method/two_step.hpp"

#include <algorithm>
#include <utility>

namespace wattune {

namespace {

class OneStage : public StagedMethod {
 public:
  OneStage(MethodInputs inputs, const std::optional<SettingPoint>& settings, const Objective& objective)
      : StagedMethod(std::move(inputs)) {
    stage_ = settings ? search_at(*settings, objective) : search(Subspace::all_of(inputs_.space), objective);
  }

 private:
  std::shared_ptr<Stage> next_stage() override { return std::exchange(stage_, nullptr); }

  std::shared_ptr<Stage> stage_;
};

/// Of what is left of a budget when the second step begins, at most.
constexpr double most_of_budget = 1.0 / 3;
/// Times are not known as well as numbers: the second step is to begin in time all the same.
constexpr double caution_with_time = 1.5;

class TwoStep : public StagedMethod {
 public:
  TwoStep(MethodInputs inputs, SettingPoint settings, Objective objective)
      : StagedMethod(std::move(inputs)), settings_(std::move(settings)), objective_(std::move(objective)) {
    first_ = search_at(settings_, objective_);
  }

 private:
  std::shared_ptr<Stage> next_stage() override {
    if (step_ == Step::none) {
      step_ = Step::variants;
      return std::exchange(first_, nullptr);
    }
    if (step_ == Step::settings) return nullptr;
    step_ = Step::settings;
    const auto variant = best_at(settings_, objective_);
    if (!variant) return nullptr;
    return search(Subspace::of_variants(inputs_.space, inputs_.axes, {*variant}), inputs_.setup.efficiency);
  }

  [[nodiscard]] bool stage_is_over() const override {
    const auto rest = left();
    if (step_ != Step::variants || !rest) return false;
    const auto settings = static_cast<double>(inputs_.axes.combinations() - 1);
    const double used = static_cast<double>(proposed());
    const double reserve = std::min(settings, (used + *rest) * most_of_budget);
    return *rest <= reserve * (inputs_.setup.seconds ? caution_with_time : 1);
  }

  enum class Step { none, variants, settings };
  Step step_ = Step::none;
  SettingPoint settings_;
  Objective objective_;
  std::shared_ptr<Stage> first_;
};

}  // namespace

std::unique_ptr<Strategy> make_one_stage(MethodInputs inputs, const std::optional<SettingPoint>& settings,
                                         const Objective& objective) {
  return std::make_unique<OneStage>(std::move(inputs), settings, objective);
}

std::unique_ptr<Strategy> make_two_step(MethodInputs inputs, const SettingPoint& settings, const Objective& objective) {
  return std::make_unique<TwoStep>(std::move(inputs), settings, objective);
}

}  // namespace wattune
