#include "method/answer.hpp"

#include <algorithm>
#include <cmath>

#include "strategy/record.hpp"

namespace wattune {

MethodAnswer::MethodAnswer(const std::string& method, const std::vector<std::string>& parameter_names,
                           const MethodSetup& setup)
    : method_(method_named(method)), speed_(setup.speed), efficiency_(setup.efficiency) {
  for (std::size_t i = 0; i < parameter_names.size(); ++i) {
    is_setting_.push_back(setup.kinds.empty() ? parameter_names[i].starts_with("nvml_")
                                              : setup.kinds[i] == ParameterKind::device_setting);
  }
}

void MethodAnswer::add(const Evaluation& evaluation) {
  Row row{&evaluation, {}, {}, cost_of(evaluation, speed_), cost_of(evaluation, efficiency_)};
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
      if (evaluation.ok()) *same = std::move(row);
      return;
    }
  }
  rows_.push_back(std::move(row));
}

namespace {

/// Of the rows that count; null where none has a finite cost.
template <typename Row, typename Cost, typename Counts>
const Row* least(const std::vector<Row>& rows, Cost cost, Counts counts) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (std::isfinite(cost(row)) && counts(row) && (best == nullptr || cost(row) < cost(*best))) best = &row;
  }
  return best;
}

}  // namespace

std::optional<std::string> MethodAnswer::chosen_variant() const {
  const Row* chosen = least(
      rows_, [&](const Row& row) { return method_.first_for_time ? row.speed : row.efficiency; },
      [&](const Row& row) { return row.settings == rows_.front().settings; });
  return chosen == nullptr ? std::nullopt : std::optional(chosen->variant);
}

const Evaluation* MethodAnswer::best() const {
  const auto variant = method_.is_two_step ? chosen_variant() : std::nullopt;
  if (method_.is_two_step && !variant) return nullptr;
  const Row* best = least(
      rows_, [&](const Row& row) { return method_.for_time ? row.speed : row.efficiency; },
      [&](const Row& row) { return !variant || row.variant == *variant; });
  return best == nullptr ? nullptr : best->evaluation;
}

std::vector<const Evaluation*> MethodAnswer::in_question() const {
  const auto variant = method_.is_two_step ? chosen_variant() : std::nullopt;
  std::vector<const Evaluation*> result;
  for (const Row& row : rows_) {
    if (!variant || row.variant == *variant) result.push_back(row.evaluation);
  }
  return result;
}

}  // namespace wattune
