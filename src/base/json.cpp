#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/strings.h"

namespace crane {
namespace {

// Builds a Json from nlohmann's SAX events, with our limits.
class Builder {
 public:
  Builder(std::string_view where, int max_depth) : where_(where), max_depth_(max_depth) {}

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(int64_t value) { return add(Json(value)); }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add(Json(static_cast<double>(value)));
    return add(Json(static_cast<int64_t>(value)));
  }
  bool number_float(double value, const std::string&) { return add(Json(value)); }
  bool string(std::string& value) { return add(Json(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return open(Json(JsonObject())); }
  bool end_object() { return close(); }
  bool start_array(size_t) { return open(Json(JsonArray())); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    keys_.back() = std::move(value);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) {
    std::string_view text = e.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: <cause>"
    size_t at = text.find(": ");
    throw Error(ErrorCode::invalid_argument,
                cat(where_, ": not valid JSON at byte ", position, ": ",
                    at == std::string_view::npos ? text : text.substr(at + 2)));
  }

  Json take() { return std::move(result_); }

 private:
  bool add(Json value) {
    if (stack_.empty()) {
      result_ = std::move(value);
    } else if (stack_.back().is_array()) {
      stack_.back().as_array().push_back(std::move(value));
    } else {
      stack_.back().as_object().push_back(std::move(keys_.back()), std::move(value));
    }
    return true;
  }
  bool open(Json container) {
    if (static_cast<int>(stack_.size()) >= max_depth_)
      throw Error(ErrorCode::invalid_argument,
                  cat(where_, ": JSON nested deeper than ", max_depth_, " values"));
    stack_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Json value = std::move(stack_.back());
    stack_.pop_back();
    keys_.pop_back();
    if (value.is_object()) {
      if (const std::string* repeated = value.as_object().build_index())
        refuse_repeated_key(*repeated);
    }
    return add(std::move(value));
  }
  void refuse_repeated_key(const std::string& key) {
    throw Error(ErrorCode::invalid_argument, cat(where_, ": repeated JSON key ", json_quote(key)));
  }

  std::string_view where_;
  int max_depth_;
  Json result_;
  std::vector<Json> stack_;
  std::vector<std::string> keys_;
};

[[noreturn]] void wrong_kind(const Json& value, const char* expected) {
  throw Error(ErrorCode::invalid_argument,
              cat("JSON: got ", value.kind_name(), ", expected ", expected));
}

constexpr size_t kIndexFrom = 16;  // below this a linear search is as fast

void dump_to(std::string& out, const Json& value, bool spaced) {
  switch (value.kind()) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      return;
    case Json::Kind::integer:
      out += std::to_string(value.as_integer());
      return;
    case Json::Kind::number: {
      double number = value.as_number();
      if (!std::isfinite(number))
        throw Error(ErrorCode::internal, "JSON: a NaN or an infinity cannot be written");
      // f32 values are stored widened: print them by their own shortest form.
      float narrow = static_cast<float>(number);
      std::string text =
          static_cast<double>(narrow) == number ? to_shortest(narrow) : to_shortest(number);
      // 1.0 must not come back as the integer 1.
      out += text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
      return;
    }
    case Json::Kind::string:
      out += json_quote(value.as_string());
      return;
    case Json::Kind::array: {
      out += '[';
      bool first = true;
      for (const Json& item : value.as_array()) {
        if (!first) out += spaced ? ", " : ",";
        first = false;
        dump_to(out, item, spaced);
      }
      out += ']';
      return;
    }
    case Json::Kind::object: {
      out += '{';
      bool first = true;
      for (const auto& [key, item] : value.as_object()) {
        if (!first) out += spaced ? ", " : ",";
        first = false;
        out += json_quote(key);
        out += spaced ? ": " : ":";
        dump_to(out, item, spaced);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

const Json* JsonObject::find(std::string_view key) const {
  if (members_.size() < kIndexFrom || index_.size() != members_.size()) {
    for (const auto& [name, value] : members_)
      if (name == key) return &value;
    return nullptr;
  }
  auto at = std::lower_bound(
      index_.begin(), index_.end(), key,
      [&](uint32_t i, std::string_view wanted) { return members_[i].first < wanted; });
  return at != index_.end() && members_[*at].first == key ? &members_[*at].second : nullptr;
}

const std::string* JsonObject::build_index() {
  index_.resize(members_.size());
  std::iota(index_.begin(), index_.end(), 0u);
  std::sort(index_.begin(), index_.end(),
            [&](uint32_t a, uint32_t b) { return members_[a].first < members_[b].first; });
  auto repeated = std::adjacent_find(index_.begin(), index_.end(), [&](uint32_t a, uint32_t b) {
    return members_[a].first == members_[b].first;
  });
  const std::string* key = repeated == index_.end() ? nullptr : &members_[*repeated].first;
  if (members_.size() < kIndexFrom) index_ = {};
  return key;
}

Json& JsonObject::operator[](std::string_view key) {
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  members_.emplace_back(std::string(key), Json());
  return members_.back().second;
}

void JsonObject::push_back(std::string key, Json value) {
  members_.emplace_back(std::move(key), std::move(value));
}

bool JsonObject::erase(std::string_view key) {
  auto at = std::find_if(members_.begin(), members_.end(),
                         [&](const JsonMember& member) { return member.first == key; });
  if (at == members_.end()) return false;
  members_.erase(at);
  index_.clear();
  return true;
}

bool JsonObject::operator==(const JsonObject& other) const {
  if (size() != other.size()) return false;
  return std::all_of(begin(), end(), [&](const JsonMember& member) {
    const Json* theirs = other.find(member.first);
    return theirs && *theirs == member.second;
  });
}

Json Json::parse(std::string_view text, std::string_view where, int max_depth) {
  // The library takes a NUL for the end of the text and would not see what follows.
  if (size_t at = text.find('\0'); at != std::string_view::npos)
    throw Error(ErrorCode::invalid_argument,
                cat(where, ": not valid JSON at byte ", at + 1, ": a NUL byte"));
  Builder builder(where, max_depth);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

const char* Json::kind_name() const {
  static constexpr const char* kNames[] = {"null",     "a boolean", "an integer", "a number",
                                           "a string", "an array",  "an object"};
  return kNames[value_.index()];
}

bool Json::as_bool() const {
  if (!is_bool()) wrong_kind(*this, "a boolean");
  return std::get<bool>(value_);
}

int64_t Json::as_integer() const {
  if (is_integer()) return std::get<int64_t>(value_);
  if (kind() == Kind::number) {
    double number = std::get<double>(value_);
    if (number == std::floor(number) && std::fabs(number) < 9.2e18)
      return static_cast<int64_t>(number);
  }
  wrong_kind(*this, "an integer");
}

double Json::as_number() const {
  if (is_integer()) return static_cast<double>(std::get<int64_t>(value_));
  if (kind() != Kind::number) wrong_kind(*this, "a number");
  return std::get<double>(value_);
}

const std::string& Json::as_string() const {
  if (!is_string()) wrong_kind(*this, "a string");
  return std::get<std::string>(value_);
}

const JsonArray& Json::as_array() const {
  if (!is_array()) wrong_kind(*this, "an array");
  return std::get<JsonArray>(value_);
}

const JsonObject& Json::as_object() const {
  if (!is_object()) wrong_kind(*this, "an object");
  return std::get<JsonObject>(value_);
}

JsonArray& Json::as_array() { return const_cast<JsonArray&>(std::as_const(*this).as_array()); }
JsonObject& Json::as_object() { return const_cast<JsonObject&>(std::as_const(*this).as_object()); }

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  if (!is_object()) return null;
  const Json* found = as_object().find(key);
  return found ? *found : null;
}

bool Json::contains(std::string_view key) const { return !(*this)[key].is_null(); }

template <class T>
T Json::get(std::string_view key) const {
  const Json& value = (*this)[key];
  if (value.is_null() && !(is_object() && as_object().find(key)))
    throw Error(ErrorCode::invalid_argument, cat("JSON: key ", key, " is missing"));
  try {
    if constexpr (std::is_same_v<T, bool>) {
      return value.as_bool();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return value.as_string();
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value.as_number());
    } else {
      int64_t number = value.as_integer();
      if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max())
        throw Error(ErrorCode::invalid_argument, cat("JSON: got ", number, ", out of range"));
      return static_cast<T>(number);
    }
  } catch (const Error& error) {
    throw Error(error.code(), cat("key ", key, ": ", error.what()));
  }
}

template bool Json::get<bool>(std::string_view) const;
template int Json::get<int>(std::string_view) const;
template int64_t Json::get<int64_t>(std::string_view) const;
template float Json::get<float>(std::string_view) const;
template double Json::get<double>(std::string_view) const;
template std::string Json::get<std::string>(std::string_view) const;

std::string Json::dump(bool spaced) const {
  std::string out;
  dump_to(out, *this, spaced);
  return out;
}

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number() && kind() != other.kind())
    return as_number() == other.as_number();
  return value_ == other.value_;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          static constexpr char kHex[] = "0123456789abcdef";
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace crane
