// SentencePiece's own normalization as GGUF files of unigram models describe it: compiled rules,
// then blanks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/normalizer.h"
#include "text/normalizer_charsmap.h"
#include "text/tokenizer_trie.h"

namespace crane {

struct SentencePieceOptions {
  std::optional<Charsmap> charsmap;
  std::vector<std::string> protected_texts;  // user-defined tokens: the rules leave them alone
  bool add_space_prefix = false;
  bool remove_extra_whitespaces = false;
};

std::unique_ptr<NormalizerStep> make_sentencepiece_step(SentencePieceOptions options);

}  // namespace crane
