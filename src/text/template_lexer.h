// Cuts a template into tokens, as jinja2's lexer does with trim_blocks and lstrip_blocks.
// Reference: jinja2/lexer.py (3.1).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_value.h"

namespace crane::jinja {

struct Position {
  int line = 1;    // from 1
  int column = 1;  // in code points, from 1
};

enum class TokenKind {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  number,
  symbol,  // an operator or bracket: its text tells which
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  Position position;
  std::string text;  // of data, names, strings (unescaped) and symbols
  Value value;       // of numbers
};

// Throws Failure-like SyntaxError with the place.
struct SyntaxError : std::runtime_error {
  SyntaxError(const std::string& message, Position at)
      : std::runtime_error(message), position(at) {}
  Position position;
};

// The last token is always `end`.
std::vector<Token> tokenize(std::string_view source);

// As jinja2 names a token in its messages.
std::string describe(const Token& token);

}  // namespace crane::jinja
