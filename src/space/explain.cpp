// What the restrictions of a space do.

#include <array>
#include <numeric>

#include "space/space_impl.hpp"

namespace wattune {

namespace {

/// Work that an explanation may take for each count: well under a second.
constexpr std::size_t most_edges = 5'000'000;

}  // namespace

std::vector<RestrictionEffect> SearchSpace::explain() const {
  const Definition& definition = impl_->definition;
  std::vector<RestrictionEffect> result;
  for (std::size_t i = 0; i < definition.restrictions.size(); ++i) {
    Question others;
    for (std::size_t j = 0; j < definition.restrictions.size(); ++j) {
      if (j != i) others.restrictions.push_back(j);
    }
    const PointCount alone = estimate_points(definition, {{i}, std::nullopt, Fault::none}, most_edges);
    RestrictionEffect effect;
    effect.removed_alone.points = static_cast<double>(cartesian()) - alone.points;
    if (alone.exact) effect.removed_alone.exact = cartesian() - *alone.exact;
    effect.valid_without = estimate_points(definition, others, most_edges);
    result.push_back(effect);
  }
  return result;
}

std::vector<RestrictionFault> SearchSpace::faults() const {
  const Definition& definition = impl_->definition;
  std::vector<RestrictionFault> result;
  for (std::size_t i = 0; i < definition.restrictions.size(); ++i) {
    std::vector<std::size_t> before(i);
    std::iota(before.begin(), before.end(), std::size_t{0});
    PointCount division, other;
    for (const Fault fault : {Fault::division_by_zero, Fault::overflow, Fault::domain}) {
      const PointCount points = estimate_points(definition, {before, i, fault}, most_edges);
      PointCount& sum = fault == Fault::division_by_zero ? division : other;
      const bool is_first = fault != Fault::domain;
      sum.exact =
          points.exact && (is_first || sum.exact) ? std::optional(sum.exact.value_or(0) + *points.exact) : std::nullopt;
      sum.points += points.points;
    }
    if (division.points > 0) result.push_back({i, true, division});
    if (other.points > 0) result.push_back({i, false, other});
  }
  return result;
}

}  // namespace wattune
