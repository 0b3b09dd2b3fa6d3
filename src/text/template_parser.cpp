#include "text/template_parser.h"

#include "base/strings.h"

namespace crane::jinja {
namespace {

constexpr int kNesting = 128;          // brackets, tags, `not`, `-` and `else` inside each other
constexpr int kExpressionDepth = 200;  // as in Python, which jinja2 compiles to

// Levels of binding, loosest first.
enum Level { kOr, kAnd, kNot, kCompare, kAdd, kConcat, kMultiply, kPower, kTight };

const char* expr_name(ExprKind kind) {
  switch (kind) {
    case ExprKind::constant:
      return "const";
    case ExprKind::call:
      return "call";
    case ExprKind::attribute:
      return "getattr";
    case ExprKind::list:
      return "list";
    case ExprKind::dict:
      return "dict";
    default:
      return "expression";
  }
}

}  // namespace

Parser::Nested::Nested(Parser& parser) : parser_(parser) {
  if (parser_.nesting_ >= kNesting) parser_.error(cat("nested deeper than ", kNesting, " levels"));
  ++parser_.nesting_;
}

Token Parser::next() {
  Token token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::at_name(std::string_view name) const {
  return current().kind == TokenKind::name && current().text == name;
}

bool Parser::at_symbol(std::string_view symbol) const {
  return current().kind == TokenKind::symbol && current().text == symbol;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  next();
  return true;
}

bool Parser::skip_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) return false;
  next();
  return true;
}

void Parser::error(const std::string& message) const { error(message, current().position); }

void Parser::error(const std::string& message, Position at) const {
  throw SyntaxError(message, at);
}

void Parser::error_expected(const std::string& what) const {
  if (current().kind == TokenKind::end)
    error(cat("unexpected end of template, expected '", what, "'."));
  error(cat("expected token '", what, "', got ", quote(describe(current()))));
}

Position Parser::expect_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) error_expected(std::string(symbol));
  return next().position;
}

Position Parser::expect_name(std::string_view name) {
  if (!at_name(name)) error_expected(std::string(name));
  return next().position;
}

Token Parser::expect_any_name() {
  if (current().kind != TokenKind::name) error_expected("name");
  return next();
}

void Parser::expect(TokenKind kind) {
  if (current().kind != kind) {
    Token wanted;
    wanted.kind = kind;
    error_expected(describe(wanted));
  }
  next();
}

ExprPtr Parser::finish(ExprPtr node) const {
  node->constant = node->kind != ExprKind::call && node->kind != ExprKind::name;
  for (const ExprPtr& child : node->children) {
    if (child == nullptr) continue;
    node->depth = std::max(node->depth, 1 + child->depth);
    node->constant = node->constant && child->constant;
  }
  if (node->depth > kExpressionDepth)
    error(cat("the expression is nested deeper than ", kExpressionDepth, " levels"),
          node->position);
  return node;
}

ExprPtr Parser::parse_expression(bool with_conditional) {
  Nested nested(*this);
  Position at = current().position;
  ExprPtr value = parse_operators(kOr);
  if (!with_conditional) return value;
  while (skip_name("if")) {
    auto node = std::make_unique<Expr>(ExprKind::conditional, at);
    node->children.push_back(parse_operators(kOr));
    node->children.push_back(std::move(value));
    if (skip_name("else")) node->children.push_back(parse_expression());
    value = finish(std::move(node));
  }
  return value;
}

namespace {

struct BinaryToken {
  std::string_view symbol;
  Level level;
  Operator operation;
};

constexpr BinaryToken kBinary[] = {
    {"+", kAdd, Operator::add},
    {"-", kAdd, Operator::subtract},
    {"*", kMultiply, Operator::multiply},
    {"/", kMultiply, Operator::divide},
    {"//", kMultiply, Operator::floor_divide},
    {"%", kMultiply, Operator::modulo},
    {"**", kPower, Operator::power},
};

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"==", Comparison::equal},  {"!=", Comparison::not_equal},
    {"<", Comparison::less},    {"<=", Comparison::less_equal},
    {">", Comparison::greater}, {">=", Comparison::greater_equal},
};

const BinaryToken* find_binary(const Token& token) {
  if (token.kind != TokenKind::symbol) return nullptr;
  for (const BinaryToken& row : kBinary)
    if (row.symbol == token.text) return &row;
  return nullptr;
}

}  // namespace

// What follows a first operand and binds at least as tightly as `level`, comparisons excepted.
ExprPtr Parser::parse_arithmetic_tail(ExprPtr left, int level, Position at) {
  for (;;) {
    const BinaryToken* row = find_binary(current());
    if (row != nullptr && row->level >= level) {
      auto node = std::make_unique<Expr>(ExprKind::binary, current().position);
      node->operation = row->operation;
      next();
      node->children.push_back(std::move(left));
      node->children.push_back(row->level == kPower ? parse_unary()
                                                    : parse_operators(row->level + 1));
      left = finish(std::move(node));
    } else if (at_symbol("~") && level <= kConcat) {
      auto node = std::make_unique<Expr>(ExprKind::concat, at);
      node->children.push_back(std::move(left));
      while (skip_symbol("~")) node->children.push_back(parse_operators(kMultiply));
      left = finish(std::move(node));
    } else {
      return left;
    }
  }
}

ExprPtr Parser::parse_operators(int level) {
  Position at = current().position;
  ExprPtr left;
  if (level <= kNot && at_name("not")) {
    Nested nested(*this);
    next();
    left = std::make_unique<Expr>(ExprKind::logical_not, at);
    left->children.push_back(parse_operators(kNot));
    left = finish(std::move(left));
  } else {
    left = parse_arithmetic_tail(parse_unary(), level, at);
    if (level <= kCompare) left = parse_compare_tail(std::move(left), at);
  }
  for (Level logical : {kAnd, kOr}) {
    const char* word = logical == kAnd ? "and" : "or";
    while (level <= logical && at_name(word)) {
      next();
      auto node = std::make_unique<Expr>(
          logical == kAnd ? ExprKind::logical_and : ExprKind::logical_or, at);
      node->children.push_back(std::move(left));
      node->children.push_back(parse_operators(logical + 1));
      left = finish(std::move(node));
    }
  }
  return left;
}

ExprPtr Parser::parse_compare_tail(ExprPtr first, Position at) {
  std::vector<Comparison> comparisons;
  std::vector<ExprPtr> operands;
  for (;;) {
    bool found = false;
    if (current().kind == TokenKind::symbol) {
      for (const auto& [symbol, comparison] : kComparisons) {
        if (current().text != symbol) continue;
        comparisons.push_back(comparison);
        found = true;
      }
      if (found) next();
    } else if (skip_name("in")) {
      comparisons.push_back(Comparison::in);
      found = true;
    } else if (at_name("not") && look().kind == TokenKind::name && look().text == "in") {
      next();
      next();
      comparisons.push_back(Comparison::not_in);
      found = true;
    }
    if (!found) break;
    operands.push_back(parse_operators(kAdd));
  }
  if (comparisons.empty()) return first;
  auto node = std::make_unique<Expr>(ExprKind::compare, at);
  node->comparisons = std::move(comparisons);
  node->children.push_back(std::move(first));
  for (ExprPtr& operand : operands) node->children.push_back(std::move(operand));
  return finish(std::move(node));
}

ExprPtr Parser::parse_unary(bool with_filter) {
  Position at = current().position;
  ExprPtr node;
  if (at_symbol("-") || at_symbol("+")) {
    Nested nested(*this);
    ExprKind kind = at_symbol("-") ? ExprKind::negative : ExprKind::positive;
    next();
    node = std::make_unique<Expr>(kind, at);
    node->children.push_back(parse_unary(false));
    node = finish(std::move(node));
  } else {
    node = parse_primary();
  }
  node = parse_postfix(std::move(node));
  return with_filter ? parse_filter_chain(std::move(node)) : std::move(node);
}

ExprPtr Parser::parse_primary(bool with_namespace) {
  if (at_symbol("(")) {
    next();
    ExprPtr node = parse_tuple(false, true, "", true);
    expect_symbol(")");
    return node;
  }
  if (at_symbol("[")) return parse_list();
  if (at_symbol("{")) return parse_dict();
  Token token = current();
  auto constant = [&](Value value) {
    auto node = std::make_unique<Expr>(ExprKind::constant, token.position);
    node->value = std::move(value);
    node->constant = true;
    return node;
  };
  switch (token.kind) {
    case TokenKind::name: {
      next();
      const std::string& name = token.text;
      if (name == "true" || name == "True") return constant(Value::boolean(true));
      if (name == "false" || name == "False") return constant(Value::boolean(false));
      if (name == "none" || name == "None") return constant(Value::none());
      auto node = std::make_unique<Expr>(ExprKind::name, token.position);
      node->text = name;
      if (with_namespace && skip_symbol(".")) {
        node->namespace_reference = true;
        node->attribute = expect_any_name().text;
      }
      return node;
    }
    case TokenKind::string: {
      std::string text;
      while (current().kind == TokenKind::string) text += next().text;
      return constant(make_constant(std::move(text)));
    }
    case TokenKind::integer:
    case TokenKind::number:
      return constant(next().value);
    default:
      error(cat("unexpected ", quote(describe(token))));
  }
}

bool Parser::tuple_ends(std::string_view extra_end) const {
  return current().kind == TokenKind::variable_end || current().kind == TokenKind::block_end ||
         at_symbol(")") || (!extra_end.empty() && at_name(extra_end));
}

ExprPtr Parser::parse_tuple(bool simplified, bool with_conditional, std::string_view extra_end,
                            bool parenthesized, bool with_namespace) {
  Position at = current().position;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) expect_symbol(",");
    if (tuple_ends(extra_end)) break;
    items.push_back(simplified ? parse_primary(with_namespace)
                               : parse_expression(with_conditional));
    if (!at_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return std::move(items[0]);
    if (!parenthesized) error(cat("Expected an expression, got ", quote(describe(current()))));
  }
  auto node = std::make_unique<Expr>(ExprKind::tuple, at);
  node->children = std::move(items);
  return finish(std::move(node));
}

ExprPtr Parser::parse_list() {
  auto node = std::make_unique<Expr>(ExprKind::list, expect_symbol("["));
  while (!at_symbol("]")) {
    if (!node->children.empty()) expect_symbol(",");
    if (at_symbol("]")) break;
    node->children.push_back(parse_expression());
  }
  expect_symbol("]");
  return finish(std::move(node));
}

ExprPtr Parser::parse_dict() {
  auto node = std::make_unique<Expr>(ExprKind::dict, expect_symbol("{"));
  while (!at_symbol("}")) {
    if (!node->children.empty()) expect_symbol(",");
    if (at_symbol("}")) break;
    node->children.push_back(parse_expression());
    expect_symbol(":");
    node->children.push_back(parse_expression());
  }
  expect_symbol("}");
  return finish(std::move(node));
}

ExprPtr Parser::parse_postfix(ExprPtr node) {
  for (;;) {
    if (at_symbol(".") || at_symbol("[")) {
      node = parse_subscript(std::move(node));
    } else if (at_symbol("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_filter_chain(ExprPtr node) {
  for (;;) {
    if (at_symbol("|")) {
      node = parse_filter(std::move(node));
    } else if (at_name("is")) {
      node = parse_test(std::move(node));
    } else if (at_symbol("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_subscript(ExprPtr object) {
  Token token = next();
  if (token.text == ".") {
    Token name = next();
    if (name.kind == TokenKind::name) {
      auto node = std::make_unique<Expr>(ExprKind::attribute, token.position);
      node->text = name.text;
      node->value = make_constant(name.text);
      node->children.push_back(std::move(object));
      return finish(std::move(node));
    }
    if (name.kind != TokenKind::integer) error("expected name or number", name.position);
    auto node = std::make_unique<Expr>(ExprKind::item, token.position);
    auto index = std::make_unique<Expr>(ExprKind::constant, name.position);
    index->value = name.value;
    index->constant = true;
    node->children.push_back(std::move(object));
    node->children.push_back(std::move(index));
    return finish(std::move(node));
  }
  auto node = std::make_unique<Expr>(ExprKind::item, token.position);
  node->children.push_back(std::move(object));
  std::vector<ExprPtr> keys;
  size_t count = 0;
  bool is_slice = false;
  while (!at_symbol("]")) {
    if (count > 0) expect_symbol(",");
    bool slice = false;
    ExprPtr key = parse_subscribed(slice);
    is_slice = is_slice || slice;
    keys.push_back(std::move(key));
    ++count;
  }
  expect_symbol("]");
  if (is_slice && count > 1) error("a slice among several subscripts is not supported");
  if (is_slice) {
    node->kind = ExprKind::slice;
    for (ExprPtr& bound : keys[0]->children) node->children.push_back(std::move(bound));
    return finish(std::move(node));
  }
  if (count == 1) {
    node->children.push_back(std::move(keys[0]));
    return finish(std::move(node));
  }
  auto tuple = std::make_unique<Expr>(ExprKind::tuple, token.position);
  tuple->children = std::move(keys);
  node->children.push_back(finish(std::move(tuple)));
  return finish(std::move(node));
}

// An expression, or three bounds (null where left out) in a node of kind slice.
ExprPtr Parser::parse_subscribed(bool& is_slice) {
  Position at = current().position;
  ExprPtr first;
  if (!at_symbol(":")) {
    first = parse_expression();
    if (!at_symbol(":")) return first;
  }
  next();
  is_slice = true;
  auto node = std::make_unique<Expr>(ExprKind::slice, at);
  node->children.push_back(std::move(first));
  auto bound_follows = [&] { return !at_symbol(":") && !at_symbol("]") && !at_symbol(","); };
  node->children.push_back(bound_follows() ? parse_expression() : nullptr);
  ExprPtr step;
  if (skip_symbol(":") && bound_follows()) step = parse_expression();
  node->children.push_back(std::move(step));
  return finish(std::move(node));
}

void Parser::parse_arguments(Expr& node) {
  node.first_argument = node.children.size();
  Position at = expect_symbol("(");
  std::vector<ExprPtr> keywords;
  ExprPtr star;
  ExprPtr double_star;
  bool require_comma = false;
  auto ensure = [&](bool valid) {
    if (!valid) error("invalid syntax for function call expression", at);
  };
  while (!at_symbol(")")) {
    if (require_comma) {
      expect_symbol(",");
      if (at_symbol(")")) break;
    }
    if (at_symbol("*")) {
      ensure(star == nullptr && double_star == nullptr);
      next();
      star = parse_expression();
    } else if (at_symbol("**")) {
      ensure(double_star == nullptr);
      next();
      double_star = parse_expression();
    } else if (current().kind == TokenKind::name && look().kind == TokenKind::symbol &&
               look().text == "=") {
      ensure(double_star == nullptr);
      node.keywords.push_back(next().text);
      next();
      keywords.push_back(parse_expression());
    } else {
      ensure(star == nullptr && double_star == nullptr && keywords.empty());
      node.children.push_back(parse_expression());
    }
    require_comma = true;
  }
  expect_symbol(")");
  for (size_t i = 0; i < node.keywords.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (node.keywords[i] == node.keywords[j])
        error(cat("keyword argument repeated: ", node.keywords[i]), at);
  for (ExprPtr& keyword : keywords) node.children.push_back(std::move(keyword));
  node.has_star = star != nullptr;
  node.has_double_star = double_star != nullptr;
  if (star != nullptr) node.children.push_back(std::move(star));
  if (double_star != nullptr) node.children.push_back(std::move(double_star));
}

ExprPtr Parser::parse_call(ExprPtr function) {
  auto node = std::make_unique<Expr>(ExprKind::call, current().position);
  node->children.push_back(std::move(function));
  parse_arguments(*node);
  return finish(std::move(node));
}

ExprPtr Parser::parse_filter(ExprPtr input, bool start_inline) {
  while (start_inline || at_symbol("|")) {
    if (!start_inline) next();
    start_inline = false;
    Token name = expect_any_name();
    while (skip_symbol(".")) name.text += "." + expect_any_name().text;
    auto node = std::make_unique<Expr>(ExprKind::filter, name.position);
    node->text = name.text;
    node->children.push_back(std::move(input));
    if (at_symbol("(")) parse_arguments(*node);
    input = finish(std::move(node));
  }
  return input;
}

ExprPtr Parser::parse_test(ExprPtr input) {
  next();
  bool negated = skip_name("not");
  Token name = expect_any_name();
  while (skip_symbol(".")) name.text += "." + expect_any_name().text;
  auto node = std::make_unique<Expr>(ExprKind::test, name.position);
  node->text = name.text;
  node->children.push_back(std::move(input));
  TokenKind kind = current().kind;
  bool argument =
      kind == TokenKind::string || kind == TokenKind::integer || kind == TokenKind::number ||
      at_symbol("[") || at_symbol("{") ||
      (kind == TokenKind::name && !at_name("else") && !at_name("or") && !at_name("and"));
  if (at_symbol("(")) {
    parse_arguments(*node);
  } else if (argument) {
    if (at_name("is")) error("You cannot chain multiple tests with is");
    node->children.push_back(parse_postfix(parse_primary()));
  }
  ExprPtr result = finish(std::move(node));
  if (!negated) return result;
  auto negation = std::make_unique<Expr>(ExprKind::logical_not, name.position);
  negation->children.push_back(std::move(result));
  return finish(std::move(negation));
}

void Parser::mark_store(Expr& node) const {
  if (node.kind == ExprKind::name) {
    node.store = true;
    return;
  }
  if (node.kind != ExprKind::tuple)
    error(cat("can't assign to '", expr_name(node.kind), "'"), node.position);
  for (ExprPtr& child : node.children) mark_store(*child);
}

}  // namespace crane::jinja
