#include "strategy/draws.hpp"
#include "strategy/entry.hpp"
#include "strategy/record.hpp"

namespace wattune {

namespace {

/// Latin-hypercube samples of a fixed size, one after the other.
class LatinHypercube : public Strategy {
 public:
  explicit LatinHypercube(const StrategyInputs& inputs)
      : space_(inputs.space),
        random_(inputs.seed),
        record_(inputs.space),
        sample_size_(inputs.options.whole("sample")) {}

  std::vector<Point> ask(std::size_t n) override {
    std::vector<Point> points;
    while (points.size() < n && !record_.is_complete()) {
      if (next_ == sample_.size()) draw_sample();
      Point point = space_.point(sample_[next_++]);
      if (record_.propose(point)) {
        points.push_back(std::move(point));
      } else if (auto fresh = record_.draw_fresh(random_)) {
        record_.propose(*fresh);
        points.push_back(std::move(*fresh));
      }
    }
    return points;
  }
  void tell(const Point& point, const Evaluation&) override { record_.propose(point); }

 private:
  void draw_sample() {
    sample_ = space_.latin_hypercube_sample(sample_size_, random_.bits());
    next_ = 0;
  }

  const SearchSpace& space_;
  Random random_;
  Record record_;
  std::size_t sample_size_;
  std::vector<Count> sample_;
  std::size_t next_ = 0;
};

}  // namespace

StrategyEntry latin_hypercube_entry() {
  return {{"latin_hypercube",
           "samples in which the values of every parameter appear evenly",
           {whole_option("sample", "50", "configurations of a sample", 1, 100000)}},
          &make_of<LatinHypercube>};
}

}  // namespace wattune
