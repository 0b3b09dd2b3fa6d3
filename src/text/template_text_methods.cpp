// String methods that transform or classify a text, and the methods of other values.
#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_methods.h"
#include "text/template_unicode.h"

namespace crane::jinja {

Value derived(Runtime& runtime, const Value& self, std::string text) {
  return runtime.text(std::move(text), self.is_markup());
}

std::string pad_text(Runtime& runtime, const Value& text, int64_t width, std::string_view fill,
                     char align) {
  auto length = static_cast<int64_t>(text.string().length);
  if (width <= length) return text.text();
  auto missing = static_cast<uint64_t>(width - length);
  if (missing > runtime.limits().output_bytes) runtime.check_size(SIZE_MAX);
  runtime.step(missing / 8);
  uint64_t left = align == '>' ? missing : align == '<' ? 0 : missing / 2;
  // CPython's str.center puts the odd blank on the left when the width is odd.
  if (align == '^') left += missing & static_cast<uint64_t>(width) & 1;
  runtime.check_size(text.text().size() + missing * fill.size());
  std::string out;
  for (uint64_t i = 0; i < left; ++i) out += fill;
  out += text.text();
  for (uint64_t i = left; i < missing; ++i) out += fill;
  return out;
}

namespace {

void no_arguments(std::string_view name, const Arguments& arguments) {
  static_cast<void>(bind(name, "", arguments));
}

template <std::string (*Transform)(std::string_view)>
Value transform(Runtime& runtime, const Value& self, const Arguments& arguments) {
  no_arguments("str method", arguments);
  runtime.copy_cost(16 * self.text().size());
  return derived(runtime, self, Transform(self.text()));
}

// Every character passes, and there is one.
template <bool (*Test)(char32_t)>
Value all_characters(Runtime& runtime, const Value& self, const Arguments& arguments) {
  no_arguments("str method", arguments);
  runtime.copy_cost(8 * self.text().size());
  std::string_view text = self.text();
  for (size_t at = 0; at < text.size();)
    if (!Test(next_code_point(text, at))) return Value::boolean(false);
  return Value::boolean(!text.empty());
}

Value text_isprintable(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (self.text().empty()) return Value::boolean(true);
  return all_characters<is_printable>(runtime, self, arguments);
}

Value text_isascii(Runtime&, const Value& self, const Arguments& arguments) {
  no_arguments("isascii", arguments);
  return Value::boolean(self.string().ascii());
}

template <bool Upper>
Value text_iscase(Runtime& runtime, const Value& self, const Arguments& arguments) {
  no_arguments("str method", arguments);
  runtime.copy_cost(8 * self.text().size());
  std::string_view text = self.text();
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    if ((Upper ? is_lower(c) : is_upper(c)) || is_title(c)) return Value::boolean(false);
    found = found || (Upper ? is_upper(c) : is_lower(c));
  }
  return Value::boolean(found);
}

Value text_istitle(Runtime& runtime, const Value& self, const Arguments& arguments) {
  no_arguments("istitle", arguments);
  runtime.copy_cost(8 * self.text().size());
  std::string_view text = self.text();
  bool found = false;
  bool after_cased = false;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    bool upper = is_upper(c) || is_title(c);
    if ((upper && after_cased) || (is_lower(c) && !after_cased)) return Value::boolean(false);
    after_cased = upper || is_lower(c);
    found = found || after_cased;
  }
  return Value::boolean(found);
}

Value text_isidentifier(Runtime&, const Value& self, const Arguments& arguments) {
  no_arguments("isidentifier", arguments);
  std::string_view text = self.text();
  for (size_t at = 0; at < text.size();) {
    bool first = at == 0;
    char32_t c = next_code_point(text, at);
    if (first ? !is_identifier_start(c) : !is_identifier_part(c)) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

template <char Align>
Value text_pad(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind(Align == '^'   ? "center"
                    : Align == '<' ? "ljust"
                                   : "rjust",
                    "width fillchar? /", arguments);
  int64_t width = index_argument(bound[0]);
  std::string fill = bound[1].is_missing() ? " " : text_argument(bound[1], "The fill character");
  if (!bound[1].is_missing() && bound[1].string().length != 1)
    fail("The fill character must be exactly one character long");
  return derived(runtime, self, pad_text(runtime, self, width, fill, Align));
}

Value text_zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("zfill", "width /", arguments);
  std::string text = pad_text(runtime, self, index_argument(bound[0]), "0", '>');
  size_t zeros = text.size() - self.text().size();
  if (zeros > 0 && zeros < text.size() && (text[zeros] == '+' || text[zeros] == '-'))
    std::swap(text[0], text[zeros]);
  return derived(runtime, self, std::move(text));
}

Value text_expandtabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("expandtabs", "tabsize?", arguments);
  int64_t size = bound[0].is_missing() ? 8 : index_argument(bound[0]);
  if (size > static_cast<int64_t>(runtime.limits().output_bytes)) runtime.check_size(SIZE_MAX);
  std::string out;
  int64_t column = 0;
  std::string_view text = self.text();
  runtime.copy_cost(8 * text.size());
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (c == '\t') {
      int64_t blanks = size > 0 ? size - column % size : 0;
      out.append(static_cast<size_t>(blanks), ' ');
      runtime.step(static_cast<uint64_t>(blanks) / 8);
      runtime.check_size(out.size());
      column += blanks;
      continue;
    }
    column = c == '\n' || c == '\r' ? 0 : column + 1;
    out += text.substr(begin, at - begin);
  }
  return derived(runtime, self, std::move(out));
}

Value text_join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("join", "iterable /", arguments);
  if (!is_iterable(bound[0])) fail("can only join an iterable");
  return join_items(runtime, self, to_items(runtime, bound[0]));
}

Value text_format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return brace_format(runtime, self, arguments);
}

Value text_format_map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("format_map", "mapping /", arguments);
  if (!bound[0].is_dict()) fail("format_map() needs a mapping");
  Arguments named;
  for (const auto& [key, value] : bound[0].dict().items)
    if (key.is_string()) named.keyword.emplace_back(key.text(), value);
  return brace_format(runtime, self, named);
}

Value text_translate(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("translate", "table /", arguments);
  if (!bound[0].is_dict()) fail("translate() needs a mapping");
  std::string out;
  std::string_view text = self.text();
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    runtime.step();
    const Value* found = bound[0].dict().find(runtime, Value::integer(static_cast<int64_t>(c)));
    if (found == nullptr) {
      out += text.substr(begin, at - begin);
    } else if (found->is_string()) {
      out += found->text();
    } else if (found->is_int()) {
      if (found->as_integer() < 0 || found->as_integer() > 0x10FFFF ||
          (found->as_integer() >= 0xD800 && found->as_integer() < 0xE000))
        fail("character mapping must be in range(0x110000)");
      append_utf8(out, static_cast<char32_t>(found->as_integer()));
    } else if (!found->is_none()) {
      fail("character mapping must return integer, None or str");
    }
    runtime.check_size(out.size());
  }
  return derived(runtime, self, std::move(out));
}

Value text_unsupported(Runtime&, const Value&, const Arguments&) {
  fail("this method of str is not supported: it makes bytes or a table of characters");
}

constexpr Method kTextMethods[] = {
    {"capitalize", transform<to_capitalized>},
    {"casefold", transform<to_casefolded>},
    {"center", text_pad<'^'>},
    {"encode", text_unsupported},
    {"expandtabs", text_expandtabs},
    {"format", text_format},
    {"format_map", text_format_map},
    {"isalnum", all_characters<is_alnum>},
    {"isalpha", all_characters<is_alpha>},
    {"isascii", text_isascii},
    {"isdecimal", all_characters<is_decimal>},
    {"isdigit", all_characters<is_digit>},
    {"isidentifier", text_isidentifier},
    {"islower", text_iscase<false>},
    {"isnumeric", all_characters<is_numeric>},
    {"isprintable", text_isprintable},
    {"isspace", all_characters<is_space>},
    {"istitle", text_istitle},
    {"isupper", text_iscase<true>},
    {"join", text_join},
    {"ljust", text_pad<'<'>},
    {"lower", transform<to_lower>},
    {"maketrans", text_unsupported},
    {"rjust", text_pad<'>'>},
    {"swapcase", transform<to_swapped_case>},
    {"title", transform<to_title>},
    {"translate", text_translate},
    {"upper", transform<to_upper>},
    {"zfill", text_zfill},
};

}  // namespace

BuiltinFunction find_text_method(std::string_view name) {
  for (const Method& method : kTextMethods)
    if (method.name == name) return method.function;
  return find_search_method(name);
}

}  // namespace crane::jinja
