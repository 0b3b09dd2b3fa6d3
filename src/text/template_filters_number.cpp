// Filters that make or change numbers.
#include <cmath>
#include <cstdlib>

#include "base/strings.h"
#include "text/template_filters.h"
#include "text/template_methods.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

// ASCII digits of `text` without blanks around; empty when a character cannot be in a number.
std::string plain_number(std::string_view text) {
  std::string out;
  text = strip_text(text, Value(), true, true);
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    int digit = decimal_value(c);
    if (digit >= 0) {
      out.push_back(static_cast<char>('0' + digit));
    } else if (c > 0x20 && c < 0x7F) {
      out.push_back(static_cast<char>(c));
    } else {
      return {};
    }
  }
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

enum class Parsed { good, bad, too_big };

// Python's int(text, base).
Parsed parse_int(std::string_view raw, int64_t base, int64_t& value) {
  std::string text = plain_number(raw);
  size_t at = 0;
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) negative = text[at++] == '-';
  if (base != 0 && (base < 2 || base > 36)) return Parsed::bad;
  char mark =
      at + 1 < text.size() && text[at] == '0' ? static_cast<char>(text[at + 1] | 0x20) : ' ';
  int64_t marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  bool prefixed = marked != 0 && (base == 0 || base == marked);
  if (prefixed) {
    base = marked;
    at += 2;
    if (at < text.size() && text[at] == '_') ++at;
  }
  bool zero_only = base == 0 && at < text.size() && text[at] == '0';
  if (base == 0) base = 10;
  bool any = false;
  bool underscore = false;
  bool big = false;
  int64_t total = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '_' && any && !underscore) {
      underscore = true;
      continue;
    }
    int digit = digit_of(text[at]);
    if (digit >= base || (zero_only && digit != 0)) return Parsed::bad;
    underscore = false;
    any = true;
    big = big || __builtin_mul_overflow(total, base, &total) ||
          __builtin_add_overflow(total, negative ? -digit : digit, &total);
  }
  if (!any || underscore) return Parsed::bad;
  value = total;
  return big ? Parsed::too_big : Parsed::good;
}

int64_t truncate_float(double value) {
  if (std::isinf(value)) fail("cannot convert float infinity to integer");
  if (std::fabs(value) >= 9.2e18) fail("integer overflow: outside of 64 bits");
  return static_cast<int64_t>(value);
}

Value filter_int(Runtime&, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_int", "default? base?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  Value fallback = bound[0].is_missing() ? Value::integer(0) : bound[0];
  if (input.is_int()) return Value::integer(input.as_integer());
  if (input.is(Kind::number)) {
    if (std::isnan(input.as_number())) return fallback;
    return Value::integer(truncate_float(input.as_number()));
  }
  if (!input.is_string()) return fallback;
  int64_t base = bound[1].is_missing() ? 10 : index_argument(bound[1]);
  int64_t whole = 0;
  Parsed parsed = parse_int(input.text(), base, whole);
  if (parsed == Parsed::too_big) fail("integer overflow: outside of 64 bits");
  if (parsed == Parsed::good) return Value::integer(whole);
  double value = 0;
  if (!parse_float(input.text(), value) || !std::isfinite(value)) return fallback;
  return Value::integer(truncate_float(value));
}

Value filter_float(Runtime&, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_float", "default?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  if (input.is_numeric()) return Value::number(input.as_number());
  double value = 0;
  if (input.is_string() && parse_float(input.text(), value)) return Value::number(value);
  return bound[0].is_missing() ? Value::number(0) : bound[0];
}

Value filter_abs(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("abs", "", arguments));
  if (input.is_undefined()) fail("bad operand type for abs(): 'Undefined'");
  if (input.is(Kind::number)) return Value::number(std::fabs(input.as_number()));
  if (!input.is_int()) fail(cat("bad operand type for abs(): '", type_name(input), "'"));
  return input.as_integer() < 0 ? negate(runtime, input) : Value::integer(input.as_integer());
}

// Half goes to the even neighbour, on the exact decimal value of the float.
double round_float(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 323) return value;
  if (precision >= 0)
    return std::strtod(format_float(value, 'f', static_cast<int>(precision), false).c_str(),
                       nullptr);
  if (value == 0 || precision < -308) return std::copysign(0.0, value);
  std::string digits = format_float(std::fabs(value), 'e', 17, false);
  int64_t exponent = std::atoi(digits.c_str() + digits.find('e') + 1);
  int64_t kept = exponent + precision;  // digits behind the first that stay
  double rounded = 0;
  if (kept >= 0) {
    rounded = std::strtod(
        format_float(std::fabs(value), 'e', static_cast<int>(kept), false).c_str(), nullptr);
  } else if (kept == -1 && std::fabs(value) > std::strtod(cat("5e", exponent).c_str(), nullptr)) {
    rounded = std::strtod(cat("1e", exponent + 1).c_str(), nullptr);
  }
  return std::copysign(rounded, value);
}

Value round_int(int64_t value, int64_t precision) {
  if (precision >= 0) return Value::integer(value);
  if (precision < -18) return Value::integer(0);
  int64_t scale = 1;
  for (int64_t i = precision; i < 0; ++i) scale *= 10;
  int64_t rest = ((value % scale) + scale) % scale;
  int64_t low = value - rest;
  bool up = rest > scale / 2 || (rest == scale / 2 && (low / scale) % 2 != 0);
  int64_t result = low;
  if (up && __builtin_add_overflow(low, scale, &result))
    fail("integer overflow: outside of 64 bits");
  return Value::integer(result);
}

Value filter_round(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_round", "precision? method?", arguments);
  std::string method = bound[1].is_string() ? bound[1].text() : "common";
  if ((!bound[1].is_missing() && !bound[1].is_string()) ||
      (method != "common" && method != "ceil" && method != "floor"))
    fail("method must be common, ceil or floor");
  if (input.is_undefined()) fail("type Undefined doesn't define __round__ method");
  if (!input.is_numeric()) fail(cat("type ", type_name(input), " doesn't define __round__ method"));
  Value precision = bound[0].is_missing() ? Value::integer(0) : bound[0];
  if (method == "common") {
    if (precision.is_none()) fail("round to none digits is not supported");
    int64_t digits = index_argument(precision);
    if (input.is_int()) return round_int(input.as_integer(), digits);
    return Value::number(round_float(input.as_number(), digits));
  }
  Value scale = apply(runtime, Operator::power, Value::integer(10), precision);
  Value scaled = apply(runtime, Operator::multiply, input, scale);
  if (scaled.is(Kind::number)) {
    double value = scaled.as_number();
    if (std::isnan(value)) fail("cannot convert float NaN to integer");
    scaled =
        Value::integer(truncate_float(method == "ceil" ? std::ceil(value) : std::floor(value)));
  }
  return apply(runtime, Operator::divide, scaled, scale);
}

Value filter_filesizeformat(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_filesizeformat", "binary?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  double bytes = input.is_numeric() ? input.as_number() : 0;
  if (!input.is_numeric() && !(input.is_string() && parse_float(input.text(), bytes)))
    fail(cat("could not convert to float: ", to_repr(runtime, input)));
  bool binary = flag(runtime, bound[0], false);
  double base = binary ? 1024 : 1000;
  if (bytes == 1) return runtime.text("1 Byte");
  if (bytes < base) return runtime.text(cat(truncate_float(bytes), " Bytes"));
  static constexpr char kPrefixes[] = "kMGTPEZY";
  double unit = base;
  for (int i = 0;; ++i) {
    unit *= base;
    if (bytes >= unit && i < 7) continue;
    std::string prefix(1, kPrefixes[i]);
    if (binary) prefix = i == 0 ? "Ki" : prefix + "i";
    return runtime.text(cat(format_float(base * bytes / unit, 'f', 1, false), " ", prefix, "B"));
  }
}

}  // namespace

bool parse_float(std::string_view raw, double& value) {
  std::string text = plain_number(raw);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits.push_back(text[i]);
      continue;
    }
    bool between =
        i > 0 && i + 1 < text.size() && digit_of(text[i - 1]) < 10 && digit_of(text[i + 1]) < 10;
    if (!between) return false;
  }
  std::string letters;
  for (char c : digits)
    if (c != '+' && c != '-') letters.push_back(static_cast<char>(c | 0x20));
  bool word = letters == "inf" || letters == "infinity" || letters == "nan";
  if (!word && digits.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(digits.c_str(), &end);
  return !digits.empty() && *end == '\0';
}

std::span<const NamedFilter> number_filters() {
  static constexpr NamedFilter kFilters[] = {
      {"abs", filter_abs},     {"filesizeformat", filter_filesizeformat},
      {"float", filter_float}, {"int", filter_int},
      {"round", filter_round},
  };
  return kFilters;
}

}  // namespace crane::jinja
