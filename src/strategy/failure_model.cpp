#include "strategy/failure_model.hpp"

#include <cmath>

namespace wattune {

namespace {

// What is similar: failures depend on sharp limits, so that similarity fades fast, but hardly on device settings.
constexpr double same_weight = 0.5;
constexpr double ordinal_weight = 2;
constexpr double setting_weight = 0.1;
/// So much similarity counts as much as what is thought of all configurations.
constexpr double prior_similarity = 0.5;

}  // namespace

FailureModel::FailureModel(const Geometry& geometry) {
  weights_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(geometry.features().size()));
  for (std::size_t f = 0; f < geometry.features().size(); ++f) {
    const Feature& feature = geometry.features()[f];
    if (feature.kind == Feature::Kind::pair) continue;
    const double usual = feature.kind == Feature::Kind::same ? same_weight : ordinal_weight;
    weights_[static_cast<Eigen::Index>(f)] = geometry.is_setting(feature.first) ? setting_weight : usual;
  }
}

void FailureModel::tell(const Point& point, bool failed, const Candidates& candidates) {
  points_.push_back(point);
  failed_.push_back(failed);
  failures_ += failed ? 1 : 0;
  if (similar_.size() != candidates.size()) {
    refresh(candidates);
    return;
  }
  const Eigen::VectorXf similarity = candidates.similarity(point, weights_);
  similar_ += similarity;
  if (failed) similar_failed_ += similarity;
}

void FailureModel::refresh(const Candidates& candidates) {
  similar_ = Eigen::VectorXf::Zero(candidates.size());
  similar_failed_ = similar_;
  // Without failures the sums do not matter, and most problems have none for long.
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Eigen::VectorXf similarity = candidates.similarity(points_[i], weights_);
    similar_ += similarity;
    if (failed_[i]) similar_failed_ += similarity;
  }
}

double FailureModel::log_success(Eigen::Index candidate) const {
  if (failures_ == 0) return 0;
  const double share = failures_ / static_cast<double>(points_.size());
  const double failure = (static_cast<double>(similar_failed_[candidate]) + prior_similarity * share) /
                         (static_cast<double>(similar_[candidate]) + prior_similarity);
  constexpr double least = 1e-6;
  return std::log(std::max(least, 1 - failure));
}

}  // namespace wattune
