// What one render shares: budgets, the making of values, calls, and Python's semantics of
// operators, printing, attributes and iteration, one function each.
//
// Failures are thrown as Failure, without a place; the interpreter adds line and column.
#pragma once

#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_value.h"

namespace crane::jinja {

struct Failure : std::runtime_error {
  Failure(const std::string& message, bool was_raised)
      : std::runtime_error(message), raised(was_raised) {}
  bool raised;  // by raise_exception
};
[[noreturn]] void fail(const std::string& message);
[[noreturn]] void fail_undefined(const Value& undefined);

struct Limits {
  uint64_t steps = 10'000'000;
  size_t output_bytes = size_t{16} << 20;  // also the longest string
  size_t memory_bytes = size_t{32} << 20;
  int64_t range_length = 100'000;
  int call_depth = 64;          // macros and recursive loops inside each other
  int evaluation_depth = 1200;  // nodes inside each other, over all calls
  int value_nesting = 200;      // containers inside each other
};

class Runtime {
 public:
  Runtime(const Limits& limits, std::optional<std::tm> now)
      : limits_(limits), meter_(limits.memory_bytes), now_(now) {}
  virtual ~Runtime() = default;

  void step(uint64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) [[unlikely]]
      fail_steps();
  }
  void copy_cost(size_t bytes) { step(bytes / 32); }  // about the time of one step
  // Throws before a text of this size is made.
  void check_size(size_t bytes) const;
  void check_range(int64_t length) const;
  void check_nesting(int nesting) const;

  Value text(std::string value, bool markup = false);
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value dict(std::unique_ptr<DictObject> dict);
  Value view(const Value& dict, ViewObject::Part part);
  Value range(int64_t start, int64_t stop, int64_t step_size);
  Value generator(std::unique_ptr<Iterator> iterator, std::string description, int nesting);
  Value undefined(std::string hint);
  Value undefined_name(std::string_view name);
  Value undefined_attribute(const Value& object, const Value& name);
  Value bound(std::string_view name, BuiltinFunction function, const Value& self);
  template <class T>
  Value make(Kind kind, std::unique_ptr<T> object, size_t size = 0) {
    object->measure(&meter_, sizeof(T) + size);
    return Value::object(kind, object.release());
  }

  virtual Value call(const Value& function, Arguments arguments) = 0;
  // Attribute of a macro, loop or block; missing when there is none.
  virtual Value object_attribute(const Value& object, std::string_view name) = 0;
  virtual int64_t loop_length(const Value& loop) = 0;
  virtual std::string describe(const Value& value) = 0;  // printed form of a macro, loop or block
  virtual Value make_namespace(std::vector<std::pair<std::string, Value>> attributes) = 0;

  // Counts one level of recursion while it lives; throws beyond the limit.
  class Level {
   public:
    explicit Level(Runtime& runtime) : runtime_(runtime) { runtime_.descend(); }
    ~Level() { --runtime_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Runtime& runtime_;
  };

  bool autoescape() const { return autoescape_; }
  const Limits& limits() const { return limits_; }
  std::tm now() const;

 protected:
  [[noreturn]] void fail_steps() const;
  void descend() {
    if (++depth_ > limits_.evaluation_depth) fail("the template is nested too deeply");
  }
  Limits limits_;
  MemoryMeter meter_;
  uint64_t steps_ = 0;
  bool autoescape_ = false;
  int depth_ = 0;
  std::optional<std::tm> now_;
};

// --- printing (template_print.cpp, template_json.cpp)
void print(Runtime& runtime, const Value& value, std::string& out);  // str()
void print_repr(Runtime& runtime, const Value& value, std::string& out);
std::string to_text(Runtime& runtime, const Value& value);
std::string to_repr(Runtime& runtime, const Value& value);
std::string quote(std::string_view text);  // repr of a string
std::string float_repr(double value);
Value soft_text(Runtime& runtime, const Value& value);  // a string as it is, else str()
struct JsonStyle {
  bool ensure_ascii = false;
  bool pretty = false;
  bool sort_keys = false;
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style);
std::string escape_html(std::string_view text);
Value escape(Runtime& runtime, const Value& value);  // markupsafe.escape

// --- operators (template_operators.cpp)
enum class Operator { add, subtract, multiply, divide, floor_divide, modulo, power };
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
bool is_true(Runtime& runtime, const Value& value);
bool equals(Runtime& runtime, const Value& a, const Value& b);
bool compare(Runtime& runtime, Comparison comparison, const Value& a, const Value& b);
bool contains(Runtime& runtime, const Value& container, const Value& item);
Value apply(Runtime& runtime, Operator operation, const Value& a, const Value& b);
Value negate(Runtime& runtime, const Value& value);
Value plus(Runtime& runtime, const Value& value);
Value repeat_text(Runtime& runtime, const Value& text, int64_t count);

// --- iteration and items (template_items.cpp)
std::unique_ptr<Iterator> iterate(Runtime& runtime, const Value& value);
std::vector<Value> to_items(Runtime& runtime, const Value& value);
int64_t length_of(Runtime& runtime, const Value& value);  // len()
std::optional<int64_t> known_length(Runtime& runtime, const Value& value);
Value get_item(Runtime& runtime, const Value& object, const Value& key);
Value get_attribute(Runtime& runtime, const Value& object, const Value& name);
// object[start:stop:step]; a bound that is none or missing is left out.
Value get_slice(Runtime& runtime, const Value& object, const Value (&bounds)[3]);
Value item_at(Runtime& runtime, const Value& sequence, int64_t index);  // missing when outside

// --- built-in functions, found by name; nullptr when there is none
using Filter = BuiltinFunction;
Filter find_filter(std::string_view name);
Filter find_test(std::string_view name);
const char* unsupported_filter(std::string_view name);  // why, or nullptr
std::vector<std::string_view> filter_names();
std::vector<std::string_view> test_names();
std::vector<std::string_view> global_names();
Value find_global(Runtime& runtime, std::string_view name);  // missing when there is none
Value find_method(Runtime& runtime, const Value& object, std::string_view name);  // or missing
bool is_unsafe_method(const Value& object, std::string_view name);  // would change the object

// --- formatting (template_format.cpp)
Value percent_format(Runtime& runtime, const Value& format, const Value& arguments);
Value brace_format(Runtime& runtime, const Value& format, const Arguments& arguments);
std::string format_float(double value, char type, int precision, bool alternate);

// Arguments laid over parameter names. `signature`: names apart by blanks, "?" after the optional
// ones, "/" where the positional-only end: "old new count? /".
std::vector<Value> bind(std::string_view function, std::string_view signature,
                        const Arguments& arguments);
int64_t index_argument(const Value& value);  // an int, or a TypeError
std::string text_argument(const Value& value, std::string_view what);

}  // namespace crane::jinja
