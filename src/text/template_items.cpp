// Iteration, lengths, items, slices and attributes of values.
#include <algorithm>

#include "base/strings.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

class ListIterator : public Iterator {
 public:
  explicit ListIterator(const Value& list) : list_(list) {}
  bool next(Runtime&, Value& out) override {
    if (at_ >= list_.items().size()) return false;
    out = list_.items()[at_++];
    return true;
  }

 private:
  Value list_;
  size_t at_ = 0;
};

class TextIterator : public Iterator {
 public:
  explicit TextIterator(const Value& text) : text_(text) {}
  bool next(Runtime& runtime, Value& out) override {
    const std::string& text = text_.text();
    if (at_ >= text.size()) return false;
    size_t begin = at_;
    next_code_point(text, at_);
    out = runtime.text(text.substr(begin, at_ - begin));
    return true;
  }

 private:
  Value text_;
  size_t at_ = 0;
};

class DictIterator : public Iterator {
 public:
  DictIterator(const Value& dict, ViewObject::Part part) : dict_(dict), part_(part) {}
  bool next(Runtime& runtime, Value& out) override {
    const auto& items = dict_.dict().items;
    if (at_ >= items.size()) return false;
    const auto& [key, value] = items[at_++];
    if (part_ == ViewObject::Part::items) {
      out = runtime.tuple({key, value});
    } else {
      out = part_ == ViewObject::Part::keys ? key : value;
    }
    return true;
  }

 private:
  Value dict_;
  ViewObject::Part part_;
  size_t at_ = 0;
};

class RangeIterator : public Iterator {
 public:
  explicit RangeIterator(const Value& range) : range_(range) {}
  bool next(Runtime&, Value& out) override {
    const auto& range = range_.as<RangeObject>();
    if (at_ >= range.length()) return false;
    out = Value::integer(range.at(at_++));
    return true;
  }

 private:
  Value range_;
  int64_t at_ = 0;
};

class GeneratorIterator : public Iterator {
 public:
  explicit GeneratorIterator(const Value& generator) : generator_(generator) {}
  bool next(Runtime& runtime, Value& out) override {
    auto& object = generator_.as<GeneratorObject>();
    if (object.iterator == nullptr) return false;
    Runtime::Level level(runtime);
    if (object.iterator->next(runtime, out)) return true;
    object.iterator.reset();
    return false;
  }

 private:
  Value generator_;
};

class EmptyIterator : public Iterator {
 public:
  bool next(Runtime&, Value&) override { return false; }
};

// Python's slice.indices(), and the number of items.
struct SliceRange {
  int64_t start;
  int64_t count;
  int64_t step;
  int64_t stop = 0;
};

int64_t slice_bound(const Value& value) {
  if (!value.is_int()) fail("slice indices must be integers or None or have an __index__ method");
  return value.as_integer();
}

SliceRange slice_range(const Value (&bounds)[3], int64_t length) {
  auto given = [](const Value& value) { return !value.is_missing() && !value.is_none(); };
  int64_t step = given(bounds[2]) ? slice_bound(bounds[2]) : 1;
  if (step == 0) fail("slice step cannot be zero");
  if (step == INT64_MIN) step = -INT64_MAX;
  int64_t low = step < 0 ? -1 : 0;
  int64_t high = step < 0 ? length - 1 : length;
  auto clamp = [&](const Value& value, int64_t fallback) {
    if (!given(value)) return fallback;
    int64_t at = slice_bound(value);
    if (at < 0) return std::max(at + length, low);
    return std::min(at, high);
  };
  int64_t start = clamp(bounds[0], step < 0 ? high : low);
  int64_t stop = clamp(bounds[1], step < 0 ? low : high);
  int64_t count = 0;
  if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
  if (step < 0 && stop < start) count = (start - stop - 1) / -step + 1;
  return {start, count, step, stop};
}

Value slice_text(Runtime& runtime, const Value& value, const SliceRange& range) {
  const StringObject& object = value.string();
  std::string_view text = object.text;
  std::string out;
  if (range.count == 0) return runtime.text("", object.markup);
  auto index = [](int64_t at) { return static_cast<size_t>(at); };
  if (range.step == 1) {
    if (object.ascii())
      return runtime.text(std::string(text.substr(index(range.start), index(range.count))),
                          object.markup);
    runtime.copy_cost(8 * text.size());
    size_t begin = byte_offset(text, index(range.start));
    size_t length = byte_offset(text.substr(begin), index(range.count));
    return runtime.text(std::string(text.substr(begin, length)), object.markup);
  }
  runtime.copy_cost(16 * text.size());
  if (object.ascii()) {
    for (int64_t i = 0; i < range.count; ++i)
      out.push_back(text[index(range.start + i * range.step)]);
    return runtime.text(std::move(out), object.markup);
  }
  std::vector<uint32_t> starts;
  for (size_t at = 0; at < text.size(); next_code_point(text, at))
    starts.push_back(static_cast<uint32_t>(at));
  starts.push_back(static_cast<uint32_t>(text.size()));
  for (int64_t i = 0; i < range.count; ++i) {
    size_t at = index(range.start + i * range.step);
    out += text.substr(starts[at], starts[at + 1] - starts[at]);
  }
  return runtime.text(std::move(out), object.markup);
}

// Names that every Python object has, and that the sandbox hides.
bool is_python_internal(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "__class__",   "__doc__",     "__init__",         "__new__",          "__dir__",
      "__eq__",      "__ne__",      "__lt__",           "__le__",           "__gt__",
      "__ge__",      "__hash__",    "__str__",          "__repr__",         "__format__",
      "__sizeof__",  "__reduce__",  "__reduce_ex__",    "__getstate__",     "__getattribute__",
      "__setattr__", "__delattr__", "__subclasshook__", "__init_subclass__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value unsafe_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  return runtime.undefined(cat("access to attribute ", quote(name), " of ",
                               quote(type_name(object)), " object is unsafe."));
}

// getattr(object, name) under the sandbox; missing when there is no such attribute.
Value attribute_of(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_undefined()) {
    if (name.substr(0, 2) != "__") fail_undefined(object);
    return is_python_internal(name) ? unsafe_attribute(runtime, object, name) : Value();
  }
  if (name.substr(0, 2) == "__" && is_python_internal(name))
    return unsafe_attribute(runtime, object, name);
  switch (object.kind()) {
    case Kind::name_space: {
      const Value* found = object.as<NamespaceObject>().find(name);
      return found == nullptr ? Value() : *found;
    }
    case Kind::macro:
    case Kind::loop:
    case Kind::block:
      return runtime.object_attribute(object, name);
    default:
      break;
  }
  if (is_unsafe_method(object, name)) return unsafe_attribute(runtime, object, name);
  return find_method(runtime, object, name);
}

// object[key], or missing where Python raises TypeError or LookupError.
Value subscript(Runtime& runtime, const Value& object, const Value& key) {
  switch (object.kind()) {
    case Kind::undefined:
      fail_undefined(object);
    case Kind::dict: {
      if (!is_hashable(key)) return Value();
      const Value* found = object.dict().find(runtime, key);
      return found == nullptr ? Value() : *found;
    }
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::range:
      return key.is_int() ? item_at(runtime, object, key.as_integer()) : Value();
    case Kind::block:
      return key.is_string() ? runtime.object_attribute(object, key.text()) : Value();
    default:
      return Value();
  }
}

}  // namespace

std::unique_ptr<Iterator> iterate(Runtime& runtime, const Value& value) {
  runtime.step();
  switch (value.kind()) {
    case Kind::undefined:
      return std::make_unique<EmptyIterator>();
    case Kind::string:
      return std::make_unique<TextIterator>(value);
    case Kind::list:
    case Kind::tuple:
      return std::make_unique<ListIterator>(value);
    case Kind::dict:
      return std::make_unique<DictIterator>(value, ViewObject::Part::keys);
    case Kind::view: {
      const auto& view = value.as<ViewObject>();
      return std::make_unique<DictIterator>(view.dict, view.part);
    }
    case Kind::range:
      return std::make_unique<RangeIterator>(value);
    case Kind::generator:
      return std::make_unique<GeneratorIterator>(value);
    case Kind::loop:
      fail("iterating over the loop object is not supported");
    default:
      fail(cat("'", type_name(value), "' object is not iterable"));
  }
}

std::vector<Value> to_items(Runtime& runtime, const Value& value) {
  if (value.is_sequence()) {
    runtime.step(value.items().size() / 4);
    return value.items();
  }
  std::vector<Value> items;
  std::unique_ptr<Iterator> iterator = iterate(runtime, value);
  size_t most = runtime.limits().memory_bytes / sizeof(Value);
  Value item;
  while (iterator->next(runtime, item)) {
    runtime.step();
    if (items.size() > most) fail(cat("a sequence of more than ", most, " items is too long"));
    items.push_back(item);
  }
  return items;
}

std::optional<int64_t> known_length(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return static_cast<int64_t>(value.string().length);
    case Kind::list:
    case Kind::tuple:
      return static_cast<int64_t>(value.items().size());
    case Kind::dict:
      return static_cast<int64_t>(value.dict().items.size());
    case Kind::view:
      return static_cast<int64_t>(value.as<ViewObject>().dict.dict().items.size());
    case Kind::range:
      return value.as<RangeObject>().length();
    case Kind::loop:
      return runtime.loop_length(value);
    default:
      return std::nullopt;
  }
}

int64_t length_of(Runtime& runtime, const Value& value) {
  if (auto length = known_length(runtime, value)) return *length;
  fail(cat("object of type '", type_name(value), "' has no len()"));
}

Value item_at(Runtime& runtime, const Value& sequence, int64_t index) {
  int64_t length = length_of(runtime, sequence);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return Value();
  if (sequence.is(Kind::range)) return Value::integer(sequence.as<RangeObject>().at(index));
  if (!sequence.is_string()) return sequence.items()[static_cast<size_t>(index)];
  return slice_text(runtime, sequence, {index, 1, 1});
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  Value found = subscript(runtime, object, key);
  if (found.is_missing() && key.is_string()) found = attribute_of(runtime, object, key.text());
  return found.is_missing() ? runtime.undefined_attribute(object, key) : found;
}

Value get_attribute(Runtime& runtime, const Value& object, const Value& name) {
  Value found = attribute_of(runtime, object, name.text());
  if (found.is_missing()) found = subscript(runtime, object, name);
  return found.is_missing() ? runtime.undefined_attribute(object, name) : found;
}

Value get_slice(Runtime& runtime, const Value& object, const Value (&bounds)[3]) {
  if (object.is_undefined()) fail_undefined(object);
  if (object.is_dict()) fail("unhashable type: 'slice'");
  if (!object.is_string() && !object.is_sequence() && !object.is(Kind::range))
    fail(cat("'", type_name(object), "' object is not subscriptable"));
  SliceRange range = slice_range(bounds, length_of(runtime, object));
  if (object.is_string()) return slice_text(runtime, object, range);
  if (object.is(Kind::range)) {
    const auto& source = object.as<RangeObject>();
    return runtime.range(source.at(range.start), source.at(range.stop), source.step * range.step);
  }
  std::vector<Value> items;
  runtime.step(static_cast<uint64_t>(range.count) / 4);
  items.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i)
    items.push_back(object.items()[static_cast<size_t>(range.start + i * range.step)]);
  return object.is(Kind::list) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

}  // namespace crane::jinja
