#include <cmath>

#include "base/strings.h"
#include "text/template_interpreter.h"

namespace crane::jinja {

Value Interpreter::evaluate(const Expr& node) {
  step();
  if (depth_ >= limits_.evaluation_depth) where_ = node.position;
  descend();
  Value value = evaluate_kind(node);
  --depth_;
  return value;
}

Value Interpreter::evaluate_kind(const Expr& node) {
  switch (node.kind) {
    case ExprKind::constant:
      return node.value;
    case ExprKind::name:
      return evaluate_name(node);
    case ExprKind::tuple:
    case ExprKind::list:
      return evaluate_sequence(node);
    case ExprKind::dict:
      return evaluate_dict(node);
    case ExprKind::binary:
      return evaluate_binary(node);
    case ExprKind::negative:
    case ExprKind::positive:
    case ExprKind::logical_not:
      return evaluate_unary(node);
    case ExprKind::logical_and:
    case ExprKind::logical_or:
      return evaluate_logical(node);
    case ExprKind::compare:
      return evaluate_compare(node);
    case ExprKind::concat:
      return evaluate_concat(node);
    case ExprKind::conditional:
      return evaluate_conditional(node);
    case ExprKind::attribute:
      return evaluate_attribute(node);
    case ExprKind::item:
      return evaluate_item(node);
    case ExprKind::slice:
      return evaluate_slice(node);
    case ExprKind::call:
      return evaluate_call(node, nullptr);
    case ExprKind::filter:
      return evaluate_filter(node);
    case ExprKind::test:
      return evaluate_test(node);
  }
  return {};
}

Value Interpreter::evaluate_name(const Expr& node) {
  const Value& value = slot(node.slot);
  return value.is_missing() ? undefined_name(node.text) : value;
}

Value Interpreter::evaluate_sequence(const Expr& node) {
  std::vector<Value> items;
  items.reserve(node.children.size());
  for (const ExprPtr& child : node.children) items.push_back(evaluate(*child));
  where_ = node.position;
  return node.kind == ExprKind::list ? list(std::move(items)) : tuple(std::move(items));
}

Value Interpreter::evaluate_dict(const Expr& node) {
  auto object = std::make_unique<DictObject>();
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    Value key = evaluate(*node.children[i]);
    Value value = evaluate(*node.children[i + 1]);
    where_ = node.position;
    object->set(*this, std::move(key), std::move(value));
  }
  return dict(std::move(object));
}

Value Interpreter::evaluate_binary(const Expr& node) {
  Value left = evaluate(*node.children[0]);
  Value right = evaluate(*node.children[1]);
  where_ = node.position;
  // jinja2 writes a negative constant before ** without brackets, so that Python negates last.
  bool negative = left.is_numeric() && std::signbit(left.as_number());
  if (node.operation == Operator::power && negative && node.children[0]->constant && !node.constant)
    return negate(*this, apply(*this, node.operation, negate(*this, left), right));
  return apply(*this, node.operation, left, right);
}

Value Interpreter::evaluate_unary(const Expr& node) {
  Value value = evaluate(*node.children[0]);
  where_ = node.position;
  if (node.kind == ExprKind::negative) return negate(*this, value);
  if (node.kind == ExprKind::positive) return plus(*this, value);
  return Value::boolean(!is_true(*this, value));
}

Value Interpreter::evaluate_logical(const Expr& node) {
  Value left = evaluate(*node.children[0]);
  bool truth = is_true(*this, left);
  if (truth == (node.kind == ExprKind::logical_or)) return left;
  return evaluate(*node.children[1]);
}

Value Interpreter::evaluate_compare(const Expr& node) {
  Value left = evaluate(*node.children[0]);
  bool truth = true;
  for (size_t i = 0; i < node.comparisons.size() && truth; ++i) {
    Value right = evaluate(*node.children[i + 1]);
    where_ = node.position;
    truth = compare(*this, node.comparisons[i], left, right);
    left = std::move(right);
  }
  return Value::boolean(truth);
}

Value Interpreter::evaluate_concat(const Expr& node) {
  std::vector<Value> parts;
  parts.reserve(node.children.size());
  bool markup = false;
  for (const ExprPtr& child : node.children) {
    parts.push_back(evaluate(*child));
    markup = markup || parts.back().is_markup();
  }
  markup = markup && node.escape == Expr::Escape::on;
  where_ = node.position;
  std::string joined;
  for (const Value& part : parts) {
    if (markup) {
      joined += jinja::escape(*this, part).text();
    } else {
      print(*this, part, joined);
    }
    check_size(joined.size());
  }
  return text(std::move(joined), markup);
}

Value Interpreter::evaluate_conditional(const Expr& node) {
  if (is_true(*this, evaluate(*node.children[0]))) return evaluate(*node.children[1]);
  if (node.children.size() > 2) return evaluate(*node.children[2]);
  return undefined(cat("the inline if-expression on line ", node.position.line,
                       " evaluated to false and no else section was defined."));
}

Value Interpreter::evaluate_attribute(const Expr& node) {
  Value object = evaluate(*node.children[0]);
  where_ = node.position;
  return get_attribute(*this, object, node.value);
}

Value Interpreter::evaluate_item(const Expr& node) {
  Value object = evaluate(*node.children[0]);
  Value key = evaluate(*node.children[1]);
  where_ = node.position;
  return get_item(*this, object, key);
}

Value Interpreter::evaluate_slice(const Expr& node) {
  Value object = evaluate(*node.children[0]);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i)
    if (node.children[i + 1] != nullptr) bounds[i] = evaluate(*node.children[i + 1]);
  where_ = node.position;
  // jinja2 computes constant output when it compiles, and there a slice of what cannot be sliced
  // is undefined.
  bool sliceable = object.is_string() || object.is_sequence() || object.is(Kind::range);
  if (constant_output_ && !sliceable && !object.is_undefined())
    return undefined_attribute(object, Value::none());
  return get_slice(*this, object, bounds);
}

Value Interpreter::evaluate_call(const Expr& node, const Value* caller) {
  Value function = evaluate(*node.children[0]);
  Arguments arguments = evaluate_arguments(node);
  if (caller != nullptr) {
    for (const auto& argument : arguments.keyword)
      if (argument.first == "caller") fail("keyword argument repeated: caller");
    arguments.keyword.emplace_back("caller", *caller);
  }
  where_ = node.position;
  return call(function, std::move(arguments));
}

Value Interpreter::evaluate_filter(const Expr& node) {
  Value input = node.children[0] == nullptr ? *filter_input_ : evaluate(*node.children[0]);
  Arguments arguments = evaluate_arguments(node);
  where_ = node.position;
  if (node.function == nullptr) fail(cat("No filter named '", node.text, "' found."));
  return node.function(*this, input, arguments);
}

Value Interpreter::evaluate_test(const Expr& node) {
  Value input = evaluate(*node.children[0]);
  Arguments arguments = evaluate_arguments(node);
  where_ = node.position;
  if (node.function == nullptr) fail(cat("No test named '", node.text, "' found."));
  return node.function(*this, input, arguments);
}

Arguments Interpreter::evaluate_arguments(const Expr& node) {
  Arguments arguments;
  size_t stars = (node.has_star ? 1 : 0) + (node.has_double_star ? 1 : 0);
  size_t count = node.children.size();
  if (node.first_argument >= count) return arguments;
  size_t keyword_begin = count - stars - node.keywords.size();
  for (size_t i = node.first_argument; i < keyword_begin; ++i)
    arguments.positional.push_back(evaluate(*node.children[i]));
  for (size_t i = 0; i < node.keywords.size(); ++i)
    arguments.keyword.emplace_back(node.keywords[i], evaluate(*node.children[keyword_begin + i]));
  if (node.has_star) add_star(evaluate(*node.children[count - stars]), arguments);
  if (node.has_double_star) add_double_star(evaluate(*node.children[count - 1]), arguments);
  return arguments;
}

void Interpreter::add_star(const Value& value, Arguments& arguments) {
  if (!is_iterable(value))
    fail(cat("argument after * must be an iterable, not ", type_name(value)));
  std::vector<Value> items = to_items(*this, value);
  check_range(static_cast<int64_t>(items.size()));
  for (Value& item : items) arguments.positional.push_back(std::move(item));
}

void Interpreter::add_double_star(const Value& value, Arguments& arguments) {
  if (!value.is_dict()) fail(cat("argument after ** must be a mapping, not ", type_name(value)));
  step(value.dict().items.size());
  for (const auto& [key, item] : value.dict().items) {
    if (!key.is_string()) fail("keywords must be strings");
    for (const auto& argument : arguments.keyword)
      if (argument.first == key.text())
        fail(cat("got multiple values for keyword argument '", key.text(), "'"));
    arguments.keyword.emplace_back(key.text(), item);
  }
}

}  // namespace crane::jinja
