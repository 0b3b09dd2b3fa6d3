#include "base/metadata.h"

#include <cmath>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

const char* kind_name(const MetadataValue& value) {
  static constexpr const char* kNames[] = {"a bool",        "an integer",       "a float",
                                           "a string",      "an integer array", "a float array",
                                           "a string array"};
  return kNames[value.index()];
}

[[noreturn]] void wrong_kind(std::string_view key, const MetadataValue& value,
                             const char* expected) {
  throw Error(ErrorCode::io,
              cat("GGUF key ", key, ": got ", kind_name(value), ", expected ", expected));
}

const MetadataValue* lookup(const Metadata& metadata, std::string_view key) {
  auto at = metadata.values.find(key);
  return at == metadata.values.end() ? nullptr : &at->second;
}

template <class T>
const T* find_exact(const Metadata& metadata, std::string_view key, const char* expected) {
  const MetadataValue* value = lookup(metadata, key);
  if (!value) return nullptr;
  const T* typed = std::get_if<T>(value);
  if (!typed) wrong_kind(key, *value, expected);
  return typed;
}

}  // namespace

std::optional<bool> Metadata::find_bool(std::string_view key) const {
  const MetadataValue* value = lookup(*this, key);
  if (!value) return std::nullopt;
  if (const bool* flag = std::get_if<bool>(value)) return *flag;
  if (const int64_t* number = std::get_if<int64_t>(value); number && (*number == 0 || *number == 1))
    return *number == 1;
  wrong_kind(key, *value, "a bool");
}

std::optional<int64_t> Metadata::find_integer(std::string_view key) const {
  const MetadataValue* value = lookup(*this, key);
  if (!value) return std::nullopt;
  if (const int64_t* number = std::get_if<int64_t>(value)) return *number;
  if (const bool* flag = std::get_if<bool>(value)) return *flag ? 1 : 0;
  if (const double* number = std::get_if<double>(value);
      number && *number == std::floor(*number) && std::fabs(*number) < 9e15)
    return static_cast<int64_t>(*number);
  wrong_kind(key, *value, "an integer");
}

std::optional<double> Metadata::find_number(std::string_view key) const {
  const MetadataValue* value = lookup(*this, key);
  if (!value) return std::nullopt;
  if (const double* number = std::get_if<double>(value)) return *number;
  if (const int64_t* number = std::get_if<int64_t>(value)) return static_cast<double>(*number);
  wrong_kind(key, *value, "a number");
}

std::optional<std::string_view> Metadata::find_string(std::string_view key) const {
  const auto* text = find_exact<std::string_view>(*this, key, "a string");
  return text ? std::optional(*text) : std::nullopt;
}

const std::vector<int64_t>* Metadata::find_integers(std::string_view key) const {
  return find_exact<std::vector<int64_t>>(*this, key, "an integer array");
}

const std::vector<double>* Metadata::find_numbers(std::string_view key) const {
  return find_exact<std::vector<double>>(*this, key, "a float array");
}

const std::vector<std::string_view>* Metadata::find_strings(std::string_view key) const {
  return find_exact<std::vector<std::string_view>>(*this, key, "a string array");
}

}  // namespace crane
