// AddedTokens: the tokens that are found in a text before anything else cuts it, special ones among
// them. Leftmost match first, the longest of several there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_trie.h"

namespace crane {

struct AddedToken {
  int32_t id = 0;
  std::string content;                  // what the text is searched for
  bool special = false;                 // plain text when special tokens are not parsed
  bool single_word = false;             // not next to a word character
  bool lstrip = false, rstrip = false;  // takes the white space on that side along
};

class AddedTokens {
 public:
  // Throws Error(io) when a token is the empty string. Of two with the same content the later
  // counts.
  void add(AddedToken token);
  bool empty() const { return tokens_.empty(); }

  // Visits the text piece by piece, in order: an added token's id, or -1 for text between (never
  // empty).
  using Visit = std::function<void(int32_t id, std::string_view text)>;
  void split(std::string_view text, bool parse_special, const Visit& visit) const;

 private:
  const AddedToken* match(std::string_view text, size_t at, size_t& length) const;

  std::vector<AddedToken> tokens_;
  Trie trie_;  // of contents; values are indices into tokens_
  bool first_bytes_[256] = {};
};

}  // namespace crane
