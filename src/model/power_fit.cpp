#include "model/power_fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "base/student.hpp"
#include "model/ridge_search.hpp"

namespace wattune {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double per_mhz = 1e6;  ///< Hz
/// Clocks closer than this are one, as a share of the highest.
constexpr double same_clock = 1e-3;

std::size_t distinct_clocks(const std::vector<PowerSample>& sorted) {
  std::size_t count = 0;
  double last = 0;
  for (const auto& sample : sorted) {
    if (count > 0 && sample.clock_hz - last < same_clock * sorted.back().clock_hz) continue;
    ++count;
    last = sample.clock_hz;
  }
  return count;
}

void check(const std::vector<PowerSample>& samples) {
  for (const auto& sample : samples) {
    const bool good =
        std::isfinite(sample.clock_hz) && sample.clock_hz > 0 && std::isfinite(sample.power_w) && sample.power_w > 0;
    if (!good) {
      throw UsageError(fmt::format(
          "fitting the power model: a sample has {:g} W at {:g} MHz; clock and power have to be positive numbers",
          sample.power_w, sample.clock_hz / per_mhz));
    }
  }
}

double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_below(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

class PowerFitter {
 public:
  PowerFitter(std::vector<PowerSample> samples, PowerForm form) : samples_(std::move(samples)), form_(form) {
    check(samples_);
    std::sort(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) { return a.clock_hz < b.clock_hz; });
    measured_voltage_ = !samples_.empty() && std::all_of(samples_.begin(), samples_.end(), [](const auto& s) {
      return std::isfinite(s.voltage) && s.voltage > 0;
    });
    const std::size_t needed = least_clocks(form_, measured_voltage_);
    const std::size_t found = samples_.empty() ? 0 : distinct_clocks(samples_);
    if (found < needed) {
      throw UsageError(fmt::format(
          "fitting the power model: {} distinct clock{} {} too few for the form '{}', which needs {} or more", found,
          found == 1 ? "" : "s", found == 1 ? "is" : "are", to_string(form_), needed));
    }
    scale_ = samples_.back().clock_hz;
    least_power_ = std::min_element(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) {
                     return a.power_w < b.power_w;
                   })->power_w;
    fixed_ = form_ == PowerForm::paper ? least_power_ : 0;
    origin_ = form_ == PowerForm::paper ? samples_.front().clock_hz / scale_ : 0;
    for (const auto& sample : samples_) {
      clocks_.push_back(sample.clock_hz / scale_);
      values_.push_back(sample.power_w - fixed_);
    }
  }

  PowerFit fit() {
    result_.form = form_;
    result_.samples = samples_.size();
    result_.measured_voltage = measured_voltage_;
    measured_voltage_ ? fit_with_voltage() : fit_ridge();
    judge();
    measured_voltage_ ? find_voltage_ridge() : find_interval();
    list_parameters();
    warn();
    return std::move(result_);
  }

 private:
  [[nodiscard]] int freedom(bool with_limit) const {
    const std::size_t parameters = columns_of(form_) + (measured_voltage_ ? 0 : 2) + (with_limit ? 1 : 0);
    return static_cast<int>(samples_.size()) - static_cast<int>(parameters);
  }

  /// What rounding leaves of a perfect fit, as a variance.
  [[nodiscard]] double least_variance() const {
    constexpr double rounding = 1e-6;
    return std::pow(rounding * least_power_, 2);
  }

  /// The samples of highest actual clock that were held back below the requested one.
  [[nodiscard]] std::size_t held_back() const {
    constexpr double noticeable = 0.99;
    std::size_t count = 0;
    while (count < samples_.size()) {
      const PowerSample& sample = samples_[samples_.size() - 1 - count];
      if (!(sample.clock_hz < noticeable * sample.requested_hz)) break;
      ++count;
    }
    return count + columns_of(form_) < samples_.size() ? count : 0;
  }

  /// Whether a limit explains more than chance would. @param without @param with sums of squared residuals
  [[nodiscard]] bool needs_limit(double without, double with) const {
    const int degrees = freedom(true);
    if (degrees < 1 || !std::isfinite(with)) return false;
    if (held_back() > 0) return true;
    const double variance = std::max(with / degrees, least_variance());
    return (without - with) / variance > std::pow(student_two_sided(0.95, degrees), 2);
  }

  /// One sample that is lower than expected could as well be chance.
  [[nodiscard]] std::size_t least_capped() const { return held_back() > 0 ? held_back() : 2; }

  [[nodiscard]] RidgeSearch search(bool limited) const {
    return {form_, clocks_, values_, origin_, limited ? least_capped() : 0};
  }

  void fit_ridge() {
    const RidgePoint without = search(false).best();
    const RidgePoint with = search(true).best();
    limited_ = needs_limit(without.linear.residual, with.linear.residual);
    best_ = limited_ ? with : without;
    take(best_.linear);
    result_.model.voltage = VoltageCurve::hinge(best_.ridge * scale_, best_.rise / scale_);
    result_.ridge_hz = best_.ridge * scale_;
  }

  void fit_with_voltage() {
    std::vector<std::pair<double, double>> points;
    for (const auto& sample : samples_) points.emplace_back(sample.clock_hz, sample.voltage);
    result_.model.voltage = VoltageCurve::measured(points);
    std::vector<CappedRow> rows;
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      rows.push_back(power_row(clocks_[i], origin_, result_.model.voltage.at(samples_[i].clock_hz), values_[i]));
    }
    const CappedSolution without = solve_uncapped(rows, columns_of(form_));
    const CappedSolution with = solve_capped(rows, columns_of(form_), least_capped());
    limited_ = needs_limit(without.residual, with.residual);
    take(limited_ ? with : without);
  }

  void take(const CappedSolution& solution) {
    PowerModel& model = result_.model;
    model.slope_w_per_hz = solution.coefficients[0] / scale_;
    model.base_w = form_ == PowerForm::paper ? fixed_ : solution.coefficients[1];
    model.leakage_w = form_ == PowerForm::leakage ? solution.coefficients[2] : 0;
    model.origin_hz = origin_ * scale_;
    if (limited_) model.limit_w = solution.limit + fixed_;
  }

  [[nodiscard]] bool is_capped(const PowerSample& sample) const {
    return result_.model.uncapped_power(sample.clock_hz) >= result_.model.limit_w * (1 - 1e-9);
  }

  /// Goodness of fit.
  void judge() {
    const auto n = static_cast<double>(samples_.size());
    const double mean = std::accumulate(samples_.begin(), samples_.end(), 0.0,
                                        [](double sum, const auto& s) { return sum + s.power_w; }) /
                        n;
    double total = 0;
    squares_ = 0;
    for (const auto& sample : samples_) {
      squares_ += std::pow(sample.power_w - result_.model.power(sample.clock_hz), 2);
      total += std::pow(sample.power_w - mean, 2);
      if (is_capped(sample)) ++result_.capped;
    }
    variance_ = squares_ / std::max(1, freedom(limited_));
    result_.rms_w = std::sqrt(squares_ / n);
    result_.r_squared = total > 0 ? 1 - squares_ / total : 0;
  }

  void find_interval() {
    const double t = student_two_sided(0.95, std::max(1, freedom(limited_)));
    threshold_ = squares_ + t * t * std::max(variance_, least_variance());
    const auto found = search(limited_).interval(best_, threshold_);
    result_.ridge_interval = {found.low * scale_, found.high * scale_, found.low_open, found.high_open};
    ridge_error_hz_ = (found.high - found.low) / 2 / t * scale_;
  }

  void find_voltage_ridge() {
    const auto found = voltage_ridge(result_.model.voltage.points());
    if (found) {
      result_.ridge_hz = found->ridge;
      result_.ridge_interval = {found->low, found->high, false, false};
    } else {
      result_.ridge_hz = samples_.back().clock_hz;
      result_.ridge_interval = {samples_.front().clock_hz, samples_.back().clock_hz, true, true};
    }
  }

  /// Standard errors of all but the ridge. A sample near the ridge is on either side of it with some probability, so
  /// derivatives are expectations over the ridge's own uncertainty: taken on one side only they would depend on which
  /// side a hair's breadth has put the sample. @return of slope, base, leakage, ridge, rise and limit, in units of Hz
  [[nodiscard]] std::vector<double> standard_errors() const {
    const std::size_t columns = columns_of(form_);
    const std::size_t shape = measured_voltage_ ? 0 : 2;
    const auto variables = static_cast<Eigen::Index>(columns + shape + (limited_ ? 1 : 0));
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(samples_.size()), variables);
    const PowerModel& model = result_.model;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (is_capped(samples_[i])) {
        jacobian(row, variables - 1) = 1;
        continue;
      }
      const double clock = samples_[i].clock_hz;
      const double voltage = model.voltage.at(clock);
      const CappedRow line = power_row(clocks_[i], origin_, voltage, 0);
      for (std::size_t k = 0; k < columns; ++k) jacobian(row, static_cast<Eigen::Index>(k)) = line.columns[k];
      if (measured_voltage_) continue;
      const double by_voltage = model.leakage_w + 2 * model.slope_w_per_hz * (clock - model.origin_hz) * voltage;
      const double error = std::max(ridge_error_hz_ / scale_, 1e-6);
      const double distance = (clocks_[i] - best_.ridge) / error;
      const auto first = static_cast<Eigen::Index>(columns);
      jacobian(row, first) = -by_voltage * best_.rise * normal_below(distance);
      jacobian(row, first + 1) = by_voltage * error * (normal_density(distance) + distance * normal_below(distance));
    }
    // Columns of length 1, for the units differ by orders of magnitude.
    const Eigen::VectorXd lengths = jacobian.colwise().norm().cwiseMax(1e-300);
    const Eigen::MatrixXd scaled = jacobian * lengths.cwiseInverse().asDiagonal();
    const Eigen::FullPivLU<Eigen::MatrixXd> normal(scaled.transpose() * scaled);
    std::vector<double> errors(static_cast<std::size_t>(variables), nan);
    if (!normal.isInvertible() || freedom(limited_) < 1) return errors;
    const Eigen::VectorXd diagonal = normal.inverse().diagonal();
    for (Eigen::Index i = 0; i < variables; ++i) {
      errors[static_cast<std::size_t>(i)] = std::sqrt(std::max(0.0, variance_ * diagonal[i])) / lengths[i];
    }
    errors[0] /= scale_;
    if (shape > 0) {
      errors[columns] *= scale_;
      errors[columns + 1] /= scale_;
    }
    return errors;
  }

  /// The ridge's own error is that of its interval, where that is one.
  [[nodiscard]] double ridge_error() const {
    const auto& interval = result_.ridge_interval;
    return measured_voltage_ || interval.low_open || interval.high_open ? nan : ridge_error_hz_;
  }

  void list_parameters() {
    const std::vector<double> errors = standard_errors();
    const std::size_t columns = columns_of(form_);
    const PowerModel& model = result_.model;
    const double rise_error = measured_voltage_ ? nan : errors[columns + 1];
    auto add = [&](const char* name, double value, double error, double factor, const char* unit) {
      result_.parameters.push_back({name, value * factor, error * factor, unit});
    };
    if (form_ == PowerForm::paper) {
      constexpr double thousand = 1e3;
      add("t", result_.ridge_hz - model.origin_hz, ridge_error(), 1 / per_mhz, "MHz");
      if (!measured_voltage_) add("s_v", model.voltage.rise(), rise_error, per_mhz * thousand, "1/GHz");
      add("s_c", model.slope_w_per_hz, errors[0], per_mhz * thousand / least_power_, "1/GHz");
      if (limited_) add("p_max", model.limit_w, errors.back(), 1 / least_power_, "");
      return;
    }
    add(form_ == PowerForm::leakage ? "P_0" : "P_idle", model.base_w, errors[1], 1, "W");
    if (form_ == PowerForm::leakage) add("l", model.leakage_w, errors[2], 1, "W");
    add("alpha", model.slope_w_per_hz, errors[0], per_mhz, "W/MHz");
    add("ridge", result_.ridge_hz, ridge_error(), 1 / per_mhz, "MHz");
    if (!measured_voltage_) add("beta", model.voltage.rise(), rise_error, per_mhz, "1/MHz");
    if (limited_) add("P_max", model.limit_w, errors.back(), 1, "W");
  }

  /// Distinct clocks on one side of the ridge, and below the cap.
  [[nodiscard]] std::size_t clocks_beside_ridge(bool above) const {
    std::vector<PowerSample> side;
    for (const auto& sample : samples_) {
      if ((sample.clock_hz > result_.ridge_hz) == above && !is_capped(sample)) side.push_back(sample);
    }
    return side.empty() ? 0 : distinct_clocks(side);
  }

  void warn() {
    constexpr std::size_t enough = 3;
    auto& warnings = result_.warnings;
    if (form_ == PowerForm::free && result_.model.base_w <= 0) {
      warnings.emplace_back("the data cannot tell P_idle, which comes out as 0: sample lower clocks");
    }
    if (form_ == PowerForm::leakage && !measured_voltage_) {
      warnings.emplace_back(
          "without measured voltage P_0 and l cannot be told apart: only their sum below the ridge counts");
    }
    const bool no_ridge = measured_voltage_ ? result_.ridge_interval.low_open : line_fits_as_well();
    if (no_ridge) {
      warnings.push_back(fmt::format(
          "the data cannot tell the ridge: {}; the most efficient clock may lie higher than any sampled one{}",
          measured_voltage_ ? "the voltage does not leave a flat part"
                            : "up to the highest clock power rises as it would at constant voltage",
          result_.capped > 0 ? " or beyond the power limit, which comes before the ridge" : ""));
      return;
    }
    const auto& interval = result_.ridge_interval;
    if (interval.low_open || interval.high_open) {
      warnings.push_back(fmt::format(
          "the data bounds the ridge {} only; sample more clocks {}",
          interval.low_open && interval.high_open ? "on no side" : (interval.low_open ? "from above" : "from below"),
          interval.high_open ? "above it" : "below it"));
    }
    for (const bool above : {false, true}) {
      const std::size_t count = clocks_beside_ridge(above);
      if (count >= enough) continue;
      warnings.push_back(fmt::format("only {} sampled clock{} {} the ridge{}; {} or more are needed to place it well",
                                     count, count == 1 ? "" : "s", above ? "above" : "below",
                                     above && result_.capped > 0 ? " and below the power limit" : "", enough));
    }
  }

  [[nodiscard]] bool line_fits_as_well() const {
    const RidgePoint line = search(limited_).at(clocks_.back(), 0);
    return line.linear.residual <= threshold_;
  }

  std::vector<PowerSample> samples_;
  PowerForm form_;
  bool measured_voltage_ = false;
  bool limited_ = false;
  double scale_ = 1;        ///< Hz
  double least_power_ = 0;  ///< W
  double fixed_ = 0;        ///< W
  double origin_ = 0;       ///< in units of the scale
  std::vector<double> clocks_, values_;
  RidgePoint best_;
  double squares_ = 0, variance_ = 0, threshold_ = 0;
  double ridge_error_hz_ = 0;
  PowerFit result_;
};

}  // namespace

std::size_t least_clocks(PowerForm form, bool measured_voltage) {
  // A parameter each, the limit among them, and one more, without which there is no telling how well they fit.
  return columns_of(form) + (measured_voltage ? 0 : 2) + 2;
}

PowerFit fit_power_model(std::vector<PowerSample> samples, PowerForm form) {
  return PowerFitter(std::move(samples), form).fit();
}

}  // namespace wattune
