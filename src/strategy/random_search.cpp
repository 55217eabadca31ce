#include <algorithm>

#include "strategy/entry.hpp"
#include "strategy/record.hpp"

namespace wattune {

namespace {

/// Every valid configuration, in a random order.
class RandomSearch : public Strategy {
 public:
  explicit RandomSearch(const StrategyInputs& inputs)
      : space_(inputs.space), seed_(inputs.seed), record_(inputs.space) {}

  std::vector<Point> ask(std::size_t n) override {
    std::vector<Point> points;
    while (points.size() < n && prepare_next()) {
      Point point = space_.point(order_[next_++]);
      if (record_.propose(point)) points.push_back(std::move(point));
    }
    return points;
  }
  void tell(const Point& point, const Evaluation&) override { record_.propose(point); }

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
  Record record_;
  std::vector<Count> order_;
  std::size_t next_ = 0;
};

}  // namespace

StrategyEntry random_entry() {
  return {{"random", "uniformly random, without replacement, until the budget or the space ends", {}},
          &make_of<RandomSearch>};
}

}  // namespace wattune
