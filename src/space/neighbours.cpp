// Neighbours in a ranking: every question is answered by short walks through the diagrams, whose length does not depend
// on the size of the space.

#include <algorithm>

#include "space/ranking.hpp"

namespace wattune {

/// The paths of one point through the diagrams.
class Ranking::Paths {
 public:
  Paths(const Ranking& ranking, std::span<const std::uint32_t> point) : ranking_(ranking) {
    std::size_t levels = 0;
    for (const Diagram& diagram : ranking.diagrams_) {
      first_.push_back(levels);
      levels += diagram.levels().size();
    }
    nodes_.assign(levels + 1, nowhere);
    ranks_.resize(levels + 1, nowhere);
    for (std::uint32_t g = 0; g < ranking.diagrams_.size(); ++g) follow(g, point);
    for (const std::uint32_t parameter : ranking.fixed_) {
      if (point[parameter] != ranking.domains_[parameter][0]) note_fault(parameter);
    }
  }

  /// Whether a move of this parameter can lead to a valid configuration: only where all the rest is in order.
  [[nodiscard]] bool may_move(std::uint32_t parameter) const {
    return faults_ == 0 || (faults_ == 1 && component(parameter) == faulty_);
  }

  /// Whether the configuration is valid when this step's parameter takes the value `rank`.
  [[nodiscard]] bool is_valid(const Step& step, std::uint32_t rank) const {
    const std::vector<Diagram::Level>& levels = ranking_.diagrams_[step.group].levels();
    const std::size_t first = first_[step.group];
    std::size_t l = step.level;
    std::uint32_t node = nodes_[first + l];
    if (node == nowhere) return false;
    node = levels[l].next[node * levels[l].width + rank];
    for (++l; node != Diagram::dead && l < levels.size(); ++l) {
      if (ranks_[first + l] == nowhere) return false;
      // From where the point itself passes, its own way leads on.
      if (node == nodes_[first + l] && faults_ == 0) return true;
      node = levels[l].next[node * levels[l].width + ranks_[first + l]];
    }
    return node != Diagram::dead;
  }

 private:
  /// Groups, and parameters with one value, as numbers.
  [[nodiscard]] std::size_t component(std::uint32_t parameter) const {
    const std::uint32_t step = ranking_.step_of_parameter_[parameter];
    return step == nowhere ? ranking_.diagrams_.size() + parameter : ranking_.steps_[step].group;
  }

  void note_fault(std::uint32_t parameter) {
    ++faults_;
    faulty_ = component(parameter);
  }

  void follow(std::uint32_t g, std::span<const std::uint32_t> point) {
    const std::vector<Diagram::Level>& levels = ranking_.diagrams_[g].levels();
    std::uint32_t node = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const std::size_t parameter = levels[l].variable;
      const std::uint32_t rank = ranking_.ranks_[parameter][point[parameter]];
      nodes_[first_[g] + l] = node;
      ranks_[first_[g] + l] = rank;
      node = node == nowhere || rank == nowhere ? nowhere : levels[l].next[node * levels[l].width + rank];
    }
    if (node == nowhere) note_fault(static_cast<std::uint32_t>(levels[0].variable));
  }

  const Ranking& ranking_;
  std::vector<std::size_t> first_;     ///< by group: where its levels start in the two vectors below
  std::vector<std::uint32_t> nodes_;   ///< nowhere after the path has died
  std::vector<std::uint32_t> ranks_;   ///< of the point's own values
  std::size_t faults_ = 0;
  std::size_t faulty_ = 0;
};

void Ranking::moves(std::span<const std::uint32_t> point, Neighbourhood kind, std::vector<Move>& result) const {
  result.clear();
  if (size_ == 0) return;
  const Paths paths(*this, point);
  for (std::uint32_t parameter = 0; parameter < ranks_.size(); ++parameter) {
    if (!paths.may_move(parameter)) continue;
    const std::uint32_t own = point[parameter];
    const std::vector<std::uint32_t>& domain = domains_[parameter];
    const auto is_valid = [&](std::uint32_t rank) {
      const std::uint32_t step = step_of_parameter_[parameter];
      return step == nowhere || paths.is_valid(steps_[step], rank);
    };
    const auto take = [&](std::uint32_t rank) { result.push_back({parameter, domain[rank]}); };
    const auto above = static_cast<std::uint32_t>(std::ranges::upper_bound(domain, own) - domain.begin());
    const bool is_known = above > 0 && domain[above - 1] == own;
    const std::uint32_t below = is_known ? above - 1 : above;  // ranks under this one are smaller values
    const auto size = static_cast<std::uint32_t>(domain.size());
    switch (kind) {
      case Neighbourhood::hamming:
        for (std::uint32_t rank = 0; rank < size; ++rank) {
          if (domain[rank] != own && is_valid(rank)) take(rank);
        }
        break;
      case Neighbourhood::adjacent: {
        std::uint32_t down = below;
        while (down > 0 && !is_valid(down - 1)) --down;
        if (down > 0) take(down - 1);
        std::uint32_t up = above;
        while (up < size && !is_valid(up)) ++up;
        if (up < size) take(up);
        break;
      }
      case Neighbourhood::bounded:
        if (below > 0 && domain[below - 1] + 1 == own && is_valid(below - 1)) take(below - 1);
        if (above < size && domain[above] == own + 1 && is_valid(above)) take(above);
        break;
    }
  }
}

}  // namespace wattune
