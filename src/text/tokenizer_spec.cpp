#include "text/tokenizer_spec.h"

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {

Spec::Spec(const Json& json, std::string path, int depth)
    : json_(json), path_(std::move(path)), depth_(depth) {
  if (!json_.is_object()) fail(cat("got ", json_.kind_name(), ", expected an object"));
  if (depth_ > kMaxDepth) fail(cat("nested deeper than ", kMaxDepth));
}

void Spec::fail(std::string_view what) const {
  throw Error(ErrorCode::io, cat("tokenizer.json ", path_, ": ", what));
}

void Spec::refuse(std::string_view what) const {
  throw Error(ErrorCode::unsupported,
              cat("tokenizer.json ", path_, ": ", what, " is not supported"));
}

std::string Spec::text(std::string_view key) const {
  if (!json_[key].is_string())
    fail(cat(key, " is ", json_[key].kind_name(), ", expected a string"));
  return json_[key].as_string();
}

std::string Spec::text(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}

std::optional<std::string> Spec::optional_text(std::string_view key) const {
  return has(key) ? std::optional(text(key)) : std::nullopt;
}

bool Spec::flag(std::string_view key) const {
  if (!json_[key].is_bool())
    fail(cat(key, " is ", json_[key].kind_name(), ", expected true or false"));
  return json_[key].as_bool();
}

bool Spec::flag(std::string_view key, bool fallback) const {
  return has(key) ? flag(key) : fallback;
}

int64_t Spec::integer(std::string_view key) const {
  if (!json_[key].is_integer())
    fail(cat(key, " is ", json_[key].kind_name(), ", expected an integer"));
  return json_[key].as_integer();
}

int64_t Spec::integer(std::string_view key, int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

std::string Spec::character(std::string_view key) const {
  std::string value = text(key);
  if (to_code_points(value).size() != 1)
    fail(cat(key, " is ", json_quote(value), ", expected one character"));
  return value;
}

SpecPattern Spec::pattern(std::string_view key) const {
  const Json& value = json_[key];
  for (const char* kind : {"String", "Regex"})
    if (value[kind].is_string()) return {*kind == 'R', value[kind].as_string()};
  fail(cat(key, " is ", value.dump(), ", expected {\"String\": …} or {\"Regex\": …}"));
}

std::vector<Spec> Spec::children(std::string_view key) const {
  if (!json_[key].is_array()) fail(cat(key, " is ", json_[key].kind_name(), ", expected an array"));
  std::vector<Spec> out;
  for (const Json& item : json_[key].as_array())
    out.emplace_back(item, cat(path_, ".", key, "[", out.size(), "]"), depth_ + 1);
  return out;
}

}  // namespace crane
