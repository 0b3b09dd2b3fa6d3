// The functions every chat template can call, as transformers' environment defines them.
#include <algorithm>

#include "base/strings.h"
#include "text/template_filters.h"
#include "text/template_methods.h"

namespace crane::jinja {
namespace {

Value call_range(Runtime& runtime, const Value&, const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (!arguments.keyword.empty()) fail("range() takes no keyword arguments");
  if (given.empty()) fail("range expected at least 1 argument, got 0");
  if (given.size() > 3) fail(cat("range expected at most 3 arguments, got ", given.size()));
  int64_t bounds[3] = {0, 0, 1};
  for (size_t i = 0; i < given.size(); ++i) bounds[i] = index_argument(given[i]);
  if (given.size() == 1) std::swap(bounds[0], bounds[1]);
  if (bounds[2] == 0) fail("range() arg 3 must not be zero");
  return runtime.range(bounds[0], bounds[1], bounds[2]);
}

// dict(mapping or pairs, **names)
std::unique_ptr<DictObject> build_dict(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.size() > 1)
    fail(cat("dict expected at most 1 argument, got ", arguments.positional.size()));
  auto object = std::make_unique<DictObject>();
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is_dict()) {
      runtime.step(source.dict().items.size());
      for (const auto& [key, value] : source.dict().items) object->append_new(key, value);
    } else {
      size_t at = 0;
      for (const Value& pair : to_items(runtime, source)) {
        if (!is_iterable(pair))
          fail(cat("cannot convert dictionary update sequence element #", at, " to a sequence"));
        std::vector<Value> parts = to_items(runtime, pair);
        if (parts.size() != 2)
          fail(cat("dictionary update sequence element #", at, " has length ", parts.size(),
                   "; 2 is required"));
        object->set(runtime, parts[0], parts[1]);
        ++at;
      }
    }
  }
  for (const auto& [key, value] : arguments.keyword) object->append_string(key, value);
  return object;
}

Value call_dict(Runtime& runtime, const Value&, const Arguments& arguments) {
  return runtime.dict(build_dict(runtime, arguments));
}

Value call_namespace(Runtime& runtime, const Value&, const Arguments& arguments) {
  std::unique_ptr<DictObject> source = build_dict(runtime, arguments);
  std::vector<std::pair<std::string, Value>> attributes;
  for (const auto& [key, value] : source->items) {
    if (!key.is_string()) fail("a namespace with attributes that are not strings is not supported");
    if (!key.text().empty() && key.text()[0] == '_')
      fail(
          cat("Chat templates cannot store underscore-prefixed attributes on a namespace, but "
              "got ",
              quote(key.text()), ". Please rename the attribute."));
    attributes.emplace_back(key.text(), value);
  }
  return runtime.make_namespace(std::move(attributes));
}

Value call_cycler(Runtime& runtime, const Value&, const Arguments& arguments) {
  if (!arguments.keyword.empty()) fail("Cycler() got an unexpected keyword argument");
  if (arguments.positional.empty()) fail("at least one item has to be provided");
  auto object = std::make_unique<CyclerObject>();
  object->items = arguments.positional;
  size_t size = object->items.size() * sizeof(Value);
  // A cycler counts as a container, so that a chain of them stays short.
  for (const Value& item : object->items)
    object->nesting = std::max(object->nesting, 1 + nesting_of(item));
  runtime.check_nesting(object->nesting);
  return runtime.make(Kind::cycler, std::move(object), size);
}

Value call_joiner(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto bound = bind("Joiner", "sep?", arguments);
  auto object = std::make_unique<JoinerObject>();
  object->separator = bound[0].is_missing() ? runtime.text(", ") : bound[0];
  object->nesting = 1 + nesting_of(object->separator);
  runtime.check_nesting(object->nesting);
  return runtime.make(Kind::joiner, std::move(object));
}

Value call_raise_exception(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto bound = bind("raise_exception", "message", arguments);
  throw Failure(to_text(runtime, bound[0]), true);
}

// What Python's strftime of a local time without a zone prints differently from the C library's.
std::string python_format(std::string_view format) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out.push_back(format[i]);
      continue;
    }
    char directive = format[++i];
    if (directive == 'f') {
      out += "000000";
    } else if (directive != 'z' && directive != 'Z') {
      out += {'%', directive};
    }
  }
  return out;
}

Value call_strftime_now(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto bound = bind("strftime_now", "format", arguments);
  if (!bound[0].is_string())
    fail(cat("strftime() argument 1 must be str, not ", type_name(bound[0])));
  if (bound[0].text().size() > 4096) fail("strftime_now: the format is too long");
  std::string format = python_format(bound[0].text());
  if (format.empty()) return runtime.text("");
  std::tm now = runtime.now();
  std::string buffer(1024 + 64 * format.size(), '\0');
  buffer.resize(std::strftime(buffer.data(), buffer.size(), format.c_str(), &now));
  return runtime.text(std::move(buffer));
}

Value call_lipsum(Runtime&, const Value&, const Arguments&) {
  fail("lipsum() is not supported: its result is not reproducible");
}

constexpr Method kGlobals[] = {
    {"cycler", call_cycler},       {"dict", call_dict},
    {"joiner", call_joiner},       {"lipsum", call_lipsum},
    {"namespace", call_namespace}, {"raise_exception", call_raise_exception},
    {"range", call_range},         {"strftime_now", call_strftime_now},
};

}  // namespace

Value find_global(Runtime& runtime, std::string_view name) {
  for (const Method& global : kGlobals)
    if (global.name == name) return runtime.bound(name, global.function, Value());
  return Value();
}

std::vector<std::string_view> global_names() {
  std::vector<std::string_view> names;
  for (const Method& global : kGlobals) names.push_back(global.name);
  return names;
}

}  // namespace crane::jinja
