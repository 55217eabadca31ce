#include "base/student.hpp"

#include <cmath>
#include <numbers>

namespace wattune {

namespace {

/// P(|t| < x): Abramowitz and Stegun, 26.7.3 and 26.7.4.
double inside(double x, int degrees) {
  const double angle = std::atan(x / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const double square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (int k = odd ? 1 : 0; k <= degrees - 2; k += 2) {
    sum += term;
    term *= square * (k + 1) / (k + 2);
  }
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

}  // namespace

double student_two_sided(double probability, int degrees) {
  double low = 0;
  double high = 1;
  while (inside(high, degrees) < probability) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (inside(middle, degrees) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace wattune
