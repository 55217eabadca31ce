#include "strategy/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

using Eigen::Index;
using Eigen::VectorXd;
using Eigen::VectorXf;

Candidates::Candidates(const SearchSpace& space, const Geometry& geometry, std::size_t most)
    : space_(space), geometry_(geometry), most_(most), is_whole_(space.size() <= most) {
  std::vector<Point> points;
  for (Count i = 0; is_whole_ && i < space.size(); ++i) points.push_back(space.point(i));
  set_points(std::move(points));
}

void Candidates::set_points(std::vector<Point> points) {
  points_ = std::move(points);
  is_open_.assign(points_.size(), true);
  numbers_.clear();
  for (std::size_t i = 0; i < points_.size(); ++i) numbers_.emplace(points_[i], static_cast<Index>(i));
  positions_.assign(geometry_.parameters(), std::vector<std::uint32_t>(points_.size()));
  for (std::size_t k = 0; k < geometry_.parameters(); ++k) {
    for (std::size_t i = 0; i < points_.size(); ++i) positions_[k][i] = points_[i][k];
  }
  const auto& features = geometry_.features();
  const auto is_pair = [](const Feature& feature) { return feature.kind == Feature::Kind::pair; };
  pairs_.resize(size(), std::ranges::count_if(features, is_pair));
  Index column = 0;
  for (const auto& feature : features) {
    if (!is_pair(feature)) continue;
    for (Index i = 0; i < size(); ++i) pairs_(i, column) = static_cast<float>(geometry_.coordinate(feature, point(i)));
    ++column;
  }
}

void Candidates::refresh(const std::vector<Point>& best, const Record& record, Moves& moves, Random& random) {
  if (is_whole_) return;
  std::vector<Point> points;
  std::unordered_map<Point, bool, PointHash> taken;
  const auto take = [&](Point point) {
    if (points.size() < most_ && !record.is_proposed(point) && taken.emplace(point, true).second) {
      points.push_back(std::move(point));
    }
  };
  for (const auto& centre : best) {
    for (auto& point : moves.neighbours(centre, false, random)) take(std::move(point));
  }
  // Farther surroundings of the best, up to half of the candidates; the rest comes from everywhere.
  for (std::size_t i = 0; i < most_ && points.size() < most_ / 2 && !best.empty(); ++i) {
    take(moves.walk(best[i % best.size()], 2 + i % 2, random));
  }
  for (const Count index : space_.sample(most_, random.bits())) take(space_.point(index));
  set_points(std::move(points));
}

void Candidates::close(const Point& point) {
  const auto found = numbers_.find(point);
  if (found != numbers_.end()) is_open_[static_cast<std::size_t>(found->second)] = false;
}

VectorXf Candidates::similarity(const Point& point, const VectorXd& weights) const {
  // Distances along single parameters come from one table per parameter.
  std::vector<std::vector<float>> tables;
  for (std::size_t k = 0; k < geometry_.parameters(); ++k) tables.emplace_back(geometry_.coordinates(k).size(), 0.0F);
  VectorXf distance = VectorXf::Zero(size());
  Index column = 0;
  for (std::size_t f = 0; f < geometry_.features().size(); ++f) {
    const Feature& feature = geometry_.features()[f];
    const double weight = weights[static_cast<Index>(f)];
    if (feature.kind == Feature::Kind::pair) {
      if (weight > 0) {
        const auto own = static_cast<float>(geometry_.coordinate(feature, point));
        distance.array() += static_cast<float>(weight) * (pairs_.col(column).array() - own).abs();
      }
      ++column;
      continue;
    }
    const auto& coordinates = geometry_.coordinates(feature.first);
    const std::uint32_t own = point[feature.first];
    for (std::size_t v = 0; v < coordinates.size(); ++v) {
      const double there =
          feature.kind == Feature::Kind::same ? (v == own ? 0.0 : 1.0) : std::abs(coordinates[v] - coordinates[own]);
      tables[feature.first][v] += static_cast<float>(weight * there);
    }
  }
  for (std::size_t k = 0; k < tables.size(); ++k) {
    if (tables[k].size() < 2) continue;
    const auto& positions = positions_[k];
    for (std::size_t i = 0; i < positions.size(); ++i) distance[static_cast<Index>(i)] += tables[k][positions[i]];
  }
  return (-distance.array()).exp();
}

void Prediction::predict(const GaussianProcess& process, const Candidates& candidates) {
  const Index n = process.size();
  columns_.resize(candidates.size(), n + n / 2 + 16);
  for (Index i = 0; i < n; ++i) {
    columns_.col(i) = candidates.similarity(process.points()[static_cast<std::size_t>(i)], process.kernel().weights);
  }
  const Eigen::MatrixXf upper = process.factor().transpose().cast<float>();
  auto used = columns_.leftCols(n);
  upper.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(used);
  reduction_ = used.rowwise().squaredNorm();
  residual_ = process.residual();
  mean_ = (used * residual_.cast<float>()).array() + static_cast<float>(process.mean());
  variance_ = process.variance();
}

void Prediction::add(const GaussianProcess& process, const Candidates& candidates, const VectorXd& row) {
  const Index n = process.size() - 1;
  if (columns_.cols() <= n) columns_.conservativeResize(Eigen::NoChange, 2 * n + 16);
  VectorXf column = candidates.similarity(process.points()[static_cast<std::size_t>(n)], process.kernel().weights);
  column -= columns_.leftCols(n) * row.head(n).cast<float>();
  column /= static_cast<float>(row[n]);
  columns_.col(n) = column;
  reduction_.array() += column.array().square();
  residual_.conservativeResize(n + 1);
  residual_[n] = process.residual()[n];
  mean_ += static_cast<float>(residual_[n]) * column;
}

void Prediction::update_mean(const GaussianProcess& process, std::size_t first) {
  for (auto i = static_cast<Index>(first); i < process.size(); ++i) {
    const double change = process.residual()[i] - residual_[i];
    if (change != 0) mean_ += static_cast<float>(change) * columns_.col(i);
  }
  residual_ = process.residual();
}

double Prediction::deviation(Index candidate) const {
  constexpr double least = 1e-6;
  return std::sqrt(variance_ * std::max(least, 1 - static_cast<double>(reduction_[candidate])));
}

}  // namespace wattune
