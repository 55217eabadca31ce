#include "evaluate/expected_work.hpp"

#include "problem/evaluate_in.hpp"

namespace wattune {

namespace {

double bytes_of_arguments(const Problem& problem) {
  double bytes = 0;
  for (const auto& argument : problem.arguments) {
    if (argument.memory != MemoryKind::vector && argument.memory != MemoryKind::constant) continue;
    const double passes = argument.access == Access::read_write ? 2 : 1;
    bytes += passes * static_cast<double>(argument.size) * static_cast<double>(argument.type.bytes);
  }
  return bytes;
}

}  // namespace

ExpectedWork expected_work(const Problem& problem, const std::vector<Value>& configuration) {
  const auto value_of = [&](const Expression& expression) {
    return evaluate_for(problem, expression, configuration).as_double();
  };
  ExpectedWork work;
  if (problem.workload.flop) work.flop = value_of(*problem.workload.flop);
  work.bytes = problem.workload.bytes ? value_of(*problem.workload.bytes) : bytes_of_arguments(problem);
  return work;
}

}  // namespace wattune
