// Unigram language model: the segmentation with the highest sum of token scores (Viterbi).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "text/tokenizer_model.h"
#include "text/tokenizer_trie.h"

namespace crane {

struct UnigramOptions {
  std::optional<int32_t> unknown;  // a run of characters without a token becomes one of these
  bool byte_fallback = false;      // or <0xNN> tokens, where the vocabulary has them
  double unknown_score = 0;
};

class UnigramModel : public TokenModel {
 public:
  // One score an id. Ids whose `usable` entry is false are never chosen (empty: all are usable).
  UnigramModel(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
               const std::vector<bool>& usable, UnigramOptions options);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<int32_t>& ids) const override;

 private:
  void emit_unknown(std::string_view text, std::vector<int32_t>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  Trie trie_;
  std::vector<int32_t> bytes_;
};

}  // namespace crane
