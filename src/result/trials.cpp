#include "result/trials.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

namespace wattune {

namespace {

void add_flags(Quantity& to, const Quantity& from) {
  for (const auto& flag : from.flags) {
    if (std::find(to.flags.begin(), to.flags.end(), flag) == to.flags.end()) to.flags.push_back(flag);
  }
}

/// Nothing where a trial lacks the quantity.
std::optional<Quantity> mean_quantity(std::span<const Evaluation> trials, const std::string& name) {
  const double n = static_cast<double>(trials.size());
  Quantity mean{0, "", 0, static_cast<std::int64_t>(trials.size()), {}};
  double variance_of_trials = 0;
  for (const auto& trial : trials) {
    const auto found = trial.quantities.find(name);
    if (found == trial.quantities.end()) return std::nullopt;
    mean.value += found->second.value / n;
    mean.unit = found->second.unit;
    variance_of_trials += found->second.stderr_value * found->second.stderr_value;
    add_flags(mean, found->second);
  }
  double squares = 0;
  for (const auto& trial : trials) squares += std::pow(trial.quantities.at(name).value - mean.value, 2);
  const double of_spread = n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  const double of_trials = std::sqrt(variance_of_trials) / n;
  // A trial may not know its own error.
  mean.stderr_value = std::isfinite(of_trials) ? std::max(of_spread, of_trials) : of_spread;
  return mean;
}

bool is_final_trial(const Evaluation& evaluation) {
  return evaluation.tier == "final" && evaluation.ok();
}

std::string key_of(const Evaluation& evaluation) {
  std::string key = evaluation.board + ' ';
  append_key(key, evaluation.configuration);
  return key;
}

}  // namespace

Evaluation mean_of_trials(std::span<const Evaluation> trials) {
  Evaluation result = trials.back();
  result.quantities.clear();
  for (const auto& [name, quantity] : trials.front().quantities) {
    if (auto mean = mean_quantity(trials, name)) result.quantities.emplace(name, std::move(*mean));
  }
  return result;
}

std::size_t replace_final_trials(std::vector<Evaluation>& evaluations) {
  std::unordered_map<std::string, std::vector<Evaluation>> trials;
  for (const auto& evaluation : evaluations) {
    if (is_final_trial(evaluation)) trials[key_of(evaluation)].push_back(evaluation);
  }
  std::unordered_map<std::string, std::size_t> passed;
  std::vector<Evaluation> kept;
  kept.reserve(evaluations.size());
  for (auto& evaluation : evaluations) {
    if (is_final_trial(evaluation)) {
      const std::string key = key_of(evaluation);
      const auto& all = trials.at(key);
      if (++passed[key] < all.size()) continue;
      if (all.size() > 1) {
        evaluation = mean_of_trials(all);
        evaluation.trial = 0;
      }
    }
    kept.push_back(std::move(evaluation));
  }
  const std::size_t less = evaluations.size() - kept.size();
  evaluations = std::move(kept);
  return less;
}

}  // namespace wattune
