// Any text is an expression or an ExpressionError, and evaluating it is bounded. Where it can be a restriction, a
// search space must count the same points as evaluating it at each of them.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "expr/expression.hpp"
#include "space/search_space.hpp"

namespace {

using namespace wattune;

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> list = {
      {"a", {0, 1, 2, 32}}, {"b", {1, 3, -4}}, {"c", {0.5, 2.0}}, {"s", {"x", "yz"}}, {"m", {2, 2.5, true}}};
  return list;
}

void check_as_restriction(const Expression& expression, const Program& program) {
  std::uint64_t valid = 0;
  bool has_type_fault = false;
  std::vector<Value> values(parameters().size());
  const auto count = [&](auto&& self, std::size_t level) -> void {
    if (level < values.size()) {
      for (const Value& value : parameters()[level].values) {
        values[level] = value;
        self(self, level + 1);
      }
      return;
    }
    bool truth = false;
    const Fault fault = program.test(values, truth);
    has_type_fault = has_type_fault || fault == Fault::type || fault == Fault::work;
    if (fault == Fault::none && truth) ++valid;
  };
  count(count, 0);
  try {
    const SearchSpace space = SearchSpace::build(parameters(), {{expression.text(), "fuzz"}});
    if (space.size() != Count{valid}) std::abort();
  } catch (const UsageError&) {
    if (!has_type_fault) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  std::vector<Value> values;
  for (const Parameter& parameter : parameters()) {
    names.push_back(parameter.name);
    values.push_back(parameter.values[0]);
  }
  try {
    const Expression expression = Expression::parse(text);
    const Program program = expression.compile(names);
    Value value;
    if (program.evaluate(values, value) == Fault::none) {
      static_cast<void>(value.str());
      static_cast<void>(value.truthy());
    } else if (program.explain_fault(values).reason.empty()) {
      std::abort();
    }
    // Each point may take as much work as the limits allow: long texts are left to the evaluation above.
    if (size <= 200 && text.find("range") == std::string_view::npos && text.find("for") == std::string_view::npos) {
      check_as_restriction(expression, program);
    }
  } catch (const ExpressionError& error) {
    if (error.column() > size + 1 || std::string_view(error.what()).empty()) std::abort();
  }
  return 0;
}
