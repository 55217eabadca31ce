#include <algorithm>

#include "strategy/population.hpp"

namespace wattune {

namespace {

/// The best of two random parents twice, uniform crossover, mutation by moves; the better half of parents and children
/// lives on.
class Genetic : public PopulationStrategy {
 public:
  explicit Genetic(const StrategyInputs& inputs)
      : PopulationStrategy(inputs, inputs.options.whole("population")), mutation_(inputs.options.number("mutation")) {}

 private:
  const Individual& parent() {
    const auto& a = population_[draw_below(random_, population_.size())];
    const auto& b = population_[draw_below(random_, population_.size())];
    return a.cost <= b.cost ? a : b;
  }

  Point child() {
    const Point& mother = parent().point;
    Point point = moves_.towards(mother, crossed(mother, parent().point, moves_.axes(), random_), random_);
    return mutated(std::move(point), mutation_);
  }

  std::vector<Point> breed() override {
    std::vector<Point> children;
    for (std::size_t i = 0; i < size_; ++i) children.push_back(child());
    return children;
  }

  void select(const std::vector<Point>& points, const std::vector<double>& costs) override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_there =
          std::ranges::any_of(population_, [&](const Individual& individual) { return individual.point == points[i]; });
      if (!is_there) population_.push_back({points[i], costs[i]});
    }
    std::ranges::stable_sort(population_, {}, &Individual::cost);
    if (population_.size() > size_) population_.resize(size_);
  }

  double mutation_;
};

}  // namespace

StrategyEntry genetic_entry() {
  return {{"genetic",
           "genetic algorithm",
           {whole_option("population", "10", "configurations that live at a time", 2, 100000),
            number_option("mutation", "0.5", "probability of a random move after crossover", 0, 1)}},
          &make_of<Genetic>};
}

}  // namespace wattune
