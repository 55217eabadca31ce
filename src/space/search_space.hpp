#pragma once
// A search space: parameters, the values each may take, and the restrictions that valid configurations satisfy.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expr/value.hpp"

namespace wattune {

/// Counts and indices of configurations. Spaces of up to 2^128 - 1 points are handled.
using Count = unsigned __int128;
std::string to_string(Count count);

struct Parameter {
  std::string name;
  std::vector<Value> values;  ///< not empty, no value twice
};

struct Restriction {
  std::string expression;  ///< truthy for valid configurations
  std::string place;       ///< where it stands, for messages: "problem.json:12: Conditions[3].Expression"
};

/// A configuration as positions in the value lists, one per parameter in the order of the parameters.
using Point = std::vector<std::uint32_t>;

/// Which configurations count as neighbours; always valid ones that differ in one parameter.
enum class Neighbourhood {
  hamming,   ///< any other value
  adjacent,  ///< the next value in either direction of the value list that gives a valid configuration
  bounded    ///< the value one position up or down, where that is valid
};

/// A neighbour: the parameter that changes, and the position of its new value.
struct Move {
  std::uint32_t parameter;
  std::uint32_t position;
  friend bool operator==(const Move&, const Move&) = default;
};

/// A number of points; where it could not be counted exactly in reasonable time, an estimate from random points.
struct PointCount {
  double points = 0;
  std::optional<Count> exact;
};

/// What one restriction does to a space.
struct RestrictionEffect {
  PointCount removed_alone;  ///< points of the Cartesian product that violate it
  PointCount valid_without;  ///< configurations that would be valid if this restriction alone were dropped
};

/// Points that a restriction makes invalid because it could not be evaluated there.
struct RestrictionFault {
  std::size_t restriction;
  bool division_by_zero;  ///< else a number too large, or without real result
  PointCount points;      ///< that satisfy the restrictions before it
};

/// Immutable after it is built; const functions may be called by several threads.
class SearchSpace {
 public:
  /// Builds the space. A restriction that divides by zero at a point, or overflows, makes the point invalid: see
  /// faults(). @throws UsageError (naming place and column) for a faulty restriction, an unknown name or operands of
  /// the wrong type, for a parameter without values, and for a space beyond 2^128 points or one whose restrictions tie
  /// so many parameters together that it cannot be counted. An empty space is no error here: size() is 0.
  static SearchSpace build(std::vector<Parameter> parameters, std::vector<Restriction> restrictions);

  /// A space whose valid configurations are these points, whatever rule made them so. Points may stand twice. It has no
  /// restrictions. @throws UsageError for a faulty parameter, and for a point that has a position too few, too many, or
  /// beyond its parameter's values.
  static SearchSpace of_points(std::vector<Parameter> parameters, std::vector<Point> points);

  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept;
  [[nodiscard]] const std::vector<Restriction>& restrictions() const noexcept;

  /// Points of the Cartesian product.
  [[nodiscard]] Count cartesian() const noexcept;
  /// Valid configurations.
  [[nodiscard]] Count size() const noexcept;

  /// The i-th valid configuration, 0 <= i < size(). The order is fixed for a given space. It is lexicographic in the
  /// order of the parameters and of their values, but for parameters that can only be counted in another order: they
  /// then take each other's places in it (see is_lexicographic()).
  [[nodiscard]] Point point(Count index) const;
  [[nodiscard]] bool is_lexicographic() const noexcept;
  /// The inverse of point(); nothing for a point that is not valid.
  [[nodiscard]] std::optional<Count> index(std::span<const std::uint32_t> point) const;
  [[nodiscard]] bool contains(std::span<const std::uint32_t> point) const;

  /// The values at a point.
  [[nodiscard]] std::vector<Value> values(std::span<const std::uint32_t> point) const;
  /// The point of these values; nothing where a value is not in its list (the point may still be restricted).
  [[nodiscard]] std::optional<Point> find(std::span<const Value> values) const;

  /// min(n, size()) different indices, uniformly without replacement, in random order. The same seed gives the same
  /// sample on every machine, and a smaller n gives the beginning of a larger one.
  [[nodiscard]] std::vector<Count> sample(std::size_t n, std::uint64_t seed) const;

  /// n different indices (or all), one from each of n equal parts of the order of configurations, which puts them
  /// evenly over the values of the first parameters; ascending.
  [[nodiscard]] std::vector<Count> stratified_sample(std::size_t n, std::uint64_t seed) const;
  /// min(n, size()) different indices by Latin-hypercube sampling. For each parameter in turn the i-th configuration
  /// takes the u_i-quantile of the valid configurations that are left, where the u_i of a parameter are spread evenly
  /// over (0, 1) and paired at random between parameters. So every parameter's values appear about as often as in the
  /// valid configurations, and each single sample is uniform over them.
  [[nodiscard]] std::vector<Count> latin_hypercube_sample(std::size_t n, std::uint64_t seed) const;

  /// The neighbours of a point, by parameter and position ascending. The point itself need not be valid. The time does
  /// not depend on the size of the space.
  [[nodiscard]] std::vector<Move> moves(std::span<const std::uint32_t> point, Neighbourhood kind) const;
  /// The same into a vector that is emptied first, so that many queries need no allocation.
  void moves(std::span<const std::uint32_t> point, Neighbourhood kind, std::vector<Move>& result) const;
  /// Their indices.
  [[nodiscard]] std::vector<Count> neighbours(std::span<const std::uint32_t> point, Neighbourhood kind) const;

  /// What each restriction does, for messages about empty and tiny spaces. Takes several times as long as building.
  [[nodiscard]] std::vector<RestrictionEffect> explain() const;

  /// Where restrictions divide by zero, or fail in another way that makes points invalid; empty where none does. Each
  /// restriction is judged on the points that satisfy those before it. Computed on demand.
  [[nodiscard]] std::vector<RestrictionFault> faults() const;

  /// Seconds from the parsed problem until count, i-th configuration and index can be answered.
  [[nodiscard]] double build_seconds() const noexcept;

 private:
  struct Impl;
  explicit SearchSpace(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace wattune
