#include "method/two_clock.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "method/clock_parabola.hpp"

namespace wattune {

namespace {

constexpr std::size_t probed_variants = 10;
constexpr std::size_t fewest_probed = 4;
/// Of the best at each clock, so many are carried to other clocks.
constexpr std::size_t carried = 2;
/// After so many evaluations the best are carried for the first time, then whenever these have grown by `growth`.
constexpr double first_carry = 50;
constexpr double growth = 1.5;
/// Strategies that begin with a sample begin with one of this size: the probed variants are known already.
constexpr const char* sample_option = "initial";
constexpr const char* sample_size = "10";
/// Kept for the last time that the best are carried, as a share of the budget, within limits.
constexpr double last_carry_share = 0.08;
constexpr double least_for_last_carry = 6;
constexpr double most_for_last_carry = 30;

MethodInputs with_small_sample(MethodInputs inputs) {
  for (const auto& strategy : strategy_descriptions()) {
    if (strategy.name != inputs.setup.strategy) continue;
    const bool has_sample = std::ranges::find(strategy.options, sample_option, &OptionDescription::name) != strategy.options.end();
    if (has_sample) inputs.setup.options.try_emplace(sample_option, sample_size);
  }
  return inputs;
}

class TwoClock : public StagedMethod {
 public:
  explicit TwoClock(MethodInputs inputs) : StagedMethod(with_small_sample(std::move(inputs)), true), axes_(inputs_.axes) {}

 private:
  enum class Step { begin, probe, clocks, search, carry };

  /// A few variants at the greatest clock.
  [[nodiscard]] std::shared_ptr<Stage> probe() const {
    const auto budget = left();
    const std::size_t count =
        budget ? std::clamp(static_cast<std::size_t>(std::max(0.0, *budget) / 8), fewest_probed, probed_variants)
               : probed_variants;
    const auto maximum = Subspace::at_settings(inputs_.space, axes_, {top()});
    std::vector<Point> points;
    for (const Count index : maximum.space().latin_hypercube_sample(count, inputs_.seed)) {
      points.push_back(maximum.to_whole(maximum.space().point(index)));
    }
    return std::make_shared<ListStage>(std::move(points));
  }

  std::shared_ptr<Stage> next_stage() override {
    switch (step_) {
      case Step::begin: step_ = Step::probe; return probe();
      case Step::probe:
        step_ = Step::clocks;
        if (const auto stage = more_clocks()) return stage;
        [[fallthrough]];
      case Step::clocks:
        clocks_ = {top(), predicted()};
        return begin_search();
      case Step::search:
      case Step::carry:
        if (auto stage = carry()) {
          step_ = Step::carry;
          return stage;
        }
        return next_search();
    }
    return nullptr;
  }

  [[nodiscard]] bool stage_is_over() const override { return step_ == Step::search && carry_is_due(); }

  [[nodiscard]] bool carry_is_due() const {
    if (const auto rest = left()) {
      const double budget = *rest + static_cast<double>(proposed());
      const double reserve = std::clamp(last_carry_share * budget, least_for_last_carry, most_for_last_carry);
      if (!last_carried_ && *rest <= reserve) return true;
    }
    return static_cast<double>(history().entries().size()) >= next_carry_;
  }

  /// The best probed variant at the lowest clock and two between.
  std::shared_ptr<Stage> more_clocks() {
    const auto best = best_at(top(), inputs_.setup.efficiency);
    if (!best) return nullptr;
    const auto& ascending = axes_.ascending(*axes_.main());
    std::vector<Point> points;
    for (const std::size_t third : {0U, 1U, 2U}) {
      const std::size_t rank = third * (ascending.size() - 1) / 3;
      Point point = *best;
      point[axes_.places()[*axes_.main()]] = ascending[rank];
      if (inputs_.space.contains(point)) points.push_back(std::move(point));
    }
    variant_ = *best;
    return std::make_shared<ListStage>(std::move(points));
  }

  /// The settings that the probed clocks promise most of.
  [[nodiscard]] SettingPoint predicted() const {
    if (!variant_) return axes_.at(axes_.values(*axes_.main())[axes_.ascending(*axes_.main()).front()]);
    std::vector<std::pair<double, double>> points;
    for (const auto& [point, evaluation] : history().entries()) {
      if (axes_.with(point, axes_.of(*variant_)) != *variant_) continue;
      const double cost = cost_of(evaluation, inputs_.setup.efficiency);
      if (!std::isfinite(cost) || cost == 0) continue;
      points.emplace_back(main_value(point), cost > 0 ? cost : -1 / cost);
    }
    return points.empty() ? top() : axes_.at(clock_of_least_cost(points));
  }

  std::shared_ptr<Stage> begin_search() {
    step_ = Step::search;
    std::vector<SettingPoint> settings(clocks_.begin(), clocks_.end());
    search_ = search(Subspace::at_settings(inputs_.space, axes_, settings), inputs_.setup.efficiency);
    return search_;
  }

  /// After the best were carried: another clock than those searched may be the best now.
  std::shared_ptr<Stage> next_search() {
    const bool was_last = left() && last_carry_began_;
    if (was_last) last_carried_ = true;
    const auto told = static_cast<double>(history().entries().size());
    if (told >= next_carry_) next_carry_ = told * growth;
    const auto best = best_entry();
    if (best && clocks_.insert(axes_.of(best->point)).second) return begin_search();
    if (is_exhausted_at_ == history().entries().size()) return nullptr;
    is_exhausted_at_ = history().entries().size();
    step_ = Step::search;
    return search_;
  }

  [[nodiscard]] const History::Entry* best_entry() const {
    const History::Entry* best = nullptr;
    for (const auto& entry : history().entries()) {
      const double cost = cost_of(entry.evaluation, inputs_.setup.efficiency);
      if (std::isfinite(cost) && (best == nullptr || cost < cost_of(best->evaluation, inputs_.setup.efficiency))) best = &entry;
    }
    return best;
  }

  /// The best variants at the clocks that are searched, each beside its best clock so far: one step to either side, until
  /// it is better than both.
  std::shared_ptr<Stage> carry() {
    last_carry_began_ = left().has_value() && carry_is_due();
    std::vector<Point> points;
    std::set<Point> seen;
    for (const Point& variant : best_variants()) {
      for (Point& point : around_best(variant)) {
        if (history().find(point) == nullptr && seen.insert(point).second) points.push_back(std::move(point));
      }
    }
    if (points.empty()) return nullptr;
    return std::make_shared<ListStage>(std::move(points));
  }

  /// The union of the best at each clock.
  [[nodiscard]] std::vector<Point> best_variants() const {
    std::set<Point> variants;
    for (const auto& settings : clocks_) {
      std::vector<std::pair<double, Point>> ranked;
      for (const auto& entry : history().entries()) {
        const double cost = cost_of(entry.evaluation, inputs_.setup.efficiency);
        if (std::isfinite(cost) && axes_.of(entry.point) == settings) ranked.emplace_back(cost, entry.point);
      }
      std::ranges::sort(ranked);
      for (std::size_t i = 0; i < std::min(carried, ranked.size()); ++i) {
        variants.insert(axes_.with(ranked[i].second, axes_.maximum()));
      }
    }
    return {variants.begin(), variants.end()};
  }

  /// The neighbours along each setting of the best point of a variant.
  [[nodiscard]] std::vector<Point> around_best(const Point& variant) const {
    const History::Entry* best = nullptr;
    for (const auto& entry : history().entries()) {
      if (axes_.with(entry.point, axes_.of(variant)) != variant) continue;
      const double cost = cost_of(entry.evaluation, inputs_.setup.efficiency);
      if (std::isfinite(cost) && (best == nullptr || cost < cost_of(best->evaluation, inputs_.setup.efficiency))) best = &entry;
    }
    std::vector<Point> points;
    if (best == nullptr) return points;
    for (std::size_t axis = 0; axis < axes_.places().size(); ++axis) {
      const auto& ascending = axes_.ascending(axis);
      const std::size_t place = axes_.places()[axis];
      const auto at = static_cast<std::size_t>(std::ranges::find(ascending, best->point[place]) - ascending.begin());
      for (const bool up : {false, true}) {
        if (up ? at + 1 >= ascending.size() : at == 0) continue;
        Point point = best->point;
        point[place] = ascending[up ? at + 1 : at - 1];
        if (inputs_.space.contains(point)) points.push_back(std::move(point));
      }
    }
    return points;
  }

  [[nodiscard]] double main_value(const Point& point) const {
    return axes_.values(*axes_.main())[point[axes_.places()[*axes_.main()]]];
  }

  const SettingAxes& axes_;
  Step step_ = Step::begin;
  std::shared_ptr<Stage> search_;
  std::optional<Point> variant_;    ///< the one whose clocks were probed
  std::set<SettingPoint> clocks_;   ///< that configurations are searched at
  double next_carry_ = first_carry;
  bool last_carry_began_ = false;
  bool last_carried_ = false;
  std::optional<std::size_t> is_exhausted_at_;  ///< so many results were known when search and carrying had nothing new
};

}  // namespace

std::unique_ptr<Strategy> make_two_clock(MethodInputs inputs) { return std::make_unique<TwoClock>(std::move(inputs)); }

}  // namespace wattune
