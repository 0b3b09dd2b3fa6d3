#include "text/tokenizer_added.h"

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {
namespace {

size_t begin_of_last(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool is_single_word(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word(decode_utf8(text, begin_of_last(text, begin)).code_point)) return false;
  return end == text.size() || !is_word(decode_utf8(text, end).code_point);
}

// Begin of the white space that ends at `end`, not before `limit`.
size_t skip_space_left(std::string_view text, size_t end, size_t limit) {
  while (end > limit) {
    const size_t last = begin_of_last(text, end);
    if (!is_white_space(decode_utf8(text, last).code_point)) break;
    end = last;
  }
  return end < limit ? limit : end;
}

size_t skip_space_right(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const DecodedCodePoint c = decode_utf8(text, begin);
    if (!is_white_space(c.code_point)) break;
    begin += static_cast<size_t>(c.length);
  }
  return begin;
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  if (token.content.empty())
    throw Error(ErrorCode::io, cat("added token ", token.id, ": the empty string"));
  first_bytes_[static_cast<unsigned char>(token.content[0])] = true;
  trie_.insert(token.content, static_cast<int32_t>(tokens_.size()));
  tokens_.push_back(std::move(token));
}

const AddedToken* AddedTokens::match(std::string_view text, size_t at, size_t& length) const {
  const AddedToken* found = nullptr;
  int32_t node = Trie::kRoot;
  for (size_t end = at; end < text.size();) {
    node = trie_.step(node, text[end++]);
    if (node == Trie::kNone) break;
    if (trie_.value(node) == Trie::kNone) continue;
    found = &tokens_[static_cast<size_t>(trie_.value(node))];
    length = end - at;
  }
  return found;
}

void AddedTokens::split(std::string_view text, bool parse_special, const Visit& visit) const {
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    const AddedToken* token =
        first_bytes_[static_cast<unsigned char>(text[at])] ? match(text, at, length) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    // A match that does not count is stepped over whole, as the reference does: the tokens inside
    // it stay text. Where white space was taken along, the search goes on behind the content.
    size_t begin = at, end = at + length;
    at = end;
    if (token->special && !parse_special) continue;
    if (token->single_word && !is_single_word(text, begin, end)) continue;
    if (token->lstrip) begin = skip_space_left(text, begin, covered);
    if (token->rstrip) end = skip_space_right(text, end);
    if (covered < begin) visit(-1, text.substr(covered, begin - covered));
    visit(token->id, text.substr(begin, end - begin));
    covered = end;
  }
  if (covered < text.size()) visit(-1, text.substr(covered));
}

}  // namespace crane
