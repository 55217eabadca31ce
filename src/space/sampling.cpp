// Samples of a space's configurations.

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "space/random.hpp"
#include "space/space_impl.hpp"

namespace wattune {

namespace {

struct CountHash {
  std::size_t operator()(Count count) const {
    const auto low = static_cast<std::uint64_t>(count);
    const auto high = static_cast<std::uint64_t>(count >> 64);
    return static_cast<std::size_t>((low ^ (high * 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U >> 7);
  }
};

std::size_t at_most(std::size_t n, Count size) {
  return size < n ? static_cast<std::size_t>(size) : n;
}

/// Random order of 0 .. n - 1.
std::vector<std::size_t> shuffled(std::size_t n, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i))]);
  return order;
}

}  // namespace

std::vector<Count> SearchSpace::sample(std::size_t n, std::uint64_t seed) const {
  // The beginning of a shuffle of all indices, of which only the places that have been moved are kept.
  n = at_most(n, size());
  Random random(seed);
  std::unordered_map<Count, Count, CountHash> moved;
  std::vector<Count> result;
  result.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Count j = i + random.below(size() - i);
    const auto here = moved.find(i);
    const Count own = here == moved.end() ? Count{i} : here->second;
    const auto [there, is_new] = moved.try_emplace(j, j);
    result.push_back(j == i ? own : there->second);
    there->second = own;
  }
  return result;
}

std::vector<Count> SearchSpace::stratified_sample(std::size_t n, std::uint64_t seed) const {
  n = at_most(n, size());
  Random random(seed);
  std::vector<Count> result;
  result.reserve(n);
  // Part i is [i * size / n, (i + 1) * size / n), computed without a product that could overflow.
  const auto start = [&](std::size_t i) { return size() / n * i + size() % n * i / n; };
  for (std::size_t i = 0; i < n; ++i) result.push_back(start(i) + random.below(start(i + 1) - start(i)));
  return result;
}

std::vector<Count> SearchSpace::latin_hypercube_sample(std::size_t n, std::uint64_t seed) const {
  n = at_most(n, size());
  Random random(seed);
  const Ranking& ranking = impl_->counted.ranking;
  std::vector<std::vector<std::uint64_t>> quantiles(n, std::vector<std::uint64_t>(ranking.varying()));
  for (std::size_t k = 0; k < ranking.varying(); ++k) {
    const std::vector<std::size_t> parts = shuffled(n, random);
    for (std::size_t i = 0; i < n; ++i) {
      // A random place in part parts[i] of n equal parts of 0 .. 2^64.
      constexpr Count whole = Count{1} << 64;
      const Count start = whole * parts[i] / n;
      const Count end = whole * (parts[i] + 1) / n;
      quantiles[i][k] = static_cast<std::uint64_t>(start + random.below(end - start));
    }
  }
  std::unordered_set<Count, CountHash> taken;
  std::vector<Count> result;
  for (std::size_t i = 0; i < n; ++i) {
    Count index = *ranking.index(ranking.at_quantiles(quantiles[i]));
    // In small spaces configurations meet; those that come later move to a random free one.
    while (!taken.insert(index).second) index = random.below(size());
    result.push_back(index);
  }
  return result;
}

}  // namespace wattune
