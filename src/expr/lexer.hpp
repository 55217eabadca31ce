#pragma once
// Text to tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.hpp"

namespace wattune {

enum class TokenKind : std::uint8_t {
  end,
  number,
  string,
  name,
  symbol,
  // Keywords. True and False come as number tokens.
  and_,
  or_,
  not_,
  in,
  if_,
  else_,
  for_
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t column = 1;  ///< 1-based, in bytes
  std::string_view text;     ///< as written
  Value value;               ///< of numbers and strings
};

/// The tokens of the expression, the last of kind `end`. @throws ExpressionError.
std::vector<Token> tokenize(std::string_view expression);

}  // namespace wattune
