#pragma once
// Numbers the configurations that are made of one combination of each of several groups, in lexicographic order.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "space/diagram.hpp"
#include "space/search_space.hpp"

namespace wattune {

class Ranking {
 public:
  Ranking() = default;
  /// `domains`: by parameter, the positions of its values that may be valid, ascending. Parameters with one such
  /// position are in no diagram. The variables of the diagrams are parameters.
  Ranking(std::vector<Diagram> diagrams, std::vector<std::vector<std::uint32_t>> domains,
          const std::vector<Parameter>& parameters);

  [[nodiscard]] Count size() const { return size_; }
  [[nodiscard]] Point point(Count index) const;
  [[nodiscard]] std::optional<Count> index(std::span<const std::uint32_t> point) const;
  [[nodiscard]] bool contains(std::span<const std::uint32_t> point) const;

  /// The configuration whose value at the parameters is, one after the other, the quantile u of those that are left:
  /// u[k] / 2^64 of the way through them, for the k-th parameter that varies.
  [[nodiscard]] Point at_quantiles(std::span<const std::uint64_t> u) const;
  [[nodiscard]] std::size_t varying() const { return steps_.size(); }

  void moves(std::span<const std::uint32_t> point, Neighbourhood kind, std::vector<Move>& result) const;

 private:
  static constexpr std::uint32_t nowhere = Diagram::dead;

  /// Where a group is while others are enumerated.
  struct Open {
    std::uint32_t group, level;
  };
  /// One parameter's turn in the enumeration.
  struct Step {
    std::uint32_t parameter, group, level;
    Count untouched = 1;      ///< combinations of the groups whose turn has not come yet
    std::vector<Open> open;   ///< the other groups of which some parameters are known and others not
  };
  class Paths;

  [[nodiscard]] const Diagram::Level& level(std::uint32_t group, std::uint32_t level) const {
    return diagrams_[group].levels()[level];
  }
  void arrange_steps(const std::vector<Parameter>& parameters);
  /// Configurations that differ outside the step's group, the nodes of all groups being given.
  [[nodiscard]] Count others(const Step& step, std::span<const std::uint32_t> nodes) const;

  Count size_ = 0;
  std::vector<Diagram> diagrams_;
  std::vector<std::vector<std::uint32_t>> domains_;
  std::vector<std::vector<std::uint32_t>> ranks_;  ///< by parameter and position: place in the domain, or nowhere
  std::vector<Step> steps_;
  std::vector<std::uint32_t> fixed_;               ///< parameters with one position
  std::vector<std::uint32_t> step_of_parameter_;   ///< or nowhere
};

}  // namespace wattune
