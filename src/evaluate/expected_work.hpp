#pragma once
// What a launch computes and moves, as far as the problem tells.

#include <vector>

#include "problem/problem.hpp"

namespace wattune {

struct ExpectedWork {
  double flop = 0;   ///< 0: the problem does not tell
  double bytes = 0;  ///< of device memory
};

/// Workload's Flop and Bytes; without Bytes those of the arguments, each read or written once (or both).
/// @throws ExpressionError where an expression has no value for this configuration.
ExpectedWork expected_work(const Problem& problem, const std::vector<Value>& configuration);

}  // namespace wattune
