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
  /// No configurations.
  Ranking() = default;
  /// `domains`: by parameter, the positions of its values that may be valid, ascending. Parameters with one such
  /// position are in no diagram. The variables of the diagrams are parameters.
  Ranking(std::vector<Diagram> diagrams, std::vector<std::vector<std::uint32_t>> domains,
          const std::vector<Parameter>& parameters);
  Ranking(Ranking&&) = default;
  Ranking& operator=(Ranking&&) = default;

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
  /// A space of fewer than 2^128 points has fewer parameters with two values or more.
  static constexpr std::size_t most_varying = 128;

  /// A level of a group's diagram. Those of a group follow each other.
  struct Level {
    std::uint32_t parameter;
    std::uint32_t group;
    std::uint32_t group_end;  ///< the level after the group's last
    std::uint32_t width;
    const std::uint32_t* next;  ///< as in Diagram::Level
    const Counts* before;
  };
  /// One parameter's turn in the enumeration.
  struct Step {
    std::uint32_t level;              ///< in levels_
    bool continues;                   ///< the step before was of the same group
    Count untouched;                  ///< combinations of the groups whose turn has not come yet
    std::vector<std::uint32_t> open;  ///< levels at which other groups stand that have begun and not ended
  };
  class Paths;

  void add_other_values(const Paths& paths, std::uint32_t parameter, std::uint32_t own,
                        std::vector<Move>& result) const;
  void add_next_values(const Paths& paths, std::uint32_t parameter, std::uint32_t own, bool bounded,
                       std::vector<Move>& result) const;
  void arrange_steps();
  template <typename Number>
  [[nodiscard]] Number others(const Step& step, const std::uint32_t* rows) const;
  template <typename Number>
  [[nodiscard]] Point point_of(Number index) const;
  template <typename Number>
  [[nodiscard]] std::optional<Number> index_of(std::span<const std::uint32_t> point) const;
  /// A point with the values of the parameters that have but one.
  [[nodiscard]] Point fixed_point() const;
  [[nodiscard]] bool has_fixed_values(std::span<const std::uint32_t> point) const;
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t parameter, std::uint32_t position) const {
    const std::vector<std::uint32_t>& ranks = ranks_[parameter];
    return position < ranks.size() ? ranks[position] : nowhere;
  }

  Count size_ = 0;
  bool is_narrow_ = true;  ///< all counts fit in 64 bits
  std::vector<Diagram> diagrams_;
  std::vector<Level> levels_;  ///< of all diagrams
  std::vector<Step> steps_;
  std::vector<std::vector<std::uint32_t>> domains_;
  std::vector<std::vector<std::uint32_t>> ranks_;  ///< by parameter and position: place in the domain, or nowhere
  std::vector<std::uint32_t> fixed_;               ///< parameters with one position
  std::vector<std::uint32_t> level_of_;            ///< by parameter, or nowhere
};

}  // namespace wattune
