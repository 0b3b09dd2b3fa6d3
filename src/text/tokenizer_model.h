// TokenModel: turns one pre-split piece of text into ids. BPE, unigram, WordPiece, word level.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_vocabulary.h"

namespace crane {

// Ids of the pieces met so far in one text: words repeat.
class PieceCache {
 public:
  // The ids of `piece`, or nothing (data() is null) when it is new.
  std::span<const int32_t> find(std::string_view piece, uint64_t hash) const;
  void insert(std::string_view piece, uint64_t hash, std::span<const int32_t> ids);

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t text_begin = 0, text_length = 0, ids_begin = 0, ids_length = 0;
  };
  std::vector<Slot> slots_;  // text_length 0 is free
  size_t used_ = 0;
  std::string texts_;
  std::vector<int32_t> ids_;
};

struct MergeSymbol {
  int32_t id;              // negative: a character that no merge knows
  uint32_t begin, length;  // bytes of the piece; length 0 once merged into the symbol before it
  int32_t prev, next;      // indices, -1 at the ends
};

struct MergeCandidate {
  uint32_t rank, left, length;
  int32_t id;  // of the merged symbol
};

// Work space of one encode() call; not shared between threads.
struct ModelScratch {
  PieceCache cache;
  std::vector<MergeSymbol> symbols;
  std::vector<MergeCandidate> heap;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the ids of `piece` (well-formed UTF-8). Throws Error(invalid_argument) where the model
  // has no token for it and no unknown token either.
  virtual void encode(std::string_view piece, ModelScratch& scratch,
                      std::vector<int32_t>& ids) const = 0;
};

}  // namespace crane
