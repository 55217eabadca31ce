#include "space/ranking.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

Count quotient(Count a, Count b) {
  constexpr Count narrow = ~std::uint64_t{0};
  if (b == 1) return a;
  if (a <= narrow && b <= narrow) return static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(b);
  return a / b;
}

/// The part u / 2^64 of `total`, rounded down.
Count share(Count total, std::uint64_t u) {
  const Count low = Count{static_cast<std::uint64_t>(total)} * u;
  const Count high = (total >> 64) * u;
  return high + (low >> 64);
}

/// The value of a node under which the combination number `rest` is.
std::size_t find_value(const Diagram::Level& level, std::size_t node, Count rest) {
  // The last value with no more than `rest` combinations before it: of values without any, never the last.
  std::size_t low = 0;
  std::size_t high = level.width;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    if (level.before[node * level.width + middle] <= rest) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The node that each group has reached. Most spaces have few groups.
class GroupNodes {
 public:
  explicit GroupNodes(std::size_t groups) {
    if (groups > few_.size()) {
      many_.resize(groups);
      nodes_ = many_;
    } else {
      nodes_ = std::span(few_).first(groups);
    }
    std::ranges::fill(nodes_, 0);
  }
  std::uint32_t& operator[](std::size_t group) { return nodes_[group]; }
  [[nodiscard]] std::span<const std::uint32_t> all() const { return nodes_; }

 private:
  std::array<std::uint32_t, 32> few_;
  std::vector<std::uint32_t> many_;
  std::span<std::uint32_t> nodes_;
};

}  // namespace

Ranking::Ranking(std::vector<Diagram> diagrams, std::vector<std::vector<std::uint32_t>> domains,
                 const std::vector<Parameter>& parameters)
    : size_(1), diagrams_(std::move(diagrams)), domains_(std::move(domains)) {
  for (const Diagram& diagram : diagrams_) size_ *= diagram.size();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<std::uint32_t> ranks(parameters[i].values.size(), nowhere);
    for (std::uint32_t rank = 0; rank < domains_[i].size(); ++rank) ranks[domains_[i][rank]] = rank;
    ranks_.push_back(std::move(ranks));
  }
  arrange_steps(parameters);
}

void Ranking::arrange_steps(const std::vector<Parameter>& parameters) {
  step_of_parameter_.assign(parameters.size(), nowhere);
  std::vector<std::uint32_t> group_of(parameters.size(), nowhere);
  for (std::uint32_t g = 0; g < diagrams_.size(); ++g) {
    for (const Diagram::Level& level : diagrams_[g].levels()) group_of[level.variable] = g;
  }
  // A group takes its turns where its parameters stand; which of them comes first is the diagram's affair.
  std::vector<std::uint32_t> turns(diagrams_.size(), 0);
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const std::uint32_t g = group_of[i];
    if (g == nowhere) {
      fixed_.push_back(i);
      continue;
    }
    Step step{static_cast<std::uint32_t>(diagrams_[g].levels()[turns[g]].variable), g, turns[g], 1, {}};
    for (std::uint32_t other = 0; other < diagrams_.size(); ++other) {
      if (other == g) continue;
      if (turns[other] == 0) {
        step.untouched *= diagrams_[other].size();
      } else if (turns[other] < diagrams_[other].levels().size()) {
        step.open.push_back({other, turns[other]});
      }
    }
    ++turns[g];
    step_of_parameter_[step.parameter] = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(std::move(step));
  }
}

Count Ranking::others(const Step& step, std::span<const std::uint32_t> nodes) const {
  Count result = step.untouched;
  for (const Open& open : step.open) result *= level(open.group, open.level).total[nodes[open.group]];
  return result;
}

Point Ranking::point(Count index) const {
  Point point(ranks_.size());
  for (const std::uint32_t parameter : fixed_) point[parameter] = domains_[parameter][0];
  GroupNodes nodes(diagrams_.size());
  for (const Step& step : steps_) {
    const Diagram::Level& level = this->level(step.group, step.level);
    const Count factor = others(step, nodes.all());
    const std::size_t node = nodes[step.group];
    const std::size_t value = find_value(level, node, quotient(index, factor));
    const std::size_t edge = node * level.width + value;
    index -= level.before[edge] * factor;
    nodes[step.group] = level.next[edge];
    point[step.parameter] = domains_[step.parameter][value];
  }
  return point;
}

Point Ranking::at_quantiles(std::span<const std::uint64_t> u) const {
  Point point(ranks_.size());
  for (const std::uint32_t parameter : fixed_) point[parameter] = domains_[parameter][0];
  GroupNodes nodes(diagrams_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const Diagram::Level& level = this->level(step.group, step.level);
    const std::size_t node = nodes[step.group];
    const std::size_t value = find_value(level, node, share(level.total[node], u[i]));
    nodes[step.group] = level.next[node * level.width + value];
    point[step.parameter] = domains_[step.parameter][value];
  }
  return point;
}

std::optional<Count> Ranking::index(std::span<const std::uint32_t> point) const {
  if (size_ == 0) return std::nullopt;
  for (const std::uint32_t parameter : fixed_) {
    if (point[parameter] != domains_[parameter][0]) return std::nullopt;
  }
  GroupNodes nodes(diagrams_.size());
  Count result = 0;
  for (const Step& step : steps_) {
    const Diagram::Level& level = this->level(step.group, step.level);
    const std::vector<std::uint32_t>& ranks = ranks_[step.parameter];
    const std::uint32_t position = point[step.parameter];
    if (position >= ranks.size() || ranks[position] == nowhere) return std::nullopt;
    const std::size_t edge = nodes[step.group] * level.width + ranks[position];
    const std::uint32_t next = level.next[edge];
    if (next == Diagram::dead) return std::nullopt;
    result += level.before[edge] * others(step, nodes.all());
    nodes[step.group] = next;
  }
  return result;
}

bool Ranking::contains(std::span<const std::uint32_t> point) const { return index(point).has_value(); }

}  // namespace wattune
