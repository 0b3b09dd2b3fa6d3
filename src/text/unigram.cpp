#include "text/unigram.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"
#include "text/bpe.h"

namespace crane {

UnigramModel::UnigramModel(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                           const std::vector<bool>& usable, UnigramOptions options)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      options_(options),
      bytes_(byte_token_ids(*vocabulary_)) {
  for (int32_t id = 0; id < vocabulary_->size(); ++id) {
    const bool use = usable.empty() || usable[static_cast<size_t>(id)];
    if (use && vocabulary_->has(id) && !vocabulary_->text(id).empty())
      trie_.insert(vocabulary_->text(id), id);
  }
}

void UnigramModel::encode(std::string_view piece, ModelScratch& scratch,
                          std::vector<int32_t>& ids) const {
  const uint64_t hash = hash_bytes(piece);
  if (const std::span<const int32_t> found = scratch.cache.find(piece, hash); found.data()) {
    ids.insert(ids.end(), found.begin(), found.end());
    return;
  }
  constexpr int32_t kUnknown = -1, kUnreached = -2;
  struct Best {
    double score = 0;
    uint32_t begin = 0;
    int32_t id = kUnreached;
  };
  std::vector<Best> best(piece.size() + 1);  // of the text up to each byte
  const auto offer = [&best](size_t end, double score, size_t begin, int32_t id) {
    if (best[end].id == kUnreached || score > best[end].score)
      best[end] = {score, static_cast<uint32_t>(begin), id};
  };
  for (size_t at = 0; at < piece.size();) {
    const auto length = static_cast<size_t>(decode_utf8(piece, at).length);
    const double score = best[at].score;
    bool single = false;
    int32_t node = Trie::kRoot;
    for (size_t end = at; end < piece.size();) {
      node = trie_.step(node, piece[end++]);
      if (node == Trie::kNone) break;
      const int32_t id = trie_.value(node);
      if (id == Trie::kNone) continue;
      offer(end, score + scores_[static_cast<size_t>(id)], at, id);
      single = single || end - at == length;
    }
    if (!single) offer(at + length, score + options_.unknown_score, at, kUnknown);
    at += length;
  }
  struct Chosen {
    size_t begin, end;
    int32_t id;
  };
  std::vector<Chosen> path;
  for (size_t end = piece.size(); end > 0; end = best[end].begin) {
    const int32_t id = best[end].id == options_.unknown ? kUnknown : best[end].id;
    if (id == kUnknown && !path.empty() && path.back().id == kUnknown)
      path.back().begin = best[end].begin;
    else
      path.push_back({best[end].begin, end, id});
  }
  const size_t first = ids.size();
  for (auto part = path.rbegin(); part != path.rend(); ++part) {
    if (part->id == kUnknown)
      emit_unknown(piece.substr(part->begin, part->end - part->begin), ids);
    else
      ids.push_back(part->id);
  }
  scratch.cache.insert(piece, hash, std::span(ids).subspan(first));
}

void UnigramModel::emit_unknown(std::string_view text, std::vector<int32_t>& ids) const {
  const auto byte_id = [this](char c) { return bytes_[static_cast<unsigned char>(c)]; };
  if (const std::optional<int32_t> whole = vocabulary_->find(text)) {
    ids.push_back(*whole);  // the text of the unknown token itself
  } else if (options_.byte_fallback &&
             std::all_of(text.begin(), text.end(), [&](char c) { return byte_id(c) >= 0; })) {
    for (const char c : text) ids.push_back(byte_id(c));
  } else if (options_.unknown) {
    ids.push_back(*options_.unknown);
  } else {
    throw Error(ErrorCode::invalid_argument, cat("tokenizer: no token for ", text.substr(0, 80),
                                                 " and no unknown token in the vocabulary"));
  }
}

}  // namespace crane
