#include "model/capped_least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

/// What normal equations are made of.
struct Sums {
  std::array<std::array<double, most_columns>, most_columns> products{};
  std::array<double, most_columns> with_value{};
  double squares = 0;

  void add(const std::array<double, most_columns>& columns, double count, double value_sum, double square_sum) {
    for (std::size_t i = 0; i < most_columns; ++i) {
      for (std::size_t j = 0; j <= i; ++j) products[i][j] += count * columns[i] * columns[j];
      with_value[i] += columns[i] * value_sum;
    }
    squares += square_sum;
  }
};

using Coefficients = std::array<double, most_columns>;

/// Cholesky's method on the columns in `mask`; the others get 0. @return false where they depend on each other.
bool solve_columns(const Sums& sums, std::size_t columns, unsigned mask, Coefficients& solution) {
  constexpr double least_pivot = 1e-12;
  std::array<std::size_t, most_columns> chosen{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    if ((mask >> i & 1U) != 0) chosen[n++] = i;
  }
  std::array<std::array<double, most_columns>, most_columns> lower{};
  Coefficients forward{};
  for (std::size_t i = 0; i < n; ++i) {
    double right = sums.with_value[chosen[i]];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = sums.products[chosen[i]][chosen[j]];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j) {
        if (!(sum > least_pivot * sums.products[chosen[i]][chosen[i]])) return false;
        lower[i][i] = std::sqrt(sum);
      } else {
        lower[i][j] = sum / lower[j][j];
        right -= lower[i][j] * forward[j];
      }
    }
    forward[i] = right / lower[i][i];
  }
  solution = {};
  for (std::size_t i = n; i-- > 0;) {
    double right = forward[i];
    for (std::size_t k = i + 1; k < n; ++k) right -= lower[k][i] * solution[chosen[k]];
    solution[chosen[i]] = right / lower[i][i];
  }
  return true;
}

/// Least squares with coefficients that are not negative: of so few columns every subset can be tried.
/// @return the sum of squared residuals; infinite where nothing can be solved.
double solve_non_negative(const Sums& sums, std::size_t columns, Coefficients& best) {
  const unsigned all = (1U << columns) - 1;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = all; mask > 0; --mask) {
    Coefficients solution;
    if (!solve_columns(sums, columns, mask, solution)) continue;
    if (std::any_of(solution.begin(), solution.end(), [](double c) { return c < 0; })) continue;
    double residual = sums.squares;
    for (std::size_t i = 0; i < columns; ++i) residual -= solution[i] * sums.with_value[i];
    residual = std::max(residual, 0.0);
    if (residual < least) {
      least = residual;
      best = solution;
    }
    if (mask == all) break;
  }
  return least;
}

double product(const Coefficients& coefficients, const CappedRow& row) {
  double sum = 0;
  for (std::size_t i = 0; i < most_columns; ++i) sum += coefficients[i] * row.columns[i];
  return sum;
}

/// Columns beyond those that count are 0 in what follows.
CappedRow cut(CappedRow row, std::size_t columns) {
  std::fill(row.columns.begin() + static_cast<std::ptrdiff_t>(columns), row.columns.end(), 0.0);
  return row;
}

}  // namespace

CappedSolution solve_uncapped(std::span<const CappedRow> rows, std::size_t columns) {
  Sums sums;
  for (const auto& row : rows) sums.add(row.columns, 1, row.value, row.value * row.value);
  CappedSolution solution;
  solution.residual = solve_non_negative(sums, columns, solution.coefficients);
  return solution;
}

CappedSolution solve_capped(std::span<const CappedRow> rows, std::size_t columns, std::size_t least_capped) {
  // Where a limit on the last row alone would be no worse, nothing that misses the capped rows by more can be best.
  const double bound =
      least_capped > 1 ? std::numeric_limits<double>::infinity() : solve_uncapped(rows, columns).residual * (1 + 1e-9);
  double tail_sum = 0;
  double tail_squares = 0;
  for (const auto& row : rows) {
    tail_sum += row.value;
    tail_squares += row.value * row.value;
  }
  CappedSolution best;
  Sums sums;
  // For each number of rows below the cap: a limit of its own, if that lies between the rows on either side; or the
  // curve's value at the first capped row.
  for (std::size_t below = 1; below + least_capped <= rows.size(); ++below) {
    const CappedRow last = cut(rows[below - 1], columns);
    const CappedRow next = cut(rows[below], columns);
    sums.add(last.columns, 1, last.value, last.value * last.value);
    tail_sum -= last.value;
    tail_squares -= last.value * last.value;
    if (below < columns) continue;
    const auto capped = static_cast<double>(rows.size() - below);
    Coefficients coefficients{};
    const double limit = tail_sum / capped;
    const double scatter = std::max(0.0, tail_squares - tail_sum * limit);
    if (scatter > std::min(bound, best.residual)) continue;
    const double own = solve_non_negative(sums, columns, coefficients) + scatter;
    if (own < best.residual && product(coefficients, last) <= limit && limit <= product(coefficients, next)) {
      best = {coefficients, limit, own};
    }
    Sums all = sums;
    all.add(next.columns, capped, tail_sum, tail_squares);
    const double joined = solve_non_negative(all, columns, coefficients);
    if (joined < best.residual) best = {coefficients, product(coefficients, next), joined};
  }
  return best;
}

}  // namespace wattune
