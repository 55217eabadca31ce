#pragma once
// Problems built by hand.

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

inline Argument vector_argument(const std::string& name, const std::string& type, std::uint64_t size, Access access,
                                double value = 0) {
  Argument argument;
  argument.name = name;
  argument.type = *element_type(type);
  argument.size = size;
  argument.access = access;
  argument.fill.value = value;
  return argument;
}

inline Argument output_argument(const std::string& name, const std::string& type, std::uint64_t size, Access access,
                                double value = 0) {
  Argument argument = vector_argument(name, type, size, access, value);
  argument.output = true;
  return argument;
}

inline Argument scalar_argument(const std::string& name, const std::string& type, double value) {
  Argument argument = vector_argument(name, type, 1, Access::read_only, value);
  argument.memory = MemoryKind::scalar;
  return argument;
}

/// One parameter, block; `items` work-items, in groups of `block`.
inline Problem make_problem(std::vector<Argument> arguments, std::int64_t items = 256) {
  Problem problem;
  problem.file = "/problems/test.json";
  problem.name = "test";
  problem.parameters = {{"block", {16, 32, 4096}}};
  problem.kinds = {ParameterKind::launch};
  problem.defaults = {16};
  problem.problem_size = {items};
  problem.global_size[0] = Expression::parse("ProblemSize[0] // block");
  problem.local_size[0] = Expression::parse("block");
  problem.arguments = std::move(arguments);
  return problem;
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <typename T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace wattune
