#include "text/wordpiece.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {
namespace {

void append_unknown(std::optional<int32_t> unknown, std::string_view piece,
                    std::vector<int32_t>& ids) {
  if (!unknown)
    throw Error(ErrorCode::invalid_argument, cat("tokenizer: no token for ", piece.substr(0, 80),
                                                 " and no unknown token in the vocabulary"));
  ids.push_back(*unknown);
}

}  // namespace

WordPieceModel::WordPieceModel(std::shared_ptr<const Vocabulary> vocabulary,
                               WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {}

void WordPieceModel::encode(std::string_view piece, ModelScratch& scratch,
                            std::vector<int32_t>& ids) const {
  const uint64_t hash = hash_bytes(piece);
  if (const std::span<const int32_t> found = scratch.cache.find(piece, hash); found.data()) {
    ids.insert(ids.end(), found.begin(), found.end());
    return;
  }
  size_t characters = 0;
  for (size_t at = 0; at < piece.size() && characters <= options_.max_characters; ++characters)
    at += static_cast<size_t>(decode_utf8(piece, at).length);
  const size_t first = ids.size();
  if (characters > options_.max_characters || !append_tokens(piece, ids)) {
    ids.resize(first);
    append_unknown(options_.unknown, piece, ids);
  }
  scratch.cache.insert(piece, hash, std::span(ids).subspan(first));
}

bool WordPieceModel::append_tokens(std::string_view word, std::vector<int32_t>& ids) const {
  std::string text;
  for (size_t at = 0; at < word.size();) {
    text = at == 0 ? options_.first_prefix : options_.continuing_prefix;
    const size_t prefix = text.size();
    if (vocabulary_->longest() < prefix) return false;
    size_t length = std::min(word.size() - at, vocabulary_->longest() - prefix);
    text += word.substr(at, length);
    std::optional<int32_t> id;
    for (; length > 0 && !id; --length) {
      const bool whole = at + length == word.size() ||
                         (static_cast<unsigned char>(word[at + length]) & 0xC0) != 0x80;
      text.resize(prefix + length);
      if (whole) id = vocabulary_->find(text);
      if (id) break;
    }
    if (!id) return false;
    ids.push_back(*id);
    at += length;
  }
  return true;
}

WordLevelModel::WordLevelModel(std::shared_ptr<const Vocabulary> vocabulary,
                               std::optional<int32_t> unknown)
    : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

void WordLevelModel::encode(std::string_view piece, ModelScratch&,
                            std::vector<int32_t>& ids) const {
  if (const std::optional<int32_t> id = vocabulary_->find(piece))
    ids.push_back(*id);
  else
    append_unknown(unknown_, piece, ids);
}

}  // namespace crane
