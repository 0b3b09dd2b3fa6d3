// The filters of jinja2 (jinja2/filters.py), in tables by theme, and what tests and filters share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_runtime.h"

namespace crane::jinja {

struct NamedFilter {
  std::string_view name;
  Filter function;
};

std::span<const NamedFilter> text_filters();      // template_filters_text.cpp
std::span<const NamedFilter> number_filters();    // template_filters_number.cpp
std::span<const NamedFilter> sequence_filters();  // template_filters_sequence.cpp
std::span<const NamedFilter> lazy_filters();      // template_filters_lazy.cpp

// Reads a value by a path such as "a.b.0"; numbers and none are taken as they are.
class AttributeGetter {
 public:
  explicit AttributeGetter(const Value& attribute, const Value& fallback = Value());
  Value get(Runtime& runtime, Value item) const;

 private:
  std::vector<Value> parts_;
  Value fallback_;
};

Value ignore_case(Runtime& runtime, const Value& value);         // lower case, if it is a string
Value or_none(const Value& value);                               // none where missing
bool flag(Runtime& runtime, const Value& value, bool fallback);  // truth of an optional argument
std::string wrap_text(Runtime& runtime, std::string_view line, int64_t width, bool break_long,
                      bool break_hyphens, std::string_view separator);  // textwrap.wrap, joined
bool parse_float(std::string_view text, double& value);                 // Python's float(text)

}  // namespace crane::jinja
