// str.format: replacement fields, and the format specifications of text and numbers.
#include <cmath>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_format.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

struct Specification {
  std::string fill = " ";
  char align = 0;
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  int64_t width = 0;
  char grouping = 0;
  int64_t precision = -1;
  char type = 0;
};

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

int64_t read_number(std::string_view text, size_t& at) {
  int64_t value = -1;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    value = std::max<int64_t>(value, 0) * 10 + (text[at++] - '0');
    if (value > INT32_MAX) fail("Too many decimal digits in format string");
  }
  return value;
}

Specification read_specification(std::string_view text) {
  Specification spec;
  size_t at = 0;
  auto here = [&] { return at < text.size() ? text[at] : '\0'; };
  if (!text.empty()) {
    size_t after = 0;
    next_code_point(text, after);
    if (after < text.size() && is_align(static_cast<unsigned char>(text[after]))) {
      spec.fill = std::string(text.substr(0, after));
      spec.align = text[after];
      at = after + 1;
    } else if (is_align(static_cast<unsigned char>(text[0]))) {
      spec.align = text[0];
      at = 1;
    }
  }
  bool filled = at > 1;
  if (here() == '+' || here() == '-' || here() == ' ') spec.sign = text[at++];
  if (here() == 'z') fail("the format flag 'z' is not supported");
  if (here() == '#') spec.alternate = (++at, true);
  if (here() == '0') {
    if (!filled) spec.fill = "0";
    if (spec.align == 0) spec.align = '=';
    spec.zero = true;
    ++at;
  }
  spec.width = std::max<int64_t>(read_number(text, at), 0);
  if (here() == ',' || here() == '_') spec.grouping = text[at++];
  if (here() == '.') {
    ++at;
    spec.precision = read_number(text, at);
    if (spec.precision < 0) fail("Format specifier missing precision");
  }
  if (text.size() - at > 1) fail("Invalid format specifier");
  if (at < text.size()) spec.type = text[at];
  return spec;
}

// Digits in groups of `size` from the right, and zeros up to `width` when the padding is zeros.
std::string group_digits(const std::string& digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out.push_back(separator);
    out.push_back(digits[i]);
  }
  return out;
}

class FieldFormatter {
 public:
  FieldFormatter(Runtime& runtime, const Specification& spec) : runtime_(runtime), spec_(spec) {}

  std::string text(const std::string& value) {
    if (spec_.type != 0 && spec_.type != 's') unknown_type("str");
    if (spec_.sign != '-') fail("Sign not allowed in string format specifier");
    if (spec_.alternate) fail("Alternate form (#) not allowed in string format specifier");
    if (spec_.align == '=' && !spec_.zero)
      fail("'=' alignment not allowed in string format specifier");
    if (spec_.grouping != 0) fail(cat("Cannot specify '", spec_.grouping, "' with 's'."));
    std::string body = value;
    if (spec_.precision >= 0)
      body = body.substr(0, byte_offset(body, static_cast<size_t>(spec_.precision)));
    return pad("", body, spec_.zero && spec_.align == '=' ? '<' : '<');
  }

  std::string integer(int64_t value) {
    char type = spec_.type == 0 || spec_.type == 'n' ? 'd' : spec_.type;
    if (std::string_view("eEfFgG%").find(type) != std::string_view::npos)
      return number(static_cast<double>(value));
    if (spec_.precision >= 0) fail("Precision not allowed in integer format specifier");
    if (type == 'c') {
      if (value < 0 || value > 0x10FFFF) fail("%c arg not in range(0x110000)");
      std::string body;
      append_utf8(body, static_cast<char32_t>(value));
      return pad("", body, '<');
    }
    int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'd' ? 10 : 16;
    if (std::string_view("bodxX").find(type) == std::string_view::npos) unknown_type("int");
    if (spec_.grouping == ',' && base != 10) fail(cat("Cannot specify ',' with '", type, "'."));
    std::string sign = value < 0 ? "-" : spec_.sign == '-' ? "" : std::string(1, spec_.sign);
    if (spec_.alternate && base != 10) sign += cat('0', type);
    return grouped(sign, integer_digits(magnitude(value), base, type == 'X'), "",
                   base == 10 ? 3 : 4);
  }

  std::string number(double value) {
    char type = spec_.type == 'n' ? 'g' : spec_.type;
    if (type != 0 && std::string_view("eEfFgG%").find(type) == std::string_view::npos)
      unknown_type("float");
    if (spec_.precision > 4000) fail("precision too big");
    bool negative = std::signbit(value) && !std::isnan(value);
    std::string sign = negative ? "-" : spec_.sign == '-' ? "" : std::string(1, spec_.sign);
    double size = std::fabs(value);
    std::string body;
    if (type == 0) {
      body = spec_.precision < 0 ? float_repr(size) : short_form(size);
    } else {
      int precision = spec_.precision < 0 ? 6 : static_cast<int>(spec_.precision);
      if ((type == 'g' || type == 'G') && precision == 0) precision = 1;
      body = format_float(type == '%' ? size * 100 : size, type, precision, spec_.alternate);
    }
    if (type == '%') body += '%';
    size_t whole = 0;
    while (whole < body.size() && body[whole] >= '0' && body[whole] <= '9') ++whole;
    return grouped(sign, body.substr(0, whole), body.substr(whole), 3);
  }

 private:
  [[noreturn]] void unknown_type(const char* of) const {
    fail(cat("Unknown format code '", spec_.type, "' for object of type '", of, "'"));
  }

  // No type, but a precision: like 'g', with a digit after the point at least.
  std::string short_form(double value) const {
    int precision = std::max(static_cast<int>(spec_.precision), 1);
    std::string exponent_form = format_float(value, 'e', precision - 1, false);
    size_t mark = exponent_form.find('e');
    if (mark == std::string::npos) return exponent_form;  // inf, nan
    int exponent = std::atoi(exponent_form.c_str() + mark + 1);
    if (exponent >= -4 && exponent < precision - (precision == exponent + 1 ? 1 : 0)) {
      std::string body = format_float(value, 'g', precision, false);
      if (body.find('.') == std::string::npos && body.find('e') == std::string::npos) body += ".0";
      return body;
    }
    if (exponent >= -4 && exponent < precision - 1)
      return format_float(value, 'g', precision, false);
    std::string digits = exponent_form.substr(0, mark);
    if (digits.find('.') != std::string::npos) {
      while (digits.back() == '0') digits.pop_back();
      if (digits.back() == '.') digits.pop_back();
    }
    return digits + exponent_form.substr(mark);
  }

  std::string grouped(const std::string& sign, std::string digits, const std::string& rest,
                      size_t group) {
    if (spec_.grouping == 0 || digits.empty()) return pad(sign, digits + rest, '>');
    if (spec_.fill == "0" && spec_.align == '=') {
      // Zeros that pad are grouped too.
      auto room = spec_.width - static_cast<int64_t>(sign.size() + rest.size());
      while (static_cast<int64_t>(group_digits(digits, spec_.grouping, group).size()) < room) {
        runtime_.step();
        digits.insert(digits.begin(), '0');
        std::string next = group_digits(digits, spec_.grouping, group);
        if (digits.size() > 400) fail("the format's width is too large for groups of digits");
      }
    }
    return pad(sign, group_digits(digits, spec_.grouping, group) + rest, '>');
  }

  std::string pad(const std::string& sign, const std::string& body, char standard) {
    auto length = static_cast<int64_t>(StringObject(sign + body, false).length);
    int64_t missing = std::max<int64_t>(spec_.width - length, 0);
    runtime_.check_size(static_cast<size_t>(missing) * spec_.fill.size());
    runtime_.step(static_cast<uint64_t>(missing) / 8);
    char align = spec_.align == 0 ? standard : spec_.align;
    if (align == '=' && standard == '<') align = '<';
    int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    std::string out;
    if (align == '=') out += sign;
    for (int64_t i = 0; i < left; ++i) out += spec_.fill;
    if (align != '=') out += sign;
    out += body;
    for (int64_t i = left; i < missing; ++i) out += spec_.fill;
    return out;
  }

  Runtime& runtime_;
  const Specification& spec_;
};

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Value& format, const Arguments& arguments)
      : runtime_(runtime), markup_(format.is_markup()), arguments_(arguments) {}

  std::string run(std::string_view text, int depth) {
    if (depth < 0) fail("Max string recursion exceeded");
    std::string out;
    for (size_t at = 0; at < text.size();) {
      char c = text[at];
      if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
        out.push_back(c);
        at += 2;
      } else if (c == '}') {
        fail("Single '}' encountered in format string");
      } else if (c == '{') {
        at = field(text, at + 1, depth, out);
      } else {
        out.push_back(c);
        ++at;
      }
      if ((at & 1023) == 0) runtime_.check_size(out.size());
    }
    return out;
  }

 private:
  // One replacement field; `at` is behind its brace, and so is the result.
  size_t field(std::string_view text, size_t at, int depth, std::string& out) {
    runtime_.step();
    size_t begin = at;
    int open = 1;
    size_t colon = std::string_view::npos;
    size_t conversion_at = std::string_view::npos;
    int brackets = 0;
    for (; at < text.size() && open > 0; ++at) {
      char c = text[at];
      if (c == '{') ++open;
      if (c == '}') --open;
      if (colon != std::string_view::npos) continue;
      if (c == '[') ++brackets;
      if (c == ']') brackets = 0;
      if (brackets > 0) continue;
      if (c == '!' && conversion_at == std::string_view::npos) conversion_at = at;
      if (c == ':') colon = at;
    }
    if (open > 0)
      fail(begin >= text.size() ? "Single '{' encountered in format string"
                                : "expected '}' before end of string");
    size_t end = at - 1;
    std::string_view specification;
    if (colon != std::string_view::npos) specification = text.substr(colon + 1, end - colon - 1);
    size_t name_end = colon != std::string_view::npos ? colon : end;
    char conversion = 0;
    if (conversion_at != std::string_view::npos) {
      if (name_end - conversion_at != 2) fail("expected ':' after conversion specifier");
      conversion = text[conversion_at + 1];
      name_end = conversion_at;
    }
    Value value = find(text.substr(begin, name_end - begin));
    std::string spec = specification.find('{') == std::string_view::npos &&
                               specification.find('}') == std::string_view::npos
                           ? std::string(specification)
                           : run(specification, depth - 1);
    append(value, conversion, spec, out);
    runtime_.check_size(out.size());
    return at;
  }

  // `name.attribute[item]…`; an empty name takes the next argument.
  Value find(std::string_view name) {
    size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = first_value(name.substr(0, end));
    while (end < name.size()) {
      if (name[end] == '.') {
        size_t stop = std::min(name.find_first_of(".[", end + 1), name.size());
        if (stop == end + 1) fail("Empty attribute in format string");
        value = get_attribute(runtime_, value,
                              runtime_.text(std::string(name.substr(end + 1, stop - end - 1))));
        end = stop;
        continue;
      }
      if (name[end] != '[') fail("Only '.' or '[' may follow ']' in format field specifier");
      size_t stop = name.find(']', end);
      if (stop == std::string_view::npos) fail("Missing ']' in format string");
      std::string_view key = name.substr(end + 1, stop - end - 1);
      if (key.empty()) fail("Empty attribute in format string");
      value = get_item(runtime_, value, key_of(key));
      end = stop + 1;
    }
    return value;
  }

  Value key_of(std::string_view key) {
    bool digits = key.size() < 18;
    for (char c : key) digits = digits && c >= '0' && c <= '9';
    if (!digits) return runtime_.text(std::string(key));
    return Value::integer(std::atoll(std::string(key).c_str()));
  }

  Value first_value(std::string_view name) {
    Value key = name.empty() ? Value() : key_of(name);
    if (name.empty()) {
      if (manual_)
        fail("cannot switch from manual field specification to automatic field numbering");
      automatic_ = true;
      key = Value::integer(static_cast<int64_t>(next_++));
    } else if (key.is_int()) {
      if (automatic_)
        fail("cannot switch from manual field specification to automatic field numbering");
      manual_ = true;
    }
    if (key.is_int()) {
      auto at = static_cast<size_t>(key.as_integer());
      if (at >= arguments_.positional.size())
        fail(cat("Replacement index ", at, " out of range for positional args tuple"));
      return arguments_.positional[at];
    }
    for (const auto& [keyword, value] : arguments_.keyword)
      if (keyword == name) return value;
    fail(quote(name));
  }

  void append(Value value, char conversion, const std::string& spec, std::string& out) {
    if (conversion == 's') {
      value = runtime_.text(to_text(runtime_, value));
    } else if (conversion == 'r') {
      value = runtime_.text(to_repr(runtime_, value));
    } else if (conversion == 'a') {
      value = runtime_.text(ascii_repr(to_repr(runtime_, value)));
    } else if (conversion != 0) {
      fail(cat("Unknown conversion specifier ", conversion));
    }
    std::string field = format_value(value, spec);
    out += markup_ && !value.is_markup() ? escape_html(field) : field;
  }

  std::string format_value(const Value& value, const std::string& spec) {
    if (spec.empty()) return to_text(runtime_, value);
    Specification parsed = read_specification(spec);
    FieldFormatter formatter(runtime_, parsed);
    if (value.is_string()) return formatter.text(value.text());
    if (value.is_int()) return formatter.integer(value.as_integer());
    if (value.is(Kind::number)) return formatter.number(value.as_number());
    fail(cat("unsupported format string passed to ", type_name(value), ".__format__"));
  }

  Runtime& runtime_;
  bool markup_;
  const Arguments& arguments_;
  size_t next_ = 0;
  bool manual_ = false;
  bool automatic_ = false;
};

}  // namespace

Value brace_format(Runtime& runtime, const Value& format, const Arguments& arguments) {
  runtime.copy_cost(format.text().size());
  return runtime.text(BraceFormatter(runtime, format, arguments).run(format.text(), 2),
                      format.is_markup());
}

}  // namespace crane::jinja
