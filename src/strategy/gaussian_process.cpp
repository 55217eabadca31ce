#include "strategy/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "strategy/minimize.hpp"

namespace wattune {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What is thought of logarithms of weights and noise before data: normal, with these means and deviations.
struct Prior {
  double mean;
  double deviation;
};
constexpr Prior same_prior{-1.5, 1.0};
constexpr Prior ordinal_prior{-0.5, 1.0};
constexpr Prior pair_prior{-1.5, 3.0};  // of most problems no pair matters, of some a few decide
constexpr Prior noise_prior{-7.0, 1.0};
/// So many observations of variance 1 are added to those that set the signal's variance.
constexpr double variance_weight = 2;
constexpr int most_steps = 20;

Prior prior_of(const Feature& feature) {
  switch (feature.kind) {
    case Feature::Kind::same:
      return same_prior;
    case Feature::Kind::ordinal:
      return ordinal_prior;
    case Feature::Kind::pair:
      return pair_prior;
  }
  return same_prior;
}

/// The loss as a function of the logarithms of weights and noise, with its gradient.
class Loss {
 public:
  Loss(const Geometry& geometry, const std::vector<Point>& points, const VectorXd& targets, bool with_pairs)
      : targets_(targets) {
    const auto n = static_cast<Index>(points.size());
    for (std::size_t f = 0; f < geometry.features().size(); ++f) {
      if (with_pairs || geometry.features()[f].kind != Feature::Kind::pair) used_.push_back(f);
    }
    for (const std::size_t f : used_) priors_.push_back(prior_of(geometry.features()[f]));
    priors_.push_back(noise_prior);
    distances_.resize(n * (n - 1) / 2, static_cast<Index>(used_.size()));
    std::vector<double> coordinates(points.size());
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const Feature& feature = geometry.features()[used_[k]];
      const bool is_same = feature.kind == Feature::Kind::same;
      for (std::size_t i = 0; i < points.size(); ++i) {
        coordinates[i] = is_same ? points[i][feature.first] : geometry.coordinate(feature, points[i]);
      }
      double* to = distances_.col(static_cast<Index>(k)).data();
      for (std::size_t j = 0; j < points.size(); ++j) {
        for (std::size_t i = j + 1; i < points.size(); ++i) {
          const double difference = std::abs(coordinates[i] - coordinates[j]);
          *to++ = is_same ? (difference > 0 ? 1.0 : 0.0) : difference;
        }
      }
    }
  }

  [[nodiscard]] VectorXd start(const CovarianceKernel* previous) const {
    VectorXd x(static_cast<Index>(priors_.size()));
    for (std::size_t k = 0; k < priors_.size(); ++k) x[static_cast<Index>(k)] = priors_[k].mean;
    if (previous == nullptr) return x;
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const double weight = previous->weights[static_cast<Index>(used_[k])];
      if (weight > 0) x[static_cast<Index>(k)] = std::log(weight);
    }
    x[x.size() - 1] = std::log(previous->noise);
    return x;
  }

  [[nodiscard]] CovarianceKernel kernel(const VectorXd& x, std::size_t features) const {
    CovarianceKernel kernel;
    kernel.weights = VectorXd::Zero(static_cast<Index>(features));
    for (std::size_t k = 0; k < used_.size(); ++k) {
      kernel.weights[static_cast<Index>(used_[k])] = std::exp(x[static_cast<Index>(k)]);
    }
    kernel.noise = std::exp(x[x.size() - 1]);
    return kernel;
  }

  double operator()(const VectorXd& x, VectorXd& gradient) const {
    const Index n = targets_.size();
    const Index features = x.size() - 1;
    const VectorXd weights = x.head(features).array().exp();
    const double noise = std::exp(x[features]);
    const VectorXd values = (-(distances_ * weights)).array().exp();
    MatrixXd matrix(n, n);
    const double* value = values.data();
    for (Index j = 0; j < n; ++j) {
      matrix(j, j) = 1 + noise;
      for (Index i = j + 1; i < n; ++i) matrix(i, j) = *value++;
    }
    const Eigen::LLT<MatrixXd> factor(matrix);
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    MatrixXd inverse = MatrixXd::Identity(n, n);
    factor.matrixL().solveInPlace(inverse);
    inverse = inverse.transpose().triangularView<Eigen::Upper>() * inverse;
    const VectorXd ones = inverse.rowwise().sum();
    const double mean = ones.dot(targets_) / ones.sum();
    const VectorXd solved = inverse * (targets_.array() - mean).matrix();
    const double fit = variance_weight + (targets_.array() - mean).matrix().dot(solved);
    const double count = static_cast<double>(n) + variance_weight;
    double loss = 0.5 * count * std::log(fit);
    for (Index i = 0; i < n; ++i) loss += std::log(factor.matrixLLT()(i, i));

    // d loss / d matrix, each pair of the lower triangle once.
    VectorXd slope(values.size());
    double* to = slope.data();
    value = values.data();
    double diagonal = 0;
    for (Index j = 0; j < n; ++j) {
      diagonal += inverse(j, j) - count / fit * solved[j] * solved[j];
      for (Index i = j + 1; i < n; ++i) {
        *to++ = (inverse(i, j) - count / fit * solved[i] * solved[j]) * *value++;
      }
    }
    gradient.head(features) = -(distances_.transpose() * slope).cwiseProduct(weights);
    gradient[features] = 0.5 * noise * diagonal;
    for (Index k = 0; k <= features; ++k) {
      const Prior& prior = priors_[static_cast<std::size_t>(k)];
      const double off = (x[k] - prior.mean) / prior.deviation;
      loss += 0.5 * off * off;
      gradient[k] += off / prior.deviation;
    }
    return loss;
  }

 private:
  VectorXd targets_;
  std::vector<std::size_t> used_;  ///< features
  std::vector<Prior> priors_;      ///< one per used feature, and that of the noise
  MatrixXd distances_;             ///< a row per pair of points, a column per used feature
};

}  // namespace

KernelFit fit_kernel(const Geometry& geometry, const std::vector<Point>& points, const VectorXd& targets,
                     bool with_pairs, const CovarianceKernel* previous) {
  const Loss loss(geometry, points, targets, with_pairs);
  const auto minimum = minimize(loss, loss.start(previous), most_steps);
  return {loss.kernel(minimum.x, geometry.features().size()), minimum.value};
}

GaussianProcess::GaussianProcess(const Geometry& geometry, CovarianceKernel kernel)
    : geometry_(geometry), kernel_(std::move(kernel)) {}

double GaussianProcess::covariance(const Point& a, const Point& b) const {
  double distance = 0;
  for (std::size_t f = 0; f < geometry_.features().size(); ++f) {
    const double weight = kernel_.weights[static_cast<Index>(f)];
    if (weight > 0) distance += weight * geometry_.distance(geometry_.features()[f], a, b);
  }
  return std::exp(-distance);
}

void GaussianProcess::observe(const std::vector<Point>& points, const VectorXd& targets) {
  points_ = points;
  targets_ = targets;
  const Index n = size();
  MatrixXd matrix(n, n);
  for (Index j = 0; j < n; ++j) {
    matrix(j, j) = 1 + kernel_.noise;
    for (Index i = j + 1; i < n; ++i) {
      matrix(i, j) = covariance(points[static_cast<std::size_t>(i)], points[static_cast<std::size_t>(j)]);
    }
  }
  factor_ = Eigen::LLT<MatrixXd>(matrix).matrixL();
  const auto lower = factor_.triangularView<Eigen::Lower>();
  const VectorXd ones = lower.solve(VectorXd::Ones(n));
  const VectorXd solved = lower.solve(targets_);
  mean_ = ones.dot(solved) / ones.squaredNorm();
  residual_ = solved - mean_ * ones;
  variance_ = (variance_weight + residual_.squaredNorm()) / (static_cast<double>(n) + variance_weight);
}

VectorXd GaussianProcess::add(const Point& point, double target) {
  const Index n = size();
  VectorXd row(n + 1);
  for (Index i = 0; i < n; ++i) row[i] = covariance(points_[static_cast<std::size_t>(i)], point);
  if (n > 0) factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(row.head(n));
  row[n] = std::sqrt(std::max(1 + kernel_.noise - row.head(n).squaredNorm(), 0.5 * kernel_.noise));
  if (n + 1 > factor_.rows()) factor_.conservativeResize(2 * n + 16, 2 * n + 16);
  factor_.row(n).head(n + 1) = row.transpose();
  factor_.col(n).head(n).setZero();
  points_.push_back(point);
  targets_.conservativeResize(n + 1);
  targets_[n] = target;
  residual_.conservativeResize(n + 1);
  residual_[n] = (target - mean_ - row.head(n).dot(residual_.head(n))) / row[n];
  return row;
}

void GaussianProcess::set_target(std::size_t number, double target) {
  const auto first = static_cast<Index>(number);
  targets_[first] = target;
  for (Index i = first; i < size(); ++i) {
    residual_[i] = (targets_[i] - mean_ - factor_.row(i).head(i).dot(residual_.head(i))) / factor_(i, i);
  }
}

}  // namespace wattune
