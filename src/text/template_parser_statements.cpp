#include <algorithm>

#include "base/strings.h"
#include "text/template_parser.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

constexpr size_t kLongestSource = size_t{4} << 20;

bool is_blank(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (!is_space(next_code_point(text, at))) return false;
  return true;
}

}  // namespace

Body Parser::parse_all() {
  Body body = parse_until({});
  return body;
}

void Parser::error_unexpected_end(const std::string* unknown, Position at) const {
  std::string looking;
  bool expected_somewhere = false;
  if (!end_stack_.empty()) {
    for (std::string_view name : end_stack_.back())
      looking += cat(looking.empty() ? "" : " or ", quote(name));
    for (const auto& names : end_stack_)
      for (std::string_view name : names)
        expected_somewhere = expected_somewhere || (unknown != nullptr && name == *unknown);
  }
  std::string message = unknown == nullptr ? "Unexpected end of template."
                                           : cat("Encountered unknown tag ", quote(*unknown), ".");
  if (!looking.empty())
    message += expected_somewhere
                   ? cat(" You probably made a nesting mistake. Jinja is expecting this tag, but "
                         "currently looking for ",
                         looking, ".")
                   : cat(" Jinja was looking for the following tags: ", looking, ".");
  if (!tag_stack_.empty())
    message +=
        cat(" The innermost block that needs to be closed is ", quote(tag_stack_.back()), ".");
  error(message, at);
}

// Statements up to one of the tags `ends`, which becomes the current token.
Body Parser::parse_body(Names ends) {
  skip_symbol(":");
  expect(TokenKind::block_end);
  Nested nested(*this);
  end_stack_.emplace_back(ends);
  Body body = parse_until(ends);
  if (current().kind == TokenKind::end) error_unexpected_end(nullptr, current().position);
  end_stack_.pop_back();
  return body;
}

Body Parser::parse_until(Names ends) {
  Body body;
  StatementPtr output;
  auto flush = [&] {
    if (output != nullptr) body.push_back(std::move(output));
  };
  auto add = [&](Position at) -> OutputItem& {
    if (output == nullptr) output = std::make_unique<Statement>(StatementKind::output, at);
    return output->output.emplace_back();
  };
  while (current().kind != TokenKind::end) {
    Position at = current().position;
    if (current().kind == TokenKind::data) {
      add(at).data = next().text;
    } else if (current().kind == TokenKind::variable_begin) {
      next();
      ExprPtr value = parse_tuple(false, true, "");
      expect(TokenKind::variable_end);
      add(at).expression = std::move(value);
    } else {
      expect(TokenKind::block_begin);
      flush();
      if (std::any_of(ends.begin(), ends.end(), [&](auto name) { return at_name(name); }))
        return body;
      body.push_back(parse_statement());
      expect(TokenKind::block_end);
    }
  }
  flush();
  return body;
}

StatementPtr Parser::parse_statement() {
  Token tag = current();
  if (tag.kind != TokenKind::name) error("tag name expected");
  tag_stack_.push_back(tag.text);
  StatementPtr statement = parse_known_statement(tag);
  if (statement == nullptr) {
    tag_stack_.pop_back();
    error_unexpected_end(&tag.text, tag.position);
  }
  tag_stack_.pop_back();
  return statement;
}

StatementPtr Parser::parse_known_statement(const Token& tag) {
  const std::string& name = tag.text;
  if (name == "set") return parse_set();
  if (name == "if") return parse_if();
  if (name == "for") return parse_for();
  if (name == "macro") return parse_macro();
  if (name == "call") return parse_call_block();
  if (name == "filter") return parse_filter_block();
  if (name == "with") return parse_with();
  if (name == "print") return parse_print();
  if (name == "block") return parse_block();
  if (name == "autoescape") return parse_autoescape();
  if (name == "generation") return parse_generation();
  if (name == "include" || name == "import" || name == "from" || name == "extends")
    return parse_unavailable();
  if (name == "break" || name == "continue") {
    next();
    return std::make_unique<Statement>(
        name == "break" ? StatementKind::break_loop : StatementKind::continue_loop, tag.position);
  }
  return nullptr;
}

ExprPtr Parser::parse_target(std::string_view extra_end, bool with_namespace) {
  ExprPtr target = parse_tuple(true, true, extra_end, false, with_namespace);
  mark_store(*target);
  return target;
}

StatementPtr Parser::parse_set() {
  Position at = next().position;
  ExprPtr target = parse_target("", true);
  bool assigned = skip_symbol("=");
  auto node =
      std::make_unique<Statement>(assigned ? StatementKind::set : StatementKind::set_block, at);
  node->target_expression = std::move(target);
  if (assigned) {
    node->value = parse_tuple(false, true, "");
    return node;
  }
  node->filter = parse_filter(nullptr);
  node->body = parse_body({"endset"});
  next();
  return node;
}

StatementPtr Parser::parse_for() {
  auto node = std::make_unique<Statement>(StatementKind::for_loop, next().position);
  node->target_expression = parse_target("in", false);
  expect_name("in");
  node->value = parse_tuple(false, false, "recursive");
  if (skip_name("if")) node->test = parse_expression();
  node->recursive = skip_name("recursive");
  node->body = parse_body({"endfor", "else"});
  if (next().text == "endfor") return node;
  node->else_body = parse_body({"endfor"});
  next();
  return node;
}

StatementPtr Parser::parse_if() {
  auto node = std::make_unique<Statement>(StatementKind::if_chain, next().position);
  for (;;) {
    Branch& branch = node->branches.emplace_back();
    branch.test = parse_tuple(false, false, "");
    branch.body = parse_body({"elif", "else", "endif"});
    std::string tag = next().text;
    if (tag == "elif") continue;
    if (tag == "else") {
      node->branches.emplace_back().body = parse_body({"endif"});
      next();
    }
    return node;
  }
}

StatementPtr Parser::parse_with() {
  auto node = std::make_unique<Statement>(StatementKind::with, next().position);
  while (current().kind != TokenKind::block_end) {
    if (!node->bindings.empty()) expect_symbol(",");
    ExprPtr target = parse_target("", false);
    expect_symbol("=");
    node->bindings.emplace_back(std::move(target), parse_expression());
  }
  node->body = parse_body({"endwith"});
  next();
  return node;
}

StatementPtr Parser::parse_autoescape() {
  auto node = std::make_unique<Statement>(StatementKind::autoescape, next().position);
  node->value = parse_expression();
  node->body = parse_body({"endautoescape"});
  next();
  return node;
}

StatementPtr Parser::parse_block() {
  auto node = std::make_unique<Statement>(StatementKind::block, next().position);
  node->name = expect_any_name().text;
  node->scoped = skip_name("scoped");
  node->required = skip_name("required");
  if (at_symbol("-"))
    error(
        "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, "
        "use an underscore instead.");
  node->body = parse_body({"endblock"});
  next();
  if (node->required)
    for (const StatementPtr& child : node->body)
      for (const OutputItem& item : child->output)
        if (item.expression != nullptr || !is_blank(item.data))
          error("Required blocks can only contain comments or whitespace");
  skip_name(node->name);
  return node;
}

void Parser::parse_signature(MacroNode& macro) {
  expect_symbol("(");
  bool fallback_seen = false;
  while (!at_symbol(")")) {
    if (!macro.parameters.empty()) expect_symbol(",");
    Token name = expect_any_name();
    Parameter& parameter = macro.parameters.emplace_back();
    parameter.name = name.text;
    parameter.position = name.position;
    if (skip_symbol("=")) {
      parameter.fallback = parse_expression();
      fallback_seen = true;
    } else if (fallback_seen) {
      error("non-default argument follows default argument");
    }
    for (size_t i = 0; i + 1 < macro.parameters.size(); ++i)
      if (macro.parameters[i].name == name.text)
        error(cat("duplicate argument ", quote(name.text)), name.position);
  }
  expect_symbol(")");
}

StatementPtr Parser::parse_macro() {
  auto node = std::make_unique<Statement>(StatementKind::macro, next().position);
  node->name = expect_any_name().text;
  node->macro = std::make_unique<MacroNode>();
  node->macro->name = node->name;
  parse_signature(*node->macro);
  node->macro->body = parse_body({"endmacro"});
  next();
  return node;
}

StatementPtr Parser::parse_call_block() {
  auto node = std::make_unique<Statement>(StatementKind::call_block, next().position);
  node->macro = std::make_unique<MacroNode>();
  if (at_symbol("(")) parse_signature(*node->macro);
  node->value = parse_expression();
  if (node->value->kind != ExprKind::call) error("expected call", node->position);
  node->macro->body = parse_body({"endcall"});
  next();
  return node;
}

StatementPtr Parser::parse_generation() {
  auto node = std::make_unique<Statement>(StatementKind::call_block, next().position);
  node->generation = true;
  node->macro = std::make_unique<MacroNode>();
  node->macro->body = parse_body({"endgeneration"});
  next();
  return node;
}

StatementPtr Parser::parse_filter_block() {
  auto node = std::make_unique<Statement>(StatementKind::filter_block, next().position);
  node->filter = parse_filter(nullptr, true);
  node->body = parse_body({"endfilter"});
  next();
  return node;
}

StatementPtr Parser::parse_print() {
  auto node = std::make_unique<Statement>(StatementKind::output, next().position);
  while (current().kind != TokenKind::block_end) {
    if (!node->output.empty()) expect_symbol(",");
    node->output.emplace_back().expression = parse_expression();
  }
  return node;
}

// Tags that need a loader of other templates: parsed as far as needed, an error when reached.
StatementPtr Parser::parse_unavailable() {
  auto node = std::make_unique<Statement>(StatementKind::unavailable, current().position);
  node->name = next().text;
  node->value = parse_expression();
  while (current().kind != TokenKind::block_end && current().kind != TokenKind::end) next();
  return node;
}

std::unique_ptr<Template> parse_template(std::string_view source) {
  if (source.size() > kLongestSource)
    throw SyntaxError(
        cat("the template has ", source.size(), " bytes, at most ", kLongestSource, " are taken"),
        Position());
  auto tree = std::make_unique<Template>();
  tree->body = Parser(source).parse_all();
  resolve_names(*tree);
  return tree;
}

}  // namespace crane::jinja
