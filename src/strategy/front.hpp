#pragma once
// Dominance between vectors of costs.

#include <cstddef>
#include <vector>

namespace wattune {

/// At least as good in all, better in one.
bool dominates(const std::vector<double>& a, const std::vector<double>& b);
/// Numbers of those that none dominates.
std::vector<std::size_t> non_dominated(const std::vector<std::vector<double>>& costs);
/// 0 for those that none dominates, 1 for those that only these dominate, and so on.
std::vector<std::size_t> dominance_ranks(const std::vector<std::vector<double>>& costs);
/// How far the neighbours of each lie apart along the front of its rank, each objective to the front's extent; infinite
/// at the ends.
std::vector<double> crowding_distances(const std::vector<std::vector<double>>& costs,
                                       const std::vector<std::size_t>& ranks);

}  // namespace wattune
