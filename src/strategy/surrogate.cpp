#include "strategy/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wattune {

namespace {

/// Kernels are fitted to no more observations; the cost grows with the cube.
constexpr std::size_t most_fitted = 120;
/// Between fits the observations grow by this share.
constexpr double growth = 0.2;
/// Targets beyond so many times the distance from best to median are cut.
constexpr double loose_tail = 3;

double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// Numbers of the observations to use where there are more than `most`: the best half, and others evenly over time.
std::vector<std::size_t> chosen(const std::vector<Observation>& observations, std::size_t most) {
  std::vector<std::size_t> order(observations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return observations[i].cost; });
  std::vector<std::size_t> result(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most / 2));
  std::vector<std::size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(most / 2), order.end());
  std::ranges::sort(rest);
  const std::size_t wanted = most - most / 2;
  for (std::size_t i = 0; i < wanted; ++i) result.push_back(rest[i * rest.size() / wanted]);
  std::ranges::sort(result);
  return result;
}

}  // namespace

Transform::Transform(const std::vector<double>& costs) {
  const auto [least, most] = std::ranges::minmax(costs);
  if (least > 0) sign_ = Sign::positive;
  if (most < 0) sign_ = Sign::negative;
  std::vector<double> values;
  for (const double cost : costs) values.push_back(straighten(cost));
  const double best = *std::ranges::min_element(values);
  const double median = quantile(values, 0.5);
  limit_ = median + loose_tail * (median - best);
  for (double& value : values) value = std::min(value, limit_);
  const auto n = static_cast<double>(values.size());
  centre_ = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - centre_) * (value - centre_);
  scale_ = squares > 0 ? std::sqrt(squares / n) : 1;
}

double Transform::straighten(double cost) const {
  switch (sign_) {
    case Sign::positive:
      return std::log(cost);
    case Sign::negative:
      return -std::log(-cost);
    case Sign::mixed:
      return cost;
  }
  return cost;
}

bool Transform::takes(double cost) const {
  return sign_ == Sign::mixed || (sign_ == Sign::positive ? cost > 0 : cost < 0);
}

double Transform::operator()(double cost) const {
  return (std::min(straighten(cost), limit_) - centre_) / scale_;
}

Surrogate::Surrogate(const Geometry& geometry, std::size_t most_observations)
    : geometry_(geometry), most_observations_(most_observations) {}

void Surrogate::update(const std::vector<Observation>& observations, const std::vector<Point>& awaited,
                       const Candidates& candidates, bool candidates_changed) {
  const bool is_full =
      process_ && static_cast<std::size_t>(process_->size()) > most_observations_ + most_observations_ / 4;
  const bool is_new_kind = std::any_of(observations.begin() + static_cast<std::ptrdiff_t>(seen_), observations.end(),
                                       [&](const Observation& each) { return !transform_.takes(each.cost); });
  if (wants_fit(observations.size()) || is_new_kind) {
    fit(observations, candidates);
  } else if (is_full || candidates_changed) {
    observe(observations, candidates);
  }
  for (; seen_ < observations.size(); ++seen_) {
    const Observation& observation = observations[seen_];
    const double target = transform_(observation.cost);
    const auto guess = guesses_.find(observation.point);
    if (guess == guesses_.end()) {
      add(observation.point, target, candidates);
    } else {
      process_->set_target(guess->second, target);
      prediction_.update_mean(*process_, guess->second);
      guesses_.erase(guess);
    }
  }
  for (const auto& point : awaited) {
    if (!guesses_.contains(point)) add(point, std::nullopt, candidates);
  }
}

void Surrogate::add(const Point& point, std::optional<double> target, const Candidates& candidates) {
  const auto number = static_cast<std::size_t>(process_->size());
  Eigen::VectorXd row = process_->add(point, target.value_or(0));
  if (!target) {
    // What the process predicts there: with it, the new residual is zero.
    const double expected = process_->mean() + row.head(row.size() - 1).dot(process_->residual().head(row.size() - 1));
    process_->set_target(number, expected);
    guesses_.emplace(point, number);
  }
  prediction_.add(*process_, candidates, row);
}

void Surrogate::fit(const std::vector<Observation>& observations, const Candidates& candidates) {
  std::vector<double> costs;
  for (const auto& observation : observations) costs.push_back(observation.cost);
  transform_ = Transform(costs);
  const auto numbers = chosen(observations, most_fitted);
  std::vector<Point> points;
  Eigen::VectorXd targets(static_cast<Eigen::Index>(numbers.size()));
  for (const std::size_t number : numbers) {
    targets[static_cast<Eigen::Index>(points.size())] = transform_(observations[number].cost);
    points.push_back(observations[number].point);
  }
  const CovarianceKernel* previous = kernel_ ? &*kernel_ : nullptr;
  KernelFit best = fit_kernel(geometry_, points, targets, true, previous);
  KernelFit plain = fit_kernel(geometry_, points, targets, false, previous);
  kernel_ = plain.loss < best.loss ? std::move(plain.kernel) : std::move(best.kernel);
  const auto n = static_cast<double>(observations.size());
  next_fit_ = static_cast<std::size_t>(std::max(n + 4, n * (1 + growth)));
  observe(observations, candidates);
}

void Surrogate::observe(const std::vector<Observation>& observations, const Candidates& candidates) {
  std::vector<Point> points;
  const auto numbers = chosen(observations, most_observations_);
  Eigen::VectorXd targets(static_cast<Eigen::Index>(numbers.size()));
  for (const std::size_t number : numbers) {
    targets[static_cast<Eigen::Index>(points.size())] = transform_(observations[number].cost);
    points.push_back(observations[number].point);
  }
  process_.emplace(geometry_, *kernel_);
  process_->observe(points, targets);
  prediction_.predict(*process_, candidates);
  guesses_.clear();
  seen_ = observations.size();
}

}  // namespace wattune
