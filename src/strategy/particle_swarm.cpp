#include "strategy/population.hpp"

namespace wattune {

namespace {

/// Particles on the axes' places: each keeps some of its velocity and is drawn to its own best and to that of all.
class ParticleSwarm : public PopulationStrategy {
 public:
  explicit ParticleSwarm(const StrategyInputs& inputs)
      : PopulationStrategy(inputs, inputs.options.whole("population")),
        inertia_(inputs.options.number("inertia")),
        own_pull_(inputs.options.number("own")),
        common_pull_(inputs.options.number("common")) {}

 private:
  struct Particle {
    std::vector<double> place;
    std::vector<double> velocity;
    Point at;  ///< the configuration that was evaluated last
  };

  void reset() override {
    particles_.clear();
    for (const auto& individual : population_) {
      const auto places = places_of(individual.point, moves_.axes());
      particles_.push_back({{places.begin(), places.end()}, std::vector<double>(places.size(), 0.0), individual.point});
    }
  }

  std::vector<Point> breed() override {
    // population_ holds each particle's own best.
    const Individual* best = &population_.front();
    for (const auto& individual : population_) {
      if (individual.cost < best->cost) best = &individual;
    }
    const auto common = places_of(best->point, moves_.axes());
    std::vector<Point> points;
    for (std::size_t i = 0; i < particles_.size(); ++i) points.push_back(fly(i, common));
    return points;
  }

  Point fly(std::size_t number, const std::vector<std::uint32_t>& common) {
    const auto& axes = moves_.axes();
    Particle& particle = particles_[number];
    const auto own = places_of(population_[number].point, axes);
    std::vector<std::uint32_t> wanted(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      double& place = particle.place[i];
      double& velocity = particle.velocity[i];
      velocity = inertia_ * velocity + own_pull_ * draw_unit(random_) * (own[i] - place) +
                 common_pull_ * draw_unit(random_) * (common[i] - place);
      place = std::clamp(place + velocity, 0.0, static_cast<double>(axes[i].place.size() - 1));
      wanted[i] = nearest_place(place, axes[i]);
    }
    Point point = moves_.towards(particle.at, wanted, random_);
    if (record_.is_proposed(point)) point = moves_.walk(point, 1, random_);
    return point;
  }

  void select(const std::vector<Point>& points, const std::vector<double>& costs) override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      particles_[i].at = points[i];
      if (costs[i] < population_[i].cost) population_[i] = {points[i], costs[i]};
    }
  }

  double inertia_;
  double own_pull_;
  double common_pull_;
  std::vector<Particle> particles_;
};

}  // namespace

StrategyEntry particle_swarm_entry() {
  return {{"particle_swarm",
           "particles drawn to their own best and to that of all",
           {whole_option("population", "15", "particles", 2, 100000),
            number_option("inertia", "0.5", "share of the velocity that stays", 0, 1),
            number_option("own", "1.5", "pull of a particle's own best", 0, 10),
            number_option("common", "1.5", "pull of the best of all", 0, 10)}},
          &make_of<ParticleSwarm>};
}

}  // namespace wattune
