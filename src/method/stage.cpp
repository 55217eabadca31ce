#include "method/stage.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
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
    if (const auto point = subspace_->from_whole(entries[seen_].point)) strategy_->tell(*point, entries[seen_].evaluation);
  }
  const auto points = strategy_->ask(1);
  if (points.empty()) return std::nullopt;
  return subspace_->to_whole(points.front());
}

StagedMethod::StagedMethod(MethodInputs inputs) : inputs_(std::move(inputs)), record_(inputs_.space) {}

std::vector<Point> StagedMethod::ask(std::size_t n) {
  std::vector<Point> points;
  while (points.size() < n && !is_ended_) {
    if (stage_ && stage_is_over()) stage_.reset();
    if (!stage_) {
      if (awaited_ > 0) break;
      stage_ = next_stage();
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
  StrategySetup setup;
  setup.objectives = {objective};
  setup.kinds = inputs_.setup.kinds;
  setup.options = inputs_.setup.options;
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
  for (const auto& entry : history_.entries()) {
    if (inputs_.axes.of(entry.point) != settings) continue;
    const double cost = cost_of(entry.evaluation, objective);
    if (std::isfinite(cost) && (best == nullptr || cost < cost_of(best->evaluation, objective))) best = &entry;
  }
  return best == nullptr ? std::nullopt : std::optional(best->point);
}

}  // namespace wattune
