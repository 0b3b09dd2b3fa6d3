// Metadata: the typed key/value header of a GGUF file, without the file. text/ reads tokenizers
// from it, io/ fills it.
//
// Strings are views into the mapped file; whoever keeps them keeps `owner` alive or copies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crane {

// Integers of every width arrive as int64 (u64 above int64 is refused by the reader), floats as
// double, and arrays likewise. Bool arrays are int64 arrays of 0 and 1.
using MetadataValue = std::variant<bool, int64_t, double, std::string_view, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string_view>>;

class Metadata {
 public:
  std::map<std::string, MetadataValue, std::less<>> values;
  std::shared_ptr<const void> owner;  // the mapped file behind the string views

  bool contains(std::string_view key) const { return values.find(key) != values.end(); }

  // Each gives nothing when the key is absent, and throws Error(io) naming key and types when the
  // value is of another kind. Integers are read leniently (a bool or a whole double counts).
  std::optional<bool> find_bool(std::string_view key) const;
  std::optional<int64_t> find_integer(std::string_view key) const;
  std::optional<double> find_number(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;
  const std::vector<int64_t>* find_integers(std::string_view key) const;
  const std::vector<double>* find_numbers(std::string_view key) const;
  const std::vector<std::string_view>* find_strings(std::string_view key) const;
};

}  // namespace crane
