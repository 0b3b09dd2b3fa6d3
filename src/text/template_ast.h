// The parsed form of a chat template: expressions, statements, and the variable slots that
// template_scope.cpp finds for every name.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/template_lexer.h"
#include "text/template_runtime.h"

namespace crane::jinja {

// Where a variable lives: so many scopes outward, at this index.
struct Slot {
  int hops = 0;
  int index = 0;
};

// What a scope's variable holds when the scope is entered.
struct SlotLoad {
  enum class Action { parameter, resolve, alias, undefined };
  Action action = Action::undefined;
  std::string name;
  Slot source;  // of an alias, seen from the scope itself
};

struct ScopeLayout {
  std::vector<SlotLoad> loads;
  bool captured = false;  // a macro or call block inside refers to the scope's variables later
};

enum class ExprKind {
  constant,
  name,
  tuple,
  list,
  dict,
  binary,
  negative,
  positive,
  logical_not,
  logical_and,
  logical_or,
  compare,
  concat,
  conditional,
  attribute,
  item,
  slice,
  call,
  filter,
  test
};

struct Expr {
  Expr(ExprKind which, Position at) : kind(which), position(at) {}
  ExprKind kind;
  Position position;
  int depth = 1;                                // of the tree below, this node included
  bool constant = false;                        // nothing below depends on a variable or a call
  std::vector<std::unique_ptr<Expr>> children;  // operands, items, key-value pairs, arguments
  std::string text;                             // variable, attribute, filter or test
  Value value;                                  // of a constant
  Slot slot;                                    // of a name
  Operator operation = Operator::add;           // of a binary
  std::vector<Comparison> comparisons;          // of a compare, one less than the children
  bool store = false;                           // a name that is assigned to
  bool namespace_reference = false;             // `ns.attribute` as a target: a name with `text2`
  std::string attribute;                        // of a namespace reference
  enum class Escape : uint8_t { off, on, by_context } escape = Escape::off;  // of a concat
  Filter function = nullptr;  // of a filter or test; null when there is none

  // Arguments of a call, filter or test are the children from `first_argument` on: positional
  // ones, then one per keyword, then *arguments, then **keywords.
  size_t first_argument = 1;
  std::vector<std::string> keywords;
  bool has_star = false;
  bool has_double_star = false;
};
using ExprPtr = std::unique_ptr<Expr>;

// What a value is assigned to: a variable, a namespace's attribute, or several targets.
struct Target {
  enum class Kind { variable, attribute, tuple };
  Kind kind = Kind::variable;
  Slot slot;
  std::string name;  // variable or attribute
  std::vector<Target> items;
};

enum class StatementKind {
  output,
  if_chain,
  for_loop,
  set,
  set_block,
  macro,
  call_block,  // also {% generation %}
  filter_block,
  with,
  autoescape,
  block,
  break_loop,
  continue_loop,
  unavailable  // include, import, extends: an error when reached
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

struct OutputItem {
  std::string data;  // template text, or
  ExprPtr expression;
};

struct Branch {
  ExprPtr test;  // null: else
  Body body;
};

struct Parameter {
  std::string name;
  Position position;
  ExprPtr fallback;  // null: none
  Slot slot;
};

// A macro, or the body of a call block.
struct MacroNode {
  std::string name;  // empty: a caller
  std::vector<Parameter> parameters;
  Body body;
  ScopeLayout scope;
  int caller_slot = -1;
  int kwargs_slot = -1;
  int varargs_slot = -1;
  bool explicit_caller = false;
};

struct Statement {
  Statement(StatementKind which, Position at) : kind(which), position(at) {}
  StatementKind kind;
  Position position;
  std::vector<OutputItem> output;
  Expr::Escape escape = Expr::Escape::off;  // of output and buffers
  std::vector<Branch> branches;             // of an if
  ExprPtr target_expression;                // of set and for, before the scopes are known
  Target target;
  Target test_target;  // of a for with a test: the same names in the test's scope
  ExprPtr value;       // set: the value; for: the iterable; call block: the call; autoescape: flag
  ExprPtr test;        // of a for
  ExprPtr filter;      // of filter and set blocks; its innermost child 0 is null: the body's text
  Body body;
  Body else_body;
  bool recursive = false;
  bool generation = false;
  bool top_level = false;  // set and macro: the variable is seen by blocks
  ScopeLayout scope;
  ScopeLayout else_scope;
  ScopeLayout test_scope;
  std::unique_ptr<MacroNode> macro;
  std::string name;                                   // of a macro or block
  bool scoped = false;                                // of a block
  bool required = false;                              // of a block
  std::vector<std::pair<ExprPtr, ExprPtr>> bindings;  // of a with
  std::vector<Target> with_targets;
  std::vector<std::pair<std::string, Slot>> visible;  // of a scoped block: the variables it sees
};

struct Template {
  Body body;
  ScopeLayout scope;
  int self_slot = -1;
  std::vector<Statement*> blocks;
};

// Throws SyntaxError.
std::unique_ptr<Template> parse_template(std::string_view source);
void resolve_names(Template& tree);  // template_scope.cpp; part of parse_template

}  // namespace crane::jinja
