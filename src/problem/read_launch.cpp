// The launch: GlobalSize, LocalSize, grid divisors, dynamic shared memory.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "problem/reader.hpp"

namespace wattune {

namespace {

constexpr std::array<char, 3> axes{'X', 'Y', 'Z'};
constexpr std::array<std::string_view, 3> block_names{"block_size_x", "block_size_y", "block_size_z"};

bool has_parameter(const Problem& problem, std::string_view name) {
  return std::any_of(problem.parameters.begin(), problem.parameters.end(),
                     [name](const Parameter& parameter) { return parameter.name == name; });
}

/// The first name of an expression that is not in scope; empty where all are.
std::string unknown_name(const Problem& problem, const Expression& expression) {
  const std::vector<std::string> names = names_in_scope(problem);
  for (const std::string& name : expression.names()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) return name;
  }
  return {};
}

/// Told as an error where launches are wanted, else as a warning.
void faulty(Reading& reading, const JsonNode& node, const std::string& message) {
  if (!reading.options.space_only) node.fail(message);
  reading.warn(node, message);
}

void read_local_size(Reading& reading, const JsonNode& specification) {
  Problem& problem = reading.problem;
  const auto local = specification.find("LocalSize");
  if (local) warn_unknown_keys(reading, *local, {"X", "Y", "Z"});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string key(1, axes[axis]);
    const bool has_block = has_parameter(problem, block_names[axis]);
    const auto use_block = [&] { problem.local_size[axis] = Expression::parse(block_names[axis]); };
    const auto node = local ? local->find(key) : std::nullopt;
    if (!local && has_block) {
      use_block();
    } else if (!node && axis == 0) {
      faulty(reading, local ? *local : specification,
             local ? "X is missing; give the items of a work-group"
                   : "LocalSize is missing, and there is no parameter block_size_x; give LocalSize");
    } else if (node) {
      Expression expression = read_expression(*node);
      const std::string unknown = unknown_name(problem, expression);
      if (unknown.empty()) {
        problem.local_size[axis] = std::move(expression);
      } else if (has_block) {
        reading.warn(*node, fmt::format("there is no parameter '{}'; {} is used", unknown, block_names[axis]));
        use_block();
      } else {
        faulty(reading, *node,
               fmt::format("there is no parameter '{}', so the work-group's size is not known; correct it", unknown));
      }
    }
  }
}

void read_global_size(Reading& reading, const JsonNode& global) {
  warn_unknown_keys(reading, global, {"X", "Y", "Z"});
  static_cast<void>(global.at("X"));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto node = global.find(std::string(1, axes[axis]));
    if (!node) continue;
    Expression expression = read_expression(*node);
    const std::string unknown = unknown_name(reading.problem, expression);
    if (!unknown.empty()) {
      faulty(reading, *node, fmt::format("there is no parameter '{}'; correct it", unknown));
    } else {
      reading.problem.global_size[axis] = std::move(expression);
    }
  }
}

void read_divisors(Reading& reading, const JsonNode& specification) {
  Problem& problem = reading.problem;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto node = specification.find(fmt::format("GridDiv{}", axes[axis]));
    if (axis >= problem.problem_size.size()) {
      if (node) {
        reading.warn(*node, fmt::format("ignored, for ProblemSize has {} dimension{}", problem.problem_size.size(),
                                        problem.problem_size.size() == 1 ? "" : "s"));
      }
      continue;
    }
    if (!node) {
      // As Kernel Tuner does where no divisors are given.
      if (has_parameter(problem, block_names[axis])) {
        problem.grid_divisors[axis].push_back(Expression::parse(block_names[axis]));
      }
      continue;
    }
    for (const JsonNode& item : node->is_list() ? node->items() : std::vector<JsonNode>{*node}) {
      Expression expression = read_expression(item);
      const std::string unknown = unknown_name(problem, expression);
      if (!unknown.empty()) faulty(reading, item, fmt::format("there is no parameter '{}'; correct it", unknown));
      if (unknown.empty()) problem.grid_divisors[axis].push_back(std::move(expression));
    }
  }
}

void read_grid(Reading& reading, const JsonNode& specification) {
  Problem& problem = reading.problem;
  const auto global = specification.find("GlobalSize");
  bool divisors = false;
  for (const char axis : axes) divisors = divisors || specification.find(fmt::format("GridDiv{}", axis));
  if (!problem.problem_size.empty() && (divisors || !global)) {
    problem.uses_grid_divisors = true;
    if (global) reading.warn(*global, "ignored, for ProblemSize and GridDiv give the grid");
    read_divisors(reading, specification);
    return;
  }
  if (divisors && global) {
    for (const char axis : axes) {
      const auto node = specification.find(fmt::format("GridDiv{}", axis));
      if (node) reading.warn(*node, "ignored, for there is no ProblemSize; GlobalSize is used");
    }
  }
  if (!global) {
    faulty(reading, specification, "there is neither GlobalSize nor ProblemSize; give one for the grid");
  } else {
    read_global_size(reading, *global);
  }
}

void read_shared_memory(Reading& reading, const JsonNode& specification) {
  const auto node = specification.find("SharedMemory");
  if (!node) return;
  if (node->is_number()) {
    reading.problem.shared_memory = node->natural();
    return;
  }
  Expression expression = read_expression(*node);
  check_names_in_scope(reading, *node, expression);
  reading.problem.shared_memory_expression = std::move(expression);
}

}  // namespace

void read_launch(Reading& reading, const JsonNode& specification) {
  if (const auto type = specification.find("GlobalSizeType")) {
    // Vulkan counts work-groups, as CUDA does.
    reading.problem.global_size_in_items = type->one_of({"CUDA", "OpenCL", "Vulkan"}) == "OpenCL";
  } else {
    reading.problem.global_size_in_items = specification.at("Language").string() == "OpenCL";
  }
  read_local_size(reading, specification);
  read_grid(reading, specification);
  read_shared_memory(reading, specification);
}

}  // namespace wattune
