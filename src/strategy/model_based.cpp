#include "strategy/model_based.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

/// A process of fewer says nothing.
constexpr std::size_t least_observations = 3;
/// So many of the best are searched around in spaces too large to list.
constexpr std::size_t centres = 20;
constexpr double most_stretch = 3;
/// After three times the patience without success, one proposal in so many is the most promising of those that differ
/// from the best in few parameters: a model may hold an isolated optimum for impossible however near it lies.
constexpr std::size_t surroundings_every = 3;
constexpr std::size_t surroundings_parameters = 2;

bool differ_in_few(const Point& a, const Point& b) {
  std::size_t different = 0;
  for (std::size_t k = 0; k < a.size(); ++k) different += a[k] != b[k] ? 1 : 0;
  return different <= surroundings_parameters;
}

}  // namespace

ModelBased::ModelBased(const StrategyInputs& inputs, std::vector<Objective> objectives)
    : random_(inputs.seed),
      record_(inputs.space),
      observations_(objectives.size()),
      space_(inputs.space),
      objectives_(std::move(objectives)),
      moves_(inputs.space, inputs.kinds),
      geometry_(inputs.space, inputs.kinds),
      candidates_(inputs.space, geometry_, inputs.options.whole("candidates")),
      failures_(geometry_),
      patience_(inputs.options.whole("patience")) {
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    models_.emplace_back(geometry_, inputs.options.whole("observations"));
  }
  for (const Count index : space_.latin_hypercube_sample(inputs.options.whole("initial"), random_.bits())) {
    initial_.push_back(space_.point(index));
  }
  std::ranges::reverse(initial_);
}

std::vector<Point> ModelBased::ask(std::size_t n) {
  std::vector<Point> points;
  while (points.size() < n && !record_.is_complete()) {
    Point point = choose();
    record_.propose(point);
    candidates_.close(point);
    awaited_.push_back(point);
    points.push_back(std::move(point));
  }
  return points;
}

void ModelBased::tell(const Point& point, const Evaluation& evaluation) {
  if (record_.cost(point)) return;
  std::vector<double> costs;
  for (const auto& objective : objectives_) costs.push_back(cost_of(evaluation, objective));
  const bool failed = !std::ranges::all_of(costs, [](double cost) { return std::isfinite(cost); });
  const double best = record_.best_cost();
  record_.tell(point, failed ? std::numeric_limits<double>::infinity() : costs.front());
  candidates_.close(point);
  std::erase(awaited_, point);
  stalled_ = record_.best_cost() < best ? 0 : stalled_ + 1;
  failures_.tell(point, failed, candidates_);
  for (std::size_t i = 0; i < costs.size() && !failed; ++i) observations_[i].push_back({point, costs[i]});
}

double ModelBased::stretch() const {
  if (stalled_ <= patience_) return 1;
  return std::min(most_stretch, static_cast<double>(stalled_) / static_cast<double>(patience_));
}

Point ModelBased::choose() {
  while (!initial_.empty()) {
    Point point = std::move(initial_.back());
    initial_.pop_back();
    if (!record_.is_proposed(point)) return point;
  }
  const std::size_t count = observations_.front().size();
  if (count < least_observations) return *record_.draw_fresh(random_);
  const bool refreshes = models_.front().wants_fit(count);
  if (refreshes) refresh_candidates();
  for (std::size_t i = 0; i < models_.size(); ++i) {
    models_[i].update(observations_[i], awaited_, candidates_, refreshes);
  }
  const auto best = best_candidate();
  return best ? candidates_.point(*best) : *record_.draw_fresh(random_);
}

void ModelBased::refresh_candidates() {
  if (candidates_.is_whole()) return;
  std::vector<Point> points;
  for (const auto& observations : observations_) {
    std::vector<Observation> best = observations;
    std::ranges::stable_sort(best, {}, &Observation::cost);
    for (std::size_t i = 0; i < std::min(centres, best.size()); ++i) points.push_back(best[i].point);
  }
  candidates_.refresh(points, record_, moves_, random_);
  failures_.refresh(candidates_);
}

bool ModelBased::wants_surroundings() const {
  return models_.size() == 1 && record_.best() && stalled_ > 3 * patience_ && stalled_ % surroundings_every == 0;
}

std::optional<Eigen::Index> ModelBased::best_candidate() {
  prepare();
  if (wants_surroundings()) {
    if (const auto near = best_candidate(&*record_.best())) return near;
  }
  return best_candidate(nullptr);
}

std::optional<Eigen::Index> ModelBased::best_candidate(const Point* centre) const {
  std::optional<Eigen::Index> best;
  double most = -std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < candidates_.size(); ++i) {
    if (!candidates_.is_open(i)) continue;
    if (centre != nullptr && !differ_in_few(candidates_.point(i), *centre)) continue;
    const double promised = promise(i) + failures_.log_success(i);
    if (promised > most) best = i, most = promised;
  }
  return best;
}

std::vector<OptionDescription> model_options() {
  return {whole_option("initial", "20", "Latin-hypercube configurations at first", 1, 100000),
          whole_option("candidates", "20000", "configurations to choose from in larger spaces", 100, 1e6),
          whole_option("observations", "500", "results that the model takes", 10, 5000),
          whole_option("patience", "15", "evaluations without success before it looks farther", 1, 1e6)};
}

}  // namespace wattune
