// The tests of jinja2 (`value is name`). Reference: jinja2/tests.py (3.1).
#include <algorithm>

#include "base/strings.h"
#include "text/template_filters.h"
#include "text/template_methods.h"

namespace crane::jinja {
namespace {

using Predicate = bool (*)(const Value& value);

template <Predicate Check>
Value simple(Runtime&, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("test", "", arguments));
  return Value::boolean(Check(input));
}

bool check_defined(const Value& value) { return !value.is_undefined(); }
bool check_undefined(const Value& value) { return value.is_undefined(); }
bool check_none(const Value& value) { return value.is_none(); }
bool check_boolean(const Value& value) { return value.is(Kind::boolean); }
bool check_true(const Value& value) { return value.is(Kind::boolean) && value.as_boolean(); }
bool check_false(const Value& value) { return value.is(Kind::boolean) && !value.as_boolean(); }
bool check_integer(const Value& value) { return value.is(Kind::integer); }
bool check_float(const Value& value) { return value.is(Kind::number); }
bool check_number(const Value& value) { return value.is_numeric(); }
bool check_string(const Value& value) { return value.is_string(); }
bool check_mapping(const Value& value) { return value.is_dict(); }
bool check_escaped(const Value& value) { return value.is_markup(); }
bool check_iterable(const Value& value) { return is_iterable(value); }

bool check_callable(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::function:
    case Kind::macro:
    case Kind::loop:
    case Kind::joiner:
      return true;
    case Kind::block:
      return type_name(value) == "BlockReference";
    default:
      return false;
  }
}

bool check_sequence(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is_sequence() || value.is_dict() ||
         value.is(Kind::range);
}

Value remainder(Runtime& runtime, const Value& input, const Value& divisor) {
  return apply(runtime, Operator::modulo, input, divisor);
}

template <int64_t Rest>
Value test_parity(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("test", "", arguments));
  Value rest = remainder(runtime, input, Value::integer(2));
  return Value::boolean(equals(runtime, rest, Value::integer(Rest)));
}

Value test_divisibleby(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("test_divisibleby", "num", arguments);
  Value rest = remainder(runtime, input, bound[0]);
  return Value::boolean(equals(runtime, rest, Value::integer(0)));
}

template <bool Upper>
Value test_case(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("test", "", arguments));
  Value text = runtime.text(to_text(runtime, input));
  return find_text_method(Upper ? "isupper" : "islower")(runtime, text, Arguments());
}

Value test_sameas(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("test_sameas", "other", arguments);
  if (input.kind() != bound[0].kind()) return Value::boolean(false);
  // Equal small strings are one object in Python as well, nearly always.
  if (input.is_string()) return Value::boolean(equals(runtime, input, bound[0]));
  if (input.is_undefined()) return Value::boolean(input.object() == bound[0].object());
  return Value::boolean(input.same_object(bound[0]) || input.is_none());
}

Value test_in(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("test_in", "seq", arguments);
  return Value::boolean(contains(runtime, bound[0], input));
}

template <Comparison How>
Value test_compare(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("comparison", "other /", arguments);
  return Value::boolean(compare(runtime, How, input, bound[0]));
}

bool names_a(const std::vector<std::string_view>& names, const Value& value) {
  if (!is_hashable(value)) fail(cat("unhashable type: '", type_name(value), "'"));
  return value.is_string() && std::find(names.begin(), names.end(), value.text()) != names.end();
}

Value test_filter(Runtime&, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("test_filter", "", arguments));
  bool known = names_a(filter_names(), input) ||
               (input.is_string() && unsupported_filter(input.text()) != nullptr);
  return Value::boolean(known);
}

Value test_test(Runtime&, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("test_test", "", arguments));
  return Value::boolean(names_a(test_names(), input));
}

constexpr NamedFilter kTests[] = {
    {"!=", test_compare<Comparison::not_equal>},
    {"<", test_compare<Comparison::less>},
    {"<=", test_compare<Comparison::less_equal>},
    {"==", test_compare<Comparison::equal>},
    {">", test_compare<Comparison::greater>},
    {">=", test_compare<Comparison::greater_equal>},
    {"boolean", simple<check_boolean>},
    {"callable", simple<check_callable>},
    {"defined", simple<check_defined>},
    {"divisibleby", test_divisibleby},
    {"eq", test_compare<Comparison::equal>},
    {"equalto", test_compare<Comparison::equal>},
    {"escaped", simple<check_escaped>},
    {"even", test_parity<0>},
    {"false", simple<check_false>},
    {"filter", test_filter},
    {"float", simple<check_float>},
    {"ge", test_compare<Comparison::greater_equal>},
    {"greaterthan", test_compare<Comparison::greater>},
    {"gt", test_compare<Comparison::greater>},
    {"in", test_in},
    {"integer", simple<check_integer>},
    {"iterable", simple<check_iterable>},
    {"le", test_compare<Comparison::less_equal>},
    {"lessthan", test_compare<Comparison::less>},
    {"lower", test_case<false>},
    {"lt", test_compare<Comparison::less>},
    {"mapping", simple<check_mapping>},
    {"ne", test_compare<Comparison::not_equal>},
    {"none", simple<check_none>},
    {"number", simple<check_number>},
    {"odd", test_parity<1>},
    {"sameas", test_sameas},
    {"sequence", simple<check_sequence>},
    {"string", simple<check_string>},
    {"test", test_test},
    {"true", simple<check_true>},
    {"undefined", simple<check_undefined>},
    {"upper", test_case<true>},
};

}  // namespace

Filter find_test(std::string_view name) {
  for (const NamedFilter& test : kTests)
    if (test.name == name) return test.function;
  return nullptr;
}

std::vector<std::string_view> test_names() {
  std::vector<std::string_view> names;
  for (const NamedFilter& test : kTests) names.push_back(test.name);
  return names;
}

}  // namespace crane::jinja
