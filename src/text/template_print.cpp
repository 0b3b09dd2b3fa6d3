// str() and repr() of values, and HTML escapes.
#include <array>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_escape(std::string& out, char32_t c) {
  int width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  out.push_back('\\');
  out.push_back(width == 2 ? 'x' : width == 4 ? 'u' : 'U');
  for (int shift = 4 * (width - 1); shift >= 0; shift -= 4) out.push_back(kHex[(c >> shift) & 15]);
}

void append_quoted(std::string_view text, std::string& out) {
  bool single = text.find('\'') != std::string_view::npos;
  char mark = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.push_back(mark);
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (c == static_cast<char32_t>(mark) || c == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(c));
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x80 ? (c < 0x20 || c == 0x7F) : !is_printable(c)) {
      append_escape(out, c);
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  out.push_back(mark);
}

void print_items(Runtime& runtime, const std::vector<Value>& items, const char* brackets,
                 std::string& out) {
  out.push_back(brackets[0]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    print_repr(runtime, items[i], out);
  }
  if (brackets[0] == '(' && items.size() == 1) out.push_back(',');
  out.push_back(brackets[1]);
}

void print_dict(Runtime& runtime, const DictObject& dict, std::string& out) {
  out.push_back('{');
  bool first = true;
  for (const auto& [key, value] : dict.items) {
    if (!first) out += ", ";
    first = false;
    print_repr(runtime, key, out);
    out += ": ";
    print_repr(runtime, value, out);
  }
  out.push_back('}');
}

void print_namespace(Runtime& runtime, const NamespaceObject& object, std::string& out) {
  Runtime::Level level(runtime);  // a namespace can hold itself
  out += "<Namespace {";
  bool first = true;
  for (const auto& [name, value] : object.attributes) {
    if (!first) out += ", ";
    first = false;
    append_quoted(name, out);
    out += ": ";
    print_repr(runtime, value, out);
  }
  out += "}>";
}

void print_view(Runtime& runtime, const Value& view, std::string& out) {
  out += cat(type_name(view), "(");
  print_items(runtime, to_items(runtime, view), "[]", out);
  out += ")";
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  std::array<char, 40> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                           std::chars_format::scientific);
  std::string_view shortest(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  size_t mark = shortest.find('e');
  std::string digits(1, shortest[0]);
  if (mark > 2) digits += shortest.substr(2, mark - 2);
  int exponent = std::atoi(std::string(shortest.substr(mark + 1)).c_str());
  std::string out = value < 0 ? "-" : "";
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    int size = std::abs(exponent);
    out += cat(exponent < 0 ? "e-" : "e+", size < 10 ? "0" : "", size);
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out += digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  } else {
    auto whole = static_cast<size_t>(exponent + 1);
    out += digits.substr(0, whole) + "." + digits.substr(whole);
  }
  return out;
}

void print(Runtime& runtime, const Value& value, std::string& out) {
  if (value.is_string()) {
    runtime.copy_cost(value.text().size());
    out += value.text();
  } else if (!value.is_undefined()) {
    print_repr(runtime, value, out);
  }
}

void print_repr(Runtime& runtime, const Value& value, std::string& out) {
  runtime.step();
  runtime.check_size(out.size());
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
      out += "Undefined";
      return;
    case Kind::none:
      out += "None";
      return;
    case Kind::boolean:
      out += value.as_boolean() ? "True" : "False";
      return;
    case Kind::integer:
      out += std::to_string(value.as_integer());
      return;
    case Kind::number:
      out += float_repr(value.as_number());
      return;
    case Kind::string:
      runtime.copy_cost(8 * value.text().size());
      if (value.is_markup()) out += "Markup(";
      append_quoted(value.text(), out);
      if (value.is_markup()) out += ")";
      return;
    case Kind::list:
      return print_items(runtime, value.items(), "[]", out);
    case Kind::tuple:
      return print_items(runtime, value.items(), "()", out);
    case Kind::dict:
      return print_dict(runtime, value.dict(), out);
    case Kind::view:
      return print_view(runtime, value, out);
    case Kind::range: {
      const auto& range = value.as<RangeObject>();
      out += cat("range(", range.start, ", ", range.stop);
      if (range.step != 1) out += cat(", ", range.step);
      out += ")";
      return;
    }
    case Kind::generator:
      out += value.as<GeneratorObject>().description;
      return;
    case Kind::name_space:
      return print_namespace(runtime, value.as<NamespaceObject>(), out);
    case Kind::function: {
      const auto& function = value.as<FunctionObject>();
      out += function.self.is_missing() ? cat("<function ", function.name, ">")
                                        : cat("<built-in method ", function.name, " of ",
                                              type_name(function.self), " object>");
      return;
    }
    default:
      out += runtime.describe(value);
  }
}

std::string to_text(Runtime& runtime, const Value& value) {
  std::string out;
  print(runtime, value, out);
  return out;
}

std::string to_repr(Runtime& runtime, const Value& value) {
  std::string out;
  print_repr(runtime, value, out);
  return out;
}

Value soft_text(Runtime& runtime, const Value& value) {
  return value.is_string() ? value : runtime.text(to_text(runtime, value));
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

Value escape(Runtime& runtime, const Value& value) {
  if (value.is_markup()) return value;
  return runtime.text(escape_html(to_text(runtime, value)), true);
}

}  // namespace crane::jinja
