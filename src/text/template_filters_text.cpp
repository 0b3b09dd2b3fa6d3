// Filters that make text of text.
#include <algorithm>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_entities.h"
#include "text/template_filters.h"
#include "text/template_methods.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

Value filter_upper(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("upper", "", arguments));
  Value text = soft_text(runtime, input);
  runtime.copy_cost(16 * text.text().size());
  return derived(runtime, text, to_upper(text.text()));
}

Value filter_lower(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("lower", "", arguments));
  Value text = soft_text(runtime, input);
  runtime.copy_cost(16 * text.text().size());
  return derived(runtime, text, to_lower(text.text()));
}

Value filter_capitalize(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("capitalize", "", arguments));
  Value text = soft_text(runtime, input);
  runtime.copy_cost(16 * text.text().size());
  return derived(runtime, text, to_capitalized(text.text()));
}

bool begins_word(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
}

Value filter_title(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("title", "", arguments));
  Value value = soft_text(runtime, input);
  std::string_view text = value.text();
  runtime.copy_cost(16 * text.size());
  std::string out;
  // Words and what stands between them: the first character up, the others down.
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    bool between = begins_word(next_code_point(text, at));
    size_t first_end = at;
    while (at < text.size()) {
      size_t next = at;
      if (begins_word(next_code_point(text, next)) != between) break;
      at = next;
    }
    out += to_upper(text.substr(begin, first_end - begin));
    out += to_lower(text.substr(first_end, at - first_end));
  }
  return runtime.text(std::move(out));
}

Value filter_trim(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_trim", "chars?", arguments);
  Value text = soft_text(runtime, input);
  return derived(runtime, text, std::string(strip_text(text.text(), bound[0], true, true)));
}

Value filter_center(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_center", "width?", arguments);
  Value text = soft_text(runtime, input);
  int64_t width = bound[0].is_missing() ? 80 : index_argument(bound[0]);
  return derived(runtime, text, pad_text(runtime, text, width, " ", '^'));
}

Value filter_replace(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_replace", "old new count?", arguments);
  int64_t count = bound[2].is_missing() || bound[2].is_none() ? -1 : index_argument(bound[2]);
  if (!runtime.autoescape())
    return runtime.text(replace_text(runtime, to_text(runtime, input), to_text(runtime, bound[0]),
                                     to_text(runtime, bound[1]), count));
  bool markup = bound[0].is_markup() || (bound[1].is_markup() && !input.is_markup());
  Value text = markup ? escape(runtime, input) : soft_text(runtime, input);
  Value old = soft_text(runtime, bound[0]);
  Value fresh = soft_text(runtime, bound[1]);
  if (text.is_markup()) fresh = escape(runtime, fresh);
  return derived(runtime, text,
                 replace_text(runtime, text.text(), old.text(), fresh.text(), count));
}

Value filter_string(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("soft_str", "", arguments));
  return soft_text(runtime, input);
}

Value filter_safe(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_mark_safe", "", arguments));
  return input.is_markup() ? input : runtime.text(to_text(runtime, input), true);
}

Value filter_escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("escape", "", arguments));
  return escape(runtime, input);
}

Value filter_forceescape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_forceescape", "", arguments));
  return runtime.text(escape_html(to_text(runtime, input)), true);
}

Value filter_format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.keyword.empty())
    fail("can't handle positional and keyword arguments at the same time");
  Value format = soft_text(runtime, input);
  if (arguments.keyword.empty())
    return percent_format(runtime, format, runtime.tuple(arguments.positional));
  auto named = std::make_unique<DictObject>();
  for (const auto& [key, value] : arguments.keyword) named->append_string(key, value);
  return percent_format(runtime, format, runtime.dict(std::move(named)));
}

Value filter_indent(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_indent", "width? first? blank?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_string())
    fail(cat("unsupported operand type(s) for +=: '", type_name(input), "' and 'str'"));
  std::string indention(4, ' ');
  if (bound[0].is_string()) {
    indention = bound[0].text();
  } else if (!bound[0].is_missing()) {
    indention = repeat_text(runtime, make_constant(" "), index_argument(bound[0])).text();
  }
  if (input.is_markup()) indention = escape_html(indention);
  bool blank = flag(runtime, bound[2], false);
  runtime.copy_cost(8 * input.text().size());
  std::vector<std::string> lines = split_lines(input.text() + "\n", false);
  std::string out = flag(runtime, bound[1], false) ? indention : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    runtime.step();
    if (i > 0) {
      out += '\n';
      if (blank || !lines[i].empty()) out += indention;
    }
    out += lines[i];
    runtime.check_size(out.size());
  }
  return derived(runtime, input, std::move(out));
}

Value filter_truncate(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_truncate", "length? killwords? end? leeway?", arguments);
  int64_t length = bound[0].is_missing() ? 255 : index_argument(bound[0]);
  Value end = bound[2].is_missing() ? runtime.text("...") : bound[2];
  if (!end.is_string()) fail(cat("object of type '", type_name(end), "' has no len()"));
  int64_t leeway = bound[3].is_missing() || bound[3].is_none() ? 5 : index_argument(bound[3]);
  auto end_length = static_cast<int64_t>(end.string().length);
  if (length < end_length) fail(cat("expected length >= ", end_length, ", got ", length));
  if (leeway < 0) fail(cat("expected leeway >= 0, got ", leeway));
  int64_t size = length_of(runtime, input);
  if (size <= length + leeway) return input;
  if (!input.is_string()) fail("truncate needs a string");
  Value bounds[3] = {Value(), Value::integer(length - end_length), Value()};
  Value head = get_slice(runtime, input, bounds);
  if (!flag(runtime, bound[1], false)) {
    size_t blank = head.text().rfind(' ');
    if (blank != std::string::npos) head = derived(runtime, input, head.text().substr(0, blank));
  }
  return apply(runtime, Operator::add, head, end);
}

Value filter_wordcount(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_wordcount", "", arguments));
  Value value = soft_text(runtime, input);
  std::string_view text = value.text();
  runtime.copy_cost(8 * text.size());
  int64_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    bool word = c == '_' || is_alnum(c);
    if (word && !inside) ++count;
    inside = word;
  }
  return Value::integer(count);
}

Value filter_wordwrap(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound =
      bind("do_wordwrap", "width? break_long_words? wrapstring? break_on_hyphens?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_string())
    fail(cat("'", type_name(input), "' object has no attribute 'splitlines'"));
  const std::string& text = input.text();
  int64_t width = bound[0].is_missing() ? 79 : index_argument(bound[0]);
  std::string separator =
      bound[2].is_missing() || bound[2].is_none() ? "\n" : text_argument(bound[2], "wrapstring");
  bool break_long = flag(runtime, bound[1], true);
  bool break_hyphens = flag(runtime, bound[3], true);
  std::string out;
  bool first = true;
  for (const std::string& line : split_lines(text, false)) {
    if (!first) out += separator;
    first = false;
    out += wrap_text(runtime, line, width, break_long, break_hyphens, separator);
    runtime.check_size(out.size());
  }
  return runtime.text(std::move(out));
}

// --- HTML and URLs

std::string quote_url(std::string_view text, bool query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = (byte < 0x80 && is_alnum(byte)) || c == '_' || c == '.' || c == '-' || c == '~' ||
                 (c == '/' && !query);
    if (plain) {
      out.push_back(c);
    } else if (query && c == ' ') {
      out.push_back('+');
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

Value filter_urlencode(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_urlencode", "", arguments));
  if (input.is_string() || !is_iterable(input))
    return runtime.text(quote_url(to_text(runtime, input), false));
  Value pairs = input.is_dict() ? runtime.view(input, ViewObject::Part::items) : input;
  std::string out;
  for (const Value& pair : to_items(runtime, pairs)) {
    std::vector<Value> parts = to_items(runtime, pair);
    if (parts.size() != 2) fail("urlencode needs pairs of a name and a value");
    if (!out.empty()) out += '&';
    out += quote_url(to_text(runtime, parts[0]), true) + "=" +
           quote_url(to_text(runtime, parts[1]), true);
    runtime.check_size(out.size());
  }
  return runtime.text(std::move(out));
}

Value filter_xmlattr(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_xmlattr", "autospace?", arguments);
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_dict()) fail(cat("'", type_name(input), "' object has no attribute 'items'"));
  std::string out;
  for (const auto& [key, value] : input.dict().items) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_string())
      fail(cat("expected string or bytes-like object, got '", type_name(key), "'"));
    if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      fail(cat("Invalid character in attribute name: ", quote(key.text())));
    if (!out.empty() || flag(runtime, bound[0], true)) out += ' ';
    out += cat(escape(runtime, key).text(), "=\"", escape(runtime, value).text(), "\"");
    runtime.check_size(out.size());
  }
  return runtime.text(std::move(out), runtime.autoescape());
}

std::string remove_tags(const std::string& text) {
  std::string out;
  size_t at = 0;
  for (;;) {
    size_t open = find_text(text, "<", at);
    if (open == std::string::npos) break;
    bool comment = text.compare(open, 4, "<!--") == 0;
    size_t close = find_text(text, comment ? "-->" : ">", comment ? open + 4 : open);
    if (close == std::string::npos) break;
    out.append(text, at, open - at);
    at = close + (comment ? 3 : 1);
  }
  return out.append(text, at);
}

// The text of a named character reference; empty when there is none of that name.
std::string_view entity_text(std::string_view name) {
  std::string_view table = kHtmlEntities;
  size_t at = find_text(table, cat(" ", name, " "), 0);
  if (at == std::string_view::npos) return {};
  size_t begin = at + name.size() + 2;
  return table.substr(begin, table.find(' ', begin) - begin);
}

// &#38; or &#x26; : gives the end, or 0 when `at` is at no such reference.
size_t unescape_number(std::string_view text, size_t at, std::string& out) {
  bool hex = at + 2 < text.size() && (text[at + 2] | 0x20) == 'x';
  size_t begin = at + (hex ? 3 : 2);
  size_t end = begin;
  uint32_t code = 0;
  for (; end < text.size(); ++end) {
    char c = static_cast<char>(text[end] | 0x20);
    bool letter = hex && c >= 'a' && c <= 'f';
    if (!letter && !(text[end] >= '0' && text[end] <= '9')) break;
    if (code < 0x110000)
      code =
          code * (hex ? 16 : 10) + static_cast<uint32_t>(letter ? c - 'a' + 10 : text[end] - '0');
  }
  if (end == begin) return 0;
  if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code >= 0xD800)
    fail("striptags: a character reference to a control character is not supported");
  append_utf8(out, code);
  return end < text.size() && text[end] == ';' ? end + 1 : end;
}

// One character reference at text[at] == '&', as Python's html.unescape reads it.
size_t unescape_entity(Runtime& runtime, std::string_view text, size_t at, std::string& out) {
  if (text.substr(at, 2) == "&#") {
    if (size_t end = unescape_number(text, at, out)) return end;
  }
  size_t end = at + 1;
  while (end < text.size() && end - at <= 32 &&
         std::string_view("\t\n\f <&#;").find(text[end]) == std::string_view::npos)
    ++end;
  if (end > at + 1 && end < text.size() && text[end] == ';') ++end;
  for (size_t stop = end; stop > at + 2; --stop) {
    runtime.step(400);  // the table is long
    std::string_view found = entity_text(text.substr(at + 1, stop - at - 1));
    if (found.empty()) continue;
    out += found;
    return stop;
  }
  out.push_back('&');
  return at + 1;
}

Value filter_striptags(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_striptags", "", arguments));
  std::string text = to_text(runtime, input);
  runtime.copy_cost(16 * text.size());
  std::string plain = remove_tags(text);
  std::string joined;
  for (std::string_view word : split_blank(plain)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  std::string out;
  for (size_t at = 0; at < joined.size();) {
    if (joined[at] == '&') {
      at = unescape_entity(runtime, joined, at, out);
    } else {
      out.push_back(joined[at++]);
    }
  }
  return runtime.text(std::move(out));
}

JsonStyle json_style(Runtime& runtime, const std::vector<Value>& bound) {
  JsonStyle style;
  style.ensure_ascii = flag(runtime, bound[0], false);
  const Value& indent = bound[1];
  if (!indent.is_missing() && !indent.is_none()) {
    style.pretty = true;
    style.indent = indent.is_string()
                       ? indent.text()
                       : repeat_text(runtime, make_constant(" "), index_argument(indent)).text();
    style.item_separator = ",";
  }
  if (!bound[2].is_missing() && !bound[2].is_none()) {
    std::vector<Value> separators = to_items(runtime, bound[2]);
    if (separators.size() != 2) fail("tojson: separators must be two strings");
    style.item_separator = text_argument(separators[0], "a separator");
    style.key_separator = text_argument(separators[1], "a separator");
  }
  style.sort_keys = flag(runtime, bound[3], false);
  return style;
}

Value filter_tojson(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("tojson", "ensure_ascii? indent? separators? sort_keys?", arguments);
  return runtime.text(to_json(runtime, input, json_style(runtime, bound)));
}

}  // namespace

std::span<const NamedFilter> text_filters() {
  static constexpr NamedFilter kFilters[] = {
      {"capitalize", filter_capitalize},
      {"center", filter_center},
      {"e", filter_escape},
      {"escape", filter_escape},
      {"forceescape", filter_forceescape},
      {"format", filter_format},
      {"indent", filter_indent},
      {"lower", filter_lower},
      {"replace", filter_replace},
      {"safe", filter_safe},
      {"string", filter_string},
      {"striptags", filter_striptags},
      {"title", filter_title},
      {"tojson", filter_tojson},
      {"trim", filter_trim},
      {"truncate", filter_truncate},
      {"upper", filter_upper},
      {"urlencode", filter_urlencode},
      {"wordcount", filter_wordcount},
      {"wordwrap", filter_wordwrap},
      {"xmlattr", filter_xmlattr},
  };
  return kFilters;
}

}  // namespace crane::jinja
