#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "strategy/draws.hpp"
#include "strategy/front.hpp"
#include "strategy/model_based.hpp"

namespace wattune {

namespace {

/// The probability of a standard normal below z, from a table: it is needed for every candidate, sample and objective.
class NormalTable {
 public:
  NormalTable() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = 0.5 * std::erfc(-(static_cast<double>(i) / steps - bound) / std::numbers::sqrt2);
    }
  }
  [[nodiscard]] double operator()(double z) const {
    const double place = (std::clamp(z, -bound, bound) + bound) * steps;
    return values_[static_cast<std::size_t>(place + 0.5)];
  }

 private:
  static constexpr double bound = 6;
  static constexpr double steps = 100;
  std::array<double, 1201> values_{};
};

/// The candidate that is expected to add most to the volume that the Pareto front dominates. The expectation is the
/// integral, over what is not dominated yet, of the probability that the candidate dominates it; random points stand
/// for the integral, which works for any number of objectives.
class ExpectedHypervolume : public ModelBased {
 public:
  explicit ExpectedHypervolume(const StrategyInputs& inputs)
      : ModelBased(inputs, inputs.objectives), samples_wanted_(inputs.options.whole("samples")) {}

 private:
  void prepare() override {
    const std::size_t n = observations_.front().size();
    std::vector<std::vector<double>> targets(n);
    for (std::size_t k = 0; k < models_.size(); ++k) {
      for (std::size_t i = 0; i < n; ++i) targets[i].push_back(models_[k].target(observations_[k][i].cost));
    }
    std::vector<std::vector<double>> front;
    for (const std::size_t i : non_dominated(targets)) front.push_back(targets[i]);
    draw_samples(front);
  }

  /// Points that the front does not dominate, in the box from somewhat better than its best to somewhat worse than its
  /// worst.
  void draw_samples(const std::vector<std::vector<double>>& front) {
    constexpr double margin = 0.2;
    constexpr double least_extent = 0.5;
    std::vector<double> low(models_.size());
    std::vector<double> extent(models_.size());
    for (std::size_t k = 0; k < models_.size(); ++k) {
      const auto by_objective = [&](const auto& a, const auto& b) { return a[k] < b[k]; };
      const double best = (*std::ranges::min_element(front, by_objective))[k];
      const double worst = (*std::ranges::max_element(front, by_objective))[k];
      const double beyond = std::max(least_extent, margin * (worst - best));
      low[k] = best - beyond;
      extent[k] = worst - best + 2 * beyond;
    }
    samples_.clear();
    const std::size_t tries = 50 * samples_wanted_;
    for (std::size_t i = 0; i < tries && samples_.size() < samples_wanted_; ++i) {
      std::vector<double> sample(models_.size());
      for (std::size_t k = 0; k < sample.size(); ++k) sample[k] = low[k] + draw_unit(random_) * extent[k];
      const auto covers = [&](const auto& member) { return dominates(member, sample); };
      if (std::ranges::none_of(front, covers)) samples_.push_back(std::move(sample));
    }
  }

  [[nodiscard]] double promise(Eigen::Index candidate) const override {
    static const NormalTable below;
    double sum = 0;
    for (const auto& sample : samples_) {
      double probability = 1;
      for (std::size_t k = 0; k < sample.size() && probability > 0; ++k) {
        probability *= below((sample[k] - models_[k].mean(candidate)) / (stretch() * models_[k].deviation(candidate)));
      }
      sum += probability;
    }
    constexpr double least = 1e-300;
    return std::log(std::max(least, sum));
  }

  std::size_t samples_wanted_;
  std::vector<std::vector<double>> samples_;
};

}  // namespace

StrategyEntry expected_hypervolume_entry() {
  auto options = model_options();
  options.push_back(whole_option("samples", "100", "random points that measure volume", 10, 10000));
  return {{"expected_hypervolume", "what promises most volume under the Pareto front, by Gaussian processes",
           std::move(options), true},
          &make_of<ExpectedHypervolume>};
}

}  // namespace wattune
