#pragma once
// Search strategies: they are asked for configurations and told what became of them. They know no device.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"
#include "space/search_space.hpp"

namespace wattune {

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to n points to evaluate next. Fewer where the strategy waits to be told, or where it has no more to propose;
  /// none with nothing left to be told means that it is done. A given space, seed and order of ask and tell gives the
  /// same proposals on every machine.
  virtual std::vector<Point> ask(std::size_t n) = 0;
  /// What became of a proposed point.
  virtual void tell(const Point& point, const Evaluation& evaluation) = 0;
};

/// @param name one of strategy_descriptions(). The space must outlive the strategy.
/// @param objective what the search is to better; strategies that do not learn ignore it.
/// @throws UsageError that lists the names there are.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const Objective& objective = {"time", Direction::minimize});

struct StrategyDescription {
  std::string name;
  std::string summary;  ///< one line, for --help
};
const std::vector<StrategyDescription>& strategy_descriptions();

}  // namespace wattune
