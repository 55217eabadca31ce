#pragma once
// Counts and ranks the points that answer a question about a definition.

#include <cstddef>
#include <optional>
#include <set>

#include "space/model.hpp"
#include "space/ranking.hpp"

namespace wattune {

struct Counted {
  Ranking ranking;
  bool lexicographic = true;
  std::set<std::size_t> suspects;  ///< see Model::suspects
};

/// Edges of decision diagrams, beyond which counting is given up: about 2 GB.
inline constexpr std::size_t most_edges_ever = 100'000'000;

/// Nothing where more than `most_edges` would be needed.
std::optional<Counted> count_points(const Definition& definition, const Question& question, std::size_t most_edges);

/// The number of points, estimated from random ones where it takes more than `most_edges` edges.
PointCount estimate_points(const Definition& definition, const Question& question, std::size_t most_edges);

}  // namespace wattune
