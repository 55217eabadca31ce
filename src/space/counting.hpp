#pragma once
// Counts and ranks the points that answer a question about a definition.

#include <cstddef>
#include <set>
#include <tl/expected.hpp>
#include <vector>

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

/// Parameters that restrictions tie together in a way that takes too many edges.
struct TooTied {
  std::vector<std::size_t> parameters;
};

/// Fails where more than `most_edges` would be needed.
tl::expected<Counted, TooTied> count_points(const Definition& definition, const Question& question,
                                            std::size_t most_edges = most_edges_ever);

/// The valid configurations. @throws UsageError where they take too many edges to count, and for a restriction with
/// operands of the wrong type.
Counted count_valid(const Definition& definition, std::size_t most_edges = most_edges_ever);

/// The number of points, estimated from random ones where it takes more than `most_edges` edges.
PointCount estimate_points(const Definition& definition, const Question& question, std::size_t most_edges);

}  // namespace wattune
