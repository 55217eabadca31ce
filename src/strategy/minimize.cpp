#include "strategy/minimize.hpp"

#include <cmath>
#include <deque>

namespace wattune {

namespace {

/// The last changes of x and of the gradient, which stand for the curvature.
class History {
 public:
  void add(const Eigen::VectorXd& dx, const Eigen::VectorXd& dg) {
    const double product = dx.dot(dg);
    if (product <= 1e-12 * dg.squaredNorm()) return;
    changes_.push_back({dx, dg, 1 / product});
    if (changes_.size() > length) changes_.pop_front();
  }

  [[nodiscard]] Eigen::VectorXd direction(const Eigen::VectorXd& gradient) const {
    Eigen::VectorXd q = -gradient;
    if (changes_.empty()) return q / std::max(1.0, gradient.norm());
    std::vector<double> factors(changes_.size());
    for (std::size_t i = changes_.size(); i-- > 0;) {
      factors[i] = changes_[i].scale * changes_[i].dx.dot(q);
      q -= factors[i] * changes_[i].dg;
    }
    const auto& last = changes_.back();
    q *= 1 / (last.scale * last.dg.squaredNorm());
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      q += (factors[i] - changes_[i].scale * changes_[i].dg.dot(q)) * changes_[i].dx;
    }
    return q;
  }

 private:
  struct Change {
    Eigen::VectorXd dx;
    Eigen::VectorXd dg;
    double scale;
  };
  static constexpr std::size_t length = 10;
  std::deque<Change> changes_;
};

}  // namespace

Minimum minimize(const SmoothFunction& function, Eigen::VectorXd start, int most_steps) {
  constexpr double longest_step = 2;
  constexpr double enough_gain = 0.01;  // smaller ones do not matter for what it is used for
  constexpr double enough = 1e-4;       // of the decrease that the slope promises
  Minimum here{std::move(start), 0};
  Eigen::VectorXd gradient(here.x.size());
  here.value = function(here.x, gradient);
  History history;
  for (int step = 0; step < most_steps; ++step) {
    Eigen::VectorXd direction = history.direction(gradient);
    const double longest = direction.cwiseAbs().maxCoeff();
    if (longest > longest_step) direction *= longest_step / longest;
    const double slope = direction.dot(gradient);
    if (!(slope < 0)) break;
    Eigen::VectorXd next_gradient(here.x.size());
    Minimum next;
    double length = 1;
    constexpr double shortest = 1e-3;
    for (;; length /= 2) {
      if (length < shortest) return here;
      next.x = here.x + length * direction;
      next.value = function(next.x, next_gradient);
      if (std::isfinite(next.value) && next.value <= here.value + enough * length * slope) break;
    }
    history.add(next.x - here.x, next_gradient - gradient);
    const double gain = here.value - next.value;
    here = std::move(next);
    gradient = next_gradient;
    if (gain < enough_gain) break;
  }
  return here;
}

}  // namespace wattune
