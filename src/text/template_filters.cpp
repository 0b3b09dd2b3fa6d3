#include "text/template_filters.h"

#include "base/strings.h"
#include "base/unicode.h"

namespace crane::jinja {
namespace {

struct Unsupported {
  std::string_view name;
  const char* reason;
};

constexpr Unsupported kUnsupported[] = {
    {"pprint", "it is for debugging"},
    {"random", "its result is not reproducible"},
    {"urlize", "it makes HTML links"},
};

std::vector<Value> attribute_parts(const Value& attribute) {
  std::vector<Value> parts;
  if (attribute.is_missing() || attribute.is_none()) return parts;
  if (!attribute.is_string()) return {attribute};
  for (std::string_view part : split(attribute.text(), '.')) {
    bool digits = !part.empty() && part.size() < 18;
    for (char c : part) digits = digits && c >= '0' && c <= '9';
    parts.push_back(digits ? Value::integer(std::atoll(std::string(part).c_str()))
                           : make_constant(std::string(part)));
  }
  return parts;
}

}  // namespace

AttributeGetter::AttributeGetter(const Value& attribute, const Value& fallback)
    : parts_(attribute_parts(attribute)), fallback_(fallback) {}

Value AttributeGetter::get(Runtime& runtime, Value item) const {
  for (const Value& part : parts_) {
    runtime.step();
    item = get_item(runtime, item, part);
    if (item.is_undefined() && !fallback_.is_missing() && !fallback_.is_none()) item = fallback_;
  }
  return item;
}

Value ignore_case(Runtime& runtime, const Value& value) {
  if (!value.is_string()) return value;
  runtime.copy_cost(8 * value.text().size());
  return runtime.text(to_lower(value.text()));
}

Value or_none(const Value& value) { return value.is_missing() ? Value::none() : value; }

bool flag(Runtime& runtime, const Value& value, bool fallback) {
  return value.is_missing() ? fallback : is_true(runtime, value);
}

Filter find_filter(std::string_view name) {
  for (auto table : {text_filters(), number_filters(), sequence_filters(), lazy_filters()})
    for (const NamedFilter& filter : table)
      if (filter.name == name) return filter.function;
  return nullptr;
}

const char* unsupported_filter(std::string_view name) {
  for (const Unsupported& filter : kUnsupported)
    if (filter.name == name) return filter.reason;
  return nullptr;
}

std::vector<std::string_view> filter_names() {
  std::vector<std::string_view> names;
  for (auto table : {text_filters(), number_filters(), sequence_filters(), lazy_filters()})
    for (const NamedFilter& filter : table) names.push_back(filter.name);
  return names;
}

}  // namespace crane::jinja
