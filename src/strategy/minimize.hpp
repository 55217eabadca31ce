#pragma once
// Minimises a smooth function of several variables.

#include <Eigen/Core>
#include <functional>

namespace wattune {

/// The value at x; the gradient goes to the second argument. A value that is not finite means that x is out of bounds.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct Minimum {
  Eigen::VectorXd x;
  double value;
};

/// L-BFGS (Nocedal, Wright: Numerical Optimization, algorithm 7.5) with a backtracking line search.
Minimum minimize(const SmoothFunction& function, Eigen::VectorXd start, int most_steps);

}  // namespace wattune
