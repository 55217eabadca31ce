#pragma once
// The configurations among which a model-based strategy chooses, with what the models predict of each.

#include <Eigen/Core>
#include <unordered_map>
#include <vector>

#include "strategy/gaussian_process.hpp"
#include "strategy/moves.hpp"
#include "strategy/record.hpp"

namespace wattune {

/// All configurations of a space that is small enough, else a random sample and the surroundings of the best ones.
class Candidates {
 public:
  Candidates(const SearchSpace& space, const Geometry& geometry, std::size_t most);

  /// Draws candidates anew where they are not the whole space.
  void refresh(const std::vector<Point>& best, const Record& record, Moves& moves, Random& random);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(points_.size()); }
  [[nodiscard]] const Point& point(Eigen::Index i) const { return points_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool is_open(Eigen::Index i) const { return is_open_[static_cast<std::size_t>(i)]; }
  /// All configurations are candidates.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// The point was proposed.
  void close(const Point& point);

  /// exp(-distance) of every candidate from a point; weights of features as in a kernel.
  [[nodiscard]] Eigen::VectorXf similarity(const Point& point, const Eigen::VectorXd& weights) const;

 private:
  void set_points(std::vector<Point> points);

  const SearchSpace& space_;
  const Geometry& geometry_;
  std::size_t most_;
  bool is_whole_;
  std::vector<Point> points_;
  std::vector<bool> is_open_;
  std::unordered_map<Point, Eigen::Index, PointHash> numbers_;
  std::vector<std::vector<std::uint32_t>> positions_;  ///< by parameter, then candidate
  Eigen::MatrixXf pairs_;                              ///< coordinates: a row per candidate, a column per pair feature
};

/// What a Gaussian process predicts of candidates, brought up to date one observation at a time.
class Prediction {
 public:
  /// From the beginning.
  void predict(const GaussianProcess& process, const Candidates& candidates);
  /// After process.add(), which returned the row.
  void add(const GaussianProcess& process, const Candidates& candidates, const Eigen::VectorXd& row);
  /// After the targets of observations from `first` on have changed.
  void update_mean(const GaussianProcess& process, std::size_t first);

  [[nodiscard]] double mean(Eigen::Index candidate) const { return mean_[candidate]; }
  [[nodiscard]] double deviation(Eigen::Index candidate) const;

 private:
  Eigen::MatrixXf columns_;  ///< factor^-1 times covariances: a row per candidate, a column per observation
  Eigen::VectorXf mean_;
  Eigen::VectorXf reduction_;  ///< of the variance, as a share of the signal's
  Eigen::VectorXd residual_;   ///< those that mean_ was computed with
  double variance_ = 1;
};

}  // namespace wattune
