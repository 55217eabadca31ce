#include "method/answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "method/reach.hpp"
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

bool MethodAnswer::is_reached(const std::string& settings, std::size_t among) const {
  auto known = constraints_.none_yet();
  return std::any_of(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(among), [&](const Row& row) {
    constraints_.update(known, *row.searched);
    return row.settings == settings &&
           reach_shown_by(constraints_.penalised(*row.searched, known, {&speed_, 1})) == Reach::reached;
  });
}

/// Where the first row does not show that its settings are reached, others may precede the first step, at other
/// settings than its own. It is then known by what follows: each of its evaluations is of another variant, and all of
/// the second step are of one.
std::optional<std::string> MethodAnswer::chosen_variant() const {
  if (rows_.empty()) return std::nullopt;
  const std::string& front = rows_.front().settings;
  if (method_.at_base_clock || is_reached(front, 1)) return best_variant_at(front);
  const std::string& last = rows_.back().variant;
  std::size_t begin = rows_.size() - 1;
  while (begin > 0 && rows_[begin - 1].variant == last) --begin;
  const bool works = std::any_of(rows_.begin() + static_cast<std::ptrdiff_t>(begin), rows_.end(),
                                 [](const Row& row) { return row.searched->ok(); });
  if (works && (begin == 0 || begin + 1 < rows_.size())) return last;
  return best_variant_at(begin == 0 || is_reached(front, rows_.size()) ? front : rows_[begin - 1].settings);
}

/// By what the method was told, which is worse where a condition was missed by the best values until then.
std::optional<std::string> MethodAnswer::best_variant_at(const std::string& settings) const {
  const Objective& first = method_.first_for_time ? speed_ : efficiency_;
  auto known = constraints_.none_yet();
  const Row* chosen = nullptr;
  std::pair<bool, double> least;
  for (const Row& row : rows_) {
    constraints_.update(known, *row.searched);
    if (row.settings != settings) continue;
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
  if (method_.is_two_step && !chosen_variant()) return false;
  return std::ranges::any_of(rows_in_question(), [&](const Row* row) { return std::isfinite(final_cost(*row)); });
}

std::vector<const Evaluation*> MethodAnswer::in_question() const {
  std::vector<const Evaluation*> result;
  for (const Row* row : rows_in_question()) result.push_back(row->evaluation);
  return result;
}

}  // namespace wattune
