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

/// Immutable after it is built; const functions may be called by several threads.
class SearchSpace {
 public:
  /// Builds the space. @throws UsageError (naming place and column) for a faulty restriction or an unknown name, and
  /// for a space beyond 2^128 points. An empty space is no error here: size() is 0.
  static SearchSpace build(std::vector<Parameter> parameters, std::vector<Restriction> restrictions);

  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept;
  [[nodiscard]] const std::vector<Restriction>& restrictions() const noexcept;

  /// Points of the Cartesian product.
  [[nodiscard]] Count cartesian() const noexcept;
  /// Valid configurations.
  [[nodiscard]] Count size() const noexcept;

  /// The i-th valid configuration, 0 <= i < size(). The order is lexicographic in the order of the parameters' values
  /// where the space is listed, and fixed for a given space in every case.
  [[nodiscard]] Point point(Count index) const;
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

  /// Seconds from the parsed problem until count, i-th configuration and index can be answered.
  [[nodiscard]] double build_seconds() const noexcept;

 private:
  struct Impl;
  explicit SearchSpace(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace wattune
