#include "text/template_runtime.h"

#include "base/strings.h"

namespace crane::jinja {
namespace {

size_t list_bytes(const std::vector<Value>& items) { return items.capacity() * sizeof(Value); }

Value make_sequence(Kind kind, std::vector<Value> items, MemoryMeter& meter, Runtime& runtime) {
  auto sequence = std::make_unique<ListObject>();
  runtime.step(items.size() / 4);
  sequence->items = std::move(items);
  for (const Value& item : sequence->items) {
    sequence->nesting = std::max(sequence->nesting, 1 + nesting_of(item));
    sequence->hashable = sequence->hashable && is_hashable(item);
  }
  runtime.check_nesting(sequence->nesting);
  sequence->measure(&meter, sizeof(ListObject) + list_bytes(sequence->items));
  return Value::object(kind, sequence.release());
}

}  // namespace

void fail(const std::string& message) { throw Failure(message, false); }

void fail_undefined(const Value& undefined) {
  const auto& object = undefined.as<UndefinedObject>();
  if (!object.hint.empty()) fail(object.hint);
  std::string name;
  if (object.name.is_string()) {
    name = quote(object.name.text());
  } else if (object.name.is_int() || object.name.is(Kind::number)) {
    name = object.name.is(Kind::number)    ? float_repr(object.name.as_number())
           : object.name.is(Kind::boolean) ? (object.name.as_boolean() ? "True" : "False")
                                           : std::to_string(object.name.as_integer());
  } else {
    name = cat("of type ", type_name(object.name));
  }
  if (object.object_type.empty()) fail(cat(name, " is undefined"));
  if (!object.name.is_string()) fail(cat(object.object_type, " has no element ", name));
  fail(cat(quote(object.object_type), " has no attribute ", name));
}

void Runtime::fail_steps() const {
  fail(cat("the template takes more than ", limits_.steps, " steps"));
}

void Runtime::check_size(size_t bytes) const {
  if (bytes > limits_.output_bytes)
    fail(cat("the template makes a text of more than ", limits_.output_bytes, " bytes"));
}

void Runtime::check_range(int64_t length) const {
  if (length > limits_.range_length)
    fail(cat("Range too big. The sandbox blocks ranges larger than MAX_RANGE (",
             limits_.range_length, ")."));
}

void Runtime::check_nesting(int nesting) const {
  if (nesting > limits_.value_nesting)
    fail(cat("values are nested deeper than ", limits_.value_nesting));
}

Value Runtime::text(std::string value, bool markup) {
  check_size(value.size());
  copy_cost(value.size());
  auto object = std::make_unique<StringObject>(std::move(value), markup);
  object->measure(
      &meter_, sizeof(StringObject) + (object->text.capacity() > 15 ? object->text.capacity() : 0));
  return Value::object(Kind::string, object.release());
}

Value Runtime::list(std::vector<Value> items) {
  return make_sequence(Kind::list, std::move(items), meter_, *this);
}

Value Runtime::tuple(std::vector<Value> items) {
  return make_sequence(Kind::tuple, std::move(items), meter_, *this);
}

Value Runtime::dict(std::unique_ptr<DictObject> dict) {
  check_nesting(dict->nesting);
  size_t size = dict->items.capacity() * sizeof(DictObject::Item) * 5 / 4;
  return make(Kind::dict, std::move(dict), size);
}

Value Runtime::view(const Value& dict, ViewObject::Part part) {
  auto object = std::make_unique<ViewObject>();
  object->dict = dict;
  object->part = part;
  return make(Kind::view, std::move(object));
}

Value Runtime::range(int64_t start, int64_t stop, int64_t step_size) {
  auto object = std::make_unique<RangeObject>();
  object->start = start;
  object->stop = stop;
  object->step = step_size;
  check_range(object->length());
  return make(Kind::range, std::move(object));
}

Value Runtime::generator(std::unique_ptr<Iterator> iterator, std::string description, int nesting) {
  check_nesting(nesting);
  auto object = std::make_unique<GeneratorObject>();
  object->iterator = std::move(iterator);
  object->description = std::move(description);
  object->nesting = nesting;
  return make(Kind::generator, std::move(object), 128);
}

Value Runtime::undefined(std::string hint) {
  auto object = std::make_unique<UndefinedObject>();
  object->hint = std::move(hint);
  return make(Kind::undefined, std::move(object));
}

Value Runtime::undefined_name(std::string_view name) {
  auto object = std::make_unique<UndefinedObject>();
  object->name = make_constant(std::string(name));
  return make(Kind::undefined, std::move(object));
}

Value Runtime::undefined_attribute(const Value& from, const Value& name) {
  auto object = std::make_unique<UndefinedObject>();
  object->object_type = object_type_repr(from);
  // Only what a message shows is kept: a container as a name could chain values without end.
  object->name = nesting_of(name) == 0 ? name : make_constant(type_name(name));
  return make(Kind::undefined, std::move(object));
}

Value Runtime::bound(std::string_view name, BuiltinFunction function, const Value& self) {
  auto object = std::make_unique<FunctionObject>();
  object->name = std::string(name);
  object->function = function;
  object->self = self;
  return make(Kind::function, std::move(object));
}

std::tm Runtime::now() const {
  if (now_) return *now_;
  std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return local;
}

namespace {

struct Parameter {
  std::string_view name;
  bool optional;
};

struct Signature {
  std::vector<Parameter> parameters;
  size_t positional_only = 0;
};

Signature read_signature(std::string_view text) {
  Signature signature;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word == "/") {
      signature.positional_only = signature.parameters.size();
      continue;
    }
    bool optional = word.back() == '?';
    if (optional) word.remove_suffix(1);
    signature.parameters.push_back({word, optional});
  }
  return signature;
}

}  // namespace

std::vector<Value> bind(std::string_view function, std::string_view text,
                        const Arguments& arguments) {
  Signature signature = read_signature(text);
  const auto& parameters = signature.parameters;
  if (arguments.positional.size() > parameters.size())
    fail(cat(function, "() takes at most ", parameters.size(), " arguments (",
             arguments.positional.size(), " given)"));
  std::vector<Value> bound = arguments.positional;
  bound.resize(parameters.size());
  for (const auto& [name, value] : arguments.keyword) {
    size_t at = signature.positional_only;
    while (at < parameters.size() && parameters[at].name != name) ++at;
    if (at == parameters.size())
      fail(cat(function, "() got an unexpected keyword argument '", name, "'"));
    if (!bound[at].is_missing())
      fail(cat(function, "() got multiple values for argument '", name, "'"));
    bound[at] = value;
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (bound[i].is_missing() && !parameters[i].optional)
      fail(cat(function, "() missing 1 required positional argument: '", parameters[i].name, "'"));
  return bound;
}

int64_t index_argument(const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (!value.is_int())
    fail(cat("'", type_name(value), "' object cannot be interpreted as an integer"));
  return value.as_integer();
}

std::string text_argument(const Value& value, std::string_view what) {
  if (!value.is_string()) fail(cat(what, " must be str, not ", type_name(value)));
  return value.text();
}

}  // namespace crane::jinja
