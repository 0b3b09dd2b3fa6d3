#include "text/bpe_scores.h"

#include <algorithm>
#include <numeric>

#include "text/bpe.h"

namespace crane {

ScoredBpeModel::ScoredBpeModel(std::shared_ptr<const Vocabulary> vocabulary,
                               const std::vector<double>& scores, std::optional<int32_t> unknown)
    : vocabulary_(std::move(vocabulary)),
      ranks_(scores.size()),
      bytes_(byte_token_ids(*vocabulary_)),
      unknown_(unknown) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] < scores[order[i - 1]]) ++rank;
    ranks_[order[i]] = rank;
  }
  for (int32_t id = 0; id < vocabulary_->size(); ++id)
    if (vocabulary_->has(id)) inner_pairs_.add_token(vocabulary_->text(id));
}

void ScoredBpeModel::encode(std::string_view piece, ModelScratch& scratch,
                            std::vector<int32_t>& ids) const {
  size_t begin = 0;
  char32_t previous = 0;
  for (size_t at = 0; at < piece.size();) {
    const DecodedCodePoint c = decode_utf8(piece, at);
    if (at > begin && !inner_pairs_.may_join(previous, c.code_point)) {
      encode_part(piece.substr(begin, at - begin), scratch, ids);
      begin = at;
    }
    previous = c.code_point;
    at += static_cast<size_t>(c.length);
  }
  if (begin < piece.size()) encode_part(piece.substr(begin), scratch, ids);
}

void ScoredBpeModel::encode_part(std::string_view part, ModelScratch& scratch,
                                 std::vector<int32_t>& ids) const {
  const uint64_t hash = hash_bytes(part);
  if (const std::span<const int32_t> found = scratch.cache.find(part, hash); found.data()) {
    ids.insert(ids.end(), found.begin(), found.end());
    return;
  }
  const size_t first = ids.size();
  scratch.symbols.clear();
  for (size_t at = 0; at < part.size();) {
    const auto length = static_cast<size_t>(decode_utf8(part, at).length);
    append_symbol(scratch.symbols, -1, at, length);
    at += length;
  }
  merge_symbols(scratch,
                [&](const MergeSymbol& left, const MergeSymbol& right) -> std::optional<Merge> {
                  const size_t length = left.length + right.length;
                  if (length > vocabulary_->longest()) return std::nullopt;
                  const auto id = vocabulary_->find(part.substr(left.begin, length));
                  if (!id) return std::nullopt;
                  return Merge{ranks_[static_cast<size_t>(*id)], *id};
                });
  for (const MergeSymbol& symbol : scratch.symbols) {
    if (symbol.length == 0) continue;
    const std::string_view text = part.substr(symbol.begin, symbol.length);
    if (const auto id = vocabulary_->find(text))
      ids.push_back(*id);
    else
      emit_bytes(text, ids);
  }
  scratch.cache.insert(part, hash, std::span(ids).subspan(first));
}

void ScoredBpeModel::emit_bytes(std::string_view text, std::vector<int32_t>& ids) const {
  const size_t first = ids.size();
  for (const char c : text) {
    const int32_t id = bytes_[static_cast<unsigned char>(c)];
    if (id < 0) {
      ids.resize(first);
      if (unknown_) ids.push_back(*unknown_);
      return;
    }
    ids.push_back(id);
  }
}

}  // namespace crane
