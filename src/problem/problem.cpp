#include "problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "problem/evaluate_in.hpp"

namespace wattune {

namespace {

constexpr std::array<std::string_view, 3> block_names{"block_size_x", "block_size_y", "block_size_z"};
constexpr std::array<std::string_view, 3> grid_names{"grid_size_x", "grid_size_y", "grid_size_z"};
constexpr std::array<char, 3> axes{'X', 'Y', 'Z'};

/// As C reads it.
std::string define_text(const Value& value) {
  if (value.is_bool()) return value.as_bool() ? "1" : "0";
  if (value.is_float() && std::isnan(value.as_double())) return "(0.0/0.0)";
  if (value.is_float() && std::isinf(value.as_double())) return value.as_double() > 0 ? "(1.0/0.0)" : "(-1.0/0.0)";
  return value.str();
}

bool occurs(const Problem& problem, std::string_view name) {
  const auto& identifiers = problem.kernel.identifiers;
  return problem.kernel.pastes || std::binary_search(identifiers.begin(), identifiers.end(), name, std::less<>());
}

bool is_parameter(const Problem& problem, std::string_view name) {
  return std::any_of(problem.parameters.begin(), problem.parameters.end(),
                     [name](const Parameter& parameter) { return parameter.name == name; });
}

std::uint64_t checked_product(const Expression& expression, std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw ExpressionError(expression.text(), 1, "the product of the divisors is too large");
  }
  return product;
}

std::uint64_t grid_by_divisors(const Problem& problem, std::size_t axis, const std::vector<Value>& configuration) {
  if (axis >= problem.problem_size.size()) return 1;
  const auto size = static_cast<std::uint64_t>(problem.problem_size[axis]);
  std::uint64_t divisor = 1;
  for (const Expression& expression : problem.grid_divisors[axis]) {
    const Value value = evaluate_for(problem, expression, configuration);
    const std::uint64_t factor = as_count(expression, value, fmt::format("GridDiv{}", axes[axis]), false);
    divisor = checked_product(expression, divisor, factor);
  }
  return size / divisor + (size % divisor != 0 ? 1 : 0);
}

std::uint64_t grid_by_global_size(const Problem& problem, std::size_t axis, const std::vector<Value>& configuration,
                                  std::uint64_t block) {
  const auto& expression = problem.global_size[axis];
  if (!expression) return 1;
  const std::uint64_t size = as_count(*expression, evaluate_for(problem, *expression, configuration),
                                      fmt::format("GlobalSize.{}", axes[axis]), false);
  if (!problem.global_size_in_items) return size;
  if (size % block != 0) {
    throw ExpressionError(expression->text(), 1,
                          fmt::format("GlobalSize.{} = {} is no multiple of LocalSize.{} = {}; round it up", axes[axis],
                                      size, axes[axis], block));
  }
  return size / block;
}

std::vector<std::pair<std::string, std::string>> explicit_defines(const Problem& problem,
                                                                  const std::vector<Value>& configuration) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [name, expression] : *problem.explicit_defines) {
    if (occurs(problem, name)) result.emplace_back(name, define_text(evaluate_for(problem, expression, configuration)));
  }
  return result;
}

}  // namespace

std::string_view to_string(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::code:
      return "code";
    case ParameterKind::launch:
      return "launch";
    case ParameterKind::device_setting:
      return "device_setting";
  }
  return "code";
}

std::vector<std::string> Problem::parameter_names() const {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

Value problem_size_value(const Problem& problem) {
  return Value::List(problem.problem_size.begin(), problem.problem_size.end());
}

Value evaluate_for(const Problem& problem, const Expression& expression, const std::vector<Value>& configuration) {
  std::map<std::string, Value> scope;
  for (const std::string& name : expression.names()) {
    for (std::size_t i = 0; i < problem.parameters.size() && i < configuration.size(); ++i) {
      if (problem.parameters[i].name == name) scope.emplace(name, configuration[i]);
    }
    if (name == "ProblemSize" && !problem.problem_size.empty()) scope.emplace(name, problem_size_value(problem));
  }
  return expression.evaluate(scope);
}

std::map<std::string, Value> list_scope(const Problem& problem) {
  std::map<std::string, Value> scope;
  for (const Parameter& parameter : problem.parameters) scope.emplace(parameter.name, Value::List(parameter.values));
  if (!problem.problem_size.empty()) scope.emplace("ProblemSize", problem_size_value(problem));
  return scope;
}

std::uint64_t as_count(const Expression& expression, const Value& value, std::string_view what, bool zero_allowed) {
  const auto wrong = [&](std::string_view needed) {
    return ExpressionError(expression.text(), 1, fmt::format("{} is {}; it must be {}", what, value.str(), needed));
  };
  const std::string_view needed = zero_allowed ? "an integer that is not negative" : "a positive integer";
  double number = 0;
  if (value.is_number()) number = value.as_double();
  // 2^63 as a double is exact; every double below it that is integral fits.
  if (!value.is_number() || std::floor(number) != number || number < (zero_allowed ? 0 : 1)) throw wrong(needed);
  if (value.is_float() && number >= 9223372036854775808.0) throw wrong("below 2^63");
  return value.is_float() ? static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(value.as_int());
}

std::string replace_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& words) {
  const auto word_character = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string result;
  char quote = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (quote == 0 && word_character(c)) {
      std::size_t end = at;
      while (end < text.size() && word_character(text[end])) ++end;
      const std::string_view word = text.substr(at, end - at);
      const auto found = words.find(word);
      result += found == words.end() ? std::string(word) : found->second;
      at = end;
      continue;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote != 0 && c == '\\' && at + 1 < text.size()) {
      result += c;
      ++at;
    }
    result += text[at];
    ++at;
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> defines(const Problem& problem,
                                                         const std::vector<Value>& configuration) {
  if (problem.explicit_defines) return explicit_defines(problem, configuration);
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    const std::string& name = problem.parameters[i].name;
    if (problem.kinds[i] == ParameterKind::code && occurs(problem, name)) {
      result.emplace_back(name, define_text(configuration[i]));
    }
  }
  std::optional<LaunchShape> shape;
  const auto add = [&](const std::array<std::string_view, 3>& names,
                       const std::array<std::uint64_t, 3> LaunchShape::*sizes) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // A parameter of that name is defined above, or deliberately not.
      if (!occurs(problem, names[axis]) || is_parameter(problem, names[axis])) continue;
      if (!shape) shape = launch_shape(problem, configuration);
      result.emplace_back(names[axis], fmt::to_string((*shape.*sizes)[axis]));
    }
  };
  add(block_names, &LaunchShape::block);
  add(grid_names, &LaunchShape::grid);
  if (occurs(problem, "kernel_tuner")) result.emplace_back("kernel_tuner", "1");
  return result;
}

std::string kernel_name(const Problem& problem, const std::vector<Value>& configuration) {
  std::map<std::string, std::string, std::less<>> words;
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    words.emplace(problem.parameters[i].name, define_text(configuration[i]));
  }
  return replace_words(problem.kernel.kernel_name, words);
}

LaunchShape launch_shape(const Problem& problem, const std::vector<Value>& configuration) {
  LaunchShape shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (const auto& expression = problem.local_size[axis]) {
      shape.block[axis] = as_count(*expression, evaluate_for(problem, *expression, configuration),
                                   fmt::format("LocalSize.{}", axes[axis]), false);
    }
    shape.grid[axis] = problem.uses_grid_divisors
                           ? grid_by_divisors(problem, axis, configuration)
                           : grid_by_global_size(problem, axis, configuration, shape.block[axis]);
  }
  return shape;
}

std::uint64_t shared_memory_bytes(const Problem& problem, const std::vector<Value>& configuration) {
  const auto& expression = problem.shared_memory_expression;
  if (!expression) return problem.shared_memory;
  return as_count(*expression, evaluate_for(problem, *expression, configuration), "SharedMemory", true);
}

std::uint64_t local_elements(const Problem& problem, const Argument& argument,
                             const std::vector<Value>& configuration) {
  if (!argument.local_size) return argument.size;
  return as_count(*argument.local_size, evaluate_for(problem, *argument.local_size, configuration),
                  fmt::format("Size of '{}'", argument.name), false);
}

}  // namespace wattune
