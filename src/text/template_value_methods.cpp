// Methods and attributes of dicts, lists, numbers and the other kinds.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "text/template_methods.h"

namespace crane::jinja {
namespace {

Value dict_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("get", "key default? /", arguments);
  const Value* found = self.dict().find(runtime, bound[0]);
  if (found != nullptr) return *found;
  return bound[1].is_missing() ? Value::none() : bound[1];
}

template <ViewObject::Part Part>
Value dict_view(Runtime& runtime, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("dict view", "", arguments));
  return runtime.view(self, Part);
}

Value copy_of(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("copy", "", arguments));
  return self;  // nothing can change the original
}

Value dict_fromkeys(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto bound = bind("fromkeys", "iterable value? /", arguments);
  auto object = std::make_unique<DictObject>();
  Value value = bound[1].is_missing() ? Value::none() : bound[1];
  for (const Value& key : to_items(runtime, bound[0])) object->set(runtime, key, value);
  return runtime.dict(std::move(object));
}

Value sequence_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("count", "value /", arguments);
  int64_t count = 0;
  for (const Value& item : to_items(runtime, self))
    if (item.same_object(bound[0]) || equals(runtime, item, bound[0])) ++count;
  return Value::integer(count);
}

Value sequence_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto bound = bind("index", "value start? stop? /", arguments);
  std::vector<Value> items = to_items(runtime, self);
  auto size = static_cast<int64_t>(items.size());
  auto clamp = [&](const Value& value, int64_t fallback) {
    if (value.is_missing()) return fallback;
    int64_t at = index_argument(value);
    return at < 0 ? std::max<int64_t>(at + size, 0) : std::min(at, size);
  };
  int64_t stop = clamp(bound[2], size);
  for (int64_t i = clamp(bound[1], 0); i < stop; ++i) {
    const Value& item = items[static_cast<size_t>(i)];
    if (item.same_object(bound[0]) || equals(runtime, item, bound[0])) return Value::integer(i);
  }
  if (self.is(Kind::tuple)) fail("tuple.index(x): x not in tuple");
  fail(cat(to_repr(runtime, bound[0]), " is not in ", type_name(self)));
}

Value float_is_integer(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("is_integer", "", arguments));
  double value = self.as_number();
  return Value::boolean(std::isfinite(value) && value == std::floor(value));
}

Value number_conjugate(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("conjugate", "", arguments));
  return self;
}

Value int_bit_length(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("bit_length", "", arguments));
  int64_t value = self.as_integer();
  uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return Value::integer(size == 0 ? 0 : 64 - __builtin_clzll(size));
}

Value int_bit_count(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("bit_count", "", arguments));
  int64_t value = self.as_integer();
  uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return Value::integer(__builtin_popcountll(size));
}

Value number_unsupported(Runtime&, const Value& self, const Arguments&) {
  fail(cat("this method of ", type_name(self), " is not supported"));
}

Value cycler_next(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("next", "", arguments));
  auto& cycler = self.as<CyclerObject>();
  Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Value cycler_reset(Runtime&, const Value& self, const Arguments& arguments) {
  static_cast<void>(bind("reset", "", arguments));
  self.as<CyclerObject>().position = 0;
  return Value::none();
}

constexpr Method kDictMethods[] = {
    {"copy", copy_of},
    {"fromkeys", dict_fromkeys},
    {"get", dict_get},
    {"items", dict_view<ViewObject::Part::items>},
    {"keys", dict_view<ViewObject::Part::keys>},
    {"values", dict_view<ViewObject::Part::values>},
};
constexpr Method kListMethods[] = {
    {"copy", copy_of}, {"count", sequence_count}, {"index", sequence_index}};
constexpr Method kIntMethods[] = {
    {"as_integer_ratio", number_unsupported}, {"bit_count", int_bit_count},
    {"bit_length", int_bit_length},           {"conjugate", number_conjugate},
    {"from_bytes", number_unsupported},       {"to_bytes", number_unsupported}};
constexpr Method kFloatMethods[] = {{"as_integer_ratio", number_unsupported},
                                    {"conjugate", number_conjugate},
                                    {"fromhex", number_unsupported},
                                    {"hex", number_unsupported},
                                    {"is_integer", float_is_integer}};

template <size_t N>
Value find_in(Runtime& runtime, const Method (&methods)[N], const Value& object,
              std::string_view name) {
  for (const Method& method : methods)
    if (method.name == name) return runtime.bound(name, method.function, object);
  return Value();
}

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Value find_number_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  bool whole = object.is_int();
  if (name == "real") return whole ? Value::integer(object.as_integer()) : object;
  if (name == "imag") return whole ? Value::integer(0) : Value::number(0);
  if (whole && name == "numerator") return Value::integer(object.as_integer());
  if (whole && name == "denominator") return Value::integer(1);
  return whole ? find_in(runtime, kIntMethods, object, name)
               : find_in(runtime, kFloatMethods, object, name);
}

Value find_other(Runtime& runtime, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::range: {
      const auto& range = object.as<RangeObject>();
      if (name == "start") return Value::integer(range.start);
      if (name == "stop") return Value::integer(range.stop);
      if (name == "step") return Value::integer(range.step);
      if (name == "count") return runtime.bound(name, sequence_count, object);
      if (name == "index") return runtime.bound(name, sequence_index, object);
      return Value();
    }
    case Kind::view:
      if (name == "mapping") return object.as<ViewObject>().dict;
      return Value();
    case Kind::cycler: {
      const auto& cycler = object.as<CyclerObject>();
      if (name == "next") return runtime.bound(name, cycler_next, object);
      if (name == "reset") return runtime.bound(name, cycler_reset, object);
      if (name == "current") return cycler.items[cycler.position];
      if (name == "items") return runtime.tuple(cycler.items);
      if (name == "pos") return Value::integer(static_cast<int64_t>(cycler.position));
      return Value();
    }
    case Kind::joiner:
      if (name == "sep") return object.as<JoinerObject>().separator;
      if (name == "used") return Value::boolean(object.as<JoinerObject>().used);
      return Value();
    case Kind::function:
      if (name == "fromkeys" && object.as<FunctionObject>().name == "dict")
        return runtime.bound(name, dict_fromkeys, object);
      return Value();
    default:
      return Value();
  }
}

}  // namespace

Value find_method(Runtime& runtime, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::string: {
      BuiltinFunction function = find_text_method(name);
      return function == nullptr ? Value() : runtime.bound(name, function, object);
    }
    case Kind::dict:
      return find_in(runtime, kDictMethods, object, name);
    case Kind::list:
      return find_in(runtime, kListMethods, object, name);
    case Kind::tuple: {
      const auto& tuple = object.as<ListObject>();
      if (tuple.group && name == "grouper") return tuple.items[0];
      if (tuple.group && name == "list") return tuple.items[1];
      return name == "copy" ? Value() : find_in(runtime, kListMethods, object, name);
    }
    case Kind::boolean:
    case Kind::integer:
    case Kind::number:
      return find_number_attribute(runtime, object, name);
    default:
      return find_other(runtime, object, name);
  }
}

bool is_unsafe_method(const Value& object, std::string_view name) {
  static constexpr std::string_view kDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
  static constexpr std::string_view kList[] = {"append", "clear", "pop",    "reverse",
                                               "insert", "sort",  "extend", "remove"};
  if (object.is_dict()) return is_one_of(kDict, name);
  return object.is(Kind::list) && is_one_of(kList, name);
}

}  // namespace crane::jinja
