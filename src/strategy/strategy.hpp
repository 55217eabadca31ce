#pragma once
// Search strategies: they are asked for configurations and told what became of them. They know no device.

#include <cstdint>
#include <map>
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
  /// Up to n points to evaluate next: valid ones, none twice. Fewer where the strategy waits to be told, or where it
  /// has no more to propose; none with nothing left to be told means that all were proposed. A given space, seed and
  /// order of ask and tell gives the same proposals again.
  virtual std::vector<Point> ask(std::size_t n) = 0;
  /// What became of a proposed point. Points that were not proposed are taken as knowledge from elsewhere and are not
  /// proposed any more.
  virtual void tell(const Point& point, const Evaluation& evaluation) = 0;
};

/// Options of a strategy by name, as text: {"population", "20"}.
using StrategyOptions = std::map<std::string, std::string>;

/// What a strategy is told of the problem beside its space.
struct StrategySetup {
  /// The first counts for strategies with one objective. Strategies that do not learn ignore them.
  std::vector<Objective> objectives = {{"time", Direction::minimize}};
  /// One per parameter; empty: parameters named nvml_* are device settings, all others code.
  std::vector<ParameterKind> kinds;
  StrategyOptions options;
};

/// @param name one of strategy_descriptions(). The space must outlive the strategy.
/// @throws UsageError for an unknown name or option, naming those there are, and for an option's value out of range.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const StrategySetup& setup);
std::unique_ptr<Strategy> make_strategy(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                        const Objective& objective = {"time", Direction::minimize});

/// @throws UsageError as make_strategy() for what depends on name and options alone.
void check_strategy(const std::string& name, const StrategyOptions& options);

/// An option: a number within bounds, or one of several words.
struct OptionDescription {
  std::string name;
  std::string fallback;              ///< its value where none is given
  std::string summary;               ///< a few words, for --help
  std::vector<std::string> choices;  ///< not empty: the words there are
  double least = 0;                  ///< of a number
  double most = 0;
  bool whole = false;  ///< a whole number
};

struct StrategyDescription {
  std::string name;
  std::string summary;  ///< one line, for --help
  std::vector<OptionDescription> options;
  bool multi_objective = false;  ///< looks for the Pareto front of all objectives
};
/// In the order of --help; the default comes first.
const std::vector<StrategyDescription>& strategy_descriptions();

/// "key=value" into `options`. @throws UsageError where there is no key or it is given twice.
void add_strategy_option(StrategyOptions& options, const std::string& text);

}  // namespace wattune
