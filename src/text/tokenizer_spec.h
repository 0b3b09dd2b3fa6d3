// Spec: one component of a tokenizer.json with its JSON path, so that every complaint names the
// place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace crane {

struct SpecPattern {
  bool is_regex;
  std::string text;
};

class Spec {
 public:
  static constexpr int kMaxDepth = 64;

  // Throws Error(io) when `json` is no object or lies deeper than kMaxDepth.
  Spec(const Json& json, std::string path, int depth = 0);

  [[noreturn]] void fail(std::string_view what) const;    // Error(io): malformed
  [[noreturn]] void refuse(std::string_view what) const;  // Error(unsupported): unknown

  const Json& json() const { return json_; }
  const std::string& path() const { return path_; }
  bool has(std::string_view key) const { return json_.contains(key); }

  std::string type() const { return text("type"); }
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  std::optional<std::string> optional_text(std::string_view key) const;  // null: nothing
  bool flag(std::string_view key) const;
  bool flag(std::string_view key, bool fallback) const;
  int64_t integer(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t fallback) const;
  std::string character(std::string_view key) const;       // exactly one code point
  SpecPattern pattern(std::string_view key) const;         // {"String": …} or {"Regex": …}
  std::vector<Spec> children(std::string_view key) const;  // of an array of objects

 private:
  const Json& json_;
  std::string path_;
  int depth_;
};

}  // namespace crane
