#include "tune/drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

/// Energy that was measured in full.
const Quantity* sound_energy(const Evaluation& evaluation) {
  const auto found = evaluation.quantities.find("energy");
  if (!evaluation.ok() || found == evaluation.quantities.end() || !(found->second.value > 0)) return nullptr;
  const auto& flags = found->second.flags;
  return std::find(flags.begin(), flags.end(), "abandoned_early") == flags.end() ? &found->second : nullptr;
}

}  // namespace

std::string to_string(const Drift& drift) {
  return fmt::format(
      "Drift: the energy of a configuration measured again {} time{} was {:+.1f} % to {:+.1f} % of its first, {:+.1f} "
      "% at "
      "the end (one measurement is good to {:.1f} %)",
      drift.again, drift.again == 1 ? "" : "s", 100 * drift.lowest, 100 * drift.highest, 100 * drift.last,
      100 * drift.error);
}

void DriftWatch::see(const Proposal& proposal, const Evaluation& evaluation, double now) {
  if (!every_seconds_ || reference_) return;
  const Quantity* energy = sound_energy(evaluation);
  if (energy == nullptr) return;
  reference_ = proposal;
  reference_->tier = tier;
  reference_->number = -1;
  first_ = *energy;
  last_seconds_ = now;
}

std::optional<Proposal> DriftWatch::due(double now) {
  if (!reference_ || under_way_ || now - last_seconds_ < *every_seconds_) return std::nullopt;
  under_way_ = true;
  return reference_;
}

void DriftWatch::add(const Evaluation& evaluation, double now) {
  under_way_ = false;
  last_seconds_ = now;
  if (const Quantity* energy = sound_energy(evaluation)) later_.push_back(energy->value);
}

std::optional<Drift> DriftWatch::drift() const {
  if (later_.empty()) return std::nullopt;
  const auto relative = [&](double energy) { return energy / first_.value - 1; };
  Drift drift;
  drift.again = later_.size();
  drift.lowest = relative(*std::min_element(later_.begin(), later_.end()));
  drift.highest = relative(*std::max_element(later_.begin(), later_.end()));
  drift.last = relative(later_.back());
  const double error = first_.stderr_value / first_.value;
  drift.error = std::isfinite(error) ? std::sqrt(2.0) * error : 0;  // of the first and of the later one
  return drift;
}

}  // namespace wattune
