#include "method/answer.hpp"

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

std::size_t MethodAnswer::add(const Evaluation& evaluation) {
  Row row{{}, {}, cost_of(evaluation, speed_), cost_of(evaluation, efficiency_)};
  if (method_.is_two_step) {
    std::vector<Value> variant;
    std::vector<Value> settings;
    for (std::size_t i = 0; i < evaluation.configuration.size(); ++i) {
      (is_setting_[i] ? settings : variant).push_back(evaluation.configuration[i]);
    }
    append_key(row.variant, variant);
    append_key(row.settings, settings);
  }
  rows_.push_back(std::move(row));
  return rows_.size() - 1;
}

std::optional<std::size_t> MethodAnswer::best() const {
  const auto least = [&](auto cost, auto among) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (std::isfinite(cost(rows_[i])) && among(rows_[i]) && (!best || cost(rows_[i]) < cost(rows_[*best]))) best = i;
    }
    return best;
  };
  const auto speed = [](const Row& row) { return row.speed; };
  const auto efficiency = [](const Row& row) { return row.efficiency; };
  const auto all = [](const Row&) { return true; };
  if (method_.for_time) return least(speed, all);
  if (!method_.is_two_step) return least(efficiency, all);
  const auto where_it_began = [&](const Row& row) { return row.settings == rows_.front().settings; };
  const auto first = method_.first_for_time ? least(speed, where_it_began) : least(efficiency, where_it_began);
  if (!first) return std::nullopt;
  const auto best = least(efficiency, [&](const Row& row) { return row.variant == rows_[*first].variant; });
  return best ? best : first;
}

}  // namespace wattune
