#include "strategy/front.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace wattune {

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool is_better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    is_better = is_better || a[k] < b[k];
  }
  return is_better;
}

std::vector<std::size_t> non_dominated(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> order(costs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  // After this order nothing that comes later dominates what came before.
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const auto beats = [&](std::size_t member) { return dominates(costs[member], costs[i]); };
    if (std::ranges::none_of(front, beats)) front.push_back(i);
  }
  return front;
}

std::vector<std::size_t> dominance_ranks(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> ranks(costs.size(), 0);
  std::vector<std::size_t> rest(costs.size());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = i;
  for (std::size_t rank = 0; !rest.empty(); ++rank) {
    std::vector<std::vector<double>> those;
    for (const std::size_t i : rest) those.push_back(costs[i]);
    auto front = non_dominated(those);
    for (const std::size_t member : front) ranks[rest[member]] = rank;
    std::ranges::sort(front, std::greater<>());
    for (const std::size_t member : front) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(member));
  }
  return ranks;
}

std::vector<double> crowding_distances(const std::vector<std::vector<double>>& costs,
                                       const std::vector<std::size_t>& ranks) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> distances(costs.size(), 0);
  const std::size_t last_rank = costs.empty() ? 0 : *std::ranges::max_element(ranks);
  for (std::size_t rank = 0; rank <= last_rank && !costs.empty(); ++rank) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (ranks[i] == rank) front.push_back(i);
    }
    for (std::size_t k = 0; k < costs.front().size(); ++k) {
      std::ranges::stable_sort(front, {}, [&](std::size_t i) { return costs[i][k]; });
      const double extent = costs[front.back()][k] - costs[front.front()][k];
      distances[front.front()] = distances[front.back()] = infinite;
      if (!std::isfinite(extent) || extent <= 0) continue;
      for (std::size_t j = 1; j + 1 < front.size(); ++j) {
        distances[front[j]] += (costs[front[j + 1]][k] - costs[front[j - 1]][k]) / extent;
      }
    }
  }
  return distances;
}

}  // namespace wattune
