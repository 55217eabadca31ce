#pragma once
// Nonlinear least squares.

#include <Eigen/Core>
#include <functional>

namespace wattune {

/// Fills the residuals at x and their derivatives (a row for each residual, a column for each variable).
using ResidualFunction =
    std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& residuals, Eigen::MatrixXd& jacobian)>;

struct LeastSquares {
  Eigen::VectorXd x;
  double sum = 0;  ///< of the squared residuals
};

/// Levenberg and Marquardt's method, with steps damped in proportion to the diagonal of the normal equations. Where the
/// function has kinks it ends where no step of any length makes progress.
/// @param lower @param upper bounds that steps are cut at
LeastSquares levenberg_marquardt(const ResidualFunction& function, Eigen::VectorXd start, const Eigen::VectorXd& lower,
                                 const Eigen::VectorXd& upper, int most_steps);

}  // namespace wattune
