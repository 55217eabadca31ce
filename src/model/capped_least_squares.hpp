#pragma once
// Linear least squares under a cap: value = min(limit, columns . coefficients), coefficients not negative.

#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace wattune {

constexpr std::size_t most_columns = 3;

struct CappedRow {
  std::array<double, most_columns> columns{};
  double value = 0;
};

struct CappedSolution {
  std::array<double, most_columns> coefficients{};
  double limit = std::numeric_limits<double>::infinity();
  double residual = std::numeric_limits<double>::infinity();  ///< sum of squares; infinite where nothing can be solved
};

/// Without a limit.
/// @param columns how many of each row count
CappedSolution solve_uncapped(std::span<const CappedRow> rows, std::size_t columns);

/// With a limit.
/// @param rows in increasing order of what the columns give, so that the capped ones are the last
/// @param least_capped that the limit binds on so many rows at least; at least 1
CappedSolution solve_capped(std::span<const CappedRow> rows, std::size_t columns, std::size_t least_capped);

}  // namespace wattune
