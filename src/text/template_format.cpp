// Python's two ways of formatting: `text % arguments` and text.format(...).
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_format.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {

std::string format_float(double value, char type, int precision, bool alternate) {
  char letter = type == '%' ? 'f' : type;
  if (!std::isfinite(value)) {
    std::string text = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (letter >= 'A' && letter <= 'Z')
      for (char& c : text) c = static_cast<char>(c >= 'a' ? c - 32 : c);
    return text;
  }
  char layout[8];
  std::snprintf(layout, sizeof(layout), "%%%s.*%c", alternate ? "#" : "", letter);
  int size = std::snprintf(nullptr, 0, layout, precision, value);
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), layout, precision, value);
  text.pop_back();
  return text;
}

std::string integer_digits(uint64_t value, int base, bool upper) {
  std::string digits;
  do {
    digits.push_back(
        (upper ? "0123456789ABCDEF" : "0123456789abcdef")[value % static_cast<uint64_t>(base)]);
    value /= static_cast<uint64_t>(base);
  } while (value > 0);
  return std::string(digits.rbegin(), digits.rend());
}

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

std::string ascii_repr(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
      continue;
    }
    int width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    out += width == 2 ? "\\x" : width == 4 ? "\\u" : "\\U";
    for (int shift = 4 * (width - 1); shift >= 0; shift -= 4)
      out.push_back(kHex[(c >> shift) & 15]);
  }
  return out;
}

namespace {

struct PercentField {
  bool left = false;
  bool plus = false;
  bool blank = false;
  bool alternate = false;
  bool zero = false;
  int64_t width = 0;
  int64_t precision = -1;
  char type = 's';
};

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& format, const Value& arguments)
      : runtime_(runtime), format_(format), text_(format.text()), arguments_(arguments) {
    is_tuple_ = arguments.is(Kind::tuple);
    is_mapping_ = arguments.is_dict() || arguments.is(Kind::list) || arguments.is(Kind::range) ||
                  arguments.is_undefined();
  }

  Value run() {
    std::string out;
    for (size_t at = 0; at < text_.size();) {
      size_t percent = std::min(text_.find('%', at), text_.size());
      out += text_.substr(at, percent - at);
      at = percent;
      if (at < text_.size()) at = convert(at + 1, out);
      runtime_.check_size(out.size());
    }
    bool used = is_tuple_ ? next_ >= arguments_.items().size() : next_ > 0 || is_mapping_;
    if (!used) fail("not all arguments converted during string formatting");
    return runtime_.text(std::move(out), format_.is_markup());
  }

 private:
  const Value& next_argument() {
    if (is_tuple_) {
      if (next_ >= arguments_.items().size()) fail("not enough arguments for format string");
      return arguments_.items()[next_++];
    }
    if (next_++ > 0) fail("not enough arguments for format string");
    return arguments_;
  }

  char peek(size_t at) const {
    if (at >= text_.size()) fail("incomplete format");
    return text_[at];
  }

  size_t number(size_t at, int64_t& value) {
    if (peek(at) == '*') {
      const Value& argument = next_argument();
      if (!argument.is_int()) fail("* wants int");
      value = argument.as_integer();
      ++at;
    } else {
      value = 0;
      while (peek(at) >= '0' && peek(at) <= '9') {
        value = value * 10 + (text_[at++] - '0');
        if (value > INT32_MAX) fail("width too big");
      }
    }
    runtime_.check_size(static_cast<size_t>(std::llabs(value)));
    return at;
  }

  size_t convert(size_t at, std::string& out) {
    PercentField field;
    const Value* value = nullptr;
    Value named;
    if (peek(at) == '(') {
      at = named_argument(at + 1, named);
      value = &named;
    }
    for (;; ++at) {
      char c = peek(at);
      if (c == '-')
        field.left = true;
      else if (c == '+')
        field.plus = true;
      else if (c == ' ')
        field.blank = true;
      else if (c == '#')
        field.alternate = true;
      else if (c == '0')
        field.zero = true;
      else
        break;
    }
    at = number(at, field.width);
    if (field.width < 0) {
      field.left = true;
      field.width = -field.width;
    }
    if (peek(at) == '.') at = number(at + 1, field.precision);
    if (field.precision < 0 && field.precision != -1) field.precision = 0;
    while (peek(at) == 'h' || text_[at] == 'l' || text_[at] == 'L') ++at;
    size_t begin = at;
    char32_t type = next_code_point(text_, at);
    if (type == '%') {
      out += '%';
      return at;
    }
    field.type = static_cast<char>(type);
    static constexpr std::string_view kTypes = "diuoxXeEfFgGcrsa";
    if (type >= 0x80 || kTypes.find(field.type) == std::string_view::npos)
      fail(cat("unsupported format character '", text_.substr(begin, at - begin), "'"));
    if (value == nullptr) value = &next_argument();
    append(field, *value, out);
    return at;
  }

  size_t named_argument(size_t at, Value& value) {
    if (!is_mapping_) fail("format requires a mapping");
    size_t begin = at;
    int open = 1;
    while (open > 0) {
      if (at >= text_.size()) fail("incomplete format key");
      if (text_[at] == '(') ++open;
      if (text_[at] == ')') --open;
      ++at;
    }
    std::string key(text_.substr(begin, at - begin - 1));
    if (arguments_.is_undefined()) fail_undefined(arguments_);
    if (!arguments_.is_dict()) fail("list indices must be integers or slices, not str");
    const Value* found = arguments_.dict().find(key);
    if (found == nullptr) fail(quote(key));
    value = *found;
    return at;
  }

  void append(const PercentField& field, const Value& value, std::string& out) {
    std::string sign;
    std::string body;
    bool numeric = true;
    switch (field.type) {
      case 's':
        body = to_text(runtime_, value);
        if (format_.is_markup()) body = escape(runtime_, value).text();
        numeric = false;
        break;
      case 'r':
      case 'a':
        body = to_repr(runtime_, value);
        if (field.type == 'a') body = ascii_repr(body);
        if (format_.is_markup()) body = escape_html(body);
        numeric = false;
        break;
      case 'c':
        body = character(value);
        numeric = false;
        break;
      default:
        body = number_text(field, value, sign);
    }
    if (!numeric && field.precision >= 0 && field.type != 'c')
      body = body.substr(0, byte_offset(body, static_cast<size_t>(field.precision)));
    if (numeric && sign.empty()) sign = field.plus ? "+" : field.blank ? " " : "";
    pad(field, numeric, sign, body, out);
  }

  static void pad(const PercentField& field, bool numeric, const std::string& sign,
                  const std::string& body, std::string& out) {
    auto length = static_cast<int64_t>(StringObject(sign + body, false).length);
    auto missing = static_cast<size_t>(std::max<int64_t>(field.width - length, 0));
    bool zeros = field.zero && numeric && !field.left;
    if (!field.left && !zeros) out.append(missing, ' ');
    out += sign;
    size_t prefix = 0;  // "0x" stands before the zeros
    if (zeros && field.alternate && body.size() > 1 &&
        (body[1] == 'x' || body[1] == 'X' || body[1] == 'o'))
      prefix = 2;
    out.append(body, 0, prefix);
    if (zeros) out.append(missing, '0');
    out.append(body, prefix);
    if (field.left) out.append(missing, ' ');
  }

  static std::string character(const Value& value) {
    if (value.is_string()) {
      if (value.string().length != 1) fail("%c requires int or char");
      return value.text();
    }
    if (!value.is_int()) fail("%c requires int or char");
    int64_t code = value.as_integer();
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      fail("%c arg not in range(0x110000)");
    std::string out;
    append_utf8(out, static_cast<char32_t>(code));
    return out;
  }

  static std::string number_text(const PercentField& field, const Value& value, std::string& sign) {
    if (value.is_undefined()) fail_undefined(value);
    char type = field.type;
    bool integral = type == 'd' || type == 'i' || type == 'u';
    bool based = type == 'o' || type == 'x' || type == 'X';
    if (!value.is_numeric())
      fail(integral ? cat("%", type, " format: a real number is required, not ", type_name(value))
           : based  ? cat("%", type, " format: an integer is required, not ", type_name(value))
                    : cat("must be real number, not ", type_name(value)));
    if (based && !value.is_int())
      fail(cat("%", type, " format: an integer is required, not ", type_name(value)));
    if (!integral && !based) {
      int precision = field.precision < 0 ? 6 : static_cast<int>(field.precision);
      double number = value.as_number();
      if (std::signbit(number) && !std::isnan(number)) sign = "-";
      return format_float(std::fabs(number), type, precision, field.alternate);
    }
    int64_t whole = 0;
    if (value.is_int()) {
      whole = value.as_integer();
    } else {
      double number = std::trunc(value.as_number());
      if (std::isnan(number)) fail("cannot convert float NaN to integer");
      if (std::isinf(number)) fail("cannot convert float infinity to integer");
      if (std::fabs(number) >= 9.2e18) fail("integer overflow: outside of 64 bits");
      whole = static_cast<int64_t>(number);
    }
    if (whole < 0) sign = "-";
    std::string digits = integer_digits(magnitude(whole),
                                        type == 'o' ? 8
                                        : based     ? 16
                                                    : 10,
                                        type == 'X');
    if (field.precision > static_cast<int64_t>(digits.size()))
      digits.insert(0, static_cast<size_t>(field.precision) - digits.size(), '0');
    if (based && field.alternate) digits.insert(0, type == 'o' ? "0o" : type == 'x' ? "0x" : "0X");
    return digits;
  }

  Runtime& runtime_;
  const Value& format_;
  std::string_view text_;
  const Value& arguments_;
  bool is_tuple_ = false;
  bool is_mapping_ = false;
  size_t next_ = 0;
};

}  // namespace

Value percent_format(Runtime& runtime, const Value& format, const Value& arguments) {
  runtime.copy_cost(format.text().size());
  return PercentFormatter(runtime, format, arguments).run();
}

}  // namespace crane::jinja
