#include "text/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

constexpr size_t kLongPiece = 64;  // bytes; above this a piece is cut where nothing can merge

}  // namespace

std::vector<int32_t> byte_token_ids(const Vocabulary& vocabulary) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::vector<int32_t> ids(256, -1);
  for (size_t byte = 0; byte < 256; ++byte) {
    const char name[] = {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
    ids[byte] = vocabulary.find(std::string_view(name, sizeof(name))).value_or(-1);
  }
  return ids;
}

BpeModel::BpeModel(std::shared_ptr<const Vocabulary> vocabulary,
                   const std::vector<MergeText>& merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  size_t slots = 64;
  while (slots < merges.size() * 2) slots *= 2;
  slots_.resize(slots);
  for (size_t i = 0; i < merges.size(); ++i) add_merge(merges[i], static_cast<uint32_t>(i));
  direct_.resize(kDirect, -1);
  for (char32_t c = 0; c < kDirect; ++c) {
    std::string text;
    append_utf8(text, c);
    direct_[c] = find_symbol(text);
  }
  bytes_ = byte_token_ids(*vocabulary_);
}

void BpeModel::add_merge(const MergeText& merge, uint32_t rank) {
  const auto& [left_text, right_text] = merge;
  const bool strict = options_.missing == MissingCharacter::skip;
  if (right_text.size() < options_.prefix.size())
    throw Error(ErrorCode::io,
                cat("merge ", rank, ": ", right_text, " is shorter than the prefix"));
  const std::string whole = cat(left_text, right_text.substr(options_.prefix.size()));
  const int32_t left = merge_token(left_text);
  const int32_t right = merge_token(right_text);
  const int32_t result = merge_token(whole);
  inner_pairs_.add_token(whole);
  size_t at = hash_pair(left, right) & (slots_.size() - 1);
  for (; slots_[at].left >= 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].left != left || slots_[at].right != right) continue;
    if (!strict) return;
    break;
  }
  slots_[at] = {left, right, result, rank};
}

int32_t BpeModel::merge_token(std::string_view text) {
  const int32_t known = find_symbol(text);
  if (known >= 0) return known;
  if (options_.missing == MissingCharacter::skip)
    throw Error(ErrorCode::io, cat("merges: ", text, " is not in the vocabulary"));
  extra_.push_back(text);
  return vocabulary_->size() + extra_.size() - 1;
}

int32_t BpeModel::find_symbol(std::string_view text) const {
  if (const std::optional<int32_t> id = vocabulary_->find(text)) return *id;
  if (const std::optional<int32_t> id = extra_.find(text)) return vocabulary_->size() + *id;
  return -1;
}

std::optional<Merge> BpeModel::find_merge(int32_t left, int32_t right) const {
  if (left < 0 || right < 0) return std::nullopt;
  for (size_t at = hash_pair(left, right) & (slots_.size() - 1); slots_[at].left >= 0;
       at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.left == left && slot.right == right) return Merge{slot.rank, slot.result};
  }
  return std::nullopt;
}

void BpeModel::encode(std::string_view piece, ModelScratch& scratch,
                      std::vector<int32_t>& ids) const {
  if (piece.empty()) return;
  const bool whole = options_.ignore_merges ||
                     (options_.whole_newlines && piece.find_first_not_of('\n') == piece.npos);
  if (whole && piece.size() <= vocabulary_->longest()) {
    if (const std::optional<int32_t> id = vocabulary_->find(piece)) {
      ids.push_back(*id);
      return;
    }
  }
  if (piece.size() > kLongPiece && options_.prefix.empty() && options_.suffix.empty())
    encode_long(piece, scratch, ids);
  else
    encode_cached(piece, scratch, ids);
}

void BpeModel::encode_long(std::string_view piece, ModelScratch& scratch,
                           std::vector<int32_t>& ids) const {
  size_t begin = 0;
  char32_t previous = 0;
  bool previous_known = false;
  for (size_t at = 0; at < piece.size();) {
    const DecodedCodePoint c = decode_utf8(piece, at);
    const auto length = static_cast<size_t>(c.length);
    const bool known = character_id(c.code_point, piece.substr(at, length)) >= 0;
    // A run of unknown characters may be one token, so it is never cut.
    if (at > begin && known && previous_known && !inner_pairs_.may_join(previous, c.code_point)) {
      encode_cached(piece.substr(begin, at - begin), scratch, ids);
      begin = at;
    }
    previous = c.code_point;
    previous_known = known;
    at += length;
  }
  encode_cached(piece.substr(begin), scratch, ids);
}

void BpeModel::encode_cached(std::string_view piece, ModelScratch& scratch,
                             std::vector<int32_t>& ids) const {
  const uint64_t hash = hash_bytes(piece);
  if (const std::span<const int32_t> found = scratch.cache.find(piece, hash); found.data()) {
    ids.insert(ids.end(), found.begin(), found.end());
    return;
  }
  const size_t first = ids.size();
  scratch.symbols.clear();
  append_symbols(piece, scratch.symbols);
  merge_symbols(scratch, [this](const MergeSymbol& left, const MergeSymbol& right) {
    return find_merge(left.id, right.id);
  });
  for (const MergeSymbol& symbol : scratch.symbols)
    if (symbol.length != 0) emit(piece, symbol, ids);
  scratch.cache.insert(piece, hash, std::span(ids).subspan(first));
}

void BpeModel::append_symbols(std::string_view piece, std::vector<MergeSymbol>& symbols) const {
  const bool decorated = !options_.prefix.empty() || !options_.suffix.empty();
  std::optional<MergeSymbol> unknown;  // found, but not yet in its place: it may grow
  std::string spelt;
  for (size_t at = 0; at < piece.size();) {
    const DecodedCodePoint c = decode_utf8(piece, at);
    const auto length = static_cast<size_t>(c.length);
    std::string_view text = piece.substr(at, length);
    int32_t id;
    if (decorated) {
      spelt = cat(at > 0 ? options_.prefix : std::string(), text,
                  at + length == piece.size() ? options_.suffix : std::string());
      text = spelt;
      id = find_symbol(text);
    } else {
      id = character_id(c.code_point, text);
    }
    if (id >= 0 || options_.missing != MissingCharacter::skip) {
      if (unknown) append_symbol(symbols, unknown->id, unknown->begin, unknown->length);
      unknown.reset();
      append_symbol(symbols, id, at, length);
    } else {
      append_missing(text, at, symbols, unknown);
    }
    at += length;
  }
  if (unknown) append_symbol(symbols, unknown->id, unknown->begin, unknown->length);
}

void BpeModel::append_missing(std::string_view text, size_t begin,
                              std::vector<MergeSymbol>& symbols,
                              std::optional<MergeSymbol>& unknown) const {
  const auto byte_id = [this](char c) { return bytes_[static_cast<unsigned char>(c)]; };
  if (options_.byte_fallback &&
      std::all_of(text.begin(), text.end(), [&](char c) { return byte_id(c) >= 0; })) {
    // The reference leaves a waiting unknown token waiting, so it comes behind these.
    for (const char c : text) append_symbol(symbols, byte_id(c), begin, 1);
    return;
  }
  if (!options_.unknown) return;
  if (*options_.unknown == BpeOptions::kNoSuchToken)
    throw Error(ErrorCode::invalid_argument,
                cat("tokenizer: no token for ", text, ", and the unknown token has no id"));
  const auto length = static_cast<uint32_t>(text.size());
  if (unknown && options_.fuse_unknown) {
    unknown->length += length;
    return;
  }
  if (unknown) append_symbol(symbols, unknown->id, unknown->begin, unknown->length);
  unknown = MergeSymbol{*options_.unknown, static_cast<uint32_t>(begin), length, -1, -1};
}

void BpeModel::emit(std::string_view piece, const MergeSymbol& symbol,
                    std::vector<int32_t>& ids) const {
  if (symbol.id >= 0 && symbol.id < vocabulary_->size()) {
    ids.push_back(symbol.id);
    return;
  }
  if (options_.missing != MissingCharacter::byte_tokens) return;
  for (const char c : piece.substr(symbol.begin, symbol.length)) {
    const int32_t id = bytes_[static_cast<unsigned char>(c)];
    if (id >= 0) ids.push_back(id);
  }
}

}  // namespace crane
