// Json: a value that keeps the order of its keys and tells integers from floats, with a parser for
// foreign text (depth limit, no repeated keys, UTF-8 checked) and a writer.
//
// The parser's library stays behind json.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace crane {

class Json;
using JsonArray = std::vector<Json>;
using JsonMember = std::pair<std::string, Json>;

// Members in the order of insertion. Look-up is linear, or by a sorted index where build_index()
// made one: the parser does, so that a vocabulary of 150,000 entries can be read as one object.
class JsonObject {
 public:
  const Json* find(std::string_view key) const;
  Json& operator[](std::string_view key);       // appends null when the key is absent
  void push_back(std::string key, Json value);  // the caller promises that the key is new
  bool erase(std::string_view key);
  // Makes look-ups logarithmic until a member is added or erased. Gives a key that stands there
  // twice, or null.
  const std::string* build_index();
  // Defined below Json: clang 14 wants it complete there.
  using Iterator = std::vector<JsonMember>::iterator;
  using ConstIterator = std::vector<JsonMember>::const_iterator;
  size_t size() const;
  bool empty() const;
  ConstIterator begin() const;
  ConstIterator end() const;
  Iterator begin();
  Iterator end();
  bool operator==(const JsonObject& other) const;

 private:
  std::vector<JsonMember> members_;
  std::vector<uint32_t> index_;  // positions sorted by key; used while it has all of them
};

class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(size_t value) : value_(static_cast<int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(JsonArray value) : value_(std::move(value)) {}
  Json(JsonObject value) : value_(std::move(value)) {}

  // Throws Error(invalid_argument) `where: …` with the byte position. Refuses: more than
  // `max_depth` nested values, repeated keys, ill-formed UTF-8, anything after the value.
  // An integer outside int64 becomes a double, as JavaScript reads it.
  static Json parse(std::string_view text, std::string_view where, int max_depth = 128);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_integer() const { return kind() == Kind::integer; }
  bool is_number() const { return kind() == Kind::integer || kind() == Kind::number; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }
  const char* kind_name() const;

  // Each throws Error(invalid_argument) naming the kinds when the value is of another kind.
  bool as_bool() const;
  int64_t as_integer() const;  // also a double without a fraction
  double as_number() const;
  const std::string& as_string() const;
  const JsonArray& as_array() const;
  const JsonObject& as_object() const;
  JsonArray& as_array();
  JsonObject& as_object();

  // Member of an object; null when absent or when this is no object.
  const Json& operator[](std::string_view key) const;
  bool contains(std::string_view key) const;  // present and not null

  // Typed member; errors name the key. The second form gives `fallback` when absent or null.
  // T: bool, int, int64_t, float, double, std::string.
  template <class T>
  T get(std::string_view key) const;
  template <class T>
  T get(std::string_view key, T fallback) const {
    return contains(key) ? get<T>(key) : fallback;
  }

  // Compact text, ", " and ": " only when `spaced`. Floats in their shortest form, with a point or
  // an exponent; values that fit f32 as f32. Throws on a NaN or an infinity.
  std::string dump(bool spaced = false) const;
  bool operator==(const Json& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, JsonArray, JsonObject> value_;
};

inline size_t JsonObject::size() const { return members_.size(); }
inline bool JsonObject::empty() const { return members_.empty(); }
inline JsonObject::ConstIterator JsonObject::begin() const { return members_.begin(); }
inline JsonObject::ConstIterator JsonObject::end() const { return members_.end(); }
inline JsonObject::Iterator JsonObject::begin() { return members_.begin(); }
inline JsonObject::Iterator JsonObject::end() { return members_.end(); }

// The text of a string as a JSON string, quotes included, non-ASCII kept.
std::string json_quote(std::string_view text);

}  // namespace crane
