#include "method/stage.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "result/constraint.hpp"
#include "settings/device_settings.hpp"
#include "store/formats/results.hpp"

namespace wattune {

bool History::add(const Point& point, const Evaluation& evaluation) {
  if (!numbers_.try_emplace(point, entries_.size()).second) return false;
  entries_.push_back({point, evaluation});
  seconds_ += tuning_seconds(evaluation).value_or(0);
  return true;
}

const Evaluation* History::find(const Point& point) const {
  const auto found = numbers_.find(point);
  return found == numbers_.end() ? nullptr : &entries_[found->second].evaluation;
}

std::optional<Point> ListStage::ask(const History& history) {
  while (next_ < points_.size() && history.find(points_[next_]) != nullptr) ++next_;
  if (next_ == points_.size()) return std::nullopt;
  return points_[next_++];
}

SearchStage::SearchStage(Subspace subspace, const std::string& strategy, std::uint64_t seed, const StrategySetup& setup)
    : subspace_(std::make_unique<Subspace>(std::move(subspace))),
      strategy_(make_strategy(strategy, subspace_->space(), seed, setup)) {}

std::optional<Point> SearchStage::ask(const History& history) {
  const auto& entries = history.entries();
  for (; seen_ < entries.size(); ++seen_) {
    if (const auto point = subspace_->from_whole(entries[seen_].point))
      strategy_->tell(*point, entries[seen_].evaluation);
  }
  const auto points = strategy_->ask(1);
  if (points.empty()) return std::nullopt;
  return subspace_->to_whole(points.front());
}

TopSearch::TopSearch(const MethodInputs& inputs) : inputs_(inputs) {
  if (inputs.axes.main()) values_ = inputs.axes.values(*inputs.axes.main()).size();
  choose_variants();
  fails_ = values_;
}

void TopSearch::choose_variants() {
  constexpr std::size_t variants_tried = 5;
  for (; values_ > 0; --values_) {
    const auto maximum = Subspace::at_settings(inputs_.space, inputs_.axes, {settings_at(values_ - 1)});
    for (const Count index : maximum.space().latin_hypercube_sample(variants_tried, inputs_.seed)) {
      variants_.push_back(maximum.to_whole(maximum.space().point(index)));
    }
    if (!variants_.empty()) return;
  }
  throw UsageError(fmt::format("no configuration is valid {}, where the method begins, nor below",
                               inputs_.axes.text(inputs_.axes.maximum())));
}

std::size_t TopSearch::rank() const {
  if (fails_ == values_) return values_ - 1;  // first of all the greatest
  return works_ ? (*works_ + fails_) / 2 : (values_ - 1) / 2;
}

SettingPoint TopSearch::settings_at(std::size_t rank) const {
  SettingPoint settings = inputs_.axes.maximum();
  if (const auto main = inputs_.axes.main()) settings[*main] = inputs_.axes.ascending(*main)[rank];
  return settings;
}

std::optional<Point> TopSearch::next(const History& history) {
  while (values_ > 1 && variant_ < variants_.size() && (!works_ || *works_ + 1 < fails_)) {
    Point point = inputs_.axes.with(variants_[variant_], settings_at(rank()));
    const bool is_valid = inputs_.space.contains(point);
    const Evaluation* known = history.find(point);
    if (is_valid && known == nullptr) return point;
    learn(is_valid ? reach_of(*known) : Reach::failed);
  }
  return std::nullopt;
}

Reach TopSearch::reach_of(const Evaluation& evaluation) const {
  const Reach shown = reach_shown_by(evaluation);
  const bool is_clock = inputs_.axes.main() == inputs_.axes.axis_named(parameter_of(Setting::sm_clock));
  const bool is_first = fails_ == values_;
  // A power limit works where it caps; and what failed for a clock too high is not capped there at a lower one.
  return shown == Reach::unknown && !(is_clock && is_first) ? Reach::reached : shown;
}

void TopSearch::learn(Reach reach) {
  const bool is_first = fails_ == values_;
  if (reach == Reach::reached) {
    works_ = rank();
  } else if (reach == Reach::failed && (works_ || is_first)) {
    fails_ = rank();
  } else {
    // It cannot tell, or fails in the middle, too, and the fault is its own: another one is to.
    ++variant_;
    fails_ = values_;
  }
}

SettingPoint TopSearch::top() const {
  return settings_at(works_.value_or(values_ - 1));
}

StagedMethod::StagedMethod(MethodInputs inputs, bool from_top) : inputs_(std::move(inputs)), record_(inputs_.space) {
  if (from_top) top_search_.emplace(inputs_);
}

std::vector<Point> StagedMethod::ask(std::size_t n) {
  std::vector<Point> points;
  while (points.size() < n && !is_ended_) {
    if (stage_ && stage_is_over()) stage_.reset();
    if (!stage_) {
      if (awaited_ > 0) break;
      const auto needed = top_search_ ? top_search_->next(history_) : std::nullopt;
      stage_ = needed ? std::make_shared<ListStage>(std::vector<Point>{*needed}) : next_stage();
      is_ended_ = !stage_;
      continue;
    }
    auto point = stage_->ask(history_);
    if (!point) {
      if (awaited_ > 0) break;
      stage_.reset();
    } else if (record_.propose(*point)) {
      ++awaited_;
      points.push_back(std::move(*point));
    }
  }
  return points;
}

void StagedMethod::tell(const Point& point, const Evaluation& evaluation) {
  if (record_.is_awaited(point)) --awaited_;
  record_.tell(point, 0);
  history_.add(point, evaluation);
}

std::optional<double> StagedMethod::left() const {
  std::optional<double> left;
  const auto used = static_cast<double>(record_.proposed());
  if (inputs_.setup.evaluations) left = static_cast<double>(*inputs_.setup.evaluations) - used;
  const auto told = static_cast<double>(history_.entries().size());
  if (inputs_.setup.seconds && history_.seconds() > 0) {
    const double by_time = (*inputs_.setup.seconds - history_.seconds()) / (history_.seconds() / told) - (used - told);
    left = left ? std::min(*left, by_time) : by_time;
  }
  return left;
}

std::shared_ptr<Stage> StagedMethod::search(Subspace subspace, const Objective& objective) const {
  return search(std::move(subspace), objective, inputs_.setup.options);
}

std::shared_ptr<Stage> StagedMethod::search(Subspace subspace, const Objective& objective,
                                            StrategyOptions options) const {
  StrategySetup setup;
  setup.objectives = {objective};
  setup.kinds = inputs_.setup.kinds;
  setup.options = std::move(options);
  return std::make_shared<SearchStage>(std::move(subspace), inputs_.setup.strategy, inputs_.seed, setup);
}

std::shared_ptr<Stage> StagedMethod::search_at(const SettingPoint& settings, const Objective& objective) const {
  Subspace subspace = Subspace::at_settings(inputs_.space, inputs_.axes, {settings});
  if (subspace.space().size() == 0) {
    throw UsageError(fmt::format("no configuration is valid {}, where the method begins", inputs_.axes.text(settings)));
  }
  return search(std::move(subspace), objective);
}

std::optional<Point> StagedMethod::best_at(const SettingPoint& settings, const Objective& objective) const {
  const History::Entry* best = nullptr;
  const auto rank = [&](const Evaluation& told) {
    return std::pair(ConstraintSet::is_penalised(told, objective), cost_of(told, objective));
  };
  for (const auto& entry : history_.entries()) {
    if (inputs_.axes.of(entry.point) != settings || !std::isfinite(cost_of(entry.evaluation, objective))) continue;
    if (best == nullptr || rank(entry.evaluation) < rank(best->evaluation)) best = &entry;
  }
  return best == nullptr ? std::nullopt : std::optional(best->point);
}

}  // namespace wattune
