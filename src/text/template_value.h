// Values of the chat-template language: what Python's jinja2 would hold, without any host object.
//
// A Value is 16 bytes: small kinds inline, the rest a reference-counted Object. Lists, tuples and
// dicts never change after they are built (the immutable sandbox forbids it); only namespaces,
// generators, loops, cyclers and joiners have state. Every object made during a render is counted
// by a MemoryMeter, so that a template cannot fill the memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crane::jinja {

class Runtime;
struct Arguments;

enum class Kind : uint8_t {
  missing,  // no value at all: an argument that was not given, a variable not yet set
  undefined,
  none,
  boolean,
  integer,
  number,
  string,
  list,
  tuple,
  dict,
  view,  // dict.keys(), dict.values(), dict.items()
  range,
  generator,
  name_space,
  function,  // a built-in function, a bound method, a class
  macro,
  loop,
  cycler,
  joiner,
  block
};

// Bytes of live objects of one render; add() throws when the limit is passed.
class MemoryMeter {
 public:
  explicit MemoryMeter(size_t limit) : limit_(limit) {}
  void add(size_t bytes);
  void remove(size_t bytes) { live_ -= bytes; }

 private:
  size_t live_ = 0;
  size_t limit_;
};

struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() {
    if (meter != nullptr) meter->remove(bytes);
  }
  void measure(MemoryMeter* with, size_t size) {
    if (with == nullptr) return;
    with->add(size);
    meter = with;
    bytes = size;
  }

  mutable std::atomic<uint32_t> references{0};
  MemoryMeter* meter = nullptr;
  size_t bytes = 0;
};

struct StringObject;
struct ListObject;
struct DictObject;

class Value {
 public:
  Value() = default;
  Value(const Value& other) : kind_(other.kind_), data_(other.data_) { retain(); }
  Value(Value&& other) noexcept : kind_(other.kind_), data_(other.data_) {
    other.kind_ = Kind::missing;
  }
  Value& operator=(const Value& other) {
    if (this != &other) {
      Value copy(other);
      swap(copy);
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Value() { release(); }

  static Value none() { return Value(Kind::none, 0); }
  static Value boolean(bool value) { return Value(Kind::boolean, value ? 1 : 0); }
  static Value integer(int64_t value) { return Value(Kind::integer, value); }
  static Value number(double value) {
    Value result(Kind::number, 0);
    result.data_.number = value;
    return result;
  }
  static Value object(Kind kind, Object* object) {
    Value result(kind, 0);
    result.data_.object = object;
    result.retain();
    return result;
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::missing; }
  bool is_undefined() const { return kind_ == Kind::undefined; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  bool is_int() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }  // as in Python
  bool is_numeric() const { return is_int() || kind_ == Kind::number; }
  bool is_markup() const;

  bool as_boolean() const { return data_.integer != 0; }
  int64_t as_integer() const { return data_.integer; }
  double as_number() const {
    return kind_ == Kind::number ? data_.number : static_cast<double>(data_.integer);
  }
  const std::string& text() const;          // of a string
  const StringObject& string() const;       // of a string
  const std::vector<Value>& items() const;  // of a list or tuple
  const DictObject& dict() const;           // of a dict
  Object* object() const { return data_.object; }
  template <class T>
  T& as() const {
    return *static_cast<T*>(data_.object);
  }
  bool same_object(const Value& other) const {
    return kind_ == other.kind_ && data_.integer == other.data_.integer;
  }

 private:
  Value(Kind kind, int64_t integer) : kind_(kind) { data_.integer = integer; }
  bool counted() const {
    return kind_ == Kind::undefined || static_cast<int>(kind_) >= static_cast<int>(Kind::string);
  }
  void retain() const {
    if (counted()) data_.object->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (counted() && data_.object->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete data_.object;
  }
  void swap(Value& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
  }

  union Data {
    int64_t integer;
    double number;
    Object* object;
  };
  Kind kind_ = Kind::missing;
  Data data_{0};
};

struct StringObject : Object {
  StringObject(std::string value, bool is_markup);
  bool ascii() const { return length == text.size(); }

  std::string text;
  size_t length;  // in code points
  bool markup;    // markupsafe.Markup: the text counts as escaped already
};

// The value of a name or attribute that does not exist; using it is an error, printing it is not.
struct UndefinedObject : Object {
  std::string hint;         // the whole message, when not empty
  std::string object_type;  // as jinja2's object_type_repr; empty: a plain variable
  Value name;               // string: an attribute or variable; otherwise an element
};

struct ListObject : Object {
  std::vector<Value> items;
  int nesting = 1;       // containers inside each other, this one included
  bool group = false;    // a groupby pair, which also has .grouper and .list
  bool hashable = true;  // of a tuple: all its items are
};

// Insertion-ordered map; keys are hashable values (strings nearly always).
struct DictObject : Object {
  using Item = std::pair<Value, Value>;
  const Value* find(std::string_view key) const;
  const Value* find(Runtime& runtime, const Value& key) const;  // throws on an unhashable key
  void set(Runtime& runtime, Value key, Value value);           // only while it is built
  void append_new(Value key, Value value);                // the caller promises that the key is new
  void append_string(std::string_view key, Value value);  // overwrites an equal key

  std::vector<Item> items;
  int nesting = 1;

 private:
  template <class Same>
  const Value* lookup(size_t hash, const Same& same) const;
  void insert_index(size_t hash, uint32_t position);
  std::vector<uint32_t> index_;  // open addressing, position + 1; empty while the dict is small
};

struct ViewObject : Object {
  enum class Part { keys, values, items };
  Part part = Part::keys;
  Value dict;
};

struct RangeObject : Object {
  int64_t start = 0;
  int64_t stop = 0;
  int64_t step = 1;
  int64_t length() const;
  int64_t at(int64_t index) const { return start + index * step; }
};

// Lazy sequence; next() gives false at the end and is not called again.
class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual bool next(Runtime& runtime, Value& out) = 0;
};

struct GeneratorObject : Object {
  std::unique_ptr<Iterator> iterator;  // null when it is used up
  std::string description;             // as printed
  int nesting = 1;
};

struct NamespaceObject : Object {
  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
  std::vector<std::pair<std::string, Value>> attributes;
};

using BuiltinFunction = Value (*)(Runtime& runtime, const Value& self, const Arguments& arguments);
struct FunctionObject : Object {
  std::string name;
  BuiltinFunction function = nullptr;
  Value self;  // missing for a free function
};

struct CyclerObject : Object {
  std::vector<Value> items;
  size_t position = 0;
  int nesting = 1;
};

struct JoinerObject : Object {
  Value separator;
  bool used = false;
  int nesting = 1;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
  bool empty() const { return positional.empty() && keyword.empty(); }
};

// A string outside any render (constants, input); never metered.
Value make_constant(std::string text);

inline const StringObject& Value::string() const { return as<StringObject>(); }
inline const std::string& Value::text() const { return as<StringObject>().text; }
inline const std::vector<Value>& Value::items() const { return as<ListObject>().items; }
inline const DictObject& Value::dict() const { return as<DictObject>(); }
inline bool Value::is_markup() const { return is_string() && string().markup; }

int nesting_of(const Value& value);                // 0 for what holds no other value
std::string type_name(const Value& value);         // Python's type(value).__name__
std::string object_type_repr(const Value& value);  // jinja2's words in messages of Undefined
bool is_hashable(const Value& value);
size_t hash_of(const Value& value);
bool is_iterable(const Value& value);

}  // namespace crane::jinja
