#pragma once
// Tokens to a tree.

#include <string>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"

namespace wattune {

struct ParsedExpression {
  ast::Node root;
  std::vector<std::string> names;  ///< the free ones, in order of first appearance
  int locals = 0;                  ///< number of comprehension variables
};

/// @throws ExpressionError.
ParsedExpression parse_expression(std::string_view text);

}  // namespace wattune
