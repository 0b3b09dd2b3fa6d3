#include "text/template_value.h"

#include <cmath>
#include <functional>

#include "base/strings.h"
#include "text/template_runtime.h"

namespace crane::jinja {
namespace {

// Above this many entries a dict keeps an index; below, comparing keys one by one is faster.
constexpr size_t kIndexFrom = 8;
constexpr int kHashDepth = 3;

size_t combine(size_t seed, size_t hash) {
  return seed ^ (hash + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

size_t hash_number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9e18)
    return std::hash<int64_t>()(static_cast<int64_t>(value));
  return std::hash<double>()(value);
}

size_t hash_within(const Value& value, int depth) {
  switch (value.kind()) {
    case Kind::boolean:
    case Kind::integer:
      return std::hash<int64_t>()(value.as_integer());
    case Kind::number:
      return hash_number(value.as_number());
    case Kind::string:
      return std::hash<std::string>()(value.text());
    case Kind::tuple: {
      size_t hash = value.items().size();
      if (depth == 0) return hash;
      size_t left = 4;  // a prefix is enough, and keeps shared sub-tuples from costing 2^depth
      for (const Value& item : value.items()) {
        if (left-- == 0) break;
        hash = combine(hash, hash_within(item, depth - 1));
      }
      return hash;
    }
    case Kind::none:
    case Kind::undefined:
      return static_cast<size_t>(value.kind());
    default:
      return std::hash<const void*>()(value.object());
  }
}

}  // namespace

void MemoryMeter::add(size_t bytes) {
  if (bytes > limit_ || live_ > limit_ - bytes)
    fail(cat("the template uses more than ", limit_, " bytes of memory"));
  live_ += bytes;
}

StringObject::StringObject(std::string value, bool is_markup)
    : text(std::move(value)), length(0), markup(is_markup) {
  for (char c : text) length += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

Value make_constant(std::string text) {
  return Value::object(Kind::string, new StringObject(std::move(text), false));
}

int64_t RangeObject::length() const {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  // The ends are within int64, so the distance fits uint64.
  uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  uint64_t count = (distance - 1) / stride + 1;
  return count > INT64_MAX ? INT64_MAX : static_cast<int64_t>(count);
}

const Value* NamespaceObject::find(std::string_view name) const {
  for (const auto& [key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

void NamespaceObject::set(std::string_view name, Value value) {
  for (auto& attribute : attributes) {
    if (attribute.first != name) continue;
    attribute.second = std::move(value);
    return;
  }
  attributes.emplace_back(std::string(name), std::move(value));
}

template <class Same>
const Value* DictObject::lookup(size_t hash, const Same& same) const {
  if (index_.empty()) {
    for (const Item& item : items)
      if (same(item.first)) return &item.second;
    return nullptr;
  }
  size_t mask = index_.size() - 1;
  for (size_t at = hash & mask; index_[at] != 0; at = (at + 1) & mask) {
    const Item& item = items[index_[at] - 1];
    if (same(item.first)) return &item.second;
  }
  return nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  if (items.empty()) return nullptr;
  size_t hash = index_.empty() ? 0 : std::hash<std::string_view>()(key);
  return lookup(hash, [&](const Value& other) { return other.is_string() && other.text() == key; });
}

const Value* DictObject::find(Runtime& runtime, const Value& key) const {
  if (key.is_string()) return find(std::string_view(key.text()));
  if (!is_hashable(key)) fail(cat("unhashable type: '", type_name(key), "'"));
  return lookup(hash_of(key), [&](const Value& other) { return equals(runtime, other, key); });
}

void DictObject::insert_index(size_t hash, uint32_t position) {
  size_t mask = index_.size() - 1;
  size_t at = hash & mask;
  while (index_[at] != 0) at = (at + 1) & mask;
  index_[at] = position + 1;
}

void DictObject::append_new(Value key, Value value) {
  nesting = std::max(nesting, 1 + std::max(nesting_of(key), nesting_of(value)));
  items.emplace_back(std::move(key), std::move(value));
  if (items.size() <= kIndexFrom) return;
  if (items.size() * 2 > index_.size()) {
    index_.assign(std::max<size_t>(32, index_.size() * 2), 0);
    for (size_t i = 0; i < items.size(); ++i)
      insert_index(hash_of(items[i].first), static_cast<uint32_t>(i));
  } else {
    insert_index(hash_of(items.back().first), static_cast<uint32_t>(items.size() - 1));
  }
}

void DictObject::append_string(std::string_view key, Value value) {
  if (const Value* old = find(key)) {
    nesting = std::max(nesting, 1 + nesting_of(value));
    *const_cast<Value*>(old) = std::move(value);
    return;
  }
  append_new(make_constant(std::string(key)), std::move(value));
}

void DictObject::set(Runtime& runtime, Value key, Value value) {
  if (const Value* old = find(runtime, key)) {
    nesting = std::max(nesting, 1 + nesting_of(value));
    *const_cast<Value*>(old) = std::move(value);
    return;
  }
  append_new(std::move(key), std::move(value));
}

int nesting_of(const Value& value) {
  switch (value.kind()) {
    case Kind::list:
    case Kind::tuple:
      return value.as<ListObject>().nesting;
    case Kind::dict:
      return value.dict().nesting;
    case Kind::view:
      return 1 + value.as<ViewObject>().dict.dict().nesting;
    case Kind::generator:
      return value.as<GeneratorObject>().nesting;
    case Kind::cycler:
      return value.as<CyclerObject>().nesting;
    case Kind::joiner:
      return value.as<JoinerObject>().nesting;
    case Kind::function:
      return 1 + nesting_of(value.as<FunctionObject>().self);
    default:
      return 0;
  }
}

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::number:
      return "float";
    case Kind::string:
      return value.is_markup() ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return value.as<ListObject>().group ? "_GroupTuple" : "tuple";
    case Kind::dict:
      return "dict";
    case Kind::view: {
      auto part = value.as<ViewObject>().part;
      return part == ViewObject::Part::keys     ? "dict_keys"
             : part == ViewObject::Part::values ? "dict_values"
                                                : "dict_items";
    }
    case Kind::range:
      return "range";
    case Kind::generator:
      return "generator";
    case Kind::name_space:
      return "TemplateNamespace";
    case Kind::function:
      return value.as<FunctionObject>().self.is_missing() ? "function"
                                                          : "builtin_function_or_method";
    case Kind::macro:
      return "Macro";
    case Kind::loop:
      return "LoopContext";
    case Kind::cycler:
      return "Cycler";
    case Kind::joiner:
      return "Joiner";
    case Kind::block:
      return "BlockReference";
    case Kind::missing:
    case Kind::undefined:
      break;
  }
  return "Undefined";
}

std::string object_type_repr(const Value& value) {
  switch (value.kind()) {
    case Kind::none:
      return "None";
    case Kind::string:
      return value.is_markup() ? "markupsafe.Markup object" : "str object";
    case Kind::name_space:
      return "transformers.utils.chat_template_utils.TemplateNamespace object";
    case Kind::undefined:
    case Kind::macro:
    case Kind::loop:
    case Kind::block:
      return cat("jinja2.runtime.", type_name(value), " object");
    case Kind::cycler:
    case Kind::joiner:
      return cat("jinja2.utils.", type_name(value), " object");
    default:
      if (type_name(value) == "_GroupTuple") return "jinja2.filters._GroupTuple object";
      return type_name(value) + " object";
  }
}

bool is_hashable(const Value& value) {
  if (value.is(Kind::list) || value.is(Kind::dict)) return false;
  if (value.is(Kind::view)) return value.as<ViewObject>().part == ViewObject::Part::values;
  return !value.is(Kind::tuple) || value.as<ListObject>().hashable;
}

size_t hash_of(const Value& value) { return hash_within(value, kHashDepth); }

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::view:
    case Kind::range:
    case Kind::generator:
    case Kind::loop:
      return true;
    default:
      return false;
  }
}

}  // namespace crane::jinja
