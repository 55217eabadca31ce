#pragma once
// A Gaussian process over configurations: kernel exp(-weighted sum of distances), constant mean.

#include <Eigen/Core>
#include <vector>

#include "strategy/geometry.hpp"

namespace wattune {

/// Weights of the features (0: not used) and variance of the noise, as a share of the signal's.
struct CovarianceKernel {
  Eigen::VectorXd weights;
  double noise = 1e-3;
};

/// The kernel that explains the targets best, given what is likely beforehand.
/// @param previous where to begin; nullptr for the first fit.
/// @param with_pairs whether features of two parameters take part.
struct KernelFit {
  CovarianceKernel kernel;
  double loss;  ///< negative logarithm of the posterior density; comparable between fits to the same targets
};
KernelFit fit_kernel(const Geometry& geometry, const std::vector<Point>& points, const Eigen::VectorXd& targets,
                     bool with_pairs, const CovarianceKernel* previous);

/// The process given observations. Observations can be added one by one.
class GaussianProcess {
 public:
  GaussianProcess(const Geometry& geometry, CovarianceKernel kernel);

  /// Replaces all observations.
  void observe(const std::vector<Point>& points, const Eigen::VectorXd& targets);
  /// Adds one; the scale stays. @return the row of the Cholesky factor that belongs to it, its diagonal last.
  Eigen::VectorXd add(const Point& point, double target);
  /// Corrects the target of an observation.
  void set_target(std::size_t number, double target);

  [[nodiscard]] const CovarianceKernel& kernel() const { return kernel_; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] const Eigen::VectorXd& targets() const { return targets_; }
  /// The lower Cholesky factor of the kernel matrix.
  [[nodiscard]] Eigen::MatrixXd factor() const { return factor_.topLeftCorner(size(), size()); }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(points_.size()); }
  /// factor^-1 (targets - mean).
  [[nodiscard]] const Eigen::VectorXd& residual() const { return residual_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// Variance of the signal.
  [[nodiscard]] double variance() const { return variance_; }
  [[nodiscard]] double covariance(const Point& a, const Point& b) const;

 private:
  const Geometry& geometry_;
  CovarianceKernel kernel_;
  std::vector<Point> points_;
  Eigen::VectorXd targets_;
  Eigen::MatrixXd factor_;  ///< grows in larger steps than the observations
  Eigen::VectorXd residual_;
  double mean_ = 0;
  double variance_ = 1;
};

}  // namespace wattune
