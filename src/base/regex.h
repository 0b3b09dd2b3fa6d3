// Regex: PCRE2 with JIT, Unicode properties, and match limits. The only regular expressions that
// text of users or files meets. The library stays behind regex.cpp.
//
// Patterns are in Oniguruma's default dialect, in which tokenizer.json files are written
// (base/regex_dialect.h lists where it differs from PCRE2's).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace crane {

struct RegexMatch {
  size_t begin, end;  // byte offsets
};

// Thread-safe once built. A pattern that does not compile throws Error(unsupported) naming it; a
// match that exceeds the limits throws Error(invalid_argument) naming the pattern.
class Regex {
 public:
  explicit Regex(std::string_view pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // The first match at or after `from`. `text` must be valid UTF-8.
  std::optional<RegexMatch> find(std::string_view text, size_t from = 0) const;

  // Every match in turn, with the memory of one search for all: the next search begins where a
  // match ended, and an empty match right behind the match before it does not count.
  void for_each(std::string_view text, const std::function<void(RegexMatch)>& visit) const;

  const std::string& pattern() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crane
