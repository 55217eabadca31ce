#include "method/two_step.hpp"

#include <algorithm>
#include <utility>

namespace wattune {

namespace {

class OneStage : public StagedMethod {
 public:
  OneStage(MethodInputs inputs, bool at_top, Objective objective)
      : StagedMethod(std::move(inputs), at_top), at_top_(at_top), objective_(std::move(objective)) {
    if (!at_top) everywhere_ = search(Subspace::all_of(inputs_.space), objective_);
  }

 private:
  std::shared_ptr<Stage> next_stage() override {
    if (std::exchange(is_begun_, true)) return nullptr;
    return at_top_ ? search_at(top(), objective_) : everywhere_;
  }

  bool at_top_;
  Objective objective_;
  std::shared_ptr<Stage> everywhere_;
  bool is_begun_ = false;
};

/// Of what is left of a budget when the second step begins, at most.
constexpr double most_of_budget = 1.0 / 3;
/// Times are not known as well as numbers: the second step is to begin in time all the same.
constexpr double caution_with_time = 1.5;

class TwoStep : public StagedMethod {
 public:
  TwoStep(MethodInputs inputs, std::optional<SettingPoint> settings, Objective objective)
      : StagedMethod(std::move(inputs), !settings), settings_(std::move(settings)), objective_(std::move(objective)) {
    if (settings_) first_ = search_at(*settings_, objective_);
  }

 private:
  std::shared_ptr<Stage> next_stage() override {
    if (step_ == Step::none) {
      step_ = Step::variants;
      if (settings_) return std::exchange(first_, nullptr);
      settings_ = top();
      return search_at(*settings_, objective_);
    }
    if (step_ == Step::settings) return nullptr;
    step_ = Step::settings;
    const auto variant = best_at(*settings_, objective_);
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
  std::optional<SettingPoint> settings_;
  Objective objective_;
  std::shared_ptr<Stage> first_;  ///< at settings that were given
};

}  // namespace

std::unique_ptr<Strategy> make_everywhere(MethodInputs inputs, const Objective& objective) {
  return std::make_unique<OneStage>(std::move(inputs), false, objective);
}

std::unique_ptr<Strategy> make_at_top(MethodInputs inputs, const Objective& objective) {
  return std::make_unique<OneStage>(std::move(inputs), true, objective);
}

std::unique_ptr<Strategy> make_two_step(MethodInputs inputs, const std::optional<SettingPoint>& settings,
                                        const Objective& objective) {
  return std::make_unique<TwoStep>(std::move(inputs), settings, objective);
}

}  // namespace wattune
