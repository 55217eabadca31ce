#pragma once
// The probability that a configuration fails, from what became of similar ones.

#include "strategy/candidates.hpp"

namespace wattune {

/// Kernel smoothing: the share of failures among what was told, weighted by similarity.
class FailureModel {
 public:
  explicit FailureModel(const Geometry& geometry);

  void tell(const Point& point, bool failed, const Candidates& candidates);
  /// After the candidates have changed.
  void refresh(const Candidates& candidates);

  /// Logarithm of the probability that a candidate succeeds.
  [[nodiscard]] double log_success(Eigen::Index candidate) const;

 private:
  Eigen::VectorXd weights_;
  std::vector<Point> points_;
  std::vector<bool> failed_;
  double failures_ = 0;
  Eigen::VectorXf similar_;         ///< by candidate: sum of similarities to all
  Eigen::VectorXf similar_failed_;  ///< and to those that failed
};

}  // namespace wattune
