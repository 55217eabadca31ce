#pragma once
// What strategies with a population share.

#include <algorithm>
#include <cmath>

#include "strategy/draws.hpp"
#include "strategy/step_strategy.hpp"

namespace wattune {

struct Individual {
  Point point;
  double cost = std::numeric_limits<double>::infinity();
};

/// A population that begins as a Latin-hypercube sample. A step evaluates one generation.
class PopulationStrategy : public StepStrategy {
 protected:
  PopulationStrategy(const StrategyInputs& inputs, std::size_t size) : StepStrategy(inputs), size_(size) {}

  /// A new generation from population_, which holds at least one individual.
  virtual std::vector<Point> breed() = 0;
  /// What becomes of the population; the generation that was bred has these costs.
  virtual void select(const std::vector<Point>& points, const std::vector<double>& costs) = 0;
  /// Called after the population was replaced from outside.
  virtual void reset() {}
  /// A population of what is known before the first step; empty: to be drawn.
  virtual std::vector<Individual> known_population() { return {}; }

  /// After a random move with this probability; and while the point is known, which would teach nothing, a few more.
  Point mutated(Point point, double probability) {
    constexpr int most_moves = 4;
    bool moves = draw_unit(random_) < probability;
    for (int i = 0; i < most_moves && (moves || record_.is_proposed(point)); ++i) {
      point = moves_.walk(point, 1, random_);
      moves = false;
    }
    return point;
  }

  std::vector<Individual> population_;
  std::size_t size_;

 private:
  std::vector<Point> next_step() final {
    if (population_.empty()) {
      population_ = known_population();
      if (!population_.empty()) reset();
    }
    if (!population_.empty()) return breed();
    std::vector<Point> points;
    for (const Count index : space_.latin_hypercube_sample(size_, random_.bits()))
      points.push_back(space_.point(index));
    return points;
  }

  void learn(const std::vector<Point>& points, const std::vector<double>& costs) final {
    if (!population_.empty()) {
      select(points, costs);
      return;
    }
    for (std::size_t i = 0; i < points.size(); ++i) population_.push_back({points[i], costs[i]});
    reset();
  }

  /// The population has become one: the best stays, the others begin anew.
  void restart(const Point& point, double cost) final {
    std::vector<Individual> next = {{point, cost}};
    if (record_.best()) next.push_back({*record_.best(), record_.best_cost()});
    while (next.size() < size_) {
      Point drawn = space_.point(random_.below(space_.size()));
      const auto known = record_.cost(drawn);
      next.push_back({std::move(drawn), known.value_or(std::numeric_limits<double>::infinity())});
    }
    population_ = std::move(next);
    reset();
  }

  std::optional<Point> speculate() final {
    return record_.best() ? moves_.random_neighbour(*record_.best(), false, random_) : record_.draw_fresh(random_);
  }
};

/// The places of a point's values on the axes.
inline std::vector<std::uint32_t> places_of(const Point& point, const std::vector<Axis>& axes) {
  std::vector<std::uint32_t> places(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) places[i] = axes[i].place[point[i]];
  return places;
}

/// Uniform crossover: for every parameter the place of one parent or the other.
inline std::vector<std::uint32_t> crossed(const Point& mother, const Point& father, const std::vector<Axis>& axes,
                                          Random& random) {
  auto places = places_of(mother, axes);
  const auto other = places_of(father, axes);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if ((random.bits() & 1U) != 0) places[i] = other[i];
  }
  return places;
}

/// The place nearest to a coordinate, which may lie beyond the axis.
inline std::uint32_t nearest_place(double coordinate, const Axis& axis) {
  const double last = static_cast<double>(axis.place.size() - 1);
  return static_cast<std::uint32_t>(std::clamp(std::floor(coordinate + 0.5), 0.0, last));
}

}  // namespace wattune
