// Python's operators on values: truth, equality, order, membership and arithmetic.
#include <cmath>
#include <cstring>

#include "base/strings.h"
#include "text/template_runtime.h"

namespace crane::jinja {
namespace {

const char* symbol_of(Operator operation) {
  switch (operation) {
    case Operator::add:
      return "+";
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    case Operator::power:
      return "** or pow()";
  }
  return "?";
}

[[noreturn]] void fail_operands(Operator operation, const Value& a, const Value& b) {
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  fail(cat("unsupported operand type(s) for ", symbol_of(operation), ": '", type_name(a), "' and '",
           type_name(b), "'"));
}

[[noreturn]] void fail_overflow() { fail("integer overflow: the result is outside of 64 bits"); }

// Exact, also where an integer has more digits than a double.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int())
    return a.as_integer() < b.as_integer() ? -1 : a.as_integer() > b.as_integer() ? 1 : 0;
  long double x = a.is_int() ? static_cast<long double>(a.as_integer()) : a.as_number();
  long double y = b.is_int() ? static_cast<long double>(b.as_integer()) : b.as_number();
  if (std::isnan(x) || std::isnan(y)) return 2;  // neither less, equal nor greater
  return x < y ? -1 : x > y ? 1 : 0;
}

bool equal_dicts(Runtime& runtime, const DictObject& a, const DictObject& b) {
  if (a.items.size() != b.items.size()) return false;
  for (const auto& [key, value] : a.items) {
    const Value* other = b.find(runtime, key);
    if (other == nullptr || !(value.same_object(*other) || equals(runtime, value, *other)))
      return false;
  }
  return true;
}

bool equal_items(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!a[i].same_object(b[i]) && !equals(runtime, a[i], b[i])) return false;
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  if (a.length() != b.length()) return false;
  if (a.length() == 0) return true;
  return a.start == b.start && (a.length() == 1 || a.step == b.step);
}

bool holds(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::less:
      return order == -1;
    case Comparison::less_equal:
      return order == -1 || order == 0;
    case Comparison::greater:
      return order == 1;
    default:
      return order == 1 || order == 0;
  }
}

bool ordered(Runtime& runtime, Comparison comparison, const Value& a, const Value& b) {
  runtime.step();
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_numeric() && b.is_numeric()) return holds(comparison, compare_numbers(a, b));
  if (a.is_string() && b.is_string()) {
    // The order of UTF-8 bytes is the order of code points.
    runtime.copy_cost(std::min(a.text().size(), b.text().size()));
    int order = a.text().compare(b.text());
    return holds(comparison, order < 0 ? -1 : order > 0 ? 1 : 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    const auto& x = a.items();
    const auto& y = b.items();
    size_t common = std::min(x.size(), y.size());
    for (size_t i = 0; i < common; ++i)
      if (!x[i].same_object(y[i]) && !equals(runtime, x[i], y[i]))
        return ordered(runtime, comparison, x[i], y[i]);
    return holds(comparison, x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0);
  }
  static constexpr const char* kSymbols[] = {"==", "!=", "<", "<=", ">", ">="};
  fail(cat("'", kSymbols[static_cast<int>(comparison)], "' not supported between instances of '",
           type_name(a), "' and '", type_name(b), "'"));
}

// --- integers

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? quotient - 1 : quotient;
}

int64_t power_of(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) fail_overflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) fail_overflow();
  }
  return result;
}

Value integer_operation(Operator operation, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (operation) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) fail_overflow();
      return Value::integer(result);
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_overflow();
      return Value::integer(result);
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) fail_overflow();
      return Value::integer(result);
    case Operator::divide:
      if (b == 0) fail("division by zero");
      return Value::number(
          static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operator::floor_divide:
      if (b == 0) fail("integer division or modulo by zero");
      if (a == INT64_MIN && b == -1) fail_overflow();
      return Value::integer(floor_divide(a, b));
    case Operator::modulo:
      if (b == 0) fail("integer modulo by zero");
      if (b == -1) return Value::integer(0);
      return Value::integer(a - floor_divide(a, b) * b);
    case Operator::power:
      break;
  }
  if (b >= 0) return Value::integer(power_of(a, b));
  if (a == 0) fail("0.0 cannot be raised to a negative power");
  return Value::number(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

// --- floats

double float_modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0) return (rest < 0) != (b < 0) ? rest + b : rest;
  return std::copysign(0.0, b);
}

double float_floor_divide(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

double float_power(double a, double b) {
  if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    fail("a negative number to a fractional power is not supported");
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
    fail("(34, 'Numerical result out of range')");
  return result;
}

Value float_operation(Operator operation, double a, double b) {
  switch (operation) {
    case Operator::add:
      return Value::number(a + b);
    case Operator::subtract:
      return Value::number(a - b);
    case Operator::multiply:
      return Value::number(a * b);
    case Operator::divide:
      if (b == 0) fail("float division by zero");
      return Value::number(a / b);
    case Operator::floor_divide:
      if (b == 0) fail("float floor division by zero");
      return Value::number(float_floor_divide(a, b));
    case Operator::modulo:
      if (b == 0) fail("float modulo");
      return Value::number(float_modulo(a, b));
    case Operator::power:
      break;
  }
  return Value::number(float_power(a, b));
}

// --- sequences

Value repeat_items(Runtime& runtime, const Value& sequence, int64_t count) {
  const auto& items = sequence.items();
  std::vector<Value> result;
  if (count > 0 && !items.empty()) {
    int64_t limit = static_cast<int64_t>(runtime.limits().memory_bytes / sizeof(Value));
    if (count > limit / static_cast<int64_t>(items.size()))
      fail(cat("a sequence of ", items.size(), " x ", count, " items is too long"));
    runtime.step(items.size() * static_cast<size_t>(count) / 4);
    result.reserve(items.size() * static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) result.insert(result.end(), items.begin(), items.end());
  }
  return sequence.is(Kind::list) ? runtime.list(std::move(result))
                                 : runtime.tuple(std::move(result));
}

Value multiply_sequence(Runtime& runtime, const Value& sequence, const Value& count) {
  if (count.is_undefined()) fail_undefined(count);
  if (!count.is_int())
    fail(cat("can't multiply sequence by non-int of type '", type_name(count), "'"));
  if (sequence.is_string()) return repeat_text(runtime, sequence, count.as_integer());
  return repeat_items(runtime, sequence, count.as_integer());
}

Value add_texts(Runtime& runtime, const Value& a, const Value& b) {
  bool markup = a.is_markup() || b.is_markup();
  runtime.check_size(a.text().size() + b.text().size());
  if (!markup) return runtime.text(a.text() + b.text());
  return runtime.text(escape(runtime, a).text() + escape(runtime, b).text(), true);
}

Value add_sequences(Runtime& runtime, const Value& a, const Value& b) {
  std::vector<Value> items;
  runtime.step((a.items().size() + b.items().size()) / 4);
  items.reserve(a.items().size() + b.items().size());
  items.insert(items.end(), a.items().begin(), a.items().end());
  items.insert(items.end(), b.items().begin(), b.items().end());
  return a.is(Kind::list) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

}  // namespace

Value repeat_text(Runtime& runtime, const Value& text, int64_t count) {
  std::string result;
  if (count > 0 && !text.text().empty()) {
    if (count > static_cast<int64_t>(runtime.limits().output_bytes)) runtime.check_size(SIZE_MAX);
    runtime.check_size(text.text().size() * static_cast<size_t>(count));
    runtime.step(static_cast<uint64_t>(count) / 8);
    result.reserve(text.text().size() * static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) result += text.text();
  }
  return runtime.text(std::move(result), text.is_markup());
}

bool is_true(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::number:
      return value.as_number() != 0;
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::view:
    case Kind::range:
    case Kind::loop:
      return length_of(runtime, value) != 0;
    default:
      return true;
  }
}

bool equals(Runtime& runtime, const Value& a, const Value& b) {
  runtime.step();
  if (a.is_numeric() && b.is_numeric()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::missing:
    case Kind::none:
    case Kind::undefined:
      return true;
    case Kind::string:
      if (a.text().size() != b.text().size()) return false;
      runtime.copy_cost(a.text().size());
      return a.text() == b.text();
    case Kind::list:
    case Kind::tuple:
      return equal_items(runtime, a.items(), b.items());
    case Kind::dict:
      return equal_dicts(runtime, a.dict(), b.dict());
    case Kind::range:
      return equal_ranges(a.as<RangeObject>(), b.as<RangeObject>());
    case Kind::view: {
      const auto& x = a.as<ViewObject>();
      const auto& y = b.as<ViewObject>();
      if (x.part == ViewObject::Part::values || x.part != y.part) return a.same_object(b);
      if (length_of(runtime, a) != length_of(runtime, b)) return false;
      for (const Value& item : to_items(runtime, a))
        if (!contains(runtime, b, item)) return false;
      return true;
    }
    case Kind::function:
      return a.as<FunctionObject>().function == b.as<FunctionObject>().function &&
             a.as<FunctionObject>().self.same_object(b.as<FunctionObject>().self);
    default:
      return a.same_object(b);
  }
}

bool compare(Runtime& runtime, Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal:
      return equals(runtime, a, b);
    case Comparison::not_equal:
      return !equals(runtime, a, b);
    case Comparison::in:
      return contains(runtime, b, a);
    case Comparison::not_in:
      return !contains(runtime, b, a);
    default:
      return ordered(runtime, comparison, a, b);
  }
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::string: {
      if (!item.is_string())
        fail(cat("'in <string>' requires string as left operand, not ", type_name(item)));
      const std::string& text = container.text();
      runtime.copy_cost(text.size());
      return memmem(text.data(), text.size(), item.text().data(), item.text().size()) != nullptr;
    }
    case Kind::dict:
      return container.dict().find(runtime, item) != nullptr;
    case Kind::range: {
      const auto& range = container.as<RangeObject>();
      if (!item.is_numeric()) return false;
      if (!item.is_int() && item.as_number() != std::floor(item.as_number())) return false;
      runtime.step(static_cast<uint64_t>(range.length()) / 8);
      for (int64_t i = 0; i < range.length(); ++i)
        if (compare_numbers(item, Value::integer(range.at(i))) == 0) return true;
      return false;
    }
    case Kind::view:
      if (container.as<ViewObject>().part == ViewObject::Part::keys)
        return contains(runtime, container.as<ViewObject>().dict, item);
      break;
    default:
      break;
  }
  if (!is_iterable(container))
    fail(cat("argument of type '", type_name(container), "' is not iterable"));
  std::unique_ptr<Iterator> items = iterate(runtime, container);
  Value other;
  while (items->next(runtime, other)) {
    runtime.step();
    if (other.same_object(item) || equals(runtime, other, item)) return true;
  }
  return false;
}

Value apply(Runtime& runtime, Operator operation, const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return integer_operation(operation, a.as_integer(), b.as_integer());
  if (a.is_numeric() && b.is_numeric())
    return float_operation(operation, a.as_number(), b.as_number());
  if (operation == Operator::modulo && a.is_string()) return percent_format(runtime, a, b);
  if (operation == Operator::multiply) {
    if (a.is_string() || a.is_sequence()) return multiply_sequence(runtime, a, b);
    if (b.is_string() || b.is_sequence()) return multiply_sequence(runtime, b, a);
  }
  if (operation == Operator::add && !b.is_undefined()) {
    if (a.is_string() && b.is_string()) return add_texts(runtime, a, b);
    if (a.is_sequence() && a.kind() == b.kind()) return add_sequences(runtime, a, b);
    if (a.is_string()) fail(cat("can only concatenate str (not \"", type_name(b), "\") to str"));
    if (a.is_sequence())
      fail(cat("can only concatenate ", type_name(a), " (not \"", type_name(b), "\") to ",
               type_name(a)));
  }
  fail_operands(operation, a, b);
}

Value negate(Runtime&, const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.is(Kind::number)) return Value::number(-value.as_number());
  if (!value.is_int()) fail(cat("bad operand type for unary -: '", type_name(value), "'"));
  if (value.as_integer() == INT64_MIN) fail_overflow();
  return Value::integer(-value.as_integer());
}

Value plus(Runtime&, const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.is(Kind::number)) return value;
  if (!value.is_int()) fail(cat("bad operand type for unary +: '", type_name(value), "'"));
  return Value::integer(value.as_integer());
}

}  // namespace crane::jinja
