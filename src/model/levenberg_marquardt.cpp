#include "model/levenberg_marquardt.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace wattune {

LeastSquares levenberg_marquardt(const ResidualFunction& function, Eigen::VectorXd start, const Eigen::VectorXd& lower,
                                 const Eigen::VectorXd& upper, int most_steps) {
  constexpr double most_damping = 1e12;
  constexpr double least_gain = 1e-14;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;
  function(start, residuals, jacobian);
  LeastSquares best{std::move(start), residuals.squaredNorm()};
  Eigen::VectorXd next_residuals;
  Eigen::MatrixXd next_jacobian;
  double damping = 1e-3;
  for (int step = 0; step < most_steps && damping < most_damping; ++step) {
    const Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
    Eigen::MatrixXd damped = normal;
    // A variable that nothing depends on at the moment would make the equations singular.
    damped.diagonal() += damping * normal.diagonal() + Eigen::VectorXd::Constant(normal.rows(), 1e-300);
    const Eigen::VectorXd change = damped.ldlt().solve(-jacobian.transpose() * residuals);
    const Eigen::VectorXd next = (best.x + change).cwiseMax(lower).cwiseMin(upper);
    double sum = std::numeric_limits<double>::infinity();
    if (change.allFinite()) {
      function(next, next_residuals, next_jacobian);
      sum = next_residuals.squaredNorm();
    }
    if (!(sum < best.sum)) {
      damping *= 4;
      continue;
    }
    const double gain = best.sum - sum;
    const bool done = gain <= least_gain * best.sum;
    best = {next, sum};
    residuals.swap(next_residuals);
    jacobian.swap(next_jacobian);
    damping = std::max(damping / 8, 1e-12);
    if (done) break;
  }
  return best;
}

}  // namespace wattune
