#include "strategy/entry.hpp"
#include "strategy/record.hpp"

namespace wattune {

namespace {

/// Every valid configuration, in the order of the space.
class BruteForce : public Strategy {
 public:
  explicit BruteForce(const StrategyInputs& inputs) : space_(inputs.space), record_(inputs.space) {}

  std::vector<Point> ask(std::size_t n) override {
    std::vector<Point> points;
    while (points.size() < n && next_ < space_.size()) {
      Point point = space_.point(next_++);
      if (record_.propose(point)) points.push_back(std::move(point));
    }
    return points;
  }
  void tell(const Point& point, const Evaluation&) override { record_.propose(point); }

 private:
  const SearchSpace& space_;
  Record record_;
  Count next_ = 0;
};

}  // namespace

StrategyEntry brute_force_entry() {
  return {{"brute_force", "every valid configuration, in the order of the space", {}}, &make_of<BruteForce>};
}

}  // namespace wattune
