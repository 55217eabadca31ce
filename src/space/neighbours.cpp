// Neighbours in a ranking: every question is answered by short walks through the diagrams, whose length does not depend
// on the size of the space.

#include <algorithm>
#include <array>
#include <bit>

#include "space/ranking.hpp"

namespace wattune {

/// The paths of one point through the diagrams.
class Ranking::Paths {
 public:
  Paths(const Ranking& ranking, std::span<const std::uint32_t> point) : ranking_(ranking) {
    for (std::uint32_t l = 0; l < ranking.levels_.size();) l = follow_group(l, point);
    for (const std::uint32_t parameter : ranking.fixed_) {
      if (point[parameter] != ranking.domains_[parameter][0]) note_break(parameter);
    }
  }

  /// Whether a move of this parameter can lead to a valid configuration: only where all the rest is in order.
  [[nodiscard]] bool may_move(std::uint32_t parameter) const {
    return breaks_ == 0 || (breaks_ == 1 && component(parameter) == broken_);
  }

  /// Whether the configuration is valid when the parameter of level l takes the value of this rank.
  [[nodiscard]] bool is_valid(std::uint32_t l, std::uint32_t rank) const {
    if (rows_[l] == nowhere) return false;
    std::uint32_t row = next_[l][rows_[l] + rank];
    for (const std::uint32_t end = ranking_.levels_[l].group_end; ++l < end;) {
      // From where the point itself passes, its own way leads on (to the end, where its group is valid).
      if (row == rows_[l] && breaks_ == 0) return true;
      if (row == Diagram::dead || ranks_[l] == nowhere) return false;
      row = next_[l][row + ranks_[l]];
    }
    return row != Diagram::dead;
  }

  /// The same for up to 64 values from rank `first` on, as bits. Walks them side by side: one after the other, the end
  /// of each walk would be a branch that the processor guesses wrong.
  [[nodiscard]] std::uint64_t valid_values(std::uint32_t l, std::uint32_t first, std::uint32_t count) const {
    if (rows_[l] == nowhere) return 0;
    std::array<std::uint32_t, 64> rows;
    std::array<std::uint8_t, 64> bits;
    std::uint32_t walking = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      rows[walking] = next_[l][rows_[l] + first + i];
      bits[walking] = static_cast<std::uint8_t>(i);
      walking += rows[walking] != Diagram::dead ? 1 : 0;
    }
    std::uint64_t valid = 0;
    for (const std::uint32_t end = ranking_.levels_[l].group_end; ++l < end && walking > 0;) {
      if (ranks_[l] == nowhere) return valid;
      const std::uint32_t* const step = next_[l] + ranks_[l];
      const std::uint32_t own_row = breaks_ == 0 ? rows_[l] : nowhere;
      std::uint32_t still_walking = 0;
      for (std::uint32_t i = 0; i < walking; ++i) {
        const bool arrived = rows[i] == own_row;
        valid |= std::uint64_t{arrived} << bits[i];
        const std::uint32_t row = step[rows[i]];
        rows[still_walking] = row;
        bits[still_walking] = bits[i];
        still_walking += !arrived && row != Diagram::dead ? 1 : 0;
      }
      walking = still_walking;
    }
    for (std::uint32_t i = 0; i < walking; ++i) valid |= std::uint64_t{1} << bits[i];
    return valid;
  }

 private:
  /// Groups, and parameters with one value, as numbers.
  [[nodiscard]] std::size_t component(std::uint32_t parameter) const {
    const std::uint32_t level = ranking_.level_of_[parameter];
    return level == nowhere ? ranking_.diagrams_.size() + parameter : ranking_.levels_[level].group;
  }

  void note_break(std::uint32_t parameter) {
    ++breaks_;
    broken_ = component(parameter);
  }

  /// Follows the point through the group that starts at level l; returns the level after it.
  std::uint32_t follow_group(std::uint32_t l, std::span<const std::uint32_t> point) {
    const std::uint32_t first = ranking_.levels_[l].parameter;
    std::uint32_t row = 0;
    for (const std::uint32_t end = ranking_.levels_[l].group_end; l < end; ++l) {
      const Level& level = ranking_.levels_[l];
      const std::uint32_t rank = ranking_.rank_of(level.parameter, point[level.parameter]);
      rows_[l] = row;
      ranks_[l] = rank;
      next_[l] = level.next;
      row = row == nowhere || rank == nowhere ? nowhere : level.next[row + rank];
    }
    if (row == nowhere) note_break(first);
    return l;
  }

  const Ranking& ranking_;
  // By level: the row on the point's path (nowhere after it has died), the rank of the point's value, the level's rows.
  std::array<std::uint32_t, most_varying> rows_;
  std::array<std::uint32_t, most_varying> ranks_;
  std::array<const std::uint32_t*, most_varying> next_;
  std::size_t breaks_ = 0;
  std::size_t broken_ = 0;
};

void Ranking::moves(std::span<const std::uint32_t> point, Neighbourhood kind, std::vector<Move>& result) const {
  result.clear();
  if (size_ == 0) return;
  const Paths paths(*this, point);
  for (std::uint32_t parameter = 0; parameter < ranks_.size(); ++parameter) {
    if (!paths.may_move(parameter)) continue;
    if (kind == Neighbourhood::hamming) {
      add_other_values(paths, parameter, point[parameter], result);
    } else {
      add_next_values(paths, parameter, point[parameter], kind == Neighbourhood::bounded, result);
    }
  }
}

void Ranking::add_other_values(const Paths& paths, std::uint32_t parameter, std::uint32_t own,
                               std::vector<Move>& result) const {
  const std::vector<std::uint32_t>& domain = domains_[parameter];
  const auto size = static_cast<std::uint32_t>(domain.size());
  const std::uint32_t level = level_of_[parameter];
  constexpr std::uint32_t block = 64;
  for (std::uint32_t first = 0; first < size; first += block) {
    const std::uint32_t count = std::min(block, size - first);
    std::uint64_t valid = level == nowhere ? 1 : paths.valid_values(level, first, count);
    for (; valid != 0; valid &= valid - 1) {
      const std::uint32_t position = domain[first + static_cast<std::uint32_t>(std::countr_zero(valid))];
      if (position != own) result.push_back({parameter, position});
    }
  }
}

void Ranking::add_next_values(const Paths& paths, std::uint32_t parameter, std::uint32_t own, bool bounded,
                              std::vector<Move>& result) const {
  const std::vector<std::uint32_t>& domain = domains_[parameter];
  const auto size = static_cast<std::uint32_t>(domain.size());
  const std::uint32_t level = level_of_[parameter];
  const auto is_valid = [&](std::uint32_t rank) { return level == nowhere || paths.is_valid(level, rank); };
  // Ranks under `below` are of smaller values, those from `above` on of larger ones.
  const auto above = static_cast<std::uint32_t>(std::ranges::upper_bound(domain, own) - domain.begin());
  const std::uint32_t below = above > 0 && domain[above - 1] == own ? above - 1 : above;
  if (bounded) {
    if (below > 0 && domain[below - 1] + 1 == own && is_valid(below - 1))
      result.push_back({parameter, domain[below - 1]});
    if (above < size && domain[above] == own + 1 && is_valid(above)) result.push_back({parameter, domain[above]});
    return;
  }
  std::uint32_t down = below;
  while (down > 0 && !is_valid(down - 1)) --down;
  if (down > 0) result.push_back({parameter, domain[down - 1]});
  std::uint32_t up = above;
  while (up < size && !is_valid(up)) ++up;
  if (up < size) result.push_back({parameter, domain[up]});
}

}  // namespace wattune
