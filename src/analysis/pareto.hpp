#pragma once
// What a Pareto front (result/order) says: which of its members are on it by more than chance, where its knee is, and
// what is given up for what from one end to the other.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "result/order.hpp"

namespace wattune {

struct FrontMember {
  std::size_t index = 0;  ///< into the evaluations
  /// No other evaluation can, within the uncertainty of both, be at least as good in every objective: in some objective
  /// each is worse by more than 1.96 standard errors of the difference. An error that is not known counts as none.
  bool sure = true;
  std::optional<std::size_t> rival;  ///< where not sure: the evaluation most likely to be better in every objective
};

/// How a quantity changes from one evaluation to another.
struct Change {
  double relative = std::numeric_limits<double>::quiet_NaN();  ///< to / from - 1
  double stderr_value = std::numeric_limits<double>::quiet_NaN();
};

struct Front {
  std::vector<Objective> objectives;
  std::vector<FrontMember> members;  ///< sorted by the first objective, the best first
  /// Place in `members` of the knee: with each of two objectives scaled to run from 0 at its best on the front to 1 at
  /// its worst, the member farthest from the chord between the ends, on the side of the better. Nothing where no member
  /// lies on that side, or the objectives are not two.
  std::optional<std::size_t> knee;
  bool errors_known = true;  ///< every member has a standard error in every objective
};

/// Those of `among` that have a value in every objective: they compete for a front.
std::vector<std::size_t> complete(std::span<const Evaluation> evaluations, Among among,
                                  std::span<const Objective> objectives);

/// The front of those of the evaluations that `among` names.
Front analyse_front(std::span<const Evaluation> evaluations, Among among, std::span<const Objective> objectives);

/// Of the objective's quantity, which both evaluations must have.
Change change_between(const Evaluation& from, const Evaluation& to, const Objective& objective);

}  // namespace wattune
