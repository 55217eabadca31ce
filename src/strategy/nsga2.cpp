#include <algorithm>
#include <map>

#include "strategy/front.hpp"
#include "strategy/population.hpp"

namespace wattune {

namespace {

/// NSGA-II (Deb et al., 2002): a genetic algorithm in which those live on that few dominate and that lie apart.
class Nsga2 : public PopulationStrategy {
 public:
  explicit Nsga2(const StrategyInputs& inputs)
      : PopulationStrategy(inputs, inputs.options.whole("population")),
        objectives_(inputs.objectives),
        mutation_(inputs.options.number("mutation")) {}

 private:
  void note(const Point& point, const Evaluation& evaluation) override {
    std::vector<double> costs;
    for (const auto& objective : objectives_) costs.push_back(cost_of(evaluation, objective));
    costs_[point] = std::move(costs);
  }

  std::vector<Individual> known_population() override {
    if (costs_.size() < size_) return {};
    std::vector<Individual> individuals;
    for (const auto& [point, costs] : costs_) individuals.push_back({point, 0});
    return fittest(std::move(individuals));
  }

  void reset() override { population_ = fittest(std::move(population_)); }

  /// The `size_` best, with their place in that order as cost.
  std::vector<Individual> fittest(std::vector<Individual> individuals) {
    std::vector<std::vector<double>> costs;
    for (const auto& individual : individuals) {
      const auto found = costs_.find(individual.point);
      costs.push_back(found != costs_.end() ? found->second : std::vector<double>(objectives_.size(), individual.cost));
    }
    const auto ranks = dominance_ranks(costs);
    const auto distances = crowding_distances(costs, ranks);
    std::vector<std::size_t> order(individuals.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : distances[a] > distances[b];
    });
    std::vector<Individual> result;
    for (std::size_t i = 0; i < std::min(size_, order.size()); ++i) {
      result.push_back({individuals[order[i]].point, static_cast<double>(i)});
    }
    return result;
  }

  std::vector<Point> breed() override {
    std::vector<Point> children;
    for (std::size_t i = 0; i < size_; ++i) children.push_back(child());
    return children;
  }

  const Point& parent() {
    const auto& a = population_[draw_below(random_, population_.size())];
    const auto& b = population_[draw_below(random_, population_.size())];
    return (a.cost <= b.cost ? a : b).point;
  }

  Point child() {
    const Point& mother = parent();
    Point point = moves_.towards(mother, crossed(mother, parent(), moves_.axes(), random_), random_);
    return mutated(std::move(point), mutation_);
  }

  void select(const std::vector<Point>& points, const std::vector<double>&) override {
    std::vector<Individual> all = population_;
    for (const auto& point : points) {
      const bool is_there = std::ranges::any_of(all, [&](const Individual& each) { return each.point == point; });
      if (!is_there) all.push_back({point, 0});
    }
    population_ = fittest(std::move(all));
  }

  std::vector<Objective> objectives_;
  double mutation_;
  std::map<Point, std::vector<double>> costs_;  ///< of all objectives; infinite where one is missing
};

}  // namespace

StrategyEntry nsga2_entry() {
  return {{"nsga2",
           "genetic algorithm for the Pareto front of several objectives",
           {whole_option("population", "20", "configurations that live at a time", 2, 100000),
            number_option("mutation", "0.5", "probability of a random move after crossover", 0, 1)},
           true},
          &make_of<Nsga2>};
}

}  // namespace wattune
