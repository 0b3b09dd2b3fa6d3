// Recursive-descent parser of the template language. Reference: jinja2/parser.py (3.1).
// Nesting is limited, so that no source can use up the stack.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_ast.h"

namespace crane::jinja {

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokenize(source)) {}
  Body parse_all();

 private:
  using Names = std::initializer_list<std::string_view>;

  // --- tokens (template_parser.cpp)
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token next();
  bool at_name(std::string_view name) const;
  bool at_symbol(std::string_view symbol) const;
  bool skip_name(std::string_view name);
  bool skip_symbol(std::string_view symbol);
  Position expect_symbol(std::string_view symbol);
  Position expect_name(std::string_view name);
  Token expect_any_name();
  void expect(TokenKind kind);
  [[noreturn]] void error(const std::string& message) const;
  [[noreturn]] void error(const std::string& message, Position at) const;
  [[noreturn]] void error_expected(const std::string& what) const;

  // Counts one level of nesting while it lives; throws beyond the limit.
  class Nested {
   public:
    explicit Nested(Parser& parser);
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  // --- expressions (template_parser.cpp)
  ExprPtr finish(ExprPtr node) const;  // sets and checks the depth
  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_operators(int level);
  ExprPtr parse_arithmetic_tail(ExprPtr left, int level, Position at);
  ExprPtr parse_compare_tail(ExprPtr first, Position at);
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary(bool with_namespace = false);
  ExprPtr parse_tuple(bool simplified, bool with_conditional, std::string_view extra_end,
                      bool parenthesized = false, bool with_namespace = false);
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr node);
  ExprPtr parse_filter_chain(ExprPtr node);
  ExprPtr parse_subscript(ExprPtr node);
  ExprPtr parse_subscribed(bool& is_slice);
  void parse_arguments(Expr& node);
  ExprPtr parse_call(ExprPtr node);
  ExprPtr parse_filter(ExprPtr node, bool start_inline = false);
  ExprPtr parse_test(ExprPtr node);
  bool tuple_ends(std::string_view extra_end) const;

  // --- statements (template_parser_statements.cpp)
  Body parse_body(Names ends);
  Body parse_until(Names ends);
  StatementPtr parse_statement();
  StatementPtr parse_known_statement(const Token& tag);
  StatementPtr parse_set();
  StatementPtr parse_for();
  StatementPtr parse_if();
  StatementPtr parse_with();
  StatementPtr parse_autoescape();
  StatementPtr parse_block();
  StatementPtr parse_macro();
  StatementPtr parse_call_block();
  StatementPtr parse_filter_block();
  StatementPtr parse_generation();
  StatementPtr parse_print();
  StatementPtr parse_unavailable();
  void parse_signature(MacroNode& macro);
  ExprPtr parse_target(std::string_view extra_end, bool with_namespace);
  void mark_store(Expr& node) const;
  [[noreturn]] void error_unexpected_end(const std::string* unknown, Position at) const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<std::string> tag_stack_;
  std::vector<std::vector<std::string_view>> end_stack_;
};

}  // namespace crane::jinja
