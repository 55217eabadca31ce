#include "problem/argument_data.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "problem/fill.hpp"

namespace wattune {

std::vector<std::byte> fill_data(const Problem& problem, const Fill& fill, const ElementType& type, std::uint64_t size,
                                 std::string_view argument_name) {
  try {
    return filled(problem, fill, type, size);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: argument '{}': {}", problem.file.string(), argument_name, error.what()));
  }
}

std::vector<std::byte> argument_data(const Problem& problem, const Argument& argument) {
  if (argument.memory == MemoryKind::local) return {};
  return fill_data(problem, argument.fill, argument.type, argument.size, argument.name);
}

}  // namespace wattune
