#include "strategy/moves.hpp"

#include <algorithm>
#include <numeric>

#include "strategy/draws.hpp"

namespace wattune {

namespace {

Axis axis_of(const Parameter& parameter, ParameterKind kind) {
  const auto& values = parameter.values;
  Axis axis;
  axis.is_setting = kind == ParameterKind::device_setting;
  axis.is_ordinal = values.size() > 2 && std::ranges::all_of(values, [](const Value& v) { return v.is_number(); });
  axis.position.resize(values.size());
  std::iota(axis.position.begin(), axis.position.end(), 0U);
  if (axis.is_ordinal) {
    std::ranges::stable_sort(axis.position,
                             [&](auto a, auto b) { return values[a].as_double() < values[b].as_double(); });
  }
  axis.place.resize(values.size());
  for (std::uint32_t i = 0; i < axis.position.size(); ++i) axis.place[axis.position[i]] = i;
  return axis;
}

std::uint32_t distance(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

Moves::Moves(const SearchSpace& space, const std::vector<ParameterKind>& kinds) : space_(space) {
  for (std::size_t i = 0; i < kinds.size(); ++i) axes_.push_back(axis_of(space.parameters()[i], kinds[i]));
}

void Moves::find_moves(const Point& point, bool adjacent) {
  space_.moves(point, Neighbourhood::hamming, found_);
  kept_.clear();
  for (std::size_t i = 0; i < found_.size();) {
    const std::uint32_t parameter = found_[i].parameter;
    const auto first = i;
    while (i < found_.size() && found_[i].parameter == parameter) ++i;
    if (!moves_alone(parameter, adjacent)) {
      kept_.insert(kept_.end(), found_.begin() + static_cast<std::ptrdiff_t>(first),
                   found_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const auto& place = axes_[parameter].place;
    const std::uint32_t own = place[point[parameter]];
    const Move* below = nullptr;
    const Move* above = nullptr;
    for (std::size_t k = first; k < i; ++k) {
      const std::uint32_t there = place[found_[k].position];
      if (there < own && (below == nullptr || there > place[below->position])) below = &found_[k];
      if (there > own && (above == nullptr || there < place[above->position])) above = &found_[k];
    }
    if (below != nullptr) kept_.push_back(*below);
    if (above != nullptr) kept_.push_back(*above);
  }
}

std::vector<Point> Moves::neighbours(const Point& point, bool adjacent, Random& random) {
  find_moves(point, adjacent);
  if (kept_.empty()) return pair_moves(point, most_pairs, random);
  std::vector<Point> points;
  points.reserve(kept_.size());
  for (const auto& move : kept_) {
    points.push_back(point);
    points.back()[move.parameter] = move.position;
  }
  return points;
}

std::optional<Point> Moves::random_neighbour(const Point& point, bool adjacent, Random& random) {
  find_moves(point, adjacent);
  if (kept_.empty()) {
    auto pairs = pair_moves(point, 1, random);
    if (pairs.empty()) return std::nullopt;
    return std::move(pairs.front());
  }
  // A parameter among those that can move, then one of its values: moves of one parameter stand side by side.
  std::size_t parameters = 1;
  for (std::size_t i = 1; i < kept_.size(); ++i) parameters += kept_[i].parameter != kept_[i - 1].parameter ? 1 : 0;
  std::size_t chosen = draw_below(random, parameters);
  std::size_t first = 0;
  for (; chosen > 0; ++first) chosen -= kept_[first].parameter != kept_[first + 1].parameter ? 1 : 0;
  std::size_t end = first;
  while (end < kept_.size() && kept_[end].parameter == kept_[first].parameter) ++end;
  const Move& move = kept_[first + draw_below(random, end - first)];
  Point neighbour = point;
  neighbour[move.parameter] = move.position;
  return neighbour;
}

Point Moves::walk(const Point& point, std::size_t steps, Random& random) {
  Point here = point;
  for (std::size_t i = 0; i < steps; ++i) {
    auto next = random_neighbour(here, false, random);
    if (!next) break;
    here = std::move(*next);
  }
  return here;
}

std::vector<Point> Moves::pair_moves(const Point& point, std::size_t most, Random& random) {
  std::vector<Point> points;
  const auto n = point.size();
  const std::size_t tries = 2 * n + 2 * most;
  for (std::size_t attempt = 0; attempt < tries && points.size() < most; ++attempt) {
    // One parameter is moved to where it may break a restriction; what mends it again is a neighbour of that place.
    Point broken = point;
    const std::size_t parameter = draw_below(random, n);
    const std::size_t values = axes_[parameter].place.size();
    if (values < 2) continue;
    const auto shift = 1 + draw_below(random, values - 1);
    broken[parameter] = static_cast<std::uint32_t>((point[parameter] + shift) % values);
    space_.moves(broken, Neighbourhood::hamming, found_);
    std::erase_if(found_, [&](const Move& move) { return move.parameter == parameter; });
    if (found_.empty()) continue;
    const Move& move = found_[draw_below(random, found_.size())];
    broken[move.parameter] = move.position;
    if (std::ranges::find(points, broken) == points.end()) points.push_back(std::move(broken));
  }
  return points;
}

Point Moves::towards(const Point& start, const std::vector<std::uint32_t>& wanted, Random& random) {
  const std::size_t n = start.size();
  Point target(n);
  for (std::size_t i = 0; i < n; ++i) target[i] = axes_[i].position[wanted[i]];
  if (space_.contains(target)) return target;
  Point here = start;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, random);
  // Each pass moves every parameter as near as the others allow; what one pass frees the next may use.
  constexpr int passes = 2;
  for (int pass = 0; pass < passes; ++pass) {
    bool moved = false;
    for (const std::uint32_t parameter : order) {
      const Axis& axis = axes_[parameter];
      const auto gap = [&](std::uint32_t position) {
        if (axis.is_ordinal) return distance(axis.place[position], wanted[parameter]);
        return axis.place[position] == wanted[parameter] ? 0U : 1U;
      };
      std::uint32_t least = gap(here[parameter]);
      if (least == 0) continue;
      space_.moves(here, Neighbourhood::hamming, found_);
      for (const auto& move : found_) {
        if (move.parameter != parameter || gap(move.position) >= least) continue;
        least = gap(move.position);
        here[parameter] = move.position;
        moved = true;
      }
    }
    if (!moved) break;
  }
  return here;
}

}  // namespace wattune
