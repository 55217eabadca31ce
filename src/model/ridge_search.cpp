#include "model/ridge_search.hpp"

#include <algorithm>
#include <cmath>

#include "model/levenberg_marquardt.hpp"

namespace wattune {

namespace {

/// Rises of the voltage that are tried, as shares of the least voltage over the whole range of clocks. Boards have 0.3
/// to 2.
constexpr double least_rise = 0.03;
constexpr double most_rise = 30;
constexpr int rises = 20;
constexpr double golden = 0.6180339887498949;

double rise_at(double index) {
  return least_rise * std::pow(most_rise / least_rise, index / (rises - 1));
}

/// Golden-section search between two points. @return where the function is least.
template <typename Function>
double least_between(double low, double high, int steps, const Function& function) {
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  for (int i = 0; i < steps; ++i) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = function(right);
    }
  }
  return at_left < at_right ? left : right;
}

bool is_better(const RidgePoint& a, const RidgePoint& b) {
  return a.linear.residual < b.linear.residual;
}

}  // namespace

std::size_t columns_of(PowerForm form) {
  switch (form) {
    case PowerForm::paper:
      return 1;
    case PowerForm::free:
      return 2;
    case PowerForm::leakage:
      return 3;
  }
  return 0;
}

CappedRow power_row(double clock, double origin, double voltage, double value) {
  return {{(clock - origin) * voltage * voltage, 1, voltage}, value};
}

RidgeSearch::RidgeSearch(PowerForm form, std::vector<double> clocks, std::vector<double> values, double origin,
                         std::size_t least_capped)
    : form_(form),
      clocks_(std::move(clocks)),
      values_(std::move(values)),
      origin_(origin),
      least_capped_(least_capped) {}

RidgePoint RidgeSearch::at(double ridge, double rise) const {
  std::vector<CappedRow> rows;
  rows.reserve(clocks_.size());
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    const double voltage = 1 + rise * std::max(0.0, clocks_[i] - ridge);
    rows.push_back(power_row(clocks_[i], origin_, voltage, values_[i]));
  }
  const std::size_t columns = columns_of(form_);
  return {ridge, rise, least_capped_ > 0 ? solve_capped(rows, columns, least_capped_) : solve_uncapped(rows, columns)};
}

RidgePoint RidgeSearch::at(double ridge) const {
  RidgePoint best;
  int best_index = 0;
  for (int i = 0; i < rises; ++i) {
    const RidgePoint point = at(ridge, rise_at(i));
    if (is_better(point, best)) {
      best = point;
      best_index = i;
    }
  }
  constexpr int steps = 16;
  const double index = least_between(best_index - 1, best_index + 1, steps,
                                     [&](double i) { return at(ridge, rise_at(i)).linear.residual; });
  const RidgePoint point = at(ridge, rise_at(index));
  return is_better(point, best) ? point : best;
}

std::vector<double> RidgeSearch::ridge_grid() const {
  constexpr std::size_t wanted = 64;
  std::vector<double> distinct = clocks_;
  distinct.erase(std::unique(distinct.begin(), distinct.end(), [](double a, double b) { return b - a < 1e-3; }),
                 distinct.end());
  const std::size_t cells = distinct.size() - 1;
  const std::size_t pieces = std::max<std::size_t>(2, (wanted + cells - 1) / cells);
  std::vector<double> grid;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const double share = static_cast<double>(piece) / static_cast<double>(pieces);
      grid.push_back(distinct[cell] + share * (distinct[cell + 1] - distinct[cell]));
    }
  }
  grid.push_back(distinct.back());
  return grid;
}

RidgePoint RidgeSearch::best() const {
  constexpr std::size_t starts = 4;
  const std::vector<double> grid = ridge_grid();
  std::vector<RidgePoint> points;
  for (const double ridge : grid) {
    RidgePoint best;
    for (int i = 0; i < rises; ++i) {
      const RidgePoint point = at(ridge, rise_at(i));
      if (is_better(point, best)) best = point;
    }
    points.push_back(best);
  }
  std::vector<RidgePoint> minima;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool below_left = i == 0 || !is_better(points[i - 1], points[i]);
    const bool below_right = i + 1 == points.size() || !is_better(points[i + 1], points[i]);
    if (below_left && below_right) minima.push_back(points[i]);
  }
  std::sort(minima.begin(), minima.end(), is_better);
  if (minima.size() > starts) minima.resize(starts);
  const double reach = (grid.back() - grid.front()) / static_cast<double>(grid.size());
  RidgePoint best = minima.front();
  for (const auto& start : minima) {
    const RidgePoint found = refined(start);
    if (is_better(found, best)) best = found;
  }
  return polished(best, reach);
}

/// Levenberg-Marquardt over all parameters at once: the linear ones, ridge, rise and, where there is one, the limit.
RidgePoint RidgeSearch::refined(const RidgePoint& start) const {
  constexpr int most_steps = 40;
  const auto columns = static_cast<Eigen::Index>(columns_of(form_));
  const Eigen::Index ridge = columns;
  const Eigen::Index rise = columns + 1;
  const Eigen::Index limit = columns + 2;
  const Eigen::Index variables = columns + (least_capped_ > 0 ? 3 : 2);
  Eigen::VectorXd x(variables);
  Eigen::VectorXd lower = Eigen::VectorXd::Zero(variables);
  Eigen::VectorXd upper = Eigen::VectorXd::Constant(variables, std::numeric_limits<double>::infinity());
  for (Eigen::Index i = 0; i < columns; ++i) x[i] = start.linear.coefficients[static_cast<std::size_t>(i)];
  x[ridge] = start.ridge;
  x[rise] = start.rise;
  if (least_capped_ > 0) x[limit] = start.linear.limit;
  lower[ridge] = clocks_.front();
  upper[ridge] = clocks_.back();
  const auto residuals = [&](const Eigen::VectorXd& at, Eigen::VectorXd& out, Eigen::MatrixXd& jacobian) {
    const auto rows = static_cast<Eigen::Index>(clocks_.size());
    out.resize(rows);
    jacobian.setZero(rows, variables);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const double clock = clocks_[static_cast<std::size_t>(i)];
      const double beyond = std::max(0.0, clock - at[ridge]);
      const double voltage = 1 + at[rise] * beyond;
      const CappedRow row = power_row(clock, origin_, voltage, values_[static_cast<std::size_t>(i)]);
      double power = 0;
      for (Eigen::Index k = 0; k < columns; ++k) power += at[k] * row.columns[static_cast<std::size_t>(k)];
      if (least_capped_ > 0 && power > at[limit]) {
        out[i] = at[limit] - row.value;
        jacobian(i, limit) = 1;
        continue;
      }
      out[i] = power - row.value;
      for (Eigen::Index k = 0; k < columns; ++k) jacobian(i, k) = row.columns[static_cast<std::size_t>(k)];
      const double by_voltage = 2 * at[0] * (clock - origin_) * voltage + (columns > 2 ? at[2] : 0);
      jacobian(i, rise) = by_voltage * beyond;
      if (beyond > 0) jacobian(i, ridge) = -by_voltage * at[rise];
    }
  };
  const LeastSquares found = levenberg_marquardt(residuals, std::move(x), lower, upper, most_steps);
  return at(found.x[ridge], found.x[rise]);
}

/// At a kink of the sum of squares derivatives do not lead to the minimum: the last bit is searched.
RidgePoint RidgeSearch::polished(const RidgePoint& start, double reach) const {
  constexpr int steps = 12;
  const double low = std::max(clocks_.front(), start.ridge - reach);
  const double high = std::min(clocks_.back(), start.ridge + reach);
  const double ridge = least_between(low, high, steps, [&](double r) { return at(r).linear.residual; });
  const RidgePoint found = refined(at(ridge));
  return is_better(found, start) ? found : start;
}

/// Bisection between a ridge below the threshold and one above.
double RidgeSearch::crossing(double inside, double outside, double threshold) const {
  for (int i = 0; i < 10; ++i) {
    const double middle = (inside + outside) / 2;
    (at(middle).linear.residual <= threshold ? inside : outside) = middle;
  }
  return (inside + outside) / 2;
}

RidgeSearch::Interval RidgeSearch::interval(const RidgePoint& best, double threshold) const {
  const std::vector<double> grid = ridge_grid();
  const auto is_inside = [&](double ridge) { return at(ridge).linear.residual <= threshold; };
  Interval found{clocks_.front(), clocks_.back(), true, true};
  double low = best.ridge;
  double high = best.ridge;
  // From the ends inwards, so that a gap in the middle does not cut it short.
  for (const double ridge : grid) {
    if (ridge >= best.ridge) break;
    if (is_inside(ridge)) {
      low = ridge;
      break;
    }
    found.low = ridge;
    found.low_open = false;
  }
  for (std::size_t i = grid.size(); i-- > 0 && grid[i] > best.ridge;) {
    if (is_inside(grid[i])) {
      high = grid[i];
      break;
    }
    found.high = grid[i];
    found.high_open = false;
  }
  if (!found.low_open) found.low = crossing(low, found.low, threshold);
  if (!found.high_open) found.high = crossing(high, found.high, threshold);
  return found;
}

}  // namespace wattune
