#include "method/answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strategy/record.hpp"

namespace wattune {

MethodAnswer::MethodAnswer(const std::string& method, const std::vector<std::string>& parameter_names,
                           const MethodSetup& setup, ConstraintSet constraints)
    : method_(method_named(method)),
      speed_(setup.speed),
      efficiency_(setup.efficiency),
      constraints_(std::move(constraints)) {
  for (std::size_t i = 0; i < parameter_names.size(); ++i) {
    is_setting_.push_back(setup.kinds.empty() ? parameter_names[i].starts_with("nvml_")
                                              : setup.kinds[i] == ParameterKind::device_setting);
  }
}

void MethodAnswer::add(const Evaluation& evaluation) {
  Row row{&evaluation, &evaluation, {}, {}, cost_of(evaluation, speed_), cost_of(evaluation, efficiency_)};
  std::vector<Value> variant;
  std::vector<Value> settings;
  for (std::size_t i = 0; i < evaluation.configuration.size(); ++i) {
    (is_setting_[i] ? settings : variant).push_back(evaluation.configuration[i]);
  }
  append_key(row.variant, variant);
  append_key(row.settings, settings);
  if (evaluation.tier == "final") {
    const auto same = std::ranges::find_if(
        rows_, [&](const Row& each) { return each.variant == row.variant && each.settings == row.settings; });
    if (same != rows_.end()) {
      row.searched = same->searched;
      if (evaluation.ok()) *same = std::move(row);
      return;
    }
  }
  rows_.push_back(std::move(row));
}

ConstraintSet::Bests MethodAnswer::bests() const {
  ConstraintSet::Bests bests = constraints_.none_yet();
  for (const Row& row : rows_) constraints_.update(bests, *row.evaluation);
  return bests;
}

/// As the method chose it: by what it was told, which is worse where a condition was missed by the best values until
/// then.
std::optional<std::string> MethodAnswer::chosen_variant() const {
  const Objective& first = method_.first_for_time ? speed_ : efficiency_;
  auto known = constraints_.none_yet();
  const Row* chosen = nullptr;
  std::pair<bool, double> least;
  for (const Row& row : rows_) {
    constraints_.update(known, *row.searched);
    if (row.settings != rows_.front().settings) continue;
    const Evaluation told = constraints_.penalised(*row.searched, known, {&first, 1});
    const std::pair rank(ConstraintSet::is_penalised(told, first), cost_of(told, first));
    if (!std::isfinite(rank.second) || (chosen != nullptr && !(rank < least))) continue;
    chosen = &row;
    least = rank;
  }
  return chosen == nullptr ? std::nullopt : std::optional(chosen->variant);
}

std::vector<const MethodAnswer::Row*> MethodAnswer::rows_in_question() const {
  const auto variant = method_.is_two_step ? chosen_variant() : std::nullopt;
  std::vector<const Row*> result;
  for (const Row& row : rows_) {
    if (!variant || row.variant == *variant) result.push_back(&row);
  }
  return result;
}

const Evaluation* MethodAnswer::best() const {
  if (method_.is_two_step && !chosen_variant()) return nullptr;
  const auto known = bests();
  const Row* best = nullptr;
  for (const Row* row : rows_in_question()) {
    if (!std::isfinite(final_cost(*row)) || constraints_.violation(*row->evaluation, known) > 0) continue;
    if (best == nullptr || final_cost(*row) < final_cost(*best)) best = row;
  }
  return best == nullptr ? nullptr : best->evaluation;
}

bool MethodAnswer::any_succeeded() const {
  return std::ranges::any_of(rows_in_question(), [&](const Row* row) { return std::isfinite(final_cost(*row)); });
}

std::vector<const Evaluation*> MethodAnswer::in_question() const {
  std::vector<const Evaluation*> result;
  for (const Row* row : rows_in_question()) result.push_back(row->evaluation);
  return result;
}

}  // namespace wattune
