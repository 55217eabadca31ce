#include "method/two_clock.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "method/clock_parabola.hpp"

namespace wattune {

namespace {

constexpr std::size_t probed_variants = 10;
constexpr std::size_t fewest_probed = 4;
/// Of the best at each clock, so many are carried to other clocks.
constexpr std::size_t carried = 2;
/// Of those at each clock that promise most of lower ones, so many more are carried there at a time.
constexpr std::size_t lowered = 2;
/// After so many evaluations the best are carried for the first time, then whenever these have grown by `growth`.
constexpr double first_carry = 50;
constexpr double growth = 1.5;
/// Strategies that begin with a sample begin with a small one, since the probed variants are known already; none to
/// speak of where clocks join those that are searched.
constexpr const char* sample_option = "initial";
constexpr const char* first_sample = "10";
constexpr const char* later_sample = "1";
/// Kept for the last time that the best are carried, as a share of the budget, within limits.
constexpr double last_carry_share = 0.08;
constexpr double least_for_last_carry = 6;
constexpr double most_for_last_carry = 30;

bool begins_with_sample(const std::string& strategy) {
  const auto& all = strategy_descriptions();
  const auto found = std::ranges::find(all, strategy, &StrategyDescription::name);
  return found != all.end() &&
         std::ranges::find(found->options, sample_option, &OptionDescription::name) != found->options.end();
}

class TwoClock : public StagedMethod {
 public:
  explicit TwoClock(MethodInputs inputs) : StagedMethod(std::move(inputs), true), axes_(inputs_.axes) {}

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
      case Step::begin:
        step_ = Step::probe;
        return probe();
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
    return (!last_carried_ && is_near_end()) || static_cast<double>(history().entries().size()) >= next_carry_;
  }

  /// No more is left than what is kept for the last time that the best are carried.
  [[nodiscard]] bool is_near_end() const {
    const auto rest = left();
    if (!rest) return false;
    const double budget = *rest + static_cast<double>(proposed());
    return *rest <= std::clamp(last_carry_share * budget, least_for_last_carry, most_for_last_carry);
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
      if (const double cost = positive_cost(evaluation); std::isfinite(cost))
        points.emplace_back(main_value(point), cost);
    }
    return points.empty() ? top() : axes_.at(clock_of_least_cost(points));
  }

  std::shared_ptr<Stage> begin_search() {
    step_ = Step::search;
    std::vector<SettingPoint> settings(clocks_.begin(), clocks_.end());
    StrategyOptions options = inputs_.setup.options;
    if (begins_with_sample(inputs_.setup.strategy))
      options.try_emplace(sample_option, search_ ? later_sample : first_sample);
    search_ = search(Subspace::at_settings(inputs_.space, axes_, settings), inputs_.setup.efficiency, options);
    return search_;
  }

  /// After the best were carried: another clock than those searched may be the best now.
  std::shared_ptr<Stage> next_search() {
    last_carried_ = last_carry_began_;
    const auto told = static_cast<double>(history().entries().size());
    if (told >= next_carry_) next_carry_ = told * growth;
    const auto best = best_entry();
    if (best && clocks_.insert(axes_.of(best->point)).second) return begin_search();
    if (is_exhausted_at_ == history().entries().size()) return nullptr;
    is_exhausted_at_ = history().entries().size();
    step_ = Step::search;
    return search_;
  }

  /// Positive also where more is better; infinite where there is none.
  [[nodiscard]] double positive_cost(const Evaluation& evaluation) const {
    const double cost = cost_of(evaluation, inputs_.setup.efficiency);
    if (cost == 0) return std::numeric_limits<double>::infinity();
    return cost > 0 ? cost : -1 / cost;
  }

  [[nodiscard]] const History::Entry* best_entry() const {
    return best_entry([](const Point&) { return true; });
  }
  [[nodiscard]] const History::Entry* best_entry_of(const Point& variant) const {
    return best_entry([&](const Point& point) { return axes_.with(point, axes_.of(variant)) == variant; });
  }
  [[nodiscard]] const History::Entry* best_entry(const std::function<bool(const Point&)>& counts) const {
    const History::Entry* best = nullptr;
    for (const auto& entry : history().entries()) {
      if (!counts(entry.point)) continue;
      const double cost = cost_of(entry.evaluation, inputs_.setup.efficiency);
      if (std::isfinite(cost) && (best == nullptr || cost < cost_of(best->evaluation, inputs_.setup.efficiency)))
        best = &entry;
    }
    return best;
  }

  /// The best variants at the clocks that are searched, each beside its best clock so far: one step to either side,
  /// until it is better than both; and some that promise much of lower clocks down from theirs, as long as that is
  /// better.
  std::shared_ptr<Stage> carry() {
    last_carry_began_ = last_carry_began_ || is_near_end();
    // Others than those that this carrying began with wait for the next one.
    if (step_ == Step::search) to_lower_ = variants_to_lower();
    std::vector<Point> points;
    std::set<Point> seen;
    const auto add = [&](Point point) {
      if (history().find(point) == nullptr && seen.insert(point).second) points.push_back(std::move(point));
    };
    for (const Point& variant : best_variants()) {
      for (Point& point : around_best(variant)) add(std::move(point));
    }
    for (const Point& variant : to_lower_) {
      if (auto point = below_best(variant)) add(std::move(*point));
    }
    if (points.empty()) return nullptr;
    return std::make_shared<ListStage>(std::move(points));
  }

  [[nodiscard]] std::set<Point> best_variants() const {
    return least_at_each_clock(
        carried, [&](const Evaluation& evaluation) { return cost_of(evaluation, inputs_.setup.efficiency); },
        [](const Point&) { return true; });
  }

  /// A kernel's energy is its charge times the voltage, and the device's constant power times its time: the lower the
  /// clock, the more time counts. So those that need little of both may be the best at clocks lower than the one at
  /// which most variants are.
  [[nodiscard]] std::set<Point> variants_to_lower() const {
    return least_at_each_clock(
        lowered,
        [&](const Evaluation& evaluation) {
          return positive_cost(evaluation) * cost_of(evaluation, inputs_.setup.speed);
        },
        [&](const Point& variant) {
          const auto below = below_best(variant);
          return below && history().find(*below) == nullptr;
        });
  }

  /// The union of the variants of least cost at each clock that is searched.
  [[nodiscard]] std::set<Point> least_at_each_clock(std::size_t count,
                                                    const std::function<double(const Evaluation&)>& cost_at,
                                                    const std::function<bool(const Point&)>& counts) const {
    std::set<Point> variants;
    for (const auto& settings : clocks_) {
      std::vector<std::pair<double, Point>> ranked;
      for (const auto& entry : history().entries()) {
        if (axes_.of(entry.point) != settings) continue;
        if (const double cost = cost_at(entry.evaluation); std::isfinite(cost)) ranked.emplace_back(cost, entry.point);
      }
      std::ranges::sort(ranked);
      std::size_t taken = 0;
      for (std::size_t i = 0; i < ranked.size() && taken < count; ++i) {
        const Point variant = axes_.with(ranked[i].second, axes_.maximum());
        if (!counts(variant)) continue;
        variants.insert(variant);
        ++taken;
      }
    }
    return variants;
  }

  /// The neighbours along each setting of the best point of a variant.
  [[nodiscard]] std::vector<Point> around_best(const Point& variant) const {
    std::vector<Point> points;
    const History::Entry* best = best_entry_of(variant);
    if (best == nullptr) return points;
    for (std::size_t axis = 0; axis < axes_.places().size(); ++axis) {
      const auto& ascending = axes_.ascending(axis);
      const std::size_t place = axes_.places()[axis];
      const std::size_t rank = rank_of(best->point, axis);
      for (const bool up : {false, true}) {
        if (up ? rank + 1 >= ascending.size() : rank == 0) continue;
        Point point = best->point;
        point[place] = ascending[up ? rank + 1 : rank - 1];
        if (inputs_.space.contains(point)) points.push_back(std::move(point));
      }
    }
    return points;
  }

  /// The best point of a variant at the next lower clock that is searched, where there is one: there it can be compared
  /// with others. Else at the clock below.
  [[nodiscard]] std::optional<Point> below_best(const Point& variant) const {
    const History::Entry* best = best_entry_of(variant);
    if (best == nullptr) return std::nullopt;
    const std::size_t axis = *axes_.main();
    const auto& ascending = axes_.ascending(axis);
    const std::size_t rank = rank_of(best->point, axis);
    if (rank == 0) return std::nullopt;
    std::size_t below = rank - 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const bool is_searched =
          std::ranges::any_of(clocks_, [&](const SettingPoint& each) { return each[axis] == ascending[i]; });
      if (is_searched) below = i;
    }
    Point point = best->point;
    point[axes_.places()[axis]] = ascending[below];
    return inputs_.space.contains(point) ? std::optional(point) : std::nullopt;
  }

  /// The place of a point's setting among the values of its axis, from the least up.
  [[nodiscard]] std::size_t rank_of(const Point& point, std::size_t axis) const {
    const auto& ascending = axes_.ascending(axis);
    return static_cast<std::size_t>(std::ranges::find(ascending, point[axes_.places()[axis]]) - ascending.begin());
  }

  [[nodiscard]] double main_value(const Point& point) const {
    return axes_.values(*axes_.main())[point[axes_.places()[*axes_.main()]]];
  }

  const SettingAxes& axes_;
  Step step_ = Step::begin;
  std::shared_ptr<Stage> search_;
  std::optional<Point> variant_;   ///< the one whose clocks were probed
  std::set<SettingPoint> clocks_;  ///< that configurations are searched at
  std::set<Point> to_lower_;       ///< variants that are being carried to lower clocks
  double next_carry_ = first_carry;
  bool last_carry_began_ = false;
  bool last_carried_ = false;
  std::optional<std::size_t> is_exhausted_at_;  ///< so many results were known when search and carrying had nothing new
};

}  // namespace

std::unique_ptr<Strategy> make_two_clock(MethodInputs inputs) {
  return std::make_unique<TwoClock>(std::move(inputs));
}

}  // namespace wattune
