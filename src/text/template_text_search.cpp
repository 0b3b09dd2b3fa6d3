// String methods that look for something: find, count, split, strip, replace and their like.
#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "text/template_methods.h"
#include "text/template_unicode.h"

namespace crane::jinja {

size_t find_text(std::string_view text, std::string_view part, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  // memmem is linear also where the text repeats itself.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

namespace {

// The characters that strip() takes away.
class StripSet {
 public:
  explicit StripSet(const Value& characters)
      : blank_(characters.is_missing() || characters.is_none()) {
    if (blank_) return;
    if (!characters.is_string()) fail("strip arg must be None or str");
    std::string_view text = characters.text();
    for (size_t at = 0; at < text.size();) set_.push_back(next_code_point(text, at));
    std::sort(set_.begin(), set_.end());
  }
  bool has(char32_t c) const {
    return blank_ ? is_space(c) : std::binary_search(set_.begin(), set_.end(), c);
  }

 private:
  bool blank_;
  std::vector<char32_t> set_;
};

}  // namespace

std::string_view strip_text(std::string_view text, const Value& characters, bool left, bool right) {
  StripSet set(characters);
  while (left && !text.empty()) {
    size_t end = 0;
    if (!set.has(next_code_point(text, end))) break;
    text.remove_prefix(end);
  }
  while (right && !text.empty()) {
    size_t begin = previous_start(text, text.size());
    size_t at = begin;
    if (!set.has(next_code_point(text, at))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string replace_text(Runtime& runtime, std::string_view text, std::string_view old,
                         std::string_view fresh, int64_t count) {
  runtime.copy_cost(4 * text.size());
  std::string out;
  uint64_t left = count < 0 ? UINT64_MAX : static_cast<uint64_t>(count);
  size_t at = 0;
  if (old.empty()) {
    for (; left > 0; --left) {
      out += fresh;
      if (at >= text.size()) return out;
      size_t begin = at;
      next_code_point(text, at);
      out += text.substr(begin, at - begin);
      runtime.check_size(out.size());
    }
    out += text.substr(at);
    return out;
  }
  for (; left > 0; --left) {
    size_t found = find_text(text, old, at);
    if (found == std::string_view::npos) break;
    runtime.step(2);
    out += text.substr(at, found - at);
    out += fresh;
    runtime.check_size(out.size());
    at = found + old.size();
  }
  out += text.substr(at);
  return out;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    char32_t c = next_code_point(text, at);
    if (!is_line_break(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.emplace_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> split_blank(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    bool space = is_space(next_code_point(text, at));
    if (space && inside) words.push_back(text.substr(begin, start - begin));
    if (!space && !inside) begin = start;
    inside = !space;
  }
  if (inside) words.push_back(text.substr(begin));
  return words;
}

Value join_items(Runtime& runtime, const Value& separator, const std::vector<Value>& items) {
  std::string out;
  bool markup = separator.is_markup();
  for (size_t i = 0; i < items.size(); ++i) {
    runtime.step();
    if (i > 0) out += separator.text();
    if (markup) {
      out += escape(runtime, items[i]).text();
    } else if (items[i].is_string()) {
      out += items[i].text();
    } else {
      fail(cat("sequence item ", i, ": expected str instance, ", type_name(items[i]), " found"));
    }
    runtime.check_size(out.size());
  }
  return runtime.text(std::move(out), markup);
}

namespace {

// The part of `self` that find(part, start, end) looks at, and where it begins.
struct Window {
  std::string_view text;
  size_t begin;   // in bytes
  int64_t first;  // in code points
  bool valid;     // false: start lies behind the end, nothing is ever found
};

Window window_of(Runtime& runtime, const Value& self, const Value& start, const Value& end) {
  const StringObject& object = self.string();
  runtime.copy_cost(object.text.size());
  auto length = static_cast<int64_t>(object.length);
  auto clamp = [&](const Value& value, int64_t fallback) {
    if (value.is_missing() || value.is_none()) return fallback;
    if (!value.is_int()) fail("slice indices must be integers or None or have an __index__ method");
    int64_t at = value.as_integer();
    if (at < 0) at = std::max<int64_t>(at + length, 0);
    return at;
  };
  int64_t first = clamp(start, 0);
  int64_t last = std::min(clamp(end, length), length);
  if (first > last) return {std::string_view(), 0, first, false};
  size_t begin = byte_offset(object.text, static_cast<size_t>(first));
  size_t stop =
      last == length ? object.text.size() : byte_offset(object.text, static_cast<size_t>(last));
  return {std::string_view(object.text).substr(begin, stop - begin), begin, first, true};
}

int64_t code_points(std::string_view text) {
  int64_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// Searches from the end by turning both texts round, so that the time stays linear.
size_t find_last(std::string_view text, std::string_view part) {
  std::string turned(text.rbegin(), text.rend());
  std::string turned_part(part.rbegin(), part.rend());
  size_t found = find_text(turned, turned_part, 0);
  return found == std::string_view::npos ? found : text.size() - found - part.size();
}

// find, rfind, index and rindex.
int64_t search(Runtime& runtime, std::string_view name, const Value& self,
               const Arguments& arguments, bool last) {
  auto bound = bind(name, "sub start? end? /", arguments);
  if (!bound[0].is_string()) fail(cat("must be str, not ", type_name(bound[0])));
  Window window = window_of(runtime, self, bound[1], bound[2]);
  if (!window.valid) return -1;
  const std::string& part = bound[0].text();
  size_t found = last ? find_last(window.text, part) : find_text(window.text, part, 0);
  if (found == std::string_view::npos) return -1;
  return window.first + code_points(window.text.substr(0, found));
}

Value text_find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value::integer(search(runtime, "find", self, arguments, false));
}

Value text_rfind(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value::integer(search(runtime, "rfind", self, arguments, true));
}

Value text_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  int64_t found = search(runtime, "index", self, arguments, false);
  if (found < 0) fail("substring not found");
  return Value::integer(found);
}

Value text_rindex(Runtime& runtime, const Value& self, const Arguments& arguments) {
  int64_t found = search(runtime, "rindex", self, arguments, true);
  if (found < 0) fail("substring not found");
  return Value::integer(found);
}

Value text_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("count", "sub start? end? /", arguments);
  if (!bound[0].is_string()) fail(cat("must be str, not ", type_name(bound[0])));
  Window window = window_of(runtime, self, bound[1], bound[2]);
  const std::string& part = bound[0].text();
  if (!window.valid) return Value::integer(0);
  if (part.empty()) return Value::integer(code_points(window.text) + 1);
  int64_t count = 0;
  for (size_t at = find_text(window.text, part, 0); at != std::string_view::npos;
       at = find_text(window.text, part, at + part.size()))
    ++count;
  return Value::integer(count);
}

Value affix(Runtime& runtime, std::string_view name, const Value& self, const Arguments& arguments,
            bool prefix) {
  auto bound = bind(name, "prefix start? end? /", arguments);
  Window window = window_of(runtime, self, bound[1], bound[2]);
  auto matches = [&](const std::string& part) {
    if (!window.valid || part.size() > window.text.size()) return false;
    size_t at = prefix ? 0 : window.text.size() - part.size();
    return window.text.substr(at, part.size()) == part;
  };
  if (bound[0].is_string()) return Value::boolean(matches(bound[0].text()));
  if (!bound[0].is(Kind::tuple))
    fail(cat(name, " first arg must be str or a tuple of str, not ", type_name(bound[0])));
  for (const Value& item : bound[0].items()) {
    runtime.step();
    if (!item.is_string())
      fail(cat("tuple for ", name, " must only contain str, not ", type_name(item)));
    if (matches(item.text())) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value text_startswith(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return affix(runtime, "startswith", self, arguments, true);
}

Value text_endswith(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return affix(runtime, "endswith", self, arguments, false);
}

Value strip_method(Runtime& runtime, std::string_view name, const Value& self,
                   const Arguments& arguments, bool left, bool right) {
  auto bound = bind(name, "chars? /", arguments);
  return derived(runtime, self, std::string(strip_text(self.text(), bound[0], left, right)));
}

Value text_strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return strip_method(runtime, "strip", self, arguments, true, true);
}

Value text_lstrip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return strip_method(runtime, "lstrip", self, arguments, true, false);
}

Value text_rstrip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return strip_method(runtime, "rstrip", self, arguments, false, true);
}

// --- split

using Parts = std::vector<std::string_view>;

Parts split_at(Runtime& runtime, std::string_view text, std::string_view separator, int64_t most) {
  Parts parts;
  size_t at = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    size_t found = find_text(text, separator, at);
    if (found == std::string_view::npos) break;
    runtime.step();
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

Parts rsplit_at(Runtime& runtime, std::string_view text, std::string_view separator, int64_t most) {
  if (most < 0) return split_at(runtime, text, separator, -1);
  std::string turned(text.rbegin(), text.rend());
  std::string turned_separator(separator.rbegin(), separator.rend());
  Parts parts;
  for (std::string_view part : split_at(runtime, turned, turned_separator, most)) {
    auto begin = static_cast<size_t>(part.data() - turned.data());
    parts.push_back(text.substr(text.size() - begin - part.size(), part.size()));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Parts split_words(std::string_view text, int64_t most) {
  if (most < 0) return split_blank(text);
  Parts parts;
  for (;;) {
    text = strip_text(text, Value(), true, false);
    if (text.empty()) return parts;
    if (static_cast<int64_t>(parts.size()) >= most) {
      parts.push_back(text);  // the rest keeps the blanks at its end
      return parts;
    }
    size_t at = 0;
    size_t end = 0;
    while (at < text.size() && !is_space(next_code_point(text, at))) end = at;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Parts rsplit_words(std::string_view text, int64_t most) {
  if (most < 0) return split_blank(text);
  Parts parts;
  for (;;) {
    text = strip_text(text, Value(), false, true);
    if (text.empty()) break;
    if (static_cast<int64_t>(parts.size()) >= most) {
      parts.push_back(text);
      break;
    }
    size_t begin = text.size();
    while (begin > 0) {
      size_t start = previous_start(text, begin);
      size_t at = start;
      if (is_space(next_code_point(text, at))) break;
      begin = start;
    }
    parts.push_back(text.substr(begin));
    text = text.substr(0, begin);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Value split_method(Runtime& runtime, std::string_view name, const Value& self,
                   const Arguments& arguments, bool from_right) {
  auto bound = bind(name, "sep? maxsplit?", arguments);
  int64_t most = bound[1].is_missing() ? -1 : index_argument(bound[1]);
  std::string_view text = self.text();
  runtime.copy_cost(2 * text.size());
  Parts parts;
  if (bound[0].is_missing() || bound[0].is_none()) {
    parts = from_right ? rsplit_words(text, most) : split_words(text, most);
  } else if (!bound[0].is_string()) {
    fail(cat("must be str or None, not ", type_name(bound[0])));
  } else if (bound[0].text().empty()) {
    fail("empty separator");
  } else {
    parts = from_right ? rsplit_at(runtime, text, bound[0].text(), most)
                       : split_at(runtime, text, bound[0].text(), most);
  }
  std::vector<Value> items;
  items.reserve(parts.size());
  for (std::string_view part : parts) items.push_back(derived(runtime, self, std::string(part)));
  return runtime.list(std::move(items));
}

Value text_split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return split_method(runtime, "split", self, arguments, false);
}

Value text_rsplit(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return split_method(runtime, "rsplit", self, arguments, true);
}

Value text_splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("splitlines", "keepends?", arguments);
  bool keep = !bound[0].is_missing() && is_true(runtime, bound[0]);
  runtime.copy_cost(8 * self.text().size());
  std::vector<Value> items;
  for (std::string& line : split_lines(self.text(), keep))
    items.push_back(derived(runtime, self, std::move(line)));
  return runtime.list(std::move(items));
}

Value partition(Runtime& runtime, std::string_view name, const Value& self,
                const Arguments& arguments, bool last) {
  auto bound = bind(name, "sep /", arguments);
  if (!bound[0].is_string()) fail(cat("must be str, not ", type_name(bound[0])));
  if (bound[0].text().empty()) fail("empty separator");
  std::string_view text = self.text();
  const std::string& separator = bound[0].text();
  size_t found = last ? find_last(text, separator) : find_text(text, separator, 0);
  std::string_view parts[3] = {last ? "" : text, "", last ? text : ""};
  if (found != std::string_view::npos) {
    parts[0] = text.substr(0, found);
    parts[1] = separator;
    parts[2] = text.substr(found + separator.size());
  }
  std::vector<Value> items;
  for (std::string_view part : parts) items.push_back(derived(runtime, self, std::string(part)));
  return runtime.tuple(std::move(items));
}

Value text_partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return partition(runtime, "partition", self, arguments, false);
}

Value text_rpartition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return partition(runtime, "rpartition", self, arguments, true);
}

Value text_replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("replace", "old new count? /", arguments);
  for (int i = 0; i < 2; ++i)
    if (!bound[static_cast<size_t>(i)].is_string())
      fail(cat("replace() argument ", i + 1, " must be str, not ",
               type_name(bound[static_cast<size_t>(i)])));
  int64_t count = bound[2].is_missing() ? -1 : index_argument(bound[2]);
  Value fresh = self.is_markup() ? escape(runtime, bound[1]) : bound[1];
  return derived(runtime, self,
                 replace_text(runtime, self.text(), bound[0].text(), fresh.text(), count));
}

Value text_removeprefix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("removeprefix", "prefix /", arguments);
  std::string part = text_argument(bound[0], "removeprefix() argument");
  std::string_view text = self.text();
  if (text.substr(0, part.size()) == part) text.remove_prefix(part.size());
  return derived(runtime, self, std::string(text));
}

Value text_removesuffix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("removesuffix", "suffix /", arguments);
  std::string part = text_argument(bound[0], "removesuffix() argument");
  std::string_view text = self.text();
  if (text.size() >= part.size() && text.substr(text.size() - part.size()) == part)
    text.remove_suffix(part.size());
  return derived(runtime, self, std::string(text));
}

constexpr Method kMethods[] = {
    {"count", text_count},
    {"endswith", text_endswith},
    {"find", text_find},
    {"index", text_index},
    {"lstrip", text_lstrip},
    {"partition", text_partition},
    {"removeprefix", text_removeprefix},
    {"removesuffix", text_removesuffix},
    {"replace", text_replace},
    {"rfind", text_rfind},
    {"rindex", text_rindex},
    {"rpartition", text_rpartition},
    {"rsplit", text_rsplit},
    {"rstrip", text_rstrip},
    {"split", text_split},
    {"splitlines", text_splitlines},
    {"startswith", text_startswith},
    {"strip", text_strip},
};

}  // namespace

BuiltinFunction find_search_method(std::string_view name) {
  for (const Method& method : kMethods)
    if (method.name == name) return method.function;
  return nullptr;
}

}  // namespace crane::jinja
