#include <algorithm>

#include "strategy/population.hpp"

namespace wattune {

namespace {

/// Every firefly moves towards those that shine brighter, the more the nearer they are, and a little at random.
class Firefly : public PopulationStrategy {
 public:
  explicit Firefly(const StrategyInputs& inputs)
      : PopulationStrategy(inputs, inputs.options.whole("population")),
        attraction_(inputs.options.number("attraction")),
        absorption_(inputs.options.number("absorption")),
        noise_(inputs.options.number("noise")) {}

 private:
  std::vector<Point> breed() override {
    std::vector<Point> points;
    for (std::size_t i = 0; i < population_.size(); ++i) points.push_back(fly(i));
    return points;
  }

  Point fly(std::size_t number) {
    const auto& axes = moves_.axes();
    const Individual& self = population_[number];
    const auto start = places_of(self.point, axes);
    std::vector<double> place(start.begin(), start.end());
    for (const auto& other : population_) {
      if (other.cost >= self.cost) continue;
      const auto target = places_of(other.point, axes);
      const double pull = attraction_ * std::exp(-absorption_ * squared_distance(place, target));
      for (std::size_t i = 0; i < place.size(); ++i) place[i] += pull * (target[i] - place[i]);
    }
    std::vector<std::uint32_t> wanted(place.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
      const double extent = static_cast<double>(axes[i].place.size() - 1);
      wanted[i] = nearest_place(place[i] + noise_ * (draw_unit(random_) - 0.5) * extent, axes[i]);
    }
    Point point = moves_.towards(self.point, wanted, random_);
    return record_.is_proposed(point) ? moves_.walk(point, 1, random_) : point;
  }

  /// With every axis of length 1.
  [[nodiscard]] double squared_distance(const std::vector<double>& a, const std::vector<std::uint32_t>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double extent = std::max(1.0, static_cast<double>(moves_.axes()[i].place.size() - 1));
      const double difference = (a[i] - b[i]) / extent;
      sum += difference * difference;
    }
    return sum;
  }

  void select(const std::vector<Point>& points, const std::vector<double>& costs) override {
    const auto brightest = std::ranges::min_element(population_, {}, &Individual::cost) - population_.begin();
    for (std::size_t i = 0; i < points.size(); ++i) {
      // The brightest has nobody to follow: it only moves to what is better.
      if (static_cast<std::ptrdiff_t>(i) == brightest && costs[i] > population_[i].cost) continue;
      population_[i] = {points[i], costs[i]};
    }
  }

  double attraction_;
  double absorption_;
  double noise_;
};

}  // namespace

StrategyEntry firefly_entry() {
  return {{"firefly",
           "every member moves towards better ones, the more the nearer they are",
           {whole_option("population", "15", "fireflies", 2, 100000),
            number_option("attraction", "0.7", "of the nearest, 0 to 1", 0, 1),
            number_option("absorption", "1", "how attraction fades with distance", 0, 1000),
            number_option("noise", "0.3", "random part of a move, as a share of each axis", 0, 1)}},
          &make_of<Firefly>};
}

}  // namespace wattune
