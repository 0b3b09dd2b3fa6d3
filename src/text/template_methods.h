// Methods of strings and containers: Python's, without those that change the object.
#pragma once

#include <string>
#include <string_view>

#include "text/template_runtime.h"

namespace crane::jinja {

struct Method {
  std::string_view name;
  BuiltinFunction function;
};

BuiltinFunction find_text_method(std::string_view name);    // template_text_methods.cpp
BuiltinFunction find_search_method(std::string_view name);  // template_text_search.cpp

// A text made from `self`: markup when that is.
Value derived(Runtime& runtime, const Value& self, std::string text);

// Shared with the filters of the same names.
std::string_view strip_text(std::string_view text, const Value& characters, bool left, bool right);
std::string replace_text(Runtime& runtime, std::string_view text, std::string_view old,
                         std::string_view fresh, int64_t count);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);
std::vector<std::string_view> split_blank(std::string_view text);
std::string pad_text(Runtime& runtime, const Value& text, int64_t width, std::string_view fill,
                     char align);                                             // '<', '>' or '^'
size_t find_text(std::string_view text, std::string_view part, size_t from);  // npos: not there
Value join_items(Runtime& runtime, const Value& separator, const std::vector<Value>& items);

}  // namespace crane::jinja
