#include "strategy/population.hpp"

namespace wattune {

namespace {

/// Differential evolution on the places of values: a member moves along the difference of two others.
class DifferentialEvolution : public PopulationStrategy {
 public:
  explicit DifferentialEvolution(const StrategyInputs& inputs)
      : PopulationStrategy(inputs, inputs.options.whole("population")),
        factor_(inputs.options.number("factor")),
        crossover_(inputs.options.number("crossover")),
        from_best_(inputs.options.word("base") == "best") {}

 private:
  std::vector<Point> breed() override {
    std::size_t best = 0;
    for (std::size_t i = 1; i < population_.size(); ++i) {
      if (population_[i].cost < population_[best].cost) best = i;
    }
    std::vector<Point> trials;
    for (std::size_t i = 0; i < population_.size(); ++i) trials.push_back(trial(i, best));
    return trials;
  }

  const Point& draw_member() { return population_[draw_below(random_, population_.size())].point; }

  Point trial(std::size_t target, std::size_t best) {
    const auto& axes = moves_.axes();
    const auto base = places_of(from_best_ ? population_[best].point : draw_member(), axes);
    const auto plus = places_of(draw_member(), axes);
    const auto minus = places_of(draw_member(), axes);
    auto wanted = places_of(population_[target].point, axes);
    const std::size_t always = draw_below(random_, wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i != always && draw_unit(random_) >= crossover_) continue;
      if (axes[i].is_ordinal) {
        const double difference = static_cast<double>(plus[i]) - static_cast<double>(minus[i]);
        wanted[i] = nearest_place(static_cast<double>(base[i]) + factor_ * difference, axes[i]);
      } else {
        // Values without order have no difference: where the two disagree, one of theirs is taken.
        wanted[i] = plus[i] != minus[i] && draw_unit(random_) < factor_ ? plus[i] : base[i];
      }
    }
    Point point = moves_.towards(population_[target].point, wanted, random_);
    return record_.is_proposed(point) ? moves_.walk(point, 1, random_) : point;
  }

  void select(const std::vector<Point>& points, const std::vector<double>& costs) override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (costs[i] <= population_[i].cost) population_[i] = {points[i], costs[i]};
    }
  }

  double factor_;
  double crossover_;
  bool from_best_;
};

}  // namespace

StrategyEntry differential_evolution_entry() {
  return {{"differential_evolution",
           "members of a population move along differences of others",
           {whole_option("population", "15", "members", 4, 100000),
            number_option("factor", "0.7", "weight of the difference", 0, 2),
            number_option("crossover", "0.6", "probability that a parameter takes part", 0, 1),
            word_option("base", {"best", "random"}, "the member that the difference is added to")}},
          &make_of<DifferentialEvolution>};
}

}  // namespace wattune
