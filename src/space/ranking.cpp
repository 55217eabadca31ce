#include "space/ranking.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

/// The part u / 2^64 of `total`, rounded down.
Count share(Count total, std::uint64_t u) {
  const Count low = Count{static_cast<std::uint64_t>(total)} * u;
  const Count high = (total >> 64) * u;
  return high + (low >> 64);
}

template <typename Number>
Number count_at(const Counts& counts, std::size_t i) {
  if constexpr (sizeof(Number) == sizeof(std::uint64_t)) {
    return counts.narrow()[i];
  } else {
    return counts[i];
  }
}

/// The value of a node under which its combination number `rest` is.
template <typename Number>
std::uint32_t find_value(const Counts& before, std::size_t row, std::uint32_t width, Number rest) {
  // The last value with no more than `rest` combinations before it: a value without combinations is never the last.
  std::uint32_t low = 0;
  for (std::uint32_t size = width; size > 1;) {
    const std::uint32_t half = size / 2;
    low += count_at<Number>(before, row + low + half) <= rest ? half : 0;
    size -= half;
  }
  return low;
}

}  // namespace

Ranking::Ranking(std::vector<Diagram> diagrams, std::vector<std::vector<std::uint32_t>> domains,
                 const std::vector<Parameter>& parameters)
    : size_(1), diagrams_(std::move(diagrams)), domains_(std::move(domains)) {
  for (const Diagram& diagram : diagrams_) size_ *= diagram.size();
  is_narrow_ =
      std::ranges::none_of(diagrams_, [](const Diagram& diagram) { return diagram.levels()[0].before.is_wide(); });
  is_narrow_ = is_narrow_ && size_ <= ~std::uint64_t{0};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<std::uint32_t> ranks(parameters[i].values.size(), nowhere);
    for (std::uint32_t rank = 0; rank < domains_[i].size(); ++rank) ranks[domains_[i][rank]] = rank;
    ranks_.push_back(std::move(ranks));
  }
  level_of_.assign(parameters.size(), nowhere);
  for (std::uint32_t g = 0; g < diagrams_.size(); ++g) {
    const auto end = static_cast<std::uint32_t>(levels_.size() + diagrams_[g].levels().size());
    for (const Diagram::Level& level : diagrams_[g].levels()) {
      level_of_[level.variable] = static_cast<std::uint32_t>(levels_.size());
      levels_.push_back({static_cast<std::uint32_t>(level.variable), g, end, static_cast<std::uint32_t>(level.width),
                         level.next.data(), &level.before});
    }
  }
  arrange_steps();
}

/// A group takes its turns where its parameters stand; which of them comes first is the diagram's affair.
void Ranking::arrange_steps() {
  std::vector<std::uint32_t> first;  // level of each group
  for (std::uint32_t l = 0; l < levels_.size(); ++l) {
    if (l == 0 || levels_[l].group != levels_[l - 1].group) first.push_back(l);
  }
  std::vector<std::uint32_t> turn = first;
  std::uint32_t last_group = nowhere;
  for (std::uint32_t parameter = 0; parameter < level_of_.size(); ++parameter) {
    if (level_of_[parameter] == nowhere) {
      fixed_.push_back(parameter);
      continue;
    }
    const std::uint32_t group = levels_[level_of_[parameter]].group;
    Step step{turn[group]++, group == last_group, 1, {}};
    for (std::uint32_t other = 0; other < first.size(); ++other) {
      if (other == group) continue;
      if (turn[other] == first[other]) {
        step.untouched *= diagrams_[other].size();
      } else if (turn[other] < levels_[first[other]].group_end) {
        step.open.push_back(turn[other]);
      }
    }
    steps_.push_back(std::move(step));
    last_group = group;
  }
}

/// Configurations that differ outside the step's group. rows[l] is the row of level l that its group has reached.
template <typename Number>
Number Ranking::others(const Step& step, const std::uint32_t* rows) const {
  auto result = static_cast<Number>(step.untouched);
  for (const std::uint32_t l : step.open) result *= count_at<Number>(*levels_[l].before, rows[l] + levels_[l].width);
  return result;
}

Point Ranking::fixed_point() const {
  Point point(ranks_.size());
  for (const std::uint32_t parameter : fixed_) point[parameter] = domains_[parameter][0];
  return point;
}

bool Ranking::has_fixed_values(std::span<const std::uint32_t> point) const {
  return std::ranges::all_of(fixed_, [&](std::uint32_t i) { return point[i] == domains_[i][0]; });
}

template <typename Number>
Point Ranking::point_of(Number index) const {
  Point point = fixed_point();
  std::array<std::uint32_t, most_varying + 1> rows;
  std::ranges::fill(std::span(rows).first(levels_.size() + 1), 0U);
  // index = rest * factor + remainder, where rest counts combinations of the group whose turn it is. Steps of one group
  // that follow each other share the division.
  Number factor = 1;
  Number rest = 0;
  Number remainder = index;
  for (const Step& step : steps_) {
    const Level& level = levels_[step.level];
    if (!step.continues) {
      const Number left = rest * factor + remainder;
      factor = others<Number>(step, rows.data());
      rest = left / factor;
      remainder = left - rest * factor;
    }
    const std::uint32_t row = rows[step.level];
    const std::uint32_t value = find_value<Number>(*level.before, row, level.width, rest);
    rest -= count_at<Number>(*level.before, row + value);
    rows[step.level + 1] = step.level + 1 < level.group_end ? level.next[row + value] : 0;
    point[level.parameter] = domains_[level.parameter][value];
  }
  return point;
}

Point Ranking::point(Count index) const {
  return is_narrow_ ? point_of(static_cast<std::uint64_t>(index)) : point_of(index);
}

Point Ranking::at_quantiles(std::span<const std::uint64_t> u) const {
  Point point = fixed_point();
  std::array<std::uint32_t, most_varying + 1> rows;
  std::ranges::fill(std::span(rows).first(levels_.size() + 1), 0U);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::uint32_t l = steps_[i].level;
    const Level& level = levels_[l];
    const std::uint32_t row = rows[l];
    const std::uint32_t value =
        find_value<Count>(*level.before, row, level.width, share((*level.before)[row + level.width], u[i]));
    rows[l + 1] = l + 1 < level.group_end ? level.next[row + value] : 0;
    point[level.parameter] = domains_[level.parameter][value];
  }
  return point;
}

template <typename Number>
std::optional<Number> Ranking::index_of(std::span<const std::uint32_t> point) const {
  std::array<std::uint32_t, most_varying + 1> rows;
  std::ranges::fill(std::span(rows).first(levels_.size() + 1), 0U);
  Number result = 0;
  Number factor = 1;
  for (const Step& step : steps_) {
    const Level& level = levels_[step.level];
    const std::uint32_t rank = rank_of(level.parameter, point[level.parameter]);
    if (rank == nowhere) return std::nullopt;
    const std::uint32_t edge = rows[step.level] + rank;
    const std::uint32_t next = level.next[edge];
    if (next == Diagram::dead) return std::nullopt;
    if (!step.continues) factor = others<Number>(step, rows.data());
    result += count_at<Number>(*level.before, edge) * factor;
    rows[step.level + 1] = step.level + 1 < level.group_end ? next : 0;
  }
  return result;
}

std::optional<Count> Ranking::index(std::span<const std::uint32_t> point) const {
  if (size_ == 0 || !has_fixed_values(point)) return std::nullopt;
  if (!is_narrow_) return index_of<Count>(point);
  const auto narrow = index_of<std::uint64_t>(point);
  return narrow ? std::optional<Count>(*narrow) : std::nullopt;
}

bool Ranking::contains(std::span<const std::uint32_t> point) const {
  if (size_ == 0 || !has_fixed_values(point)) return false;
  std::uint32_t row = 0;
  for (std::uint32_t l = 0; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    const std::uint32_t rank = rank_of(level.parameter, point[level.parameter]);
    if (rank == nowhere) return false;
    row = level.next[row + rank];
    if (row == Diagram::dead) return false;
    if (l + 1 == level.group_end) row = 0;
  }
  return true;
}

}  // namespace wattune
