#pragma once
// A model of one objective: a Gaussian process of transformed costs, kept up to date.

#include <optional>

#include "strategy/candidates.hpp"

namespace wattune {

/// Costs turned into targets of a process: logarithms where all have one sign, without the worst tail, to unit
/// variance.
class Transform {
 public:
  Transform() = default;
  explicit Transform(const std::vector<double>& costs);

  [[nodiscard]] double operator()(double cost) const;
  /// Whether the cost is of the kind that the transform was made for.
  [[nodiscard]] bool takes(double cost) const;

 private:
  enum class Sign { mixed, positive, negative };
  [[nodiscard]] double straighten(double cost) const;

  Sign sign_ = Sign::mixed;
  double limit_ = 0;
  double centre_ = 0;
  double scale_ = 1;
};

struct Observation {
  Point point;
  double cost;
};

class Surrogate {
 public:
  /// @param most_observations the process takes no more; the best ones and a spread of the others then.
  Surrogate(const Geometry& geometry, std::size_t most_observations);

  /// Brings the model up to date; cheap in most calls.
  /// @param observations all so far that did not fail; only grows between calls. At least two.
  /// @param awaited points under way; the model expects of them what it predicts.
  /// @param candidates_changed the candidates are others than in the last call.
  void update(const std::vector<Observation>& observations, const std::vector<Point>& awaited,
              const Candidates& candidates, bool candidates_changed);
  /// Whether the next update fits the kernel anew: a good time to change the candidates.
  [[nodiscard]] bool wants_fit(std::size_t observations) const { return observations >= next_fit_; }

  [[nodiscard]] double mean(Eigen::Index candidate) const { return prediction_.mean(candidate); }
  [[nodiscard]] double deviation(Eigen::Index candidate) const { return prediction_.deviation(candidate); }
  [[nodiscard]] double target(double cost) const { return transform_(cost); }

 private:
  void fit(const std::vector<Observation>& observations, const Candidates& candidates);
  void observe(const std::vector<Observation>& observations, const Candidates& candidates);
  void add(const Point& point, std::optional<double> target, const Candidates& candidates);

  const Geometry& geometry_;
  std::size_t most_observations_;
  Transform transform_;
  std::optional<CovarianceKernel> kernel_;
  std::optional<GaussianProcess> process_;
  Prediction prediction_;
  std::unordered_map<Point, std::size_t, PointHash> guesses_;  ///< observations whose targets were only expected
  std::size_t seen_ = 0;                                       ///< observations that the process has
  std::size_t next_fit_ = 0;                                   ///< at so many
};

}  // namespace wattune
