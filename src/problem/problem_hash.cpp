// The hash of everything that results depend on. It takes the parsed problem, so that neither the file's layout nor
// the folder in which it lies matter.

#include <bit>

#include "base/hash.hpp"
#include "problem/reader.hpp"

namespace wattune {

namespace {

/// Changed when what is hashed, or what a field means, changes: results of older versions are then not mixed in.
constexpr std::string_view version = "wattune problem 1";

void add_value(Hasher& hasher, const Value& value) {
  hasher.add(value.type_name()).add(value.str());
}

void add_expression(Hasher& hasher, const std::optional<Expression>& expression) {
  hasher.add(expression ? expression->text() : "");
}

void add_number(Hasher& hasher, double value) {
  hasher.add(std::bit_cast<std::uint64_t>(value));
}

void add_fill(Hasher& hasher, const Fill& fill) {
  hasher.add(static_cast<std::uint64_t>(fill.kind));
  add_number(hasher, fill.value);
  hasher.add(fill.range ? 1 : 0);
  if (fill.range) {
    add_number(hasher, fill.range->first);
    add_number(hasher, fill.range->second);
  }
  // Files count by their content, which is among the data hashes.
  hasher.add(fill.seed).add(fill.expression).add(fill.command).add(fill.offset);
}

void add_space(Hasher& hasher, const Problem& problem) {
  hasher.add(problem.parameters.size());
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    const Parameter& parameter = problem.parameters[i];
    hasher.add(parameter.name).add(to_string(problem.kinds[i])).add(parameter.values.size());
    for (const Value& value : parameter.values) add_value(hasher, value);
    // Without a reference, outputs are compared with those of the default configuration.
    if (problem.verification.reference == Verification::Reference::none) add_value(hasher, problem.defaults[i]);
  }
  hasher.add(problem.restrictions.size());
  for (const Restriction& restriction : problem.restrictions) hasher.add(restriction.expression);
}

void add_kernel(Hasher& hasher, const Problem& problem) {
  const KernelSource& kernel = problem.kernel;
  hasher.add(kernel.language).add(kernel.kernel_name).add(kernel.text).add(kernel.options.size());
  for (const std::string& option : kernel.options) hasher.add(option);
  hasher.add(kernel.includes.size());
  for (const auto& [file, content] : kernel.includes) hasher.add(file.filename().string()).add(content);
  hasher.add(problem.explicit_defines ? problem.explicit_defines->size() + 1 : 0);
  if (!problem.explicit_defines) return;
  for (const auto& [name, expression] : *problem.explicit_defines) hasher.add(name).add(expression.text());
}

void add_launch(Hasher& hasher, const Problem& problem) {
  hasher.add(problem.problem_size.size());
  for (const std::int64_t n : problem.problem_size) hasher.add(static_cast<std::uint64_t>(n));
  hasher.add(problem.uses_grid_divisors ? 1 : 0).add(problem.global_size_in_items ? 1 : 0);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add_expression(hasher, problem.global_size[axis]);
    add_expression(hasher, problem.local_size[axis]);
    hasher.add(problem.grid_divisors[axis].size());
    for (const Expression& divisor : problem.grid_divisors[axis]) hasher.add(divisor.text());
  }
  hasher.add(problem.shared_memory);
  add_expression(hasher, problem.shared_memory_expression);
}

void add_arguments(Hasher& hasher, const Problem& problem) {
  hasher.add(problem.arguments.size());
  for (const Argument& argument : problem.arguments) {
    hasher.add(argument.name).add(to_string(argument.type)).add(argument.type.bytes);
    hasher.add(static_cast<std::uint64_t>(argument.memory)).add(static_cast<std::uint64_t>(argument.access));
    add_fill(hasher, argument.fill);
    hasher.add(argument.size);
    add_expression(hasher, argument.local_size);
    hasher.add(argument.output ? 1 : 0).add(static_cast<std::uint64_t>(argument.reset));
  }
}

void add_verification(Hasher& hasher, const Verification& verification) {
  hasher.add(static_cast<std::uint64_t>(verification.reference)).add(verification.host_function);
  hasher.add(verification.kernel ? 1 : 0);
  if (verification.kernel) {
    // Its source and options are among the data hashes: here the options name folders.
    hasher.add(verification.kernel->name);
    for (const auto& sizes : {verification.kernel->grid, verification.kernel->block}) {
      for (const Expression& size : sizes) hasher.add(size.text());
    }
  }
  hasher.add(verification.data.size());
  for (const auto& [name, fill] : verification.data) {
    hasher.add(name);
    add_fill(hasher, fill);
  }
  for (const auto& tolerance : {verification.absolute_tolerance, verification.relative_tolerance}) {
    hasher.add(tolerance ? 1 : 0);
    add_number(hasher, tolerance.value_or(0));
  }
}

}  // namespace

std::string problem_hash(const Problem& problem, const std::vector<std::string>& data_hashes) {
  Hasher hasher;
  hasher.add(version);
  add_space(hasher, problem);
  add_kernel(hasher, problem);
  add_launch(hasher, problem);
  add_arguments(hasher, problem);
  add_verification(hasher, problem.verification);
  // Only where there are any, so that problems without keep the hash they had.
  if (!problem.launch_function.empty()) hasher.add("launch function").add(problem.launch_function);
  for (const std::string& observer : problem.observers) hasher.add("observer").add(observer);
  hasher.add(data_hashes.size());
  for (const std::string& hash : data_hashes) hasher.add(hash);
  return hasher.hex();
}

}  // namespace wattune
