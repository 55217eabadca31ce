#include "sensor/window_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace wattune {

namespace {

constexpr std::size_t least_updates = 20;
/// Leakage grows as a board warms up under load: die and cooler take seconds for it.
constexpr double heat_seconds = 2.0;
/// A rise time is believed where it takes away this share of the squares that remain without it.
constexpr double believed_share = 0.1;
constexpr double least_explained = 0.5;

struct Shape {
  double window;
  double delay;
  double rise;
};

struct Line {
  std::array<double, 3> coefficients{};  ///< constant, load, heat
  double squares = std::numeric_limits<double>::infinity();
};

/// Solves the normal equations of three unknowns by elimination with pivots; false where they are singular.
bool solve(std::array<std::array<double, 4>, 3>& rows, std::array<double, 3>& result) {
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (std::abs(rows[j][i]) > std::abs(rows[pivot][i])) pivot = j;
    }
    std::swap(rows[i], rows[pivot]);
    if (std::abs(rows[i][i]) < 1e-12) return false;
    for (std::size_t j = 0; j < 3; ++j) {
      if (j == i) continue;
      const double factor = rows[j][i] / rows[i][i];
      for (std::size_t k = i; k < 4; ++k) rows[j][k] -= factor * rows[i][k];
    }
  }
  for (std::size_t i = 0; i < 3; ++i) result[i] = rows[i][3] / rows[i][i];
  return true;
}

class Fit {
 public:
  Fit(const std::vector<Update>& updates, const std::vector<Burst>& bursts)
      : updates_(updates), bursts_(bursts), heat_(bursts, heat_seconds) {
    for (const auto& update : updates_) mean_ += update.watts / static_cast<double>(updates_.size());
    for (const auto& update : updates_) total_ += (update.watts - mean_) * (update.watts - mean_);
  }

  [[nodiscard]] Line line(const Shape& shape, const LoadTrace& load) const {
    std::array<std::array<double, 4>, 3> rows{};
    const auto columns = [&](const Update& update) {
      const double end = update.time - shape.delay;
      return std::array<double, 3>{1, load.mean(end - shape.window, end), heat_.level(end)};
    };
    for (const auto& update : updates_) {
      const auto x = columns(update);
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) rows[i][j] += x[i] * x[j];
        rows[i][3] += x[i] * (update.watts - mean_);
      }
    }
    Line line;
    if (!solve(rows, line.coefficients)) return line;
    line.squares = 0;
    for (const auto& update : updates_) {
      const auto x = columns(update);
      double off = update.watts - mean_;
      for (std::size_t i = 0; i < 3; ++i) off -= line.coefficients[i] * x[i];
      line.squares += off * off;
    }
    return line;
  }

  [[nodiscard]] double squares(const Shape& shape) const { return line(shape, LoadTrace(bursts_, shape.rise)).squares; }

  /// Walks downhill from a shape, in steps that shrink.
  [[nodiscard]] Shape refine(Shape best, double period, double longest, bool with_rise) const {
    double least = squares(best);
    const auto attempt = [&](Shape shape) {
      shape.window = std::clamp(shape.window, period / 200, longest);
      shape.delay = std::clamp(shape.delay, 0.0, 2 * period);
      shape.rise = std::max(0.0, shape.rise);
      const double found = squares(shape);
      if (found >= least) return false;
      least = found;
      best = shape;
      return true;
    };
    for (double step = 0.25; step > 5e-4;) {
      const double by_window = step * best.window;
      const double by_delay = step * period;
      bool better = attempt({best.window + by_window, best.delay, best.rise});
      better |= attempt({best.window - by_window, best.delay, best.rise});
      better |= attempt({best.window, best.delay + by_delay, best.rise});
      better |= attempt({best.window, best.delay - by_delay, best.rise});
      // A window that grows at its early end only.
      better |= attempt({best.window + by_delay, best.delay - by_delay, best.rise});
      better |= attempt({best.window - by_delay, best.delay + by_delay, best.rise});
      if (with_rise) {
        better |= attempt({best.window, best.delay, best.rise + by_delay});
        better |= attempt({best.window, best.delay, best.rise - by_delay});
        better |= attempt({best.window - by_delay, best.delay, best.rise + by_delay});
        better |= attempt({best.window + by_delay, best.delay, best.rise - by_delay});
      }
      if (!better) step /= 2;
    }
    return best;
  }

  [[nodiscard]] WindowFit result(const Shape& shape) const {
    const Line found = line(shape, LoadTrace(bursts_, shape.rise));
    const double n = static_cast<double>(updates_.size());
    const double off = mean_ + found.coefficients[0];
    return {shape.window,
            shape.delay,
            shape.rise,
            off,
            off + found.coefficients[1] + found.coefficients[2],
            std::sqrt(found.squares / (n - 6)),
            total_ > 0 ? 1 - found.squares / total_ : 0};
  }

 private:
  const std::vector<Update>& updates_;
  const std::vector<Burst>& bursts_;
  LoadTrace heat_;
  double mean_ = 0;
  double total_ = 0;
};

}  // namespace

std::optional<WindowFit> fit_window(const std::vector<Update>& updates, const std::vector<Burst>& bursts, double period,
                                    double longest) {
  if (updates.size() < least_updates || bursts.empty()) return std::nullopt;
  const Fit fit(updates, bursts);
  const LoadTrace load(bursts, 0);
  Shape start{period, 0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (double window = period / 20; window <= longest; window *= 1.15) {
    for (int part = 0; part <= 16; ++part) {
      const Shape shape{window, part * period / 16, 0};
      if (const double squares = fit.line(shape, load).squares; squares < least) {
        least = squares;
        start = shape;
      }
    }
  }
  if (!std::isfinite(least)) return std::nullopt;
  Shape best = fit.refine(start, period, longest, false);
  const double without = fit.squares(best);
  Shape lagging = best;
  lagging.rise = period / 10;
  lagging = fit.refine(lagging, period, longest, true);
  if (fit.squares(lagging) < (1 - believed_share) * without) best = lagging;
  const WindowFit result = fit.result(best);
  return result.explained >= least_explained ? std::optional(result) : std::nullopt;
}

}  // namespace wattune
