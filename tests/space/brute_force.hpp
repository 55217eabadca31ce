#pragma once
// What a search space must be, by going through all its points: slow and simple, for comparison.

#include <algorithm>
#include <string>
#include <vector>

#include "expr/expression.hpp"
#include "space/search_space.hpp"

namespace wattune::test {

struct BruteForce {
  std::vector<Point> valid;  ///< in lexicographic order
  /// Any restriction, by itself, has operands of the wrong type at some point.
  bool has_type_fault = false;
  /// By restriction: points that satisfy those before it, and at which it divides by zero, or fails otherwise.
  std::vector<std::uint64_t> divisions_by_zero, other_faults;
  /// By restriction: points that violate it.
  std::vector<std::uint64_t> removed_alone;
  /// By restriction: points that satisfy all others.
  std::vector<std::uint64_t> valid_without;

  BruteForce(const std::vector<Parameter>& parameters, const std::vector<Restriction>& restrictions)
      : divisions_by_zero(restrictions.size()),
        other_faults(restrictions.size()),
        removed_alone(restrictions.size()),
        valid_without(restrictions.size()) {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) names.push_back(parameter.name);
    std::vector<Program> programs;
    for (const Restriction& restriction : restrictions) {
      programs.push_back(Expression::parse(restriction.expression).compile(names));
    }
    Point point(parameters.size(), 0);
    do {
      std::vector<Value> values;
      for (std::size_t i = 0; i < point.size(); ++i) values.push_back(parameters[i].values[point[i]]);
      judge(point, values, programs);
    } while (advance(parameters, point));
  }

  [[nodiscard]] bool contains(const Point& point) const { return std::ranges::binary_search(valid, point); }

  /// The neighbours of a point as (parameter, position) pairs, by the words of the definition.
  [[nodiscard]] std::vector<Move> moves(const std::vector<Parameter>& parameters, const Point& point,
                                        Neighbourhood kind) const {
    std::vector<Move> result;
    for (std::uint32_t i = 0; i < point.size(); ++i) {
      const auto size = static_cast<std::uint32_t>(parameters[i].values.size());
      const auto is_valid = [&](std::uint32_t position) {
        Point other = point;
        other[i] = position;
        return contains(other);
      };
      std::vector<std::uint32_t> below, above;  // valid ones, the nearest last, the nearest first
      for (std::uint32_t v = 0; v < size; ++v) {
        if (v < point[i] && is_valid(v)) below.push_back(v);
        if (v > point[i] && is_valid(v)) above.push_back(v);
      }
      if (kind == Neighbourhood::hamming) {
        for (const std::uint32_t v : below) result.push_back({i, v});
        for (const std::uint32_t v : above) result.push_back({i, v});
      } else {
        const bool bounded = kind == Neighbourhood::bounded;
        if (!below.empty() && (!bounded || below.back() + 1 == point[i])) result.push_back({i, below.back()});
        if (!above.empty() && (!bounded || above.front() == point[i] + 1)) result.push_back({i, above.front()});
      }
    }
    return result;
  }

  /// The next point in lexicographic order; false after the last.
  static bool advance(const std::vector<Parameter>& parameters, Point& point) {
    for (std::size_t i = point.size(); i-- > 0;) {
      if (++point[i] < parameters[i].values.size()) return true;
      point[i] = 0;
    }
    return false;
  }

 private:
  void judge(const Point& point, const std::vector<Value>& values, const std::vector<Program>& programs) {
    std::vector<std::size_t> violated;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      bool truth = false;
      const Fault fault = programs[i].test(values, truth);
      if (fault == Fault::type || fault == Fault::work) has_type_fault = true;
      if (fault == Fault::none && truth) continue;
      if (violated.empty() && fault != Fault::none) {
        ++(fault == Fault::division_by_zero ? divisions_by_zero : other_faults)[i];
      }
      violated.push_back(i);
      ++removed_alone[i];
    }
    if (violated.empty()) valid.push_back(point);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (violated.empty() || (violated.size() == 1 && violated[0] == i)) ++valid_without[i];
    }
  }
};

}  // namespace wattune::test
