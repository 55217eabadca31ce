#pragma once
// Spaces and searches that the tests of strategies share.

#include <cmath>
#include <functional>
#include <limits>

#include "strategy/strategy.hpp"

namespace wattune::testing_spaces {

/// Two parameters of 30 values, 435 configurations.
inline SearchSpace triangle() {
  std::vector<Value> values;
  for (int i = 0; i < 30; ++i) values.emplace_back(i);
  return SearchSpace::build({{"a", values}, {"b", values}}, {{"a < b", "here"}});
}

/// Ten parameters 1..20 whose sum stands in a relation to 105: far too many configurations to list.
inline SearchSpace sum_space(const std::string& relation) {
  std::vector<Parameter> parameters;
  std::string sum;
  for (int i = 0; i < 10; ++i) {
    Parameter parameter{"p" + std::to_string(i), {}};
    for (int value = 1; value <= 20; ++value) parameter.values.emplace_back(value);
    sum += (i > 0 ? " + " : "") + parameter.name;
    parameters.push_back(parameter);
  }
  return SearchSpace::build(parameters, {{sum + relation, "here"}});
}

/// Sizes, switches and a word, as kernels have them, and a clock: 5,120 points, 4,320 of them valid.
inline SearchSpace kernel_space() {
  return SearchSpace::build({{"x", {16, 32, 64, 128}},
                             {"y", {1, 2, 4, 8}},
                             {"tile", {1, 2, 3, 4, 5}},
                             {"unroll", {false, true}},
                             {"layout", {"row", "column", "tiled", "none"}},
                             {"nvml_gr_clock", {1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700}}},
                            {{"x * y <= 512", "here"}, {"tile % 2 == 0 or not unroll or tile > 1", "here"}});
}

/// A sum of one smooth or stepped term per parameter; the least is 1.
inline double kernel_cost(const Point& point) {
  const auto square = [](double value) { return value * value; };
  return 1 + 0.3 * square(static_cast<double>(point[0]) - 2) + 0.2 * square(static_cast<double>(point[1]) - 1) +
         0.1 * square(static_cast<double>(point[2]) - 3) + (point[3] == 1 ? 0 : 0.2) + (point[4] == 2 ? 0 : 0.15) +
         0.03 * square(static_cast<double>(point[5]) - 3);
}

constexpr double fails = std::numeric_limits<double>::infinity();

inline Evaluation evaluation_of(double cost) {
  Evaluation evaluation;
  if (std::isinf(cost)) {
    evaluation.outcome = Outcome::launch;
  } else {
    evaluation.quantities["time"].value = cost;
  }
  return evaluation;
}

struct Trace {
  std::vector<Point> points;
  std::vector<double> costs;

  /// Evaluations until a cost was at most this; the number of all plus one where none was.
  [[nodiscard]] std::size_t until(double cost) const {
    std::size_t count = 0;
    while (count < costs.size() && costs[count] > cost) ++count;
    return count + 1;
  }
  [[nodiscard]] double best() const {
    double least = fails;
    for (const double cost : costs) least = std::min(least, cost);
    return least;
  }
};

/// Asks for `batch` at a time and tells them all, until the budget or the proposals end.
inline Trace search(Strategy& strategy, const std::function<double(const Point&)>& cost, std::size_t budget,
                    std::size_t batch = 1) {
  Trace trace;
  while (trace.points.size() < budget) {
    const auto points = strategy.ask(std::min(batch, budget - trace.points.size()));
    if (points.empty()) break;
    for (const auto& point : points) {
      trace.points.push_back(point);
      trace.costs.push_back(cost(point));
      strategy.tell(point, evaluation_of(trace.costs.back()));
    }
  }
  return trace;
}

}  // namespace wattune::testing_spaces
