#pragma once
// Ways from one valid configuration to others. All results are valid: they are found through the space's neighbours.

#include <optional>
#include <vector>

#include "problem/problem.hpp"
#include "space/random.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// A parameter's values as places on an axis: numbers by their order, all else in the order of the list.
struct Axis {
  bool is_ordinal = false;              ///< numbers, at least three
  bool is_setting = false;              ///< of the device
  std::vector<std::uint32_t> place;     ///< by position in the value list
  std::vector<std::uint32_t> position;  ///< the inverse
};

class Moves {
 public:
  Moves(const SearchSpace& space, const std::vector<ParameterKind>& kinds);

  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }

  /// The configurations that differ in one parameter. Device settings only move to the next value in either direction,
  /// and so do all numbers where `adjacent`. Where restrictions tie parameters so that none can change alone, up to
  /// `most_pairs` random configurations that differ in two or more.
  [[nodiscard]] std::vector<Point> neighbours(const Point& point, bool adjacent, Random& random);
  static constexpr std::size_t most_pairs = 200;

  /// A random neighbour: first the parameter is drawn, then its value. Nothing where there is none.
  [[nodiscard]] std::optional<Point> random_neighbour(const Point& point, bool adjacent, Random& random);
  /// `steps` random moves in turn.
  [[nodiscard]] Point walk(const Point& point, std::size_t steps, Random& random);

  /// The configuration nearest to the wanted places that single moves from `start` reach; `start` is valid, `wanted`
  /// (places on the axes) need not be.
  [[nodiscard]] Point towards(const Point& start, const std::vector<std::uint32_t>& wanted, Random& random);

 private:
  /// Valid configurations that differ in two or more parameters, `most` at most.
  [[nodiscard]] std::vector<Point> pair_moves(const Point& point, std::size_t most, Random& random);
  [[nodiscard]] bool moves_alone(std::uint32_t parameter, bool adjacent) const {
    return axes_[parameter].is_setting || (adjacent && axes_[parameter].is_ordinal);
  }
  /// Fills found_ with the single moves that `neighbours` describes.
  void find_moves(const Point& point, bool adjacent);

  const SearchSpace& space_;
  std::vector<Axis> axes_;
  std::vector<Move> found_;  ///< reused between queries
  std::vector<Move> kept_;
};

}  // namespace wattune
