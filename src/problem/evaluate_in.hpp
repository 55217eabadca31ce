#pragma once
// Expressions of a problem, evaluated for a configuration or for the whole problem.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "problem/problem.hpp"

namespace wattune {

/// With each parameter's value in a configuration, and ProblemSize.
Value evaluate_for(const Problem& problem, const Expression& expression, const std::vector<Value>& configuration);
/// Names and values where a parameter's name stands for the list of its values.
std::map<std::string, Value> list_scope(const Problem& problem);
Value problem_size_value(const Problem& problem);
/// A positive integer (a float with an integral value counts). @throws ExpressionError naming `what`.
std::uint64_t as_count(const Expression& expression, const Value& value, std::string_view what, bool zero_allowed);
/// Replaces whole words outside of quotes.
std::string replace_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& words);

}  // namespace wattune
