#include "strategy/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "strategy/local_search.hpp"

namespace wattune {

namespace {

/// Every valid configuration, in the order of the space.
class BruteForce : public Strategy {
 public:
  BruteForce(const SearchSpace& space, std::uint64_t, const Objective&) : space_(space) {}

  std::vector<Point> ask(std::size_t n) override {
    std::vector<Point> points;
    while (points.size() < n && next_ < space_.size()) points.push_back(space_.point(next_++));
    return points;
  }
  void tell(const Point&, const Evaluation&) override {}

 private:
  const SearchSpace& space_;
  Count next_ = 0;
};

/// Every valid configuration, in a random order.
class RandomSearch : public Strategy {
 public:
  RandomSearch(const SearchSpace& space, std::uint64_t seed, const Objective&) : space_(space), seed_(seed) {}

  std::vector<Point> ask(std::size_t n) override {
    std::vector<Point> points;
    while (points.size() < n && prepare_next()) points.push_back(space_.point(order_[next_++]));
    return points;
  }
  void tell(const Point&, const Evaluation&) override {}

 private:
  /// A larger sample begins with the smaller one, so the order is drawn in growing pieces.
  bool prepare_next() {
    if (next_ < order_.size()) return true;
    if (order_.size() == space_.size()) return false;
    const std::size_t wanted = std::max<std::size_t>(256, 2 * order_.size());
    order_ = space_.sample(static_cast<std::size_t>(std::min<Count>(wanted, space_.size())), seed_);
    return next_ < order_.size();
  }

  const SearchSpace& space_;
  std::uint64_t seed_;
  std::vector<Count> order_;
  std::size_t next_ = 0;
};

using Maker = std::unique_ptr<Strategy> (*)(const SearchSpace&, std::uint64_t, const Objective&);

template <class S>
std::unique_ptr<Strategy> make(const SearchSpace& space, std::uint64_t seed, const Objective& objective) {
  return std::make_unique<S>(space, seed, objective);
}

struct Entry {
  StrategyDescription description;
  Maker maker;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"random", "uniformly random, without replacement, until the budget or the space ends"}, &make<RandomSearch>},
      {{"brute_force", "every valid configuration, in the order of the space"}, &make<BruteForce>},
      {{"local_search", "to the first better neighbour, restarted at random"}, &make<LocalSearch>},
  };
  return all;
}

}  // namespace

const std::vector<StrategyDescription>& strategy_descriptions() {
  static const std::vector<StrategyDescription> descriptions = [] {
    std::vector<StrategyDescription> result;
    for (const auto& entry : entries()) result.push_back(entry.description);
    return result;
  }();
  return descriptions;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const Objective& objective) {
  std::vector<std::string> names;
  for (const auto& entry : entries()) {
    if (entry.description.name == name) return entry.maker(space, seed, objective);
    names.push_back(entry.description.name);
  }
  throw UsageError(fmt::format("--strategy: there is no strategy '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace wattune
