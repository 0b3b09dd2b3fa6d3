// Charsmap: SentencePiece's compiled normalization rules (`precompiled_charsmap`): a double-array
// trie of byte strings and what each becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crane {

class Charsmap {
 public:
  // Throws Error(io) when the sizes inside do not fit the bytes, or a rule's text has no end.
  explicit Charsmap(std::string_view blob);

  struct Match {
    size_t length;  // bytes of the text
    std::string_view replacement;
  };
  // The shortest or longest rule that `text` begins with.
  std::optional<Match> find_shortest(std::string_view text) const { return find(text, true); }
  std::optional<Match> find_longest(std::string_view text) const { return find(text, false); }

 private:
  std::optional<Match> find(std::string_view text, bool shortest) const;

  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with a zero byte
};

// Standard base64; throws Error(io) on anything else.
std::string decode_base64(std::string_view text, std::string_view where);

}  // namespace crane
